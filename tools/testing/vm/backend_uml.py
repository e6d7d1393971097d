# SPDX-License-Identifier: GPL-2.0
"""A guest that is a process (User Mode Linux): the host's root over hostfs, output and verdict
through serial lines that are pipes."""
import contextlib
import os
import socket
import sys
import termios

import kernel as kernels
from backend import Guest

# A transfer at full speed must not find the other one's queue full.
SEND_BUFFER = 4 << 20


class UmlGuest(Guest):
    FINDS = "export SMC_OUTPUT=/dev/ttyS0 SMC_VERDICT=/dev/ttyS1 SMC_CONSOLE=/dev/tty0\n"
    STDERR = "console.log"

    @staticmethod
    @contextlib.contextmanager
    def cables(args):
        """A pair of sockets for each link; this program needs them no longer than the guests."""
        links = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
                 for _ in range(args.nics if args.vms > 1 else 0)]
        for end in sum(links, ()):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        try:
            yield links
        finally:
            for end in sum(links, ()):
                end.close()

    def inherited(self, cables):
        return [link[self.index - 1].fileno() for link in cables]

    def command(self, cables, out, word):
        args = self.args
        console = "con0=fd:0,fd:1" if args.shell and self.index == 1 else "con0=null,fd:1"
        return [self.kernel.image, f"mem={args.mem}M", "rootfstype=hostfs", "rootflags=/", "ro",
                f"init={kernels.HERE}/init_uml", "quiet", "panic=1", "oops=panic", "noreboot",
                "log_buf_len=4M", "random.trust_cpu=on", "con=null", console, "ssl=null",
                f"ssl0=null,fd:{out}", f"ssl1=null,fd:{word}",
                *(["time-travel"] if args.virtual_time else []),
                *(f"vec{nic}:transport=fd,fd={fd},mac=52:54:00:12:34:{nic}{self.index}"
                  for nic, fd in enumerate(self.inherited(cables))),
                *args.append.split(), f"results_on_host={self.results}"]

    def wait_for_shell(self):
        terminal = sys.stdin.fileno() if sys.stdin.isatty() else None
        modes = terminal is not None and termios.tcgetattr(terminal)
        try:
            self.process.wait()
        finally:
            if modes:
                termios.tcsetattr(terminal, termios.TCSANOW, modes)
