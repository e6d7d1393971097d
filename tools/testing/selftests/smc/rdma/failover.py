# SPDX-License-Identifier: GPL-2.0
"""The kinds of losses between two machines with two links, how each is undone, and the cases."""
import copy
import fcntl
import itertools
import random
import socket
import struct
import time

from lib import smc_netlink as netlink
from machine import PNETID, run
import strict

ACTIVE = 3	# state of a link
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
KIB = 1 << 10
ROCE_PORT = 4791
BLINKS = 8
BLINK_MOST = 0.4	# seconds that the device is up; adding a link takes a quarter
blinks = random.Random("blinks")


def set_up(netdev, up):
    """Uses ioctl(): on the debug kernel starting a program would take longer than the loss."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sH14x", netdev.encode(), 0)
        flags = struct.unpack("16xH14x", fcntl.ioctl(sock, SIOCGIFFLAGS, request))[0]
        flags = flags | IFF_UP if up else flags & ~IFF_UP
        fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sH14x", netdev.encode(), flags))


def add_addresses(_, n):
    run(f"$SMC_ROOT/tools/testing/vm/plug -a eth{n}")


def remember_network(netdev):
    """Our module keeps the PNET entry of a device that was removed."""
    try:
        netlink.pnet_add(PNETID, netdev=netdev)
    except FileExistsError:
        pass


def down(_, n):
    set_up(f"eth{n}", False)


def up(_, n):
    set_up(f"eth{n}", True)


def flap(machine, n):
    down(machine, n)
    up(machine, n)


def carrier_off(_, n):
    set_up(f"port{n}", False)


def carrier_on(_, n):
    set_up(f"port{n}", True)


def device_gone(machine, n):
    machine.no_rdma(f"rxe{n}")


def device_back(machine, n):
    machine.rdma(f"eth{n}", f"rxe{n}")


def removed(_, n):
    run(f"ip link del eth{n}")


def plugged(machine, n):
    run(f"$SMC_ROOT/tools/testing/vm/plug eth{n}")
    remember_network(f"eth{n}")
    device_back(machine, n)


def moved_away(_, n):
    run(f"ip netns add aside; ip link set eth{n} netns aside")


def moved_back(machine, n):
    run(f"ip -n aside link set eth{n} netns 1; ip netns del aside; ip link set eth{n} up")
    add_addresses(machine, n)
    remember_network(f"eth{n}")
    device_back(machine, n)


def silence(_, n):
    """Packets to the other machine are lost without any notification."""
    run(f"modprobe sch_netem; tc qdisc add dev eth{n} root netem loss 100%")


def no_silence(_, n):
    run(f"tc qdisc del dev eth{n} root")


def deaf(_, n):
    """Only RoCE that arrives here is lost. TCP still works, and what this machine sends arrives.
    The rules must come before those for the local table, which are therefore moved permanently.
    Version 1 uses link-local GIDs, that is IPv6."""
    if strict.USED:
        strict.deafen(f"rxe{n}", True)
        return
    for ip in ("ip -4", "ip -6"):
        run(f"""{ip} rule show pref 1 | grep -q local || {ip} rule add pref 1 lookup local
            {ip} rule del pref 0 lookup local 2> /dev/null || true
            {ip} rule add pref 0 iif eth{n} ipproto udp dport {ROCE_PORT} blackhole""")


def not_deaf(_, n):
    if strict.USED:
        strict.deafen(f"rxe{n}", False)
        return
    for ip in ("ip -4", "ip -6"):
        run(f"{ip} rule del pref 0 iif eth{n} ipproto udp dport {ROCE_PORT} blackhole")


def blink(machine, n):
    """Sets the device down again while the link is being added, at any step of that."""
    for _ in range(BLINKS):
        down(machine, n)
        up(machine, n)
        time.sleep(blinks.uniform(0, BLINK_MOST))
    down(machine, n)


def no_address(_, n):
    run(f"ip addr flush dev eth{n} scope global")


KINDS = {
    "down": (down, up, "the netdev is set down"),
    "flap": (flap, lambda *_: None, "the netdev is set down, and up again at once"),
    "carrier": (carrier_off, carrier_on, "the netdev has no carrier"),
    "device": (device_gone, device_back, "the RDMA device is deleted"),
    "removed": (removed, plugged, "the netdev is removed"),
    "moved": (moved_away, moved_back, "the netdev moves to another network namespace"),
    "silent": (silence, no_silence, "what one machine sends is lost, without notification"),
    "address": (no_address, add_addresses, "the netdev loses its addresses, the port its GIDs"),
    "roce": (deaf, not_deaf, "only the RoCE packets that arrive at one machine are lost"),
    "blink": (blink, up, "the netdev is set down and up repeatedly while the link is added"),
}
SILENT = ("silent", "roce")	# only TEST LINK or the queue pair notices
LOADS = ("bulk", "ping_pong", "urgent", "half_close", "mixed", "many")
CONNS = {"many": 200, "churn": 16}	# number of connections, for cases that need many
# How both links are lost at once, and under which loads.
BOTH = ("down", "device", "silent", "roce")
BOTH_LOADS = ("bulk", "ping_pong", "half_close")


def links():
    """The links that may carry data."""
    return [link for link in netlink.links() if link["state"] == ACTIVE]


TEXTS = {"used": "the link in use", "idle": "the idle link",
         "other": "the link of the other network"}


class Loss:
    """One loss: its kind, the machine, the device, and how many bytes have to arrive before it
    begins and before it is undone. which: the device that carries most connections ("used"), the
    other one ("idle"), or rxe0 ("other")."""

    def __init__(self, kind, on_server, which, before, after):
        self.do, self.undo, _ = KINDS[kind]
        if kind in SILENT:	# more than can be in flight: the loss has to be noticed
            after = max(after, 1 << 20)
        self.kind, self.on_server, self.before, self.after = kind, on_server, before, after
        self.which, self.n = which, 0
        self.text = f"{kind} on the {'server' if on_server else 'client'}, {TEXTS[which]}"

    def begin(self, machine):
        if self.which != "other":
            carrying = max(links(), key=lambda link: link["conns"], default={"dev": "rxe0"})["dev"]
            n = int(carrying[-1])
            self.n = n if self.which == "used" else 1 - n
        self.do(machine, self.n)

    def end(self, machine):
        self.undo(machine, self.n)

    def of_device(self, n):
        """The same loss on a given device."""
        loss = copy.copy(self)
        loss.n = n
        return loss


def some_bytes(draw):
    """A random number of bytes, of any magnitude up to 1 MiB."""
    return draw.randrange(KIB, 4 * KIB << draw.randrange(9))


class Case:
    """One load, and the losses that it has to survive. how: a method of failover_guest's Play."""

    def __init__(self, name, load, losses, how="live"):
        self.name, self.load, self.losses, self.how = name, load, losses, how


def one(load, kind, side, which, times):
    draw = random.Random(f"{load}_{kind}_{side}_{which}")
    return [Loss(kind, side == "server", which, some_bytes(draw), some_bytes(draw))
            for _ in range(times)]


SIDES = ("server", "client")
# The name consists of the load, the kind of loss, the side and the device.
LIVE = {"_".join(words): words
        for words in itertools.product(LOADS, KINDS, SIDES, ("used", "idle"))}
# The handshakes of short connections use eth1, which is not lost.
CHURN = {"_".join(words): (*words, "other") for words in itertools.product(("churn",), KINDS, SIDES)}
ENDS = {f"{load}_both_{kind}_{side}": (load, kind, side, "used")
        for load, kind, side in itertools.product(BOTH_LOADS, BOTH, SIDES)}
# The device of the second link is removed and added during the first contact and after it.
FIRST = {f"{load}_first_{side}": (load, "blink", side, which)
         for (load, which), side in itertools.product((("bulk", "idle"), ("churn", "other")), SIDES)}
TABLES = (("live", LIVE), ("live", CHURN), ("ends", ENDS), ("first", FIRST))


def names():
    return [name for _, table in TABLES for name in table]


# Each load, each kind and each side occurs.
QUICK = ("bulk_down_server_used bulk_down_client_used bulk_device_server_used bulk_device_client_used "
         "bulk_removed_client_used bulk_silent_server_used bulk_silent_client_used "
         "bulk_down_server_idle bulk_carrier_client_used ping_pong_down_server_used "
         "ping_pong_device_client_used urgent_down_client_used urgent_device_server_used "
         "half_close_down_server_used half_close_moved_client_used mixed_flap_server_used "
         "mixed_address_client_used bulk_roce_server_used ping_pong_roce_client_used "
         "bulk_blink_server_used many_down_client_used churn_down_server churn_device_client "
         "churn_blink_client bulk_both_down_server "
         "ping_pong_both_device_client bulk_both_roce_client bulk_first_server "
         "churn_first_client").split()


def by_name(name, times):
    for how, of in TABLES:
        if name in of:
            return Case(name, of[name][0], one(*of[name], times), how)
    raise KeyError(name)


def loops(count, each, seed, load, kinds):
    """Random losses on long-lived connections, with `each` of them between two first contacts."""
    draw = random.Random(seed)
    for begun in range(0, count, each):
        losses = [Loss(draw.choice(kinds), draw.random() < 0.5,
                       "used" if draw.random() < 0.75 else "idle", some_bytes(draw), some_bytes(draw))
                  for _ in range(min(each, count - begun))]
        yield Case(f"{load}, seed {seed}, losses {begun + 1} to {begun + len(losses)}", load, losses)
