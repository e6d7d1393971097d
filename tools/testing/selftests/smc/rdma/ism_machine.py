# SPDX-License-Identifier: GPL-2.0
"""A machine of a pair that shares memory with the other one instead of having an RDMA device."""
import os

import ism_virtio as virtio
from lib import smc_netlink as netlink
from lib.wait import holds
from machine import Machine, run


PLUGGED = "/sys/module/smc_ism_ivshmem/parameters/plugged"
PCI, DRIVER = "/sys/bus/pci/devices", "/sys/bus/pci/drivers/smc_ism_ivshmem"


def has_ivshmem_bus():
    """Is the device ivshmem's, on a PCI bus?"""
    return not virtio.FORM and not os.path.exists(PLUGGED)


def plug(there):
    """Adds or removes the device. In UML, the ivshmem device has no bus."""
    if virtio.FORM:
        (virtio.plug if there else virtio.unplug)()
        return
    if os.path.exists(PLUGGED):
        run(f"echo {there:d} > {PLUGGED}")
        return
    device = next(d for d in os.listdir(PCI) if open(f"{PCI}/{d}/device").read() == "0x1110\n")
    run(f"echo {device} > {DRIVER}/{'bind' if there else 'unbind'}")


class IsmMachine(Machine):
    mode = "smcd"

    def load(self):
        """smc.ko and the driver of the device are already loaded (vm/guest)."""
        run("modprobe -a inet_diag tcp_diag; insmod $SMC_DIAG_KO")

    def equip(self):
        self.devices = {}
        self.wait_for_device()

    @staticmethod
    def wait_for_device():
        """Waits for a device. A slot that was in use may be reused only after a pause, as late
        writes may still arrive."""
        if not holds(netlink.ism_devices):
            raise RuntimeError("the ISM device is missing")

    @staticmethod
    def link_groups():
        return netlink.ism_link_groups()

    def fresh(self):
        """Does nothing: no setting affects a link group."""

    def swap(self, module):
        self.reload()

    def reload(self):
        """Unloads the driver, with its device and link groups, and loads it again."""
        run("rmmod $(basename $SMC_ISM_KO .ko); insmod $SMC_ISM_KO $SMC_ISM_ARGS $SMC_ISM_PARAMS")
        self.wait_for_device()
