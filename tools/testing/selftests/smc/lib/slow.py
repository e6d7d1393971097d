# SPDX-License-Identifier: GPL-2.0
"""Scales the time limits of the tests for slow machines."""
import os

FACTOR = int(os.environ.get("SMC_SLOW") or 1)
if FACTOR < 1:
    raise ValueError(f"SMC_SLOW is not a positive integer: {FACTOR}")


def slow(limit):
    """Returns a limit after which a test gives up, in any unit, multiplied by the environment
    variable SMC_SLOW. That is 1 by default, and larger on a machine that is that much slower.
    lib/slow.h is the same for C. Not for sleeps that let something happen, nor for minimum
    durations."""
    return limit * FACTOR
