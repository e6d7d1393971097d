#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest: how much memory SMC may use, and which cgroup is charged (D1, D2 and F12 of the
audit).

At every limit connections become TCP. Nothing hangs, nobody is killed because of it, and nothing is
left."""
import contextlib
import ctypes
import functools
import glob
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.append(f"{os.environ['SMC_ROOT']}/tools/testing/selftests/smc")
from lib import cases, cgroup  # noqa: E402
from lib.slow import slow  # noqa: E402

IPPROTO_SMC, SOL_SMC, SMC_SOCK_INFO = 256, 286, 0x100
MODE_TCP, MODE_SMCD = 2, 3
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SYSCTL = "/proc/sys/net/smc"
TOOLS = f"{os.environ['SMC_ROOT']}/build/tools"
MIB = 1 << 20
CASES = []


def case(what):
    def add(function):
        CASES.append((what, function))
        return function
    return add


def read(path):
    with open(path, encoding="ascii") as f:
        return f.read().strip()


def write(path, value):
    with open(path, "w", encoding="ascii") as f:
        f.write(str(value))


def unshare(flags):
    if ctypes.CDLL(None, use_errno=True).unshare(flags):
        raise OSError(ctypes.get_errno(), "unshare")
    if flags & CLONE_NEWUSER:
        # A process without a mapped user ID would lose its capabilities with the next exec.
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", "0 0 1")
        write("/proc/self/gid_map", "0 0 1")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def info():
    said = subprocess.run([f"{TOOLS}/smcd", "-j", "info"], check=True, capture_output=True)
    return json.loads(said.stdout)["info"]


def mode(sock):
    try:
        return memoryview(sock.getsockopt(SOL_SMC, SMC_SOCK_INFO, 16)).cast("I")[0]
    except OSError:
        return MODE_TCP


def whys():
    """Returns the names of the reasons why sockets of this namespace are TCP."""
    said = subprocess.run([f"{TOOLS}/smcss", "-j", "-a"], check=True, capture_output=True)
    return {s["fallback"]["reason"]["name"] for s in json.loads(said.stdout)["sockets"]
            if "fallback" in s}


class Pair:
    """A connection with client and server in this process."""

    def __init__(self, listener, rcvbuf=None):
        self.client = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
        if rcvbuf:
            self.client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        self.client.settimeout(slow(60))
        self.client.connect(listener.getsockname())
        self.server = listener.accept()[0]
        self.server.settimeout(slow(60))
        self.client.sendall(b"ping")
        assert self.server.recv(4) == b"ping"
        self.mode = mode(self.client)
        assert self.mode == mode(self.server)

    def room(self):
        """Returns how much the peer's element can hold."""
        total = 0
        self.client.setblocking(False)
        try:
            while True:
                total += self.client.send(bytes(16384))
        except BlockingIOError:
            return total

    def close(self):
        self.client.close()
        self.server.close()


LARGE = 200000	# SO_RCVBUF for an element of 256 KiB, the size of which stays


def listen(backlog=64, rcvbuf=None, host="127.0.0.1"):
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
    if rcvbuf:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
    listener.bind((host, 0))
    listener.listen(backlog)
    listener.settimeout(slow(60))
    return listener


def in_child(function, *args):
    """Runs a function in a process of its own; returns its result."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            said = ("ok", function(*args))
        except BaseException as error:  # pylint: disable=broad-except
            said = ("failed", f"{type(error).__name__}: {error}")
        os.write(theirs, json.dumps(said).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as f:
        status, value = json.loads(f.read() or b'["failed", "it died"]')
    os.waitpid(pid, 0)
    assert status == "ok", value
    return value


class Holder:
    """A process of its own that keeps what a generator has created. The generator yields a value,
    for which the first look at it waits."""

    def __init__(self, function, *args):
        self.said, says = os.pipe()
        told, self.tells = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for value in function(*args):
                    os.write(says, json.dumps(value).encode())
                    os.read(told, 1)
            except BaseException as error:  # pylint: disable=broad-except
                os.write(says, json.dumps(f"{type(error).__name__}: {error}").encode())
            os._exit(0)
        os.close(says)
        os.close(told)

    @functools.cached_property
    def value(self):
        return json.loads(os.read(self.said, 4096))

    def end(self):
        """Ends the process, if it still exists; with it, all its sockets are closed."""
        if self.pid:
            os.write(self.tells, b"x")
            os.waitpid(self.pid, 0)
            os.close(self.tells)
            os.close(self.said)
        self.pid = 0


# ---- net.smc.mem_max ---------------------------------------------------------


def steps():
    unshare(CLONE_NEWNET)
    write(f"{SYSCTL}/mem_max", 8 * MIB)
    listener, pairs, modes, rooms = listen(), [], [], []
    while not modes or modes[-1] == MODE_SMCD:
        pairs.append(Pair(listener))
        modes.append(pairs[-1].mode)
        if modes[-1] == MODE_SMCD:
            rooms.append(pairs[-1].room())
        assert info()["memory_used"] <= 8 * MIB, info()
    assert [r for r in sorted(set(rooms), reverse=True)] == [262144, 65536, 16384], rooms
    assert rooms == sorted(rooms, reverse=True), rooms
    assert "NO_BUFFER" in whys(), whys()
    for pair in pairs:
        pair.close()
    again = Pair(listener)
    assert again.mode == MODE_SMCD


@case("net.smc.mem_max: elements become smaller in steps, at the cap connections are TCP")
def mem_max():
    in_child(steps)


def storm():
    """Many threads connect at the same time: none of them gets past the cap."""
    unshare(CLONE_NEWNET)
    write(f"{SYSCTL}/mem_max", 4 * MIB)
    pairs = []

    def connect():
        listener = listen()
        for _ in range(12):
            pairs.append(Pair(listener))

    threads = [threading.Thread(target=connect) for _ in range(12)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(pairs) == 144
    used = info()["memory_used"]
    assert used <= 4 * MIB, used
    assert {p.mode for p in pairs} == {MODE_TCP, MODE_SMCD}


@case("net.smc.mem_max: many connections at the same time do not exceed it")
def at_once():
    in_child(storm)


# ---- the limit of the host ---------------------------------------------------


def settled():
    """Returns what is in use on the host once idle buffers have been freed."""
    used = info()["host_memory_used"]
    while True:
        # The next idle buffers are freed within this time.
        time.sleep(slow(6))
        now = info()["host_memory_used"]
        if now == used:
            return now
        used = now


def greedy(flags, go, told):
    unshare(flags)
    assert not os.path.exists(f"{SYSCTL}/mem_max_host")
    # Large elements from the beginning; otherwise more sockets would be required than a process may
    # have.
    listener, pairs = listen(rcvbuf=LARGE), []
    while not pairs or pairs[-1].mode == MODE_SMCD:
        pairs.append(Pair(listener, LARGE))
    os.write(told, b"x")
    os.read(go, 1)
    return info()["memory_used"]


def namespaces(count, flags, limit):
    """Creates this many namespaces, each of which takes all it can get. Returns the total."""
    pids = []
    write(f"{SYSCTL}/mem_max_host", limit)
    ours, told = os.pipe()
    go, stop = os.pipe()
    try:
        for _ in range(count):
            pids.append(os.fork())
            if pids[-1] == 0:
                try:
                    greedy(flags, go, told)
                    os._exit(0)
                except BaseException as error:  # pylint: disable=broad-except
                    print(f"# {type(error).__name__}: {error}", flush=True)
                    os.write(told, b"!")
                    os._exit(1)
            assert os.read(ours, 1) == b"x"
        return info()["host_memory_used"]
    finally:
        os.write(stop, len(pids) * b"x")
        for pid in pids:
            os.waitpid(pid, 0)


@case("many namespaces together do not exceed net.smc.mem_max_host")
def host():
    before, used = int(read(f"{SYSCTL}/mem_max_host")), settled()
    try:
        limit = used + 8 * MIB
        assert limit // 8 * 7 < namespaces(12, CLONE_NEWNET, limit) <= limit
        # A quarter of the limit is not available to namespaces that any user can create.
        all_of_it = 32 * MIB
        got = namespaces(6, CLONE_NEWUSER | CLONE_NEWNET, all_of_it)
        assert got <= all_of_it // 4 * 3, got
        listener = listen()
        pair = Pair(listener)
        assert pair.mode == MODE_SMCD
        pair.close()
    finally:
        write(f"{SYSCTL}/mem_max_host", before)


# ---- memory cgroups ----------------------------------------------------------

def server(group, port, stop, rcvbuf):
    group.enter()
    listener = listen(256, rcvbuf)
    accepted = []

    def accept():
        while True:
            accepted.append(listener.accept()[0])
            accepted[-1].sendall(accepted[-1].recv(4))

    threading.Thread(target=accept, daemon=True).start()
    # The memory of the thread itself must not count.
    os.write(port, str(listener.getsockname()[1]).encode())
    os.read(stop, 1)
    os._exit(0)


def reasons(port):
    """Returns why sockets of this namespace are TCP: a set for clients of that port, one for its
    children."""
    said = subprocess.run([f"{TOOLS}/smcss", "-j", "-a"], check=True, capture_output=True)
    found = set(), set()
    for sock in json.loads(said.stdout)["sockets"]:
        if "fallback" in sock:
            why = sock["fallback"]
            found[sock["local"]["port"] == port].add(
                (why["reason"]["name"], why.get("peer_diagnosis", {}).get("name"), why["side"]))
    return [sorted(of) for of in found]


def client(group, port, count, sent, rcvbuf):
    group.enter()
    before = group.current()
    socks, modes = [], []
    for _ in range(count):
        s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        s.settimeout(slow(60))
        s.connect(("127.0.0.1", port))
        s.sendall(b"ping")
        assert s.recv(4) == b"ping"
        socks.append(s)
        modes.append(mode(s))
        # Skip data over TCP, which keeps memory for a receiver that does not read.
        left = sent if modes[-1] == MODE_SMCD else 0
        s.setblocking(False)
        try:
            while left > 0:
                left -= s.send(bytes(left))
        except BlockingIOError:
            pass
    grown, server = group.current() - before, SERVER.current()
    return modes, grown, server, reasons(port)


SERVER = CLIENT = None


def serve(count, limit=None, rcvbuf=None, sent=0, limited=None, client_rcvbuf=8192, name="max"):
    """Makes connections from a client's group to a server's, which does not read the data. One of
    them, usually the server's, may be limited, by memory.max or memory.high. Returns the modes, the
    growth of both groups, and why clients and children are TCP."""
    limited = limited or SERVER
    port, says = os.pipe()
    stop, end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(end)
        server(SERVER, says, stop, rcvbuf)
    os.close(stop)
    number = int(os.read(port, 10))
    before = SERVER.current()
    limited.set_limit(limited.current() + limit if limit else "max", name)
    try:
        modes, of_client, now, why = in_child(client, CLIENT, number, count, sent, client_rcvbuf)
    finally:
        os.close(end)
        os.waitpid(pid, 0)
        limited.set_limit("max", name)
    return modes, of_client, now - before, why


@case("each end is charged to the memory cgroup of its own socket")
def charged():
    modes, of_client, of_server, _ = serve(64, rcvbuf=LARGE)
    assert set(modes) == {MODE_SMCD}, modes
    # the server has 64 elements of 256 KiB, the client 64 of 16 KiB
    assert of_server >= 15 * MIB, f"{of_server} in the server's group, {of_client} in the client's"
    assert of_client < 8 * MIB, f"{of_client} in the client's group, {of_server} in the server's"


BUFFERS, PAIRS = 10, 16		# buffers, and the connections whose two ends fill one


def owner(group):
    """Fills some buffers, and then leaves two free elements in each of them."""
    group.enter()
    listener = listen()
    pairs = [Pair(listener) for _ in range(BUFFERS * PAIRS)]
    assert {p.mode for p in pairs} == {MODE_SMCD}
    for pair in pairs[::PAIRS]:
        pair.close()
    yield info()["host_memory_used"]


def guest(group):
    """Has as many connections as the owner has buffers with free elements."""
    group.enter()
    listener = listen()
    pairs = [Pair(listener) for _ in range(BUFFERS)]
    assert {p.mode for p in pairs} == {MODE_SMCD}
    yield info()["host_memory_used"]


@case("a cgroup is not given elements that another one pays for, and does not keep them")
def shares_nothing():
    used, before = settled(), SERVER.current()
    with contextlib.ExitStack() as stack:
        holders, in_use = [], []
        for function, group in (owner, SERVER), (guest, CLIENT):
            holders.append(Holder(function, group))
            stack.callback(holders[-1].end)
            in_use.append(holders[-1].value)
        of_guest = in_use[1] - in_use[0]
        assert of_guest >= 2 * BUFFERS * 16384, f"{of_guest} bytes more are in use"
        holders[0].end()
        left = settled() - used
        assert left <= of_guest, f"{left} bytes are in use, {of_guest} of them by the guest"
        left = SERVER.current() - before
        assert left < MIB, f"{left} bytes are charged to a cgroup without processes"


@case("an idle buffer is not kept for a cgroup that has no connection any more")
def keeps_nothing():
    Holder(owner, SERVER).end()
    # Not even a single buffer of those that any of the cases so far has used.
    assert settled() == 0


@case("at memory.max of the server's group connections are TCP, and no process is killed")
def at_the_limit():
    # Reserved buffers of the previous case would be reused.
    settled()
    modes, _, _, why = serve(64, 8 * MIB, rcvbuf=LARGE)
    assert {MODE_SMCD, MODE_TCP} == set(modes), modes
    assert not SERVER.oom_kills() and not CLIENT.oom_kills()
    assert why == [[["PEER_DECLINED", "NO_MEMORY", "the peer"]],
                   [["NO_MEMORY", None, "this host"]]], why


@case("at memory.high of the server's group connections are TCP, and no handshake is put to sleep")
def above_high():
    settled()
    slept = SERVER.events("high")
    modes, _, grown_by, why = serve(64, 8 * MIB, rcvbuf=LARGE, name="high")
    assert {MODE_SMCD, MODE_TCP} == set(modes), modes
    assert grown_by <= 9 * MIB, f"{grown_by} bytes more are in use"
    assert SERVER.events("high") == slept
    assert why == [[["PEER_DECLINED", "NO_MEMORY", "the peer"]],
                   [["NO_MEMORY", None, "this host"]]], why


@case("at memory.max of the client's group connections are TCP, and the reason is the client's")
def at_the_clients_limit():
    settled()
    modes, _, _, why = serve(64, 8 * MIB, limited=CLIENT, client_rcvbuf=LARGE)
    assert {MODE_SMCD, MODE_TCP} == set(modes), modes
    assert not SERVER.oom_kills() and not CLIENT.oom_kills()
    assert why == [[["NO_MEMORY", None, "this host"]],
                   [["PEER_DECLINED", "NO_MEMORY", "the peer"]]], why


@case("the receiver's cgroup pays for an element that grows")
def grown():
    settled()
    modes, of_client, of_server, _ = serve(64, sent=100000)
    assert set(modes) == {MODE_SMCD}, modes
    assert of_server >= 15 * MIB, f"{of_server} in the server's group, {of_client} in the client's"
    assert of_client < 8 * MIB, f"{of_client} in the client's group, {of_server} in the server's"


@case("at memory.max of the receiver's group an element does not grow, and no process is killed")
def not_grown():
    settled()
    modes, _, of_server, _ = serve(64, 8 * MIB, sent=100000)
    assert MODE_SMCD in modes, modes
    assert of_server <= 8 * MIB, of_server
    assert not SERVER.oom_kills() and not CLIENT.oom_kills()


def full_of_files(group):
    """A container whose memory is filled with the page cache, as usual after some time."""
    group.enter()
    group.set_limit(group.current() + 16 * MIB)
    left = 64 * MIB
    for path in glob.glob("/usr/lib/x86_64-linux-gnu/*.so.*"):
        with open(path, "rb") as f:
            while left > 0 and (got := len(f.read(65536))):
                left -= got
    room = group.limit() - group.current()
    listener = listen()
    pairs = [Pair(listener) for _ in range(4)]
    return room, [p.mode for p in pairs]


@case("the page cache of a cgroup gives way to SMC")
def page_cache():
    settled()
    try:
        room, modes = in_child(full_of_files, SERVER)
    finally:
        SERVER.set_limit("max")
    assert room < 2 * MIB, room
    assert set(modes) == {MODE_SMCD}, modes
    assert not SERVER.oom_kills()


def glutton(group, address, connected):
    """Sends without end, and allocates memory until it is killed for that."""
    group.enter()
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
    sock.connect(address)

    def send():
        while True:
            sock.sendall(bytes(100000))

    threading.Thread(target=send, daemon=True).start()
    os.write(connected, b"x")
    group.set_limit(group.current() + 16 * MIB)
    hoard = []
    while True:
        hoard.append(bytearray(b"x" * 65536))


def read_to_end(sock):
    """Returns the number of bytes, and how the stream ended."""
    total = 0
    try:
        while True:
            got = len(sock.recv(65536))
            if not got:
                return total, "end"
            total += got
    except ConnectionResetError:
        return total, "reset"


@case("the OOM killer kills a sender: the peer is notified, and all memory is freed")
def killed():
    used, listener = settled(), listen()
    ours, connected = os.pipe()
    # Tells vm/judge-log that the kernel's messages about this are expected.
    write("/dev/kmsg", "smc-test: an OOM kill is expected")
    try:
        pid = os.fork()
        if pid == 0:
            glutton(CLIENT, listener.getsockname(), connected)
        assert os.read(ours, 1) == b"x"
        sock = listener.accept()[0]
        sock.settimeout(slow(60))
        assert mode(sock) == MODE_SMCD
        got, how = read_to_end(sock)
        assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    finally:
        write("/dev/kmsg", "smc-test: no more OOM kills are expected")
        CLIENT.set_limit("max")
    assert CLIENT.oom_kills() == 1
    assert got and how in ("end", "reset"), (got, how)
    sock.close()
    pair = Pair(listener)
    assert pair.mode == MODE_SMCD
    pair.close()
    left = settled()
    assert left <= used + MIB, f"{left} bytes are in use, but {used} before"


# ---- what one end keeps, and the other one has paid for ----

SOCKETS, ROUNDS = 8, 16		# a socket may keep 16 connections
CLOSED = 64			# connections that a client closes
DATA = 100000			# more than an element holds at first, so it grows
LEFT = MIB			# at most this may be left: buffers in reserve


def disconnect(sock):
    nowhere = (ctypes.c_char * 16)()	# AF_UNSPEC
    if ctypes.CDLL(None, use_errno=True).connect(sock.fileno(), nowhere, 16):
        raise OSError(ctypes.get_errno(), "connect() to AF_UNSPEC")


def fill(sock):
    """Sends data that the peer does not read."""
    # The handshake of a child may go on after accept().
    assert select.select([], [sock], [], slow(60))[1], "the socket is not writable"
    sock.setblocking(False)
    sock.send(bytes(DATA))
    sock.setblocking(True)


def serve_and_close(group, listener, go):
    """Closes each connection when the client says so, with its data unread."""
    def serve_all():
        while True:
            sock = listener.accept()[0]
            os.read(go, 1)
            sock.close()

    group.enter()
    threading.Thread(target=serve_all, daemon=True).start()
    yield "ready"


def shown(modes):
    """What a process says about the modes of its connections."""
    return [sorted(modes), *([sorted(whys()), info()] if MODE_TCP in modes else [])]


def connect_and_keep(group, address, go, enter=lambda: None):
    """Makes many connections with each socket, which the server closes; keeps the sockets."""
    group.enter()
    enter()
    kept, modes = [], set()
    for _ in range(SOCKETS):
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
        kept.append(sock)
        for turn in range(ROUNDS):
            if turn:
                disconnect(sock)
            sock.settimeout(slow(60))
            sock.connect(address)
            modes.add(mode(sock))
            fill(sock)
            os.write(go, b"x")
            read_to_end(sock)
    yield shown(modes)


def accept_and_keep(group, listener, accepts):
    """Keeps each connection, or does not even accept any."""
    group.enter()
    kept = []
    for _ in range(CLOSED if accepts else 0):
        kept.append(listener.accept()[0])
        fill(kept[-1])
    yield "ready"


def connect_and_close(group, address, accepted):
    """Closes each connection, with the server's data unread."""
    group.enter()
    modes = set()
    for _ in range(CLOSED):
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
        sock.settimeout(slow(60))
        sock.connect(address)
        modes.add(mode(sock))
        fill(sock)
        if accepted:
            assert select.select([sock], [], [], slow(60))[0], "the server sends nothing"
        sock.close()
    yield shown(modes)


def all_smcd(holder):
    assert holder.value == [[MODE_SMCD]], holder.value


@case("a server pays for no connection that it has closed, whatever its clients keep")
def kept_by_client():
    settled()
    ours, go = os.pipe()
    listener = listen()
    serving = Holder(serve_and_close, SERVER, listener, ours)
    assert serving.value == "ready"
    before = SERVER.current()
    keeping = Holder(connect_and_keep, CLIENT, listener.getsockname(), go)
    try:
        all_smcd(keeping)
        settled()
        more = SERVER.current() - before
    finally:
        keeping.end()
        serving.end()
    assert more <= LEFT, f"{more} bytes more in the group of a server that has closed"


@case("a client pays for no connection that it has closed, whatever the server keeps")
def kept_by_server():
    for accepts in True, False:
        settled()
        listener = listen(CLOSED)
        keeping = Holder(accept_and_keep, SERVER, listener, accepts)
        before = CLIENT.current()
        closing = Holder(connect_and_close, CLIENT, listener.getsockname(), accepts)
        try:
            all_smcd(closing)
            assert keeping.value == "ready"
            settled()
            more = CLIENT.current() - before
        finally:
            closing.end()
            keeping.end()
        # The process of the client takes some memory, too.
        assert more <= 8 * LEFT, f"{more} bytes more in the group of a client that has closed"


def other_world(told, go):
    """Becomes another user, in a namespace that any user could make, with a link to this one."""
    unshare(CLONE_NEWUSER | CLONE_NEWNET)
    os.write(told, b"x")
    os.read(go, 1)
    subprocess.run("ip addr add 10.9.0.2/24 dev v1 && ip link set v1 up", shell=True, check=True)


@case("clients of another user and namespace keep no memory of a namespace or of the host")
def kept_elsewhere():
    host = int(read(f"{SYSCTL}/mem_max_host"))
    used = settled()
    ours, go = os.pipe()
    born, told = os.pipe()
    ready, linked = os.pipe()
    subprocess.run("ip link add v0 type veth peer name v1; ip addr add 10.9.0.1/24 dev v0; "
                   "ip link set v0 up", shell=True, check=True)
    listener = listen(host="10.9.0.1")
    serving = Holder(serve_and_close, SERVER, listener, ours)
    assert serving.value == "ready"
    keeping = Holder(connect_and_keep, CLIENT, listener.getsockname(), go,
                    lambda: other_world(told, ready))
    try:
        assert os.read(born, 1) == b"x"
        subprocess.run(["ip", "link", "set", "v1", "netns", str(keeping.pid)], check=True)
        # Room for all of the clients' elements, and for a few of the server's.
        write(f"{SYSCTL}/mem_max_host", used + 16 * MIB)
        SERVER.set_limit(SERVER.current() + 16 * MIB)
        os.write(linked, b"x")
        all_smcd(keeping)
        now = settled()
        pair = Pair(listen())
        again = pair.mode
        pair.close()
    finally:
        write(f"{SYSCTL}/mem_max_host", host)
        SERVER.set_limit("max")
        keeping.end()
        serving.end()
        subprocess.run(["ip", "link", "del", "v0"], check=False)
    # The clients keep 136 elements of 16 KiB of their own.
    assert now - used <= 4 * MIB, f"{now - used} bytes more in use"
    assert again == MODE_SMCD
    assert not SERVER.oom_kills()


def make_cgroups():
    global SERVER, CLIENT
    if not cgroup.available():
        return False
    SERVER, CLIENT = cgroup.Cgroup("server"), cgroup.Cgroup("client")
    return True


def main():
    have_cgroups = make_cgroups()
    return cases.play(CASES, skip=lambda function: None if have_cgroups or function not in
                      (charged, shares_nothing, keeps_nothing, at_the_limit, grown, not_grown,
                       page_cache, killed, kept_by_client, kept_by_server, kept_elsewhere) else
                      "this kernel has no memory cgroups")


if __name__ == "__main__":
    sys.exit(main())
