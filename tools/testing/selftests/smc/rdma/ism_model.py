# SPDX-License-Identifier: GPL-2.0
"""The faults of the model of IBM's ISM function, and how its driver handles them. The register is
described in tools/testing/ism/function.h."""
import contextlib
import os
import struct

from lib import smc_netlink as netlink
from lib.slow import slow
from lib.wait import holds
from machine import run

FUNCTION = "0000:00:00.0"
DRIVER = "/sys/bus/pci/drivers/smc_ism_pci"
REGISTER = 0x80
NONE, FAIL, SILENT, WRONG, STORM, DEAD, OLD, NETWORK = range(8)
# Commands, as net/smc/drivers/ism_pci/format.h has them
REGISTER_SBA, REGISTER_IEQ, READ_GID, ADD_VLAN = 0x01, 0x02, 0x03, 0x04
QUERY_GID, REGISTER_DMB, UNREGISTER_DMB, UNREGISTER_SBA, UNREGISTER_IEQ = 0x09, 0x0a, 0x0b, 0x11, 0x12
EVENTS = 20000


def fault(kind, argument=0):
    """Sets the fault, until the next call."""
    descriptor = os.open(f"/sys/bus/pci/devices/{FUNCTION}/config", os.O_WRONLY)
    os.pwrite(descriptor, struct.pack("<I", kind | argument << 8), REGISTER)
    os.close(descriptor)


def unbind(_machine):
    run(f"echo {FUNCTION} > {DRIVER}/unbind")


def unload():
    """Unloads the driver as soon as the last connection has ended."""
    if not holds(lambda: run("rmmod smc_ism_pci && echo gone", check=False).strip() == "gone",
                 slow(20), 0.2):
        raise RuntimeError("smc_ism_pci cannot be unloaded")


def reload(machine):
    unload()
    run("insmod $SMC_ISM_KO $SMC_ISM_ARGS $SMC_ISM_PARAMS")
    machine.wait_for_device()


def mend(machine):
    fault(NONE)
    reload(machine)


def storm(_machine):
    fault(STORM, EVENTS)


def die(_machine):
    fault(DEAD)


def calm(_machine):
    fault(NONE)


def loses(kind):
    """Does the driver give up a function with this fault?"""
    return kind != FAIL


def unwilling(kind, command):
    """Both functions refuse to release what they were given. Only the functions are lost."""
    @contextlib.contextmanager
    def around(machine):
        machine.reload()
        fault(kind, command)
        try:
            yield
            reload(machine)
        finally:
            mend(machine)
    return around


def not_started(machine, _session):
    """The driver does not use a function that fails during its setup."""
    for kind, command in ((FAIL, REGISTER_SBA), (FAIL, REGISTER_IEQ), (SILENT, ADD_VLAN), (FAIL, READ_GID),
                          (SILENT, REGISTER_SBA), (SILENT, READ_GID), (WRONG, REGISTER_IEQ), (DEAD, 0)):
        unload()
        fault(kind, command)
        run("insmod $SMC_ISM_KO")
        if netlink.ism_devices():
            return f"the driver has a device despite fault {kind} of {command:#x}"
        mend(machine)
    return ""
