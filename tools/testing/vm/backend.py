# SPDX-License-Identifier: GPL-2.0
"""The code that all kinds of guests share: job, output, verdict, end."""
import contextlib
import fcntl
import os
import shlex
import shutil
import subprocess
import sys
import termios

import kernel as kernels
from verdict import complaints

TOP = os.path.abspath(f"{kernels.HERE}/../../..")
# Where a guest sees the tree, wherever it is on the host. Tests that run as another user must be
# able to read it, even if it is in root's home directory on the host.
PLACE = "/run/smc"


def in_guest(text):
    """Returns a path of the host as the guest sees it, or any other text unchanged."""
    return PLACE + text[len(TOP):] if text == TOP or text.startswith(f"{TOP}/") else text


class Guest:
    """A running kernel. A back-end adds how it starts and how to connect to it:

    FINDS       lines of shell with which the guest finds SMC_OUTPUT and SMC_VERDICT, the files to
                write its output and its verdict to, and SMC_CONSOLE, the terminal of a shell
    command()   the program and its arguments; out and word are the ends of the pipes to write to
    cables()    a context that creates the links between two guests, in the form for command()
    """
    FINDS = ""

    def __init__(self, args, kernel, index, directory, cables, life=1, peer=None):
        """life: counts the guests in this place. peer: its id among those that share memory, unless
        something else assigns the id."""
        self.args, self.kernel, self.index, self.life, self.peer = args, kernel, index, life, peer
        self.place, self.wires = directory, cables
        self.directory = f"{directory}/{index}{f'.{life}' if life > 1 else ''}" \
            if args.vms > 1 else directory
        self.results = f"{self.directory}/results"
        self.prefix = args.prefix + (f"[{index}] " if args.vms > 1 else "")
        self.verdict, self.late, self.process, self.rest = "", "", None, b""
        self.stopped_until = 0
        shutil.rmtree(self.results, ignore_errors=True)
        os.makedirs(self.results)
        self.write_job(cables)
        self.log = open(f"{self.directory}/output.log", "wb")
        self.out_pipe, out = os.pipe()
        # A guest must not have to wait for us, which would be an event that no seed decides.
        fcntl.fcntl(out, fcntl.F_SETPIPE_SZ, 1 << 20)
        self.verdict_pipe, word = os.pipe()
        self.start(self.command(cables, out, word), (out, word, *self.inherited(cables)))
        os.close(out)
        os.close(word)

    def command(self, cables, out, word):
        raise NotImplementedError

    def inherited(self, cables):
        """Returns further file descriptors that the guest's process needs."""
        return ()

    def ism_arguments(self, _cables):
        """Returns the parameters for the driver of an ISM device, if the guest has one."""
        return ""

    def mounts(self):
        """Returns lines of shell that put the tree and the modules into their places in the
        guest."""
        version, modules = self.kernel.version, self.kernel.modules
        lines = f"mkdir -p {PLACE}\nmount --bind {shlex.quote(TOP)} {PLACE}\n"
        if os.path.realpath(modules) != os.path.realpath(f"/lib/modules/{version}"):
            lines += (f"mkdir -p /lib/modules/{version}\n"
                      f"mount --bind {shlex.quote(modules)} /lib/modules/{version}\n")
        return lines

    def ism_device(self, _cables):
        """Returns the properties of a device that can be unplugged and plugged in again."""
        return ""

    def write_job(self, cables):
        """Writes the file that the guest's bash reads first: the environment, then the script."""
        args, kernel = self.args, self.kernel
        built = f"{TOP}/build/{kernel.version}{args.variant}"
        size = os.get_terminal_size() if args.shell and sys.stdout.isatty() else (80, 24)
        environment = {k: v for k, v in os.environ.items()
                       if k.startswith("SMC_") or k in ("CI", "TERM", "LANG")}
        environment |= {
            "KVER": kernel.version, "SMC_ROOT": TOP, "SMC_RESULTS": "/run/results",
            "SMC_KO": kernels.copy_module(f"{built}/smc.ko", f"{self.directory}/smc.ko"),
            "SMC_DIAG_KO": kernels.copy_module(f"{built}/smc_diag.ko",
                                               f"{self.directory}/smc_diag.ko"),
            "SMC_VM_INDEX": str(self.index), "SMC_VMS": str(args.vms), "SMC_VM_LIFE": str(self.life),
            "SMC_VM_MTU": str(args.mtu), "SMC_VM_STTY": f"cols {size[0]} rows {size[1]}",
            "SMC_SEED": args.seed,
        }
        if args.ism or args.ism_model or args.ism_virtio:
            name = "smc_ism_pci.ko" if args.ism_model else \
                "smc_ism_virtio.ko" if args.ism_virtio else "smc_ism_ivshmem.ko"
            environment |= {
                "SMC_ISM_FORM": args.ism_virtio.partition(",")[0],
                "SMC_ISM_DEVICE": self.ism_device(cables),
                "SMC_ISM_KO": kernels.copy_module(f"{built}/{name}", f"{self.directory}/{name}"),
                "SMC_ISM_ARGS": self.ism_arguments(cables),
            }
        with open(f"{self.results}/job", "w", encoding="utf-8") as job:
            for name, value in environment.items():
                job.write(f"export {name}={shlex.quote(in_guest(value))}\n")
            job.write(self.FINDS + self.mounts())
            job.write(f"exec /bin/bash {in_guest(kernels.HERE)}/guest "
                      f"{shlex.join(map(in_guest, args.script))}\n")

    def bury(self):
        """Does what the host does for others that share memory with a machine that has ended."""

    def successor(self, peer=None):
        """Returns another guest in its place. This guest ends without notice, as in a power
        failure."""
        self.kill()
        self.bury()
        os.close(self.out_pipe)
        os.close(self.verdict_pipe)
        return type(self)(self.args, self.kernel, self.index, self.place, self.wires, self.life + 1,
                          peer)

    def start(self, command, inherited):
        # When this program dies, for whatever reason, the guest dies, too.
        command = ["setpriv", "--pdeathsig", "KILL", *command]
        # A shell needs the terminal, and a session of its own would not be in the foreground.
        foreground = self.args.shell and self.index == 1
        with open(f"{self.directory}/process.log", "wb") as said, \
                open(f"{self.directory}/{self.STDERR}", "wb") as errors:
            said.write(shlex.join(command).encode() + b"\n")
            self.process = subprocess.Popen(
                command, pass_fds=inherited, stderr=errors,
                stdin=None if foreground else subprocess.DEVNULL,
                stdout=None if foreground else errors,
                preexec_fn=None if foreground else os.setsid)
        self.in_group = not foreground
        if self.in_group:
            self.set_share()
        with open(f"{self.directory}/guest.pid", "w", encoding="ascii") as pid:
            pid.write(f"{self.process.pid}\n")

    def set_share(self):
        """Sets the share of processor time with SMC_NICE; a session has the share of one process
        (sched(7), autogroup). The share is less than the usual one. Otherwise a sequential program,
        such as a build, would have to wait for each of many guests."""
        with contextlib.suppress(OSError), open(f"/proc/{self.process.pid}/autogroup", "w",
                                                encoding="ascii") as nice:
            nice.write(os.environ.get("SMC_NICE", "5"))

    def wait_for_shell(self):
        """Waits, then restores the terminal: the guest leaves it in raw mode when it is killed."""
        terminal = sys.stdin.fileno() if sys.stdin.isatty() else None
        modes = terminal is not None and termios.tcgetattr(terminal)
        try:
            self.process.wait()
        finally:
            if modes:
                termios.tcsetattr(terminal, termios.TCSANOW, modes)

    def got_output(self, data):
        """Passes on whole lines only, so that the output of two guests never shares a line."""
        self.log.write(data)
        self.log.flush()
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            print(self.prefix + line.decode(errors="replace").rstrip("\r"), flush=True)

    def say_where(self):
        """Makes a kernel that hangs print what it waits for on its console, if that is possible."""

    def panicked(self, _console):
        return "fail: kernel panic"

    def outcome(self):
        if self.verdict:
            return self.verdict.strip()
        console = self.console()
        if "Kernel panic" in console and not self.late:
            return self.panicked(console)
        # The guest could no longer check its log.
        complained = "the kernel complained, see console.log; " if complaints().search(console) else ""
        return f"fail: {complained}{self.late or 'the guest ended without a verdict'}"

    def read(self, name):
        try:
            with open(f"{self.directory}/{name}", errors="replace", encoding="utf-8") as log:
                return log.read()
        except FileNotFoundError:
            return ""

    def console(self):
        return self.read("console.log")

    def last_words(self):
        """Returns the console from the first complaint of a dying kernel on, or the end of the
        console."""
        lines = self.console().splitlines()
        bad = complaints()
        dying = [n for n, line in enumerate(lines) if bad.search(line)]
        return lines[max(0, dying[0] - 3):dying[0] + 60] if dying else lines[-15:]

    def kill(self):
        if self.in_group:
            # The processes of User Mode Linux are processes of the host, too.
            try:
                os.killpg(self.process.pid, 9)
            except ProcessLookupError:
                pass
        elif self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        # Waits for the rest of its group, which run adopts: only processes that were waited for
        # count as processor time.
        with contextlib.suppress(ChildProcessError):
            while self.in_group:
                os.waitpid(-self.process.pid, 0)
        # Its last output is still in the pipe.
        while data := os.read(self.out_pipe, 65536):
            self.got_output(data)
        os.unlink(f"{self.directory}/guest.pid")
        if self.rest:
            self.got_output(b"\n")
        self.log.close()
