# SPDX-License-Identifier: GPL-2.0
"""Chooses the QEMU that a guest runs under, and the processor model.

The choice is the QEMU of backports (vm/qemu), or Debian 12's QEMU 7.2. 7.2 is used if the other one
is not available, if SMC_QEMU=7.2 asks for it, and for runs that count instructions, because the
figures and targets of `make bench` are those of 7.2 and its processor model."""
import os
import re
import shutil
import subprocess
import sys

import kernel as kernels

MODEL = "max,-erms,-fsrm"
KVM_SECONDS = 10	# time for a guest to come up, to show that KVM works here
KVM_KNOWN = f"{kernels.CACHE}/kvm"


class Emulator:
    """command: starts it; model: of the processor; faulty: it breaks down now and then."""

    def __init__(self, command, version, model):
        self.command, self.version, self.model = command, version, model
        self.faulty = faulty(version)
        self.kvm = False
        self.name = f"QEMU {version}, -cpu {model}"

    def try_kvm(self, kernel, initrd):
        """Uses KVM if it works. ACCEL=tcg turns it off, ACCEL=kvm uses it without a trial."""
        wish = os.environ.get("ACCEL")
        self.kvm = wish == "kvm" or (wish != "tcg" and kvm_works(self, kernel, initrd))
        if self.kvm:
            self.name = f"QEMU {self.version}, KVM"


class Process:
    """No emulator: the kernel is a process of the host."""
    name = "User Mode Linux"


def faulty(version):
    return int(version.partition(".")[0] or 0) < 8


def kvm_known():
    """Returns the result of the trial on this machine: "works", "does not work", or nothing yet."""
    return kernels.read(KVM_KNOWN).decode() if os.path.exists(KVM_KNOWN) else ""


def kvm_works(emulator, kernel, initrd):
    """Returns whether a guest comes up under KVM, which is tried once per machine. The existence of
    the device proves little: if this machine is itself virtual, a guest may hang in its first
    instructions."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    if not kvm_known():
        print(f"Trying KVM, once for this machine (at most {KVM_SECONDS} s)", flush=True)
        # The init of this guest complains that there is no root, and ends the guest.
        command = [*emulator.command, "-accel", "kvm", "-cpu", "host", "-m", "512", "-display",
                   "none", "-nodefaults", "-no-user-config", "-no-reboot", "-kernel", kernel.image,
                   "-initrd", initrd, "-append", "console=ttyS0 panic=1", "-serial", "stdio"]
        try:
            said = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=KVM_SECONDS,
                                  check=False).stdout
        except subprocess.TimeoutExpired as late:
            said = late.stdout or b""
        with open(KVM_KNOWN, "w", encoding="ascii") as known:
            known.write("works" if b"vm: init:" in said else "does not work")
    return kvm_known() == "works"


def version_of(command):
    said = kernels.output_of(*command, "--version")
    return (re.search(r"version (\S+)", said) or ["", ""])[1]


def output_line(*argv):
    """Returns what a preparing program prints, or nothing if it fails; it has then printed the
    reason."""
    got = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
    return "" if got.returncode else got.stdout.strip()


def firmware(root):
    """Searches the firmware of backports first. Files that the machine already has were not fetched
    again."""
    return [word for of in (root, "") for data in ("share/qemu", "share/seabios", "lib/ipxe/qemu")
            for word in ("-L", f"{of}/usr/{data}")]


def of_backports(machine="x86_64"):
    """Returns the QEMU of backports, fetched if necessary, or None."""
    root = output_line(f"{kernels.HERE}/qemu", machine)
    if not root:
        return None
    command = ["env", f"LD_LIBRARY_PATH={root}/usr/lib/x86_64-linux-gnu",
               f"{root}/usr/bin/qemu-system-{machine}"]
    return Emulator(command + firmware(root), version_of(command), MODEL)


def with_models():
    """Returns a QEMU with the device models of tools/testing/qemu, built if necessary."""
    built = output_line(f"{kernels.HERE}/../qemu/build")
    if not built:
        raise kernels.Error("QEMU with models of devices did not build")
    command = [f"{built}/qemu-system-x86_64"]
    root = output_line(f"{kernels.HERE}/qemu")
    return Emulator(command + firmware(root), version_of(command), MODEL)


# Architectures that cannot run the host's programs: QEMU's name for the processor, and its model.
# Real pointer authentication would take the emulator longer than everything else. A 32-bit kernel
# complains about two AMD processors, because the first AMD models did not support that.
FOREIGN = {"s390x": ("s390x", "max"), "arm64": ("aarch64", "max,pauth-impdef=on"),
           "i386": ("x86_64", f"{MODEL},vendor=GenuineIntel")}


def for_foreign(machine):
    """Returns the QEMU of backports only: nothing else here needs Debian's package of 7.2 for
    it."""
    processor, model = FOREIGN[machine]
    found = of_backports(processor)
    if not found:
        raise kernels.Error(f"there is no QEMU for {machine}")
    found.model = model
    found.name = f"QEMU {found.version}, {machine}"
    return found


def choose(icount):
    wanted = os.environ.get("SMC_QEMU", "7.2" if icount else "")
    if wanted not in ("", "7.2"):
        raise kernels.Error(f"SMC_QEMU is \"{wanted}\"; it can be 7.2")
    found = None if wanted else of_backports()
    if found:
        return found
    if not shutil.which("qemu-system-x86_64"):
        raise kernels.Error("qemu-system-x86_64 is missing (apt-get install qemu-system-x86)")
    version = version_of(["qemu-system-x86_64"])
    # With several processors 7.2 sometimes loses the flags in cmpxchg16b, which the slab allocator
    # uses if it exists: EFLAGS then contain half a pointer, and the guest dies.
    model = MODEL if icount or not faulty(version) else f"{MODEL},-cx16"
    if not wanted:
        print(f"WARNING: no QEMU of backports: this guest runs under QEMU {version}, which takes "
              "twice the time and breaks down now and then", file=sys.stderr, flush=True)
    return Emulator(["qemu-system-x86_64"], version, model)
