# SPDX-License-Identifier: GPL-2.0
"""For tests: when a program of ours has begun to wait."""
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


def in_poll(process, seconds):
    """Whether it came to poll() or ppoll() in time: smcat has looked then what is there before."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        if polls(process.pid):
            return True
        time.sleep(0.05)
    return False
