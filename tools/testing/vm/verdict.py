# SPDX-License-Identifier: GPL-2.0
"""The messages of kernels in trouble, and the only bad end of a guest that is not the fault of the
code in it. Only the fall-back emulator causes this end."""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
EMULATOR = "fail: the emulator broke down"


def complaints():
    """Returns one regex for everything in complaints.h."""
    with open(f"{HERE}/../selftests/smc/lib/complaints.h", encoding="utf-8") as lines:
        return re.compile("|".join(re.findall(r'^COMPLAINT\("(.*)"\)$', lines.read(), re.MULTILINE)))


def emulator_broke_down(console, said):
    """Returns whether a kernel died of something that no processor does. Two faults of QEMU 7.2 are
    known. It loses flags, which sets bits that are always 0. And until 8.1 it translates code
    without a lock on its page: if another processor removes a breakpoint at that moment, as the
    kernel does when it patches a branch, the removed breakpoint is still hit later.

    Returns False if anything went wrong before: a test that failed, or a complaint of the
    kernel."""
    died_of = re.search(r"BUG: |Oops: (int3: )?|general protection", console)
    first = complaints().search(console)
    if re.search(r"^not ok", said, re.MULTILINE) or not died_of or "KASAN" in console or \
            first and first.start() < died_of.start():
        return False
    flags = re.search(r" EFLAGS: ([0-9a-f]{8})$", console, re.MULTILINE)
    if flags and int(flags[1], 16) & 0xffc08028:
        return True
    code = re.search(r" Code: .*([0-9a-f]{2}) <[0-9a-f]{2}>", console)
    return bool(died_of[1] and code and code[1] != "cc")
