#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""In a guest with a test build: dumps in the presence of many sockets (L7 of the audit).

SMC_MANY is the number of sockets, 20 000 by default. The test checks how many list entries the
kernel visits, in total and while it holds a lock once. The time is printed, but not checked."""
import collections
import ctypes
import os
import resource
import socket
import struct
import subprocess
import sys
import time

sys.path.append(f"{os.environ['SMC_ROOT']}/tools/testing/selftests/smc")
from lib import cases, smc_netlink as netlink  # noqa: E402
from lib.slow import slow  # noqa: E402

IPPROTO_SMC, SOL_SMC, SMC_TEST_REGISTRY = 256, 286, 0x203
CLONE_NEWNET = 0x40000000
SMCSS = f"{os.environ['SMC_ROOT']}/build/tools/smcss"
MANY = int(os.environ.get("SMC_MANY", 2000 if os.environ.get("SMC_DEBUG_KERNEL") else 20000))
FEW = 1000
UNREAD = 300	# dumps that are started and not read
HOLD = 64	# entries that may be visited while a lock is held once
CASES = []


def case(what):
    def add(function):
        CASES.append((what, function))
        return function
    return add


def smc_socket():
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)


def inode(sock):
    return os.fstat(sock.fileno()).st_ino


def cost():
    """Returns struct smc_test_registry."""
    with smc_socket() as sock:
        return struct.unpack("=5Q", sock.getsockopt(SOL_SMC, SMC_TEST_REGISTRY, 40))


def looked_at(function):
    before = cost()[0]
    value = function()
    return cost()[0] - before, value


def smcss():
    """Returns the inodes of all lines."""
    began, user = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run([SMCSS, "-a"], check=True, capture_output=True, text=True).stdout
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = [int(line.split()[2]) for line in said.splitlines()[1:]]
    print(f"# smcss, {len(found)} sockets: {time.monotonic() - began:.2f} s, of them user "
          f"{now.ru_utime - user.ru_utime:.2f}, system {now.ru_stime - user.ru_stime:.2f}")
    return found


def once(found, expected):
    """Each of them must occur exactly once."""
    times = collections.Counter(found)
    wrong = [f"{number} {times[number]} times" for number in expected if times[number] != 1]
    assert not wrong, f"{len(wrong)} of {len(expected)}: {', '.join(wrong[:5])}"


def linear(looked, shown, more=0):
    """When a message is full, its last socket is visited again; and a few sockets are the tests'
    own."""
    assert looked <= shown + shown // 20 + 64 + more, f"{looked} sockets looked at to show {shown}"


class Crowd:
    """This namespace with many sockets, and another one with few."""

    def __init__(self):
        self.home = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.many = [smc_socket() for _ in range(MANY)]
        self.libc = ctypes.CDLL(None, use_errno=True)
        assert not self.libc.unshare(CLONE_NEWNET)
        self.elsewhere = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.few = [smc_socket() for _ in range(FEW)]

    def enter(self, namespace):
        assert not self.libc.setns(namespace, CLONE_NEWNET)


@case("smcss shows every socket once, and the kernel looks at each of them once")
def complete(crowd):
    crowd.enter(crowd.home)
    looked, found = looked_at(smcss)
    once(found, [inode(s) for s in crowd.many])
    linear(looked, MANY)


@case("the sockets of another namespace cost a dump nothing")
def elsewhere(crowd):
    crowd.enter(crowd.elsewhere)
    looked, found = looked_at(smcss)
    once(found, [inode(s) for s in crowd.few])
    assert len(found) <= FEW + 1, found
    linear(looked, FEW)


@case("the counters look at each connection once, and at none of another namespace")
def counters(crowd):
    crowd.enter(crowd.elsewhere)
    looked, _ = looked_at(netlink.stats)
    linear(looked, FEW)
    crowd.enter(crowd.home)
    looked, _ = looked_at(netlink.stats)
    linear(looked, MANY)


class Dump:
    """A dump that is read message by message."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, netlink.NETLINK_SOCK_DIAG)
        self.sock.settimeout(slow(60))
        body = struct.pack("=B2xB48x", netlink.AF_SMC, 0)
        self.sock.send(struct.pack("=IHHII", 16 + len(body), netlink.SOCK_DIAG_BY_FAMILY,
                                   netlink.NLM_F_REQUEST | netlink.NLM_F_DUMP, 1, 0) + body)

    def read(self):
        """Returns the inodes of the next message; None at the end."""
        data, found = self.sock.recv(1 << 18), []
        while len(data) >= 16:
            size, kind = struct.unpack_from("=IH", data)
            if kind == netlink.NLMSG_DONE:
                return found or None
            assert kind == netlink.SOCK_DIAG_BY_FAMILY
            found.append(struct.unpack_from("=Q", data, 16 + 56)[0])
            data = data[(size + 3) & ~3:]
        return found


@case("sockets that exist during a whole dump are shown once, while others come and go")
def churn(crowd):
    crowd.enter(crowd.home)
    staying = {inode(s) for s in crowd.many[::2]}
    by_inode = {inode(s): n for n, s in enumerate(crowd.many) if inode(s) not in staying}
    dump, found, messages, born = Dump(), [], 0, []
    while (part := dump.read()) is not None:
        found += part
        messages += 1
        # Close sockets that were just shown, among them the current one of the dump, and some that
        # are still to come.
        for number in part[-40:] + list(by_inode)[:20]:
            if number in by_inode:
                crowd.many[by_inode.pop(number)].close()
                born.append(smc_socket())
    assert messages > 2 and born
    once(found, staying)
    crowd.many = [s for s in crowd.many if s.fileno() >= 0] + born


@case("a dump holds no lock for long beside dumps that are not read")
def unread(crowd):
    crowd.enter(crowd.home)
    dumps = [Dump() for _ in range(UNREAD)]
    looked, found = looked_at(smcss)
    once(found, [inode(s) for s in crowd.many])
    linear(looked, len(crowd.many), UNREAD)
    # Close some in the middle, continue others.
    for dump in dumps[::2]:
        dump.sock.close()
    rest = dumps[1]
    found = []
    while (part := rest.read()) is not None:
        found += part
    once(found, [inode(s) for s in crowd.many])
    _, most, longest, holds, long_holds = cost()
    print(f"# at most {most} entries under one hold of a lock; {long_holds} of {holds} holds took "
          f"longer than 100 us, one of them {longest / 1000:.0f} us")
    assert most < HOLD, f"{most} entries under one hold of a lock"
    for dump in dumps:
        dump.sock.close()


def main():
    limit = MANY + FEW + UNREAD + 2000
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    return cases.play(CASES, Crowd())


if __name__ == "__main__":
    sys.exit(main())
