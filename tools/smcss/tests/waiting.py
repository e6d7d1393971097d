# SPDX-License-Identifier: GPL-2.0
"""For tests: when a program of ours has begun to wait."""
import time


def in_poll(process, seconds):
    """Whether it came to poll() or ppoll() in time: smcat has looked then what is there before."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        with open(f"/proc/{process.pid}/syscall", encoding="ascii") as file:
            if file.read().split()[0] in ("7", "271"):
                return True
        time.sleep(0.05)
    return False
