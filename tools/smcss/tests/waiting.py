# SPDX-License-Identifier: GPL-2.0
"""For tests: waits for a condition, such as that a program of ours has started to wait."""
import time


def polls(pid):
    """Returns whether this process sleeps in poll() or ppoll(). Not every kernel shows the system
    call. If it does not (User Mode Linux), the function that the process sleeps in is checked."""
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            return file.read().split()[0] in ("7", "271")
    except FileNotFoundError:
        with open(f"/proc/{pid}/stack", encoding="ascii") as file:
            return "sys_poll" in file.read()


def comes_true(condition, seconds):
    """Returns whether the condition came true in time."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= until:
            return False
        time.sleep(0.02)
    return True


def in_poll(process, seconds):
    """Returns whether the process reached poll() or ppoll() in time. By then smcat has checked what
    was there before."""
    return comes_true(lambda: process.poll() is not None or polls(process.pid), seconds) and \
        process.poll() is None
