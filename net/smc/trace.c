// SPDX-License-Identifier: GPL-2.0
/* Instantiates the tracepoints. */
#include "smc.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
