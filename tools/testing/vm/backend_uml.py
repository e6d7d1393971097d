# SPDX-License-Identifier: GPL-2.0
"""A guest in User Mode Linux: the host's root over hostfs, output and verdict through serial lines
that are pipes."""
import contextlib
import mmap
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import tty

import kernel as kernels
from backend import Guest, TOP

# The other guest's queue must not fill up in a transfer at full speed.
SEND_BUFFER = 4 << 20
# The window of a virtio-ism device
VIRTIO_MIB = 256
# A second guest makes other decisions than the first one.
SECOND_SEED = 1 << 32
# When a run from a seed begins, in ns: in 2027
SEED_START = 1800000000 * 10**9
# The id of a PCI device that is another program, as in um.config
PCI_OVER_VIRTIO = 1234
# A request of the management console: magic, version, length, command
MCONSOLE = "=IIi512s", 0xcafebabe, 2


class Cables:
    """The resources that guests share: a socket pair for each link. With --ism also a file as
    shared memory, and a pipe for each guest as its doorbell; with --ism-peers also a program that
    takes part. With --ism-virtio only the file; with --ism-model a program that acts as a PCI
    device of each guest. If their runs follow from a seed, one socket pair is for all links and
    for the doorbells."""

    def __init__(self, args):
        # seed/cable.c
        kind, count = (socket.SOCK_SEQPACKET, 1) if args.seed else (socket.SOCK_DGRAM, args.nics)
        self.links = [socket.socketpair(socket.AF_UNIX, kind)
                      for _ in range(count if args.vms > 1 else 0)]
        for end in sum(self.links, ()):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self.region, self.bells, self.model, self.peers = None, [], None, None
        if args.ism or args.ism_virtio:
            descriptor, self.region = tempfile.mkstemp(prefix="smc-ism-", dir="/dev/shm")
            os.truncate(descriptor, (args.ism or VIRTIO_MIB) << 20)
            os.close(descriptor)
        if args.ism and not args.seed:
            self.bells = [os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC) for _ in range(2)]
        if args.ism_peers:
            self.start_peers(f"{args.directory}/ism-peers.log")
        if args.ism_model:
            self.start_model(f"{args.directory}/ism-model.log")

    @staticmethod
    def build():
        built = subprocess.run(["make", "-s", "-C", f"{TOP}/tools/testing/ism"], check=False)
        if built.returncode:
            raise kernels.Error("the programs for ISM devices do not build")

    def start_peers(self, log):
        """Starts the peers; their input and output are connected to the first guest."""
        self.build()
        with open(log, "wb") as errors:
            self.peers = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", f"{TOP}/build/testing/ism-peers", self.region],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)

    def line(self, index):
        """Returns the ends of the pipes to the peers: the one that a guest reads, and the one that
        it writes."""
        ends = [self.peers.stdout, self.peers.stdin] if self.peers and index == 1 else []
        return [end.fileno() for end in ends]

    def start_model(self, log):
        """Starts the model, and waits until it reports that its sockets exist."""
        self.build()
        self.sockets = tempfile.mkdtemp(prefix="smc-ism-")
        with open(log, "wb") as errors:
            self.model = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", f"{TOP}/build/testing/ism-model", self.sockets],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)
        if self.model.stdout.readline() != b"ready\n":
            raise kernels.Error(f"the model of the ISM function does not start, see {log}")

    def doorbells(self, index):
        """Returns the pipe that a guest listens to, and the pipe that it rings."""
        return [self.bells[index - 1][0], self.bells[2 - index][1]] if self.bells else []

    def close(self):
        for end in sum(self.links, ()):
            end.close()
        for descriptor in sum(self.bells, ()):
            os.close(descriptor)
        if self.region:
            os.unlink(self.region)
        if self.peers:
            self.peers.kill()
            self.peers.wait()
        if self.model:
            self.model.kill()
            self.model.wait()
            shutil.rmtree(self.sockets, ignore_errors=True)


def release_slots(region, peer):
    """Does what smc-ivshmem-server does when a machine has ended: releases its slots. See
    Documentation/ism-ivshmem.md."""
    block, owner = 65536, struct.Struct("<QQ")
    with open(region, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        slots = struct.unpack_from("<Q", memory, 32)[0]
        for at in range(block, block * (1 + min(slots, 64)), block):
            if owner.unpack_from(memory, at)[0] & 0xffffffff == peer + 1:
                owner.pack_into(memory, at, 0, 0)


class UmlGuest(Guest):
    FINDS = "export SMC_OUTPUT=/dev/ttyS0 SMC_VERDICT=/dev/ttyS1 SMC_CONSOLE=/dev/tty0 " \
        "SMC_PEERS=/dev/ttyS2\n"
    STDERR = "console.log"
    terminal = ()

    @staticmethod
    @contextlib.contextmanager
    def cables(args):
        """Yields the cables; this program needs them only as long as the guests do."""
        cables = Cables(args)
        try:
            yield cables
        finally:
            cables.close()

    def nics(self, cables):
        return [link[self.index - 1].fileno() for link in cables.links]

    def inherited(self, cables):
        return self.nics(cables) + cables.doorbells(self.index) + cables.line(self.index) + \
            list(self.terminal[:1])

    def ism_arguments(self, cables):
        if cables.model:
            return ""
        if self.args.ism_virtio:
            return f"peer={self.index - 1} form={self.args.ism_virtio.partition(',')[0]}"
        doorbells = ",".join(map(str, cables.doorbells(self.index)))
        return f"peer={self.peer_id()}{doorbells and f' doorbell={doorbells}'}"

    def peer_id(self):
        return self.index - 1 if self.peer is None else self.peer

    def bury(self):
        if self.args.ism:
            release_slots(self.wires.region, self.peer_id())

    def command(self, cables, out, word):
        args = self.args
        # The path of a unix socket must be short, and build/vm/... may be too long.
        self.sockets = tempfile.mkdtemp(prefix="smc-vm-")
        console = "con0=null,fd:1"
        if args.shell:
            console = "con0=fd:0,fd:1" if self.index == 1 else self.open_terminal()
        # The addresses of the kernel and of its processes are part of a run from a seed.
        fixed = ["setarch", "-R"] if args.seed else []
        return [*fixed, "taskset", "-c", self.processor(), self.kernel.image, f"mem={args.mem}M",
                "rootfstype=hostfs", "rootflags=/", "ro", f"init={kernels.HERE}/init_uml", "quiet",
                "panic=1", "oops=panic", "noreboot",
                "log_buf_len=4M", "random.trust_cpu=on",
                f"uml_dir={self.sockets}", "umid=guest", "con=null", console, "ssl=null",
                f"ssl0=null,fd:{out}", f"ssl1=null,fd:{word}",
                *self.time_arguments(),
                *self.nic_arguments(cables),
                *([f"iomem=ism,{cables.region}"] if cables.region else []),
                *self.model_arguments(cables), *self.peers_arguments(cables),
                *args.append.split(), f"results_on_host={self.results}"]

    def nic_arguments(self, cables):
        ends = self.nics(cables)
        if self.args.seed:
            return [f"seed_cable={fd},{self.args.nics},{int(self.index == 1)}" for fd in ends]
        return [f"vec{nic}:transport=fd,fd={fd},mac=52:54:00:12:34:{nic}{self.index}"
                for nic, fd in enumerate(ends)]

    def time_arguments(self):
        """Returns what decides how time passes: the host's clock, the work that is done, or a
        seed (seed/seed.c)."""
        if self.args.seed:
            seed, comma, every = self.args.seed.partition(",")
            return ["time-travel=inf-cpu", f"time-travel-start={SEED_START}",
                    f"seed={int(seed) + (self.index - 1) * SECOND_SEED}{comma}{every}"]
        return ["time-travel"] if self.args.virtual_time else []

    def open_terminal(self):
        """Opens a terminal for the shell of a second guest. The other end stays open, even if
        programs there connect and disconnect."""
        self.terminal = list(os.openpty())
        tty.setraw(self.terminal[1])
        print("The second guest is at: socat -,raw,echo=0,escape=0x1d "
              f"{os.ttyname(self.terminal[1])}", flush=True)
        return "con0=" + ",".join([f"fd:{self.terminal[0]}"] * 2)

    def model_arguments(self, cables):
        """Raises the number of polls, 1 us apart, after which the guest considers its device
        broken. On a busy host the device may have to wait for long."""
        if not cables.model:
            return []
        return [f"virtio_uml.device={cables.sockets}/{self.index}:{PCI_OVER_VIRTIO}",
                "virt_pci.max_delay_us=100000000"]

    def peers_arguments(self, cables):
        ends = ",".join(f"fd:{end}" for end in cables.line(self.index))
        return [f"ssl2={ends}"] if ends else []

    def outcome(self):
        """Returns the outcome, which includes the complaints of the device model about the
        driver."""
        outcome = super().outcome()
        path = f"{self.args.directory}/ism-model.log"
        if outcome == "pass" and self.args.ism_model:
            with open(path, encoding="utf-8") as log:
                if f"host {self.index}: COMPLAINT" in log.read():
                    return f"fail: the model of the device complained, see {os.path.relpath(path)}"
        return outcome

    def processor(self):
        """Returns the only processor that the guest runs on. The kernel and its processes take
        turns, and waking the next one on another processor each time would double the cost. So do
        two guests that follow from a seed."""
        allowed = sorted(os.sched_getaffinity(0))
        other = 0 if self.args.seed else self.index - 1
        return str(allowed[(self.args.cpu + other) % len(allowed)])

    def say_where(self):
        """Prints the blocked tasks and the armed timers. It does not print all tasks, because this
        kernel crashes when it prints a worker."""
        form, magic, version = MCONSOLE
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.settimeout(5)
            try:
                sock.bind(f"{self.sockets}/runner")
                for command in (b"sysrq 9", b"sysrq w", b"sysrq q"):
                    sock.sendto(struct.pack(form, magic, version, len(command), command),
                                f"{self.sockets}/guest/mconsole")
                    sock.recv(4096)
                time.sleep(1)	# time to print before it dies
            except OSError as error:
                print(f"{self.prefix}# its management console: {error}", flush=True)

    def kill(self):
        super().kill()
        shutil.rmtree(self.sockets, ignore_errors=True)
