# SPDX-License-Identifier: GPL-2.0
"""What the model of IBM's ISM function does wrong when it is told to, and what its driver makes of
that. tools/testing/ism/function.h has the register."""
import contextlib
import os
import struct
import time

from lib import smc_netlink as netlink
from lib.slow import slow
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
    """From now on, until the next one."""
    descriptor = os.open(f"/sys/bus/pci/devices/{FUNCTION}/config", os.O_WRONLY)
    os.pwrite(descriptor, struct.pack("<I", kind | argument << 8), REGISTER)
    os.close(descriptor)


def unbind(_machine):
    run(f"echo {FUNCTION} > {DRIVER}/unbind")


def unload():
    """Once the last connection has gone."""
    until = time.monotonic() + slow(20)
    while run("rmmod smc_ism_pci && echo gone", check=False).strip() != "gone":
        if time.monotonic() > until:
            raise RuntimeError("smc_ism_pci does not go")
        time.sleep(0.2)


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
    """Whether a function that does so is left alone."""
    return kind != FAIL


def unwilling(kind, command):
    """Both functions do not let go of what they were given. They are lost with that, and nothing else
    is."""
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
    """A function that does not do what it has to in the beginning is left alone."""
    for kind, command in ((FAIL, REGISTER_SBA), (FAIL, REGISTER_IEQ), (SILENT, ADD_VLAN), (FAIL, READ_GID),
                          (SILENT, REGISTER_SBA), (SILENT, READ_GID), (WRONG, REGISTER_IEQ), (DEAD, 0)):
        unload()
        fault(kind, command)
        run("insmod $SMC_ISM_KO")
        if netlink.ism_devices():
            return f"with fault {kind} of {command:#x} there is a device"
        mend(machine)
    return ""
