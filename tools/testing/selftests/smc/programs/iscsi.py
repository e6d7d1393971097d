# SPDX-License-Identifier: GPL-2.0
"""iSCSI: a target in user space, and the kernel as initiator. iscsistart connects and logs in over
SMC, and then hands its connection to iscsi_tcp, which replaces the callbacks of the socket and
reads TCP's queue itself."""
import glob
import hashlib
import os

from lib.wait import holds
from program import LOOPBACK, PATIENCE, PREFIX, modes, run, say, server, succeeds

CONNECTIONS = 1
PORT = 3260
SMC = PREFIX["smc"]
TARGET, INITIATOR = "iqn.2026-11.test:disk", "iqn.2026-11.test:host"
DISK = "/tmp/iscsi-disk"
MIB = 16


def tgt(mode, operation, *words):
    return succeeds("tgtadm", "--lld", "iscsi", "--mode", mode, "--op", operation, "--tid", 1, *words)


def disks():
    return glob.glob("/sys/class/iscsi_session/session*/device/target*/*/block/*")


def read_back(device, wanted):
    """Writes data to a disk, past the cache, and compares what the target's file has and what the
    disk returns."""
    with open("/tmp/iscsi-data", "wb") as file:
        file.write(wanted)
    copied = succeeds("dd", "if=/tmp/iscsi-data", f"of={device}", "bs=256k", "oflag=direct",
                      "conv=fsync")
    returned = run("sh", "-c", f"dd if={device} bs=256k iflag=direct count={MIB * 4} | sha256sum")[1]
    with open(DISK, "rb") as file:
        stored = hashlib.sha256(file.read(len(wanted))).hexdigest()
    say(f"stored {stored}, returned {returned.split()[-2]}")
    return copied and stored == hashlib.sha256(wanted).hexdigest() and stored in returned


def session(prefix):
    """Logs in; returns the device of the disk, or None."""
    if not succeeds(*prefix, "iscsistart", "-i", INITIATOR, "-t", TARGET, "-g", 1, "-a", LOOPBACK, "-p",
                    PORT):
        return None
    return f"/dev/{os.path.basename(disks()[0])}" if holds(disks, PATIENCE) else None


def cases():
    for module in ("sd_mod", "iscsi_tcp"):
        run("modprobe", module)
    with open(DISK, "wb") as file:
        file.truncate(MIB << 20)
    with server(*SMC, "tgtd", "--foreground", "--iscsi", f"portal={LOOPBACK}:{PORT}",
                port=PORT) as target:
        yield "iscsi: a target", (tgt("target", "new", "--targetname", TARGET) and
                                  tgt("logicalunit", "new", "--lun", 1, "--backing-store", DISK) and
                                  tgt("target", "bind", "--initiator-address", "ALL"))
        device = session(SMC)
        say(f"{device}, {modes(PORT)}")
        yield "iscsi: iscsi_tcp has the disk over SMC", device and set(modes(PORT)) == {"SMCD"}
        yield f"iscsi: {MIB} MiB to the disk and back", device and read_back(
            device, os.urandom(MIB << 20))
        # The session cannot log out without iscsid, and tgtd does not end while there is one.
        for disk in disks():
            with open(f"{disk}/device/delete", "w", encoding="ascii") as file:
                file.write("1")
        target.kill()
