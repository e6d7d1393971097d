#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Sockets for module.sh: holds sockets of one kind until told to close them, or makes traffic."""
import ctypes
import errno
import fcntl
import os
import select
import socket
import struct
import sys
import threading

IPPROTO_SMC = int(os.environ.get("PROTO", "256"))
CLONE_NEWNET = 0x40000000
NETLINK_GENERIC, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP = 16, 270, 1
GENL_ID_CTRL, NLM_F_REQUEST, NLM_F_DUMP, NLMSG_ERROR, NLMSG_DONE = 16, 1, 0x300, 2, 3
NEW_FAMILY = 1                      # CTRL_CMD_NEWFAMILY
TCP_ULP, SOL_TLS, TLS_TX, TLS_RX = 31, 282, 1, 2
EPIOCSPARAMS = 0x40088a01


def smc(family=socket.AF_INET, proto=IPPROTO_SMC):
    return socket.socket(family, socket.SOCK_STREAM, proto)


def listener(proto=IPPROTO_SMC):
    s = smc(proto=proto)
    s.bind(("127.0.0.1", 0))
    s.listen(100)
    return s


def pair(server_proto=IPPROTO_SMC, client_proto=IPPROTO_SMC):
    l = listener(server_proto)
    c = smc(proto=client_proto)
    c.connect(l.getsockname())
    s = l.accept()[0]
    c.sendall(b"hello")
    assert s.recv(5, socket.MSG_WAITALL) == b"hello"
    return l, c, s


def fresh_namespace():
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    os.system("ip link set lo up")


def refused_upper_layer(*socks):
    """If TCP_ULP were accepted, kernel TLS would keep tables derived from ours."""
    for s in socks:
        try:
            s.setsockopt(socket.IPPROTO_TCP, TCP_ULP, b"tls")
        except OSError:
            continue
        raise AssertionError("TCP_ULP was accepted")


def kernel_tls(*socks):
    """Sets up TLS 1.2 with AES-GCM-128, and sends a record in each direction."""
    for i, s in enumerate(socks):
        s.setsockopt(socket.IPPROTO_TCP, TCP_ULP, b"tls")
        for direction, key in ((TLS_TX, i), (TLS_RX, 1 - i)):
            info = struct.pack("=HH8s16s4s8s", 0x0303, 51, b"i" * 8, bytes([key]) * 16, b"salt",
                               b"s" * 8)
            s.setsockopt(SOL_TLS, direction, info)
    for a, b in (socks, socks[::-1]):
        a.sendall(b"secret")
        assert b.recv(100) == b"secret"


def plain_tls():
    kernel_tls(*pair(socket.IPPROTO_TCP, socket.IPPROTO_TCP)[1:])


def poll_busily(s):
    """epoll polls with the NAPI id of a socket for longer than the socket and its module exist."""
    ep = select.epoll()
    ep.register(s, select.EPOLLIN)
    try:
        fcntl.ioctl(ep, EPIOCSPARAMS, struct.pack("=IHBB", 30_000_000, 8, 0, 0))
    except OSError as error:        # before Linux 6.9
        if error.errno != errno.ENOTTY:
            raise
    threading.Thread(target=ep.poll, args=(1,), daemon=True).start()


def hold(kind):
    """Opens sockets of a kind, which keep the module in use, and returns them."""
    if kind == "new":
        return smc()
    if kind == "bound":
        s = smc()
        s.bind(("127.0.0.1", 0))
        return s
    if kind == "listening":
        return listener()
    if kind == "connected":
        return pair()[1]
    if kind == "accepted":
        return pair()[2]
    if kind == "unaccepted":
        l = listener()
        c = smc()
        c.connect(l.getsockname())
        return l
    if kind == "half_closed":
        l, c, s = pair()
        c.shutdown(socket.SHUT_WR)
        assert s.recv(1) == b""
        return c, s
    if kind == "unread":
        l, c, s = pair()
        c.sendall(b"x" * 1000)
        c.close()
        return s
    if kind == "lingering":
        l, c, s = pair()
        c.setblocking(False)
        try:
            while True:
                c.send(b"x" * 65536)
        except BlockingIOError:
            pass
        c.close()
        return s
    if kind == "namespace":
        with open("/proc/self/ns/net", "rb") as home:
            fresh_namespace()
            held = pair()
            ctypes.CDLL(None).setns(home.fileno(), CLONE_NEWNET)
        return held
    if kind == "upper_layer":
        refused_upper_layer(smc(), *pair()[1:])
        l, c, s = pair(socket.IPPROTO_TCP)
        kernel_tls(c, s)
        # Here the other end is a child of our listener, over IPv4 too.
        l, c2, s2 = pair(client_proto=socket.IPPROTO_TCP)
        kernel_tls(c2, s2)
        plain_tls()
        return c, s, c2, s2
    if kind == "busy_polled":
        l, c, s = pair()
        poll_busily(c)
        return c, s
    if kind == "fallback":
        return pair(socket.IPPROTO_TCP)[1]
    raise SystemExit(f"unknown kind {kind}")


def serve(l, count):
    for _ in range(count):
        s = l.accept()[0]
        try:
            data = s.recv(1000)
            if data:
                s.sendall(data)
        except OSError:             # some clients reset the connection
            pass
        s.close()


def burst():
    """Ends connections in every way, several at once, and then exits."""
    l = listener()
    t = threading.Thread(target=serve, args=(l, 12))
    t.start()
    for i in range(12):
        c = smc()
        if i % 4 == 3:
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        c.connect(l.getsockname())
        if i % 4 == 0:
            c.close()
            continue
        c.sendall(b"data")
        if i % 4 == 1:
            assert c.recv(4, socket.MSG_WAITALL) == b"data"
        c.close()
    t.join()
    for _ in range(3):              # these are never accepted
        c = smc()
        c.connect(l.getsockname())
        c.close()
    l.close()


def race():
    for _ in range(30):
        try:
            pair()
        except OSError as error:
            # The module was not loaded, or has just been unloaded.
            if error.errno not in (errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT):
                raise


class Early:
    """Sends every request for a dump as soon as the generic netlink family is announced, which is
    while the module is still loading. Network namespaces come and go meanwhile, so the module has to
    wait for the lock that registering for namespaces takes."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.sock.bind((0, 0))
        self.sock.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, GENL_ID_CTRL)
        self.sock.settimeout(60)
        self.answered = threading.Event()
        self.problem = "no answer"
        self.threads = [threading.Thread(target=self.ask, daemon=True),
                        threading.Thread(target=self.churn, daemon=True)]
        for thread in self.threads:
            thread.start()

    def churn(self):
        while not self.answered.is_set():
            ctypes.CDLL(None).unshare(CLONE_NEWNET)

    def ask(self):
        try:
            family = self.announced()
            for command in range(1, 64):
                self.dump(family, command)
            self.problem = None
        except OSError as error:
            self.problem = error
        self.answered.set()

    def announced(self):
        while True:
            data = self.sock.recv(1 << 16)
            if data[16] == NEW_FAMILY and b"SMC_GEN_NETLINK" in data:
                at = data.index(struct.pack("=HH", 6, 1))
                return struct.unpack_from("=H", data, at + 4)[0]

    def dump(self, family, command):
        self.sock.send(struct.pack("=IHHIIBBH", 20, family, NLM_F_REQUEST | NLM_F_DUMP, command, 0,
                                   command, 1, 0))
        while True:
            data = self.sock.recv(1 << 18)
            while len(data) >= 16:
                size, kind, _, sequence = struct.unpack_from("=IHHI", data)
                if sequence == command and kind in (NLMSG_DONE, NLMSG_ERROR):
                    return
                data = data[(size + 3) & ~3:]

    def end(self):
        self.answered.wait(60)
        for thread in self.threads:
            thread.join(60)
        self.sock.close()
        assert not self.problem, self.problem


def main():
    """Reads one command per line; prints "done", or what went wrong."""
    held = early = None
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        try:
            if command == "hold":
                held = hold(argument)
            elif command == "close":
                held = None
            elif command == "burst":
                burst()
            elif command == "race":
                race()
            elif command == "plain_tls":
                plain_tls()
            elif command == "ask_early":
                early = Early()
            elif command == "answered":
                early.end()
            print("done", flush=True)
        except OSError as error:
            print(f"{command} {argument}: {error}", flush=True)
        except AssertionError as error:
            print(f"{command} {argument}: {error or 'the data is wrong'}", flush=True)


main()
