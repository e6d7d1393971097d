# SPDX-License-Identifier: GPL-2.0
"""For tests: wait for something to come true, such as a program of ours that begins to wait."""
import time


def polls(pid):
    """Whether this process sleeps in poll() or ppoll(). Not every kernel tells the system call;
    where it does not (User Mode Linux), the function that it sleeps in does."""
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            return file.read().split()[0] in ("7", "271")
    except FileNotFoundError:
        with open(f"/proc/{pid}/stack", encoding="ascii") as file:
            return "sys_poll" in file.read()


def comes_true(condition, seconds):
    """Whether the condition came true in time."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= until:
            return False
        time.sleep(0.02)
    return True


def in_poll(process, seconds):
    """Whether it came to poll() or ppoll() in time: smcat has looked then what is there before."""
    return comes_true(lambda: process.poll() is not None or polls(process.pid), seconds) and \
        process.poll() is None
