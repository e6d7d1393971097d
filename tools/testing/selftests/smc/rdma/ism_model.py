# SPDX-License-Identifier: GPL-2.0
"""The faults of the model of IBM's ISM function, and how its driver handles them. The register is
described in tools/testing/ism/function.h."""
import collections
import contextlib
import os
import socket
import struct

from lib import cgroup, smc_netlink as netlink
from lib.slow import slow
from lib.wait import holds, remains
from machine import run

FUNCTION = "0000:00:00.0"
DRIVER = "/sys/bus/pci/drivers/smc_ism_pci"
REGISTER = 0x80
NONE, FAIL, SILENT, WRONG, STORM, DEAD, OLD, NETWORK = range(8)
# Commands, as net/smc/drivers/ism_pci/format.h has them
REGISTER_SBA, REGISTER_IEQ, READ_GID, ADD_VLAN = 0x01, 0x02, 0x03, 0x04
QUERY_GID, REGISTER_DMB, UNREGISTER_DMB, UNREGISTER_SBA, UNREGISTER_IEQ = 0x09, 0x0a, 0x0b, 0x11, 0x12
EVENTS = 20000
IPPROTO_SMC, SOL_SMC, SMC_TEST_RAW_CLC = 256, 286, 0x200
HOST, RAW_PORT, PORT = "10.0.0.1", 4711, 4712
ACCEPT = b"\xe2\xd4\xc3\xc4\x02"	# of SMC-D


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


# ---- the device is gone when the Confirm arrives

def smc_socket(raw=False):
    """raw: CLC messages are data of this socket, in both directions."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
    sock.settimeout(slow(20))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if raw:
        sock.setsockopt(SOL_SMC, SMC_TEST_RAW_CLC, 1)
    return sock


def clc_message(sock):
    head = sock.recv(8, socket.MSG_WAITALL)
    return head + sock.recv(struct.unpack(">5xHx", head)[0] - 8, socket.MSG_WAITALL)


def lose_before_confirm(machine, to_client, to_server):
    """Passes the messages of a handshake on; the server loses its function before the last one."""
    to_server.sendall(clc_message(to_client))
    accept = clc_message(to_server)
    to_client.sendall(accept)
    confirm = clc_message(to_client)
    unbind(machine)
    ended = not remains(netlink.ism_link_groups)
    to_server.sendall(confirm)
    return "" if accept.startswith(ACCEPT) and ended else f"{accept[:8].hex()}, {ended}"


def confirmed_late(machine, session):
    """The server is cut off between its Accept and the Confirm: its connection is reset."""
    if not machine.is_server:
        session.exchange({"client": "begins"})
        with smc_socket() as sock:
            sock.connect((HOST, RAW_PORT))
            session.exchange({"client": "ends"})
        return ""
    with smc_socket(raw=True) as raw, smc_socket() as listener, smc_socket(raw=True) as to_server:
        for sock, port in ((raw, RAW_PORT), (listener, PORT)):
            sock.bind((HOST, port))
            sock.listen()
        session.exchange({"server": "listens"})
        with raw.accept()[0] as to_client:
            to_server.connect((HOST, PORT))
            with listener.accept()[0] as victim:
                problem = lose_before_confirm(machine, to_client, to_server)
                try:
                    problem = problem or f"the victim reads {victim.recv(1)}"
                except ConnectionResetError:
                    pass
        session.exchange({"server": "ends"})
    reload(machine)
    return problem


# ---- who pays for the memory

ENDS, ELEMENT, RING = 16, 256 << 10, 16 << 10


@contextlib.contextmanager
def own_cgroup():
    """Moves the program into a memory cgroup."""
    if not cgroup.available():
        raise RuntimeError("the kernel has no memory cgroups")
    own = cgroup.Cgroup("own")
    own.enter()
    try:
        yield own
    finally:
        own.remove()


def sized(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ELEMENT)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, RING)
    return sock


def one_end(machine, listener):
    if machine.is_server:
        return listener.accept()[0]
    sock = sized(smc_socket())
    sock.connect((HOST, PORT))
    return sock


def what_they_are():
    """How many ends there are of each mode, element size and reason of a fallback."""
    counts = collections.Counter(
        (s["mode"], s.get("rmbe", 0), s.get("reason", 0)) for s in netlink.sockets()
        if s["peer_port"] and PORT in (s["local_port"], s["peer_port"]))
    return ", ".join(f"{n} x {mode} {size} ({reason:#x})" for (mode, size, reason), n in counts.items())


def charged(machine, session):
    """Elements are charged to the memory cgroup of the program that owns the socket."""
    # Elements of earlier cases would be reused, and are charged already.
    reload(machine)
    session.exchange("empty")
    with contextlib.ExitStack() as opened, own_cgroup() as own:
        listener = opened.enter_context(sized(smc_socket()))
        if machine.is_server:
            listener.bind((HOST, PORT))
            listener.listen()
        before = own.current()
        # The client connects only when both have read it.
        session.exchange("listening")
        for _ in range(ENDS):
            opened.enter_context(one_end(machine, listener))
        grown = own.current() - before
        ends = what_they_are()
        session.exchange("measured")
        opened.close()
    return "" if grown >= ENDS * ELEMENT * 3 // 4 else f"{grown} bytes are charged for {ends}"
