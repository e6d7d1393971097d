// SPDX-License-Identifier: GPL-2.0
#include "rogue.h"

void cases_clc(void)
{
}
