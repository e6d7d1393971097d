# SPDX-License-Identifier: GPL-2.0
"""The one bad end of a guest that is not the fault of what ran in it, and the words for it."""
import re

EMULATOR = "fail: the emulator broke down"


def emulator_broke_down(console):
    """Whether a kernel died of what no processor does. Two faults of QEMU 7.2 are known. It loses
    flags, so that bits are set which are always 0. And it translates code without a lock
    on its page (until 8.1): a breakpoint that another processor takes away at that moment, as the
    kernel does when it patches a branch, is hit later although it is not there any more."""
    flags = re.search(r" EFLAGS: ([0-9a-f]{8})$", console, re.MULTILINE)
    if flags and int(flags[1], 16) & 0xffc08028:
        return True
    died_of = re.search(r"BUG: |Oops: (int3: )?|general protection", console)
    code = re.search(r" Code: .*([0-9a-f]{2}) <[0-9a-f]{2}>", console)
    return bool(died_of and died_of[1] and code and code[1] != "cc")
