# SPDX-License-Identifier: GPL-2.0
"""Dumps in a loop while connections, link groups, devices and namespaces are created and removed.

Four programs make changes: connections over the loopback; connections over RDMA, whose devices are
removed and added, so link groups end and new ones are created; namespaces with their own
connections; EIDs and PNET entries. Each counts its rounds and must complete a minimum. Meanwhile
every dump of netlink and of sock_diag is requested over and over, and every answer is checked
against the header. Then everything stops, and nothing may be left.

SMC_CHURN_SECONDS sets the minimum duration (20; 10 on a debug kernel).
"""
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time

import host
import genl
import reader
from host import TOOLS, Wrong, same

DEBUG = bool(os.environ.get("SMC_DEBUG_KERNEL"))
SECONDS = float(os.environ.get("SMC_CHURN_SECONDS", 10 if DEBUG else 20))
HERE = os.path.dirname(os.path.abspath(__file__))
# Minimum rounds of each program before it ends; with fewer the dumps would show too little.
LEAST = {"shared": 20, "rdma": 3, "namespaces": 2, "tables": 20}
if DEBUG:
    LEAST = {"shared": 6, "rdma": 1, "namespaces": 1, "tables": 3}
# Removing a device ends its connections: with a reset, or as TCP if the handshake was not complete.
ENDED = (errno.ECONNRESET, errno.EPIPE, errno.ETIMEDOUT, errno.ECONNREFUSED, errno.ECONNABORTED,
         errno.ENOTCONN, errno.EAGAIN)


class Stop(Exception):
    """A program has done enough."""


def pairs(port, address, source, count):
    """Opens some connections, sends a byte each way, closes them in alternating order; returns how
    many."""
    with host.listener(port, address=address) as lsock:
        ends = []
        for _ in range(count):
            ends += host.connected(lsock, port, address=address, source=source)
        for sock in ends if port % 2 else reversed(ends):
            sock.close()
    return count


def shared(done):
    """Connects over the loopback, whatever the parameter is: both address the same host."""
    while True:
        done(pairs(7800 + done.count % 10, "127.0.0.1", "127.0.0.1", 3))


def rdma(done):
    """Makes two link groups in each round; removes their device during the connections, or
    afterwards. A round whose connections stayed on TCP does not count."""
    groups = None
    while True:
        host.loopback(False)
        try:
            with host.listener(7820 + done.count % 10) as lsock:
                ends = [*host.connected(lsock, 7820 + done.count % 10),
                        *host.connected(lsock, 7820 + done.count % 10)]
                groups = json.loads(host.must(f"{TOOLS}/smcr", "-j", "linkgroup"))["linkgroups"]
                if done.count % 3 == 0:
                    for sock in ends:
                        sock.close()
                host.fresh_devices()
                for sock in ends:
                    sock.close()
        except OSError as error:
            if error.errno not in ENDED:
                raise
        finally:
            host.loopback(True)
        done(bool(groups))
        groups = None


def namespaces(done):
    """Creates a namespace with connections and a PNET table, and removes it with one connection
    open."""
    child = f"""
import sys
sys.path.insert(0, {HERE!r})
import host, genl, churn
host.must("ip", "link", "set", "lo", "up")
genl.Genl("SMC_PNETID").ask(2, genl.attr(1, "CHURN") + genl.attr(2, "lo"))
churn.pairs(7840, "127.0.0.1", "127.0.0.1", 2)
with host.listener(7841, address="127.0.0.1") as lsock:
    host.connected(lsock, 7841, address="127.0.0.1", source="127.0.0.1")
"""
    while True:
        ended = host.run("unshare", "--net", sys.executable, "-c", child)
        if ended.returncode:
            raise Wrong(f"a namespace failed: {ended.stdout}{ended.stderr}")
        done(1)


def tables(done):
    """Adds and removes PNET entries, and EIDs other than the one that is required."""
    smc, pnet = genl.Genl(), genl.Genl("SMC_PNETID")
    while True:
        for number in range(3):
            smc.ask(10, genl.attr(1, f"CHURN-{number}"))
            pnet.ask(2, genl.attr(1, f"NET{number}") + genl.attr(2, f"churn{number}"))
        for number in range(3):
            smc.ask(11, genl.attr(1, f"CHURN-{number}"))
            pnet.ask(3, genl.attr(1, f"NET{number}"))
        done(1)


class Count:
    """Counts rounds. Between two rounds it ends the program, once that was requested and has done
    enough."""

    def __init__(self, least):
        self.count, self.least = 0, least
        # blocked and polled, so it interrupts no system call
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})

    def __call__(self, more):
        self.count += more
        if signal.SIGTERM in signal.sigpending() and self.count >= self.least:
            raise Stop


def play(name):
    """Runs in a process of its own: rounds until SIGTERM, then prints how many."""
    done = Count(LEAST[name])
    try:
        print("begun", flush=True)
        {"shared": shared, "rdma": rdma, "namespaces": namespaces, "tables": tables}[name](done)
    except Stop:
        pass
    print(done.count)


class Dumps:
    """Requests every dump in turn."""

    def __init__(self):
        self.client, self.pnet, self.reader = genl.Genl(), genl.Genl("SMC_PNETID"), reader.Reader()
        self.rounds = self.messages = self.interrupted = self.sockets = 0

    def round(self):
        for command in reader.DUMPS:
            self.messages += self.reader.dump(self.client, command)
            self.interrupted += self.client.interrupted
        for _, items in self.pnet.dump(1):
            same({number for number, _ in items}, {1, 2, 3, 4}, "attributes of a PNET entry")
        found = reader.diag()
        for body in found.values():
            same(body[0] in (socket.AF_INET, socket.AF_INET6) and body[2] in (0, 1, 2), True,
                 "family and mode of a socket")
            reader.diag_attributes(body, "sock_diag")
        self.sockets += len(found)
        self.rounds += 1

    def enough(self):
        return self.rounds > 5 and self.messages > 50 and self.sockets > 5


def collect(processes):
    """Stops the programs; returns the count of each."""
    done = {}
    for process in processes.values():
        process.terminate()
    for name, process in processes.items():
        out, err = process.communicate(timeout=3 * host.SHORT)
        if process.returncode:
            raise Wrong(f"{name} ended with {process.returncode}: {err}")
        done[name] = int(out.split()[-1])
    return done


def dumps_while_changing():
    with host.clean():
        processes, dumps = {}, Dumps()
        try:
            for name in LEAST:
                processes[name] = subprocess.Popen(     # pylint: disable=consider-using-with
                    [sys.executable, "-c", f"import sys; sys.path.insert(0, {HERE!r}); import churn; "
                     f"churn.play({name!r})"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                same(processes[name].stdout.readline(), "begun\n", name)
            until = time.monotonic() + SECONDS
            while (time.monotonic() < until or not dumps.enough()) and \
                    not any(process.poll() for process in processes.values()):
                dumps.round()
            done = collect(processes)
        finally:
            for process in processes.values():
                process.kill()
            host.loopback(True)
        print(f"# {dumps.rounds} rounds of dumps: {dumps.messages} messages, {dumps.interrupted} "
              f"interrupted, {dumps.sockets} sockets; meanwhile {done}")
        for name, least in LEAST.items():
            same(done[name] >= least, True, f"{name} did {done[name]}")
        genl.Genl("SMC_PNETID").ask(4)
    return ""


def cases(module):
    return [("dumps while connections, link groups, devices and namespaces are created and removed",
             dumps_while_changing)]
