# SPDX-License-Identifier: GPL-2.0
"""The faults of a virtio-ism device, and how its driver handles them. The device is the model of
tools/testing/qemu or, in UML, that of net/smc/drivers/virtio/uml.c."""
import contextlib
import glob
import json
import os
import struct

from lib import smc_netlink as netlink
from lib.slow import slow
from lib.wait import remains
from machine import run

MODULE = "smc_ism_virtio"
PARAMETERS = f"/sys/module/{MODULE}/parameters"
PCI_IDS = {"0x106b": "43", "0x106c": "44"}
REGISTER = 0xf0
NONE, FAIL, SILENT, SHORT, OUTSIDE, OVERLAP, GARBAGE, LATE = range(8)
ALLOC, ATTACH, DETACH = range(3)
MONITOR = "smc.monitor"
FORM = os.environ.get("SMC_ISM_FORM", "")


def is_process():
    """Is this kernel UML? There, the device has no bus."""
    return "peer=" in os.environ.get("SMC_ISM_ARGS", "")


def function():
    """Returns the directory of the PCI function, or None. The function may disappear meanwhile."""
    for path in glob.glob("/sys/bus/pci/devices/*/device"):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            if PCI_IDS.get(file.read().strip()) == FORM:
                return os.path.dirname(path)
    return None


def fault(kind, command=0):
    """Sets the fault, until the next call."""
    value = kind | command << 8
    if is_process():
        if os.path.exists(PARAMETERS):
            run(f"echo {value} > {PARAMETERS}/fault")
        return
    descriptor = os.open(f"{function()}/config", os.O_WRONLY)
    os.pwrite(descriptor, struct.pack("<I", value), REGISTER)
    os.close(descriptor)


def loses(kind):
    """Does the driver give up a device with this fault? In the first form, OUTSIDE only means full."""
    return kind not in (NONE, FAIL) and (kind != OUTSIDE or FORM == "44")


# ---- QEMU, from inside the guest

class Monitor:
    """The monitor of the QEMU that runs this machine."""

    def __init__(self):
        for name in glob.glob("/sys/class/virtio-ports/*/name"):
            with open(name, encoding="ascii") as file:
                if file.read().strip() == MONITOR:
                    self.port = os.open(f"/dev/{name.split('/')[-2]}", os.O_RDWR)
                    break
        else:
            raise RuntimeError("the monitor's port is missing")
        self.rest = b""

    def __enter__(self):
        self("qmp_capabilities")
        return self

    def __exit__(self, *_):
        os.close(self.port)

    def lines(self):
        while True:
            while b"\n" not in self.rest:
                self.rest += os.read(self.port, 4096)
            line, _, self.rest = self.rest.partition(b"\n")
            yield json.loads(line)

    def __call__(self, command, **arguments):
        """Returns QEMU's answer; skips events."""
        text = json.dumps({"execute": command, "arguments": arguments, "id": command})
        os.write(self.port, text.encode() + b"\n")
        return next(line for line in self.lines() if line.get("id") == command)


def unplug():
    if is_process():
        run(f"echo 0 > {PARAMETERS}/plugged")
        return
    with Monitor() as monitor:
        answer = monitor("device_del", id="ism")
    if remains(function, slow(20)):
        raise RuntimeError(f"the device was not removed: {answer}")


def plug():
    if is_process():
        run(f"echo 1 > {PARAMETERS}/plugged")
        return
    words = (word.split("=") for word in os.environ["SMC_ISM_DEVICE"].split(","))
    properties = {name: int(value) if value.isdigit() else value for name, value in words}
    with Monitor() as monitor:
        answer = monitor("device_add", driver="virtio-ism-pci-non-transitional", id="ism", **properties)
    if "error" in answer:
        raise RuntimeError(f"the device was not added: {answer}")


# ---- faults

def unload():
    """Unloads the driver as soon as the last connection has ended."""
    def still_loaded():
        run(f"rmmod {MODULE}", check=False)
        return os.path.exists(f"/sys/module/{MODULE}")

    if remains(still_loaded, slow(20), 0.2):
        raise RuntimeError(f"{MODULE} cannot be unloaded")


def load(parameters="", check=True):
    run(f"insmod $SMC_ISM_KO $SMC_ISM_ARGS $SMC_ISM_PARAMS {parameters}", check)


def mend(machine):
    fault(NONE)
    unload()
    load()
    machine.wait_for_device()


@contextlib.contextmanager
def keeping(machine):
    """A device that refuses to take anything back: its driver can still be unloaded."""
    machine.reload()
    try:
        yield
        fault(FAIL, DETACH)
        unload()
        load()
        machine.wait_for_device()
    finally:
        mend(machine)


def not_started(machine, _session):
    """The driver does not use a device that fails during its setup."""
    for kind in (FAIL, SILENT, SHORT, OUTSIDE, GARBAGE):
        unload()
        fault(kind, ALLOC)
        load(f"fault={kind}" if is_process() else "", check=False)
        if netlink.ism_devices():
            return f"the driver has a device despite fault {kind}"
        mend(machine)
    return ""


FAULTS = {	# name: (fault, command)
    "alloc_fails": (FAIL, ALLOC), "attach_fails": (FAIL, ATTACH), "silent": (SILENT, ALLOC),
    "late": (LATE, ATTACH), "short": (SHORT, ATTACH), "outside": (OUTSIDE, ALLOC),
    "attach_outside": (OUTSIDE, ATTACH), "overlap": (OVERLAP, ATTACH), "garbage": (GARBAGE, ALLOC),
}
