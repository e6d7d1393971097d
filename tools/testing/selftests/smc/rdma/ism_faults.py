# SPDX-License-Identifier: GPL-2.0
"""Cases in which an ISM device does something wrong. What it can be made to do wrong is in a module of
its own for each kind of device."""
import contextlib
import time

from lib import smc_netlink as netlink
from lib.slow import slow


def wait_until_lost():
    until = time.monotonic() + slow(10)
    while netlink.ism_devices():
        if time.monotonic() > until:
            raise RuntimeError("the device is still there")
        time.sleep(0.1)


def faulty(device, on_server, kind, command):
    """One machine's device does something wrong with a command. When it is one that a device must not
    do, it is lost afterwards, and otherwise still there.

    device: a module with fault(), mend(), and loses(), which says whether that is so."""
    @contextlib.contextmanager
    def around(machine):
        # A buffer that is there need not be registered, nor a region asked for.
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
