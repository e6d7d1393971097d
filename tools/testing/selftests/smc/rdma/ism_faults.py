# SPDX-License-Identifier: GPL-2.0
"""Cases in which an ISM device misbehaves. A module for each kind of device defines its faults."""
import contextlib

from lib import smc_netlink as netlink
from lib.slow import slow
from lib.wait import remains


def wait_until_lost():
    if remains(netlink.ism_devices, slow(10)):
        raise RuntimeError("the device still exists")


def faulty(device, on_server, kind, command):
    """One machine's device handles a command wrongly. If the fault is one that no device may show,
    the driver must give the device up afterwards; otherwise it must keep it.

    device: a module with fault(), mend(), and loses(), which is true for the first kind."""
    @contextlib.contextmanager
    def around(machine):
        # A buffer that exists would not be registered again, and a region not requested again.
        machine.reload()
        mine = machine.is_server == on_server
        if mine:
            device.fault(kind, command)
        try:
            yield
            if mine and device.loses(kind):
                wait_until_lost()
            elif mine and not netlink.ism_devices():
                raise RuntimeError("the device is lost")
        finally:
            if mine:
                device.mend(machine)
    return around
