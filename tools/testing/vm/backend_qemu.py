# SPDX-License-Identifier: GPL-2.0
"""A guest in QEMU: the host's root over 9p, output and verdict through ports of virtio-serial."""
import contextlib
import os
import shlex
import subprocess
import tempfile
import time

import kernel as kernels
from backend import PLACE, TOP, Guest
from verdict import EMULATOR, emulator_broke_down

# Only the guest knows how its kernel names the ports.
FINDS = """for port in /sys/class/virtio-ports/*/name; do
	case $(< "$port") in
	smc.output)	port=${port%/name}; export SMC_OUTPUT=/dev/${port##*/} ;;
	smc.verdict)	port=${port%/name}; export SMC_VERDICT=/dev/${port##*/} ;;
	esac
done
"""


# The size of a virtio-ism device's window, in bytes
WINDOW = 512 << 20


def for_qemu(path):
    """Escapes commas, because a comma ends a value in QEMU's options."""
    return path.replace(",", ",,")


def ivshmem_arguments(path):
    """Returns the arguments as the documentation gives them (admin/pages.py compares them)."""
    return ["-chardev", f"socket,path={path},id=ism",
            "-device", "ivshmem-doorbell,chardev=ism,vectors=1"]


@contextlib.contextmanager
def ivshmem_server(args, sockets):
    """Starts the server from which guests get their shared memory."""
    if not args.ism:
        yield
        return
    subprocess.run(["make", "-s", "-C", f"{TOP}/tools/ivshmem"], check=True)
    path = f"{sockets}/ivshmem"
    server = subprocess.Popen([f"{TOP}/build/tools/smc-ivshmem-server", "-F", "-S", path,
                               "-l", f"{args.ism}M"], preexec_fn=os.setsid)
    try:
        while not os.path.exists(path):
            if server.poll() is not None:
                raise RuntimeError("smc-ivshmem-server has ended")
            time.sleep(0.01)
        yield
    finally:
        server.kill()
        server.wait()


@contextlib.contextmanager
def virtio_ism_files(args, sockets):
    """Creates the directory of files that guests with a virtio-ism device share as memory."""
    if not args.ism_virtio:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="smc-ism-", dir="/dev/shm") as files:
        os.symlink(files, f"{sockets}/ism")
        yield


@contextlib.contextmanager
def icrc_relay(args, sockets):
    """Starts vm/icrc-relay, which guests of different byte orders need between them."""
    if not args.relay:
        yield
        return
    with subprocess.Popen(["setpriv", "--pdeathsig", "KILL", f"{kernels.HERE}/icrc-relay", sockets,
                           str(args.nics)], stdout=subprocess.PIPE, preexec_fn=os.setsid) as relay:
        try:
            if relay.stdout.readline() != b"ready\n":
                raise RuntimeError("icrc-relay has ended")
            yield
        finally:
            relay.kill()


class Machine:
    """The properties that depend on the architecture. bus: of virtio devices; console: its name in
    the guest."""

    def __init__(self, bus, console, arguments, line):
        self.bus, self.console, self.arguments, self.line = bus, console, arguments, line


PC = Machine("pci", "ttyS0", [], "mitigations=off no_timer_check ")
FOREIGN = {"s390x": Machine("ccw", "ttysclp0", ["-machine", "s390-ccw-virtio"], ""),
           "arm64": Machine("pci", "ttyAMA0", ["-machine", "virt"], "mitigations=off "),
           "i386": PC}
# The options of the file systems that only a guest with its own root has
NINEP = "trans=virtio,version=9p2000.L,msize=512000,ro,cache=loose"


class QemuGuest(Guest):
    STDERR = "qemu.log"

    @property
    def machine(self):
        return FOREIGN.get(self.kernel.machine, PC)

    @property
    def FINDS(self):
        return f"{FINDS}export SMC_CONSOLE=/dev/{self.machine.console}\n"

    def mounts(self):
        """A guest that cannot run the host's programs has its own root. The tree is mounted there,
        with the programs that vm/foreign-programs builds in place of the host's."""
        machine = self.kernel.machine
        if not machine:
            return super().mounts()
        places = (("tree", PLACE), ("modules", f"/lib/modules/{self.kernel.version}"))
        lines = "".join(f"mkdir -p {place}\nbusybox mount -t 9p -o {NINEP} {tag} {place}\n"
                        for tag, place in places)
        for ours in ("tools", "selftests"):
            if os.path.isdir(f"{TOP}/build/{machine}/{ours}"):
                os.makedirs(f"{TOP}/build/{ours}", exist_ok=True)
                lines += f"busybox mount --bind {PLACE}/build/{machine}/{ours} {PLACE}/build/{ours}\n"
        return lines

    def shared(self):
        """Returns the arguments for the directories of the host that the guest sees."""
        kernel, fixed = self.kernel, ",readonly=on,multidevs=remap"
        places = [("root", kernel.root, fixed)]
        if kernel.machine:
            places += [("tree", TOP, fixed), ("modules", kernel.modules, fixed)]
        places.append(("results", self.results, ""))
        for tag, path, more in places:
            yield from ("-virtfs", f"local,path={for_qemu(path)},mount_tag={tag},"
                        f"security_model=none{more}")

    @staticmethod
    @contextlib.contextmanager
    def cables(args):
        """Creates a directory for sockets. The path of a unix socket must be short, and
        build/vm/... may be too long."""
        with tempfile.TemporaryDirectory(prefix="smc-vm-") as sockets:
            if args.shell and args.vms > 1:
                print(f"The second guest is at: socat -,raw,echo=0,escape=0x1d "
                      f"UNIX-CONNECT:{sockets}/console", flush=True)
            with ivshmem_server(args, sockets), virtio_ism_files(args, sockets), \
                    icrc_relay(args, sockets):
                yield sockets

    def accelerator(self):
        args, model = self.args, self.kernel.emulator.model
        if args.icount:
            return ["-accel", "tcg", "-icount", "shift=0,sleep=off", "-cpu", model, "-smp", "1"]
        if self.kernel.emulator.kvm:
            return ["-accel", "kvm", "-cpu", "host", "-smp", str(args.smp)]
        return ["-accel", "tcg,thread=multi", "-cpu", model, "-smp", str(args.smp)]

    def image(self):
        # Runs that count instructions start in the same way as when the targets were measured.
        return self.kernel.image if self.args.icount else kernels.unpacked(self.kernel)

    def command(self, cables, out, word):
        args, machine = self.args, self.machine
        line = (f"console={machine.console} quiet panic=1 oops=panic {machine.line}log_buf_len=4M "
                f"random.trust_cpu=on {args.append}")
        console = f"file,id=con,path={for_qemu(self.directory)}/console.log"
        if args.shell:
            console = "stdio,id=con,signal=off" if self.index == 1 else \
                f"socket,id=con,path={cables}/console,server=on,wait=off"
        command = [*self.kernel.emulator.command, *machine.arguments, *self.accelerator(),
                   "-m", str(args.mem), "-display", "none", "-nodefaults", "-no-user-config",
                   "-no-reboot", "-kernel", self.image(),
                   "-initrd", kernels.initramfs(self.kernel, f"{TOP}/build/vm"), "-append", line,
                   "-chardev", console, "-serial", "chardev:con", *self.shared(),
                   "-device", f"virtio-serial-{machine.bus}",
                   "-chardev", "file,id=out,path=/dev/fdset/1,append=on",
                   "-device", "virtserialport,chardev=out,name=smc.output",
                   "-chardev", "file,id=word,path=/dev/fdset/2,append=on",
                   "-device", "virtserialport,chardev=word,name=smc.verdict",
                   "-add-fd", f"fd={out},set=1", "-add-fd", f"fd={word},set=2"]
        command += shlex.split(args.qemu.replace("{index}", str(self.index)))
        if args.ism:
            command += ivshmem_arguments(f"{cables}/ivshmem")
        if args.ism_virtio:
            command += self.virtio_ism(cables)
        for nic in range(args.nics if args.vms > 1 else 0):
            mine, peer = f"{cables}/{nic}.{self.index}", f"{cables}/{nic}.{3 - self.index}"
            if args.relay:
                peer = f"{cables}/relay.{nic}.{self.index}"
            # Not a TCP socket of the host, because its delays would show up in the guests.
            command += ["-netdev", f"dgram,id=n{nic},local.type=unix,remote.type=unix,"
                        f"local.path={mine},remote.path={peer}", "-device",
                        f"virtio-net-{machine.bus},netdev=n{nic},"
                        f"mac=52:54:00:12:34:{nic}{self.index}"]
        return command

    def ism_device(self, cables):
        """Sets a window that fits below 4 GiB when the device is plugged in again. The place that
        the firmware found for the first one is reserved, as on an AMD processor."""
        form = self.args.ism_virtio
        return f"dir={cables}/ism,shm_size={WINDOW},form={form}" if form else ""

    def virtio_ism(self, sockets):
        """Returns the arguments for the device, and for a port to the guest's own QEMU (QMP),
        through which the guest unplugs the device."""
        monitor = f"{sockets}/monitor.{self.index}"
        return ["-device", f"virtio-ism-pci-non-transitional,id=ism,{self.ism_device(sockets)}",
                "-chardev", f"socket,id=mon,path={monitor},server=on,wait=off",
                "-mon", "chardev=mon,mode=control",
                "-chardev", f"socket,id=qmp,path={monitor}",
                "-device", "virtserialport,chardev=qmp,name=smc.monitor"]

    def panicked(self, console):
        broke = self.kernel.emulator.faulty and emulator_broke_down(console, self.read("output.log"))
        return EMULATOR if broke else "fail: kernel panic"
