# SPDX-License-Identifier: GPL-2.0
"""Prepares the guest for the tests of the administration: its module, two RDMA devices that reach
each other, connections of each kind."""
import contextlib
import ctypes
import os
import socket
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.environ.get("SMC_ROOT", os.path.abspath(f"{os.path.dirname(__file__)}/../../../../.."))
TOOLS = f"{ROOT}/build/tools"
sys.path[:0] = [f"{ROOT}/tools/smcss/tests", f"{ROOT}/tools/testing/selftests/smc"]
import genl  # noqa: E402
from lib.slow import slow  # noqa: E402
from lib.wait import remains  # noqa: E402

AF_SMC, IPPROTO_SMC = 43, 256
# time limit for every step, in seconds
SHORT = slow(180 if os.environ.get("SMC_DEBUG_KERNEL") else 60)
CLIENT, SERVER = "10.1.0.1", "10.1.0.2"
EID = "SMC-TEST-ADMIN"
LIBC = ctypes.CDLL(None, use_errno=True)
PARAMETER = "/sys/module/smc/parameters/loopback"


class Wrong(Exception):
    """The difference between the actual and the expected result."""


def same(got, wanted, what):
    if got != wanted:
        raise Wrong(f"{what}: {got!r} instead of {wanted!r}")


def run(*argv, timeout=SHORT, **how):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, check=False,
                          timeout=timeout, **how)


def must(*argv):
    done = run(*argv)
    if done.returncode:
        raise Wrong(f"{' '.join(map(str, argv))}: {done.stdout}{done.stderr}")
    return done.stdout


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{value}\n")


def sysctl(name, value):
    write(f"/proc/sys/net/smc/{name}", value)


# ---- the module ----------------------------------------------------------------

def loaded():
    with open("/proc/modules", encoding="ascii") as modules:
        return [line.split()[0] for line in modules]


def load(module):
    """Loads our module, or the kernel's own."""
    if "rxe0" not in os.listdir("/sys/class/infiniband") if os.path.exists(
            "/sys/class/infiniband") else True:
        must(f"{ROOT}/tools/testing/vm/rxe_pair")
    if module == "kernel":
        must("modprobe", "smc")
        must("modprobe", "smc_diag")
    else:
        # An earlier user of the module may have left reserved buffers, which the tools would show.
        unload(slow(150))
        must("insmod", os.environ["SMC_KO"], *os.environ.get("SMC_PARAMS", "").split())
        must("insmod", os.environ["SMC_DIAG_KO"])
    # Client and server share the host: each would use the other's device for a second link.
    sysctl("smcr_max_links_per_lgr", 1)
    sysctl("rmem", 65536)
    sysctl("wmem", 65536)


def fresh_devices():
    """Removes all link groups, by removing their devices and adding them again."""
    for number in (0, 1):
        must("rdma", "link", "delete", f"rxe{number}")
        must(f"{ROOT}/tools/testing/vm/rxe", f"veth{number}", f"rxe{number}")


@contextlib.contextmanager
def clean():
    """Starts without link groups and with the tests' EID; waits until everything has ended."""
    fresh_devices()
    flush_eids()
    genl.Genl("SMC_PNETID").ask(4)
    add_eid(EID)
    try:
        yield
    finally:
        flush_eids()
        quiet()


def unload(seconds=SHORT):
    """Unloads the modules. Closed connections end in the background, within a limited time."""
    for name in ("smc_diag", "smc"):
        if remains(lambda module=name: module in loaded() and run("rmmod", module).returncode,
                   seconds, 0.5):
            raise Wrong(f"{name} is still in use")


def loopback(on):
    """Sets whether connections of this host may use SMC-D, which the kernel's own never do."""
    if os.path.exists(PARAMETER):
        write(PARAMETER, "Y" if on else "N")


def add_eid(eid):
    """Adds an EID, padded with blanks, as the kernel's own module requires."""
    genl.Genl().ask(10, genl.attr(1, eid.ljust(32)))


def flush_eids():
    genl.Genl().ask(12)


# ---- sockets -------------------------------------------------------------------

def name_of(address, port):
    return struct.pack("=H", socket.AF_INET) + struct.pack(">H", port) + \
        socket.inet_aton(address) + bytes(8)


def checked(result, what):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


class Socket(socket.socket):
    """An AF_SMC socket. Python does not know its addresses, but the kernel's own module shows
    addresses only for this family."""

    def bind_to(self, address, port):
        self.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        checked(LIBC.bind(self.fileno(), name_of(address, port), 16), "bind")

    def connect_to(self, address, port):
        checked(LIBC.connect(self.fileno(), name_of(address, port), 16), "connect")


def new(kind="smc"):
    """Returns a blocking socket: connect() returns after the handshake, which has timeouts."""
    return Socket(AF_SMC, socket.SOCK_STREAM, 0) if kind == "smc" else \
        Socket(socket.AF_INET, socket.SOCK_STREAM, 0)


@contextlib.contextmanager
def listener(port, kind="smc", address=SERVER):
    with new(kind) as sock:
        sock.bind_to(address, port)
        sock.listen(64)
        yield sock


def connected(lsock, port, from_port=0, kind="smc", address=SERVER, source=CLIENT):
    """Returns both ends of a connection that has transferred a byte in each direction."""
    one = new(kind)
    one.bind_to(source, from_port)
    one.connect_to(address, port)
    fd = LIBC.accept(lsock.fileno(), None, None)
    checked(fd, "accept")
    other = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fd)
    for sock in (one, other):
        sock.settimeout(SHORT)
    one.sendall(b"x")
    same(other.recv(1), b"x", "first byte")
    other.sendall(b"y")
    same(one.recv(1), b"y", "byte back")
    return one, other


@contextlib.contextmanager
def connection(port, server="smc", client="smc"):
    """Opens a connection from port + 1 of the client's address."""
    with listener(port, server) as lsock:
        one, other = connected(lsock, port, port + 1, client)
        with one, other:
            yield one, other


def quiet(seconds=SHORT):
    """Waits until there are no SMC sockets and no connections in link groups."""
    def left():
        done = run(f"{TOOLS}/smcss", "-a", "-j")
        groups = must(f"{TOOLS}/smcr", "-j", "linkgroup") + must(f"{TOOLS}/smcd", "-j", "linkgroup")
        busy = groups.replace('"connections": 0', "").count('"connections"')
        if done.stdout.split() == ['{"sockets":', '[]}'] and not busy:
            return ""
        return f"{done.stdout}{done.stderr}{groups}"

    rest = remains(left, seconds, 0.2)
    if rest:
        raise Wrong(f"still there: {rest}")
