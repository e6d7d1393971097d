# SPDX-License-Identifier: GPL-2.0
"""Which QEMU a guest runs under, and with which model of a processor.

That of backports (vm/qemu), or that of Debian 12, 7.2, where the other one cannot be had, where
SMC_QEMU=7.2 asks for it, and for what counts instructions: the figures and targets of `make bench`
are those of 7.2 and of its processor."""
import os
import re
import shutil
import subprocess
import sys

import kernel as kernels

MODEL = "max,-erms,-fsrm"
KVM_SECONDS = 10	# in which a guest must be up to show that KVM works here
KVM_KNOWN = f"{kernels.CACHE}/kvm"


class Emulator:
    """command: how it starts; model: of the processor; faulty: it breaks down now and then."""

    def __init__(self, command, version, model):
        self.command, self.version, self.model = command, version, model
        self.faulty = faulty(version)
        self.kvm = False
        self.name = f"QEMU {version}, -cpu {model}"

    def try_kvm(self, kernel, initrd):
        """Uses KVM where it works. ACCEL=tcg says no, ACCEL=kvm yes without a trial."""
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
    """What the trial on this machine has shown: "works", "does not work", or nothing yet."""
    return kernels.read(KVM_KNOWN).decode() if os.path.exists(KVM_KNOWN) else ""


def kvm_works(emulator, kernel, initrd):
    """Whether a guest comes up under KVM. That the device is there says little: where this
    machine is a virtual one itself, a guest may hang in its first instructions. Tried once per
    machine."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    if not kvm_known():
        print(f"Trying KVM, once for this machine (at most {KVM_SECONDS} s)", flush=True)
        # Its init complains that there is no root, and ends the guest.
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
    """What a program that prepares something prints, or nothing if it fails and has said why."""
    got = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
    return "" if got.returncode else got.stdout.strip()


def firmware(root):
    """That of backports first; what the machine has already was not fetched again."""
    return [word for of in (root, "") for data in ("share/qemu", "share/seabios", "lib/ipxe/qemu")
            for word in ("-L", f"{of}/usr/{data}")]


def of_backports(machine="x86_64"):
    """That of backports, fetched if need be; or None."""
    root = output_line(f"{kernels.HERE}/qemu", machine)
    if not root:
        return None
    command = ["env", f"LD_LIBRARY_PATH={root}/usr/lib/x86_64-linux-gnu",
               f"{root}/usr/bin/qemu-system-{machine}"]
    return Emulator(command + firmware(root), version_of(command), MODEL)


def with_models():
    """One with the device models of tools/testing/qemu, built if need be."""
    built = output_line(f"{kernels.HERE}/../qemu/build")
    if not built:
        raise kernels.Error("QEMU with models of devices did not build")
    command = [f"{built}/qemu-system-x86_64"]
    root = output_line(f"{kernels.HERE}/qemu")
    return Emulator(command + firmware(root), version_of(command), MODEL)


# Machines that the host's programs do not run on: QEMU's name for the processor, and its model.
# Signing pointers as real processors do it would take the emulator longer than all the rest. A
# 32-bit kernel complains about two processors of AMD, whose first ones were not made for that.
FOREIGN = {"s390x": ("s390x", "max"), "arm64": ("aarch64", "max,pauth-impdef=on"),
           "i386": ("x86_64", f"{MODEL},vendor=GenuineIntel")}


def for_foreign(machine):
    """That of backports only: nothing else here needs the package of 7.2."""
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
    # With several processors 7.2 loses the flags now and then in cmpxchg16b, which the slab
    # allocator uses where there is one: EFLAGS have half a pointer afterwards, the guest dies.
    model = MODEL if icount or not faulty(version) else f"{MODEL},-cx16"
    if not wanted:
        print(f"WARNING: no QEMU of backports: this guest runs under QEMU {version}, which takes "
              "twice the time and breaks down now and then", file=sys.stderr, flush=True)
    return Emulator(["qemu-system-x86_64"], version, model)
