# SPDX-License-Identifier: GPL-2.0
"""SMC-Dv1 and physical networks: which ISM device may carry a connection, and in which VLAN."""
import contextlib
import socket

import ism_model as model
from lib import smc_netlink as netlink
from lib.slow import slow
from lib.wait import remains
from machine import run

NETDEV = "eth0"
IPPROTO_SMC = 256
VLAN = 5		# as in UPPER["vlan"]
ROOM, MANY = 64, 66	# VLANs that a function has room for, and VLANs that the test uses
PORT = 4711
OLD = (model.OLD, model.OLD)
SAME = {"eth0": "NET1", "function": "NET1"}
OTHER = {"eth0": "NET1", "function": "NET2"}


def networks(faults=(model.NONE, model.NONE), vlan=False, **of_side):
    """Sets the version of the functions of server and client, and their PNET tables, which assign
    eth0 or the function to a network."""
    @contextlib.contextmanager
    def around(machine):
        table = of_side.get("server" if machine.is_server else "client", of_side.get("both", {}))
        model.fault(faults[0 if machine.is_server else 1])
        model.reload(machine)
        for name, network in table.items():
            if name == "eth0":
                netlink.pnet_add(network, netdev=NETDEV)
            else:
                netlink.pnet_add(network, device=model.FUNCTION)
        if vlan:
            machine.upper("vlan")
        try:
            yield
        finally:
            if vlan:
                machine.no_upper()
            netlink.pnet_flush()
            model.mend(machine)
    return around


def speaks(version, vlan=0, network=None):
    """Checks version, VLAN and network of the link group."""
    def look(machine, _where):
        groups = [g for g in machine.link_groups() if g["conns"]]
        shown = [(g.get("v2_common", {}).get("version", 1), g["vlan"], g["pnetid"]) for g in groups]
        if shown != [(version, vlan, network or shown[0][2])]:
            raise AssertionError(f"link groups (version, VLAN, network) {shown}")
        return []
    return look


def make_vlan(machine, number):
    run(f"""ip link add link {NETDEV} name vlan{number} type vlan id {number}
        ip addr add 10.50.{number}.{machine.index}/24 dev vlan{number}
        ip link set vlan{number} up""")


def greet(machine, listener, number):
    """Opens a connection in a VLAN and sends a byte each way."""
    if machine.is_server:
        sock = listener.accept()[0]
    else:
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
        sock.settimeout(slow(20))
        sock.connect((f"10.50.{number}.1", PORT))
    sock.sendall(b"x")
    if sock.recv(1) != b"x":
        raise RuntimeError(f"VLAN {number}: a wrong byte")
    return sock


def vlans_in_use(machine):
    return {group["vlan"] for group in machine.link_groups() if group["conns"]}


def room_for_vlans(machine, listener):
    """Returns '' or what is wrong. A function has room for 64 VLANs. A VLAN that a link group uses
    stays; unused ones are removed to make room."""
    with contextlib.ExitStack() as open_socks:
        for number in range(1, MANY + 1):
            open_socks.enter_context(greet(machine, listener, number))
        if vlans_in_use(machine) != set(range(1, ROOM + 1)):
            return f"with {MANY} connections the VLANs are {sorted(vlans_in_use(machine))}"
    return "the link groups have not ended" if remains(machine.link_groups) else ""


@contextlib.contextmanager
def with_vlans(machine):
    for number in range(1, MANY + 1):
        make_vlan(machine, number)
    idle = machine.sysctl("net.smc.lgr_idle_time")
    machine.sysctl("net.smc.lgr_idle_time", 1)
    try:
        yield
    finally:
        machine.sysctl("net.smc.lgr_idle_time", idle)
        for number in range(1, MANY + 1):
            run(f"ip link del vlan{number}")


def many_vlans(machine, session):
    """The program that both machines run."""
    with networks(OLD, both=SAME)(machine), with_vlans(machine), \
            socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC) as listener:
        listener.bind(("", PORT))
        listener.listen()
        listener.settimeout(slow(20))
        session.exchange("listening")
        problem = room_for_vlans(machine, listener)
        # Both machines have seen their link groups end before one of them creates another.
        session.exchange("ended")
        with greet(machine, listener, MANY):
            if not problem and vlans_in_use(machine) != {MANY}:
                problem = f"the VLANs are {vlans_in_use(machine)}, not {MANY}"
            session.exchange("seen")
    return problem
