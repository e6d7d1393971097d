# SPDX-License-Identifier: GPL-2.0
"""How the limits of the tests grow on a slow machine."""
import os

FACTOR = int(os.environ.get("SMC_SLOW") or 1)
if FACTOR < 1:
    raise ValueError(f"SMC_SLOW is not a positive integer: {FACTOR}")


def slow(limit):
    """A limit after which a test gives up, in any unit, times the environment variable SMC_SLOW:
    1 without it, more where the machine is that much slower. lib/slow.h is the same for C. Not for
    what a test sleeps to let something happen, nor for what has to take at least so long."""
    return limit * FACTOR
