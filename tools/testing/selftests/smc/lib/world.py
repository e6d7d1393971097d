# SPDX-License-Identifier: GPL-2.0
"""Another network namespace for tests in Python, and a link to it."""
import contextlib
import ctypes
import os
import struct
import threading

from lib.guest import run, same

CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


def ip(words):
    done = run("ip", *words.split())
    same((done.returncode, done.stderr), (0, ""), f"ip {words}")


class World:
    """Another network namespace; a thread can enter it."""

    def __init__(self):
        def make():
            same(LIBC.unshare(CLONE_NEWNET), 0, "cannot unshare the network namespace")
            # pylint: disable-next=consider-using-with
            self.file = open("/proc/thread-self/ns/net", encoding="ascii")

        self.file = None
        thread = threading.Thread(target=make)
        thread.start()
        thread.join()
        same(self.file is not None, True, "a namespace")

    @contextlib.contextmanager
    def inside(self):
        with open("/proc/thread-self/ns/net", encoding="ascii") as home:
            same(LIBC.setns(self.file.fileno(), CLONE_NEWNET), 0, "cannot enter the namespace")
            try:
                yield
            finally:
                same(LIBC.setns(home.fileno(), CLONE_NEWNET), 0, "return")

    def veth(self, here, there, address):
        """A pair of netdevs, one of them in the other namespace."""
        ip(f"link add {here} type veth peer name {there}")
        ip(f"link set {there} netns /proc/{os.getpid()}/fd/{self.file.fileno()}")
        ip(f"link set {here} up")
        with self.inside():
            ip("link set lo up")
            ip(f"addr add {address}/24 dev {there}")
            ip(f"link set {there} up")

    def connect_by_veth(self):
        self.veth("v0", "v1", "10.9.0.2")
        ip("addr add 10.9.0.1/24 dev v0")

    def close(self):
        run("ip", "link", "del", "v0")
        self.file.close()


@contextlib.contextmanager
def world():
    other = World()
    try:
        yield other
    finally:
        other.close()


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff
