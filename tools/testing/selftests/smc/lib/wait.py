# SPDX-License-Identifier: GPL-2.0
"""Waits for a condition by polling it, at most until a limit has passed.

The condition is a function. It is called once more after the last pause, which may take long on a
busy machine: the condition is not late if it has come true meanwhile. Limits and pauses are in
seconds. The caller scales limits with slow(), and sets a longer pause if the condition is
expensive, for example because it starts a program.
"""
import time

from lib.slow import slow

SHORT = slow(30)                        # time limit for every step
PAUSE = 0.02


def last_value(function, wanted, limit, pause):
    """Calls the function until its value is as true or false as wanted."""
    end = time.monotonic() + limit
    while bool(value := function()) != wanted and time.monotonic() < end:
        time.sleep(pause)
    return value


def holds(condition, limit=SHORT, pause=PAUSE):
    """Waits until the condition is true; returns its last value, which is false if it was late."""
    return last_value(condition, True, limit, pause)


def remains(what, limit=SHORT, pause=PAUSE):
    """The opposite: waits until nothing is left, and returns what is left in the end."""
    return last_value(what, False, limit, pause)


def until(condition, what, limit=SHORT, pause=PAUSE):
    """Waits until the condition is true, and returns its value; fails if it was late."""
    value = holds(condition, limit, pause)
    if not value:
        raise AssertionError(f"{what}: not within {limit} s")
    return value


def polls(pid):
    """Returns whether this process sleeps in poll() or ppoll(). The function that it sleeps in has
    the same name on every machine; the number of the system call has not, and is not shown in User
    Mode Linux."""
    with open(f"/proc/{pid}/stack", encoding="ascii") as file:
        return "do_sys_poll" in file.read()


def in_poll(process, limit):
    """Returns whether the process reached poll() or ppoll() in time. By then smcat has checked what
    was there before."""
    return holds(lambda: process.poll() is not None or polls(process.pid), limit) and \
        process.poll() is None
