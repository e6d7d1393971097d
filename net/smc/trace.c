// SPDX-License-Identifier: GPL-2.0
/* The one file that makes the tracepoints. */
#include "smc.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
