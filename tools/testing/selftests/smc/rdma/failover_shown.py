# SPDX-License-Identifier: GPL-2.0
"""What tools, counters, tracepoints and the kernel log show of a connection that loses its link.
Both ends are in this guest: the client has rxe0 and rxe2, the server rxe1 and rxe3."""
import json
import socket
import subprocess

from lib.slow import slow
from lib.wait import holds
from machine import Log
import switch

TOOLS = f"{switch.ROOT}/build/tools"
TRACING = "/sys/kernel/tracing"
PORTS = {"client": ("0", "2"), "server": ("1", "3")}
UNREAD = 30000


class Wrong(Exception):
    """The difference from what was expected."""


def ask(tool, *argv):
    """Returns the output of a tool, as JSON."""
    done = subprocess.run([f"{TOOLS}/{tool}", "-j", *argv], check=True, capture_output=True)
    return json.loads(done.stdout)


def same(what, found, expected):
    if found != expected:
        raise Wrong(f"{what}: {found} instead of {expected}")


def until(what, get, expected):
    """Waits for the expected value; on timeout the last value is reported."""
    if not holds(lambda: get() == expected, slow(60), 0.25):
        same(what, get(), expected)


def groups(*which):
    """Returns the groups that have connections, by role."""
    return {g["role"]: g for g in ask("smcr", "linkgroup", *which)["linkgroups"] if g["connections"]}


def types():
    return {role: group["type"] for role, group in groups().items()}


def used():
    """Returns (link group, link, device) of each end, as smcss and as smcr show them."""
    sockets = [s["smcr"] for s in ask("smcss", "-d")["sockets"] if "smcr" in s]
    by_socket = sorted((s["linkgroup"], s["link"], s["device"]) for s in sockets)
    links = ask("smcr", "linkgroup", "link-show")["links"]
    by_link = sorted((k["linkgroup"], k["link"], k["device"]) for k in links if k["connections"])
    return by_socket, by_link


def used_by(role):
    """Returns the link of one end."""
    group = groups()[role]["id"]
    return next(link for link in used()[0] if link[0] == group)


def counters():
    return ask("smcr", "-a", "stats")["stats"]["links"]


class Watch:
    """The lines of the kernel log and the trace events from now on."""

    EVENTS = ("smcr_link_up", "smcr_conn_moved")

    def __init__(self):
        self.log, self.lines = Log(), []

    @staticmethod
    def write(name, text):
        with open(f"{TRACING}/{name}", "w", encoding="ascii") as file:
            file.write(text)

    def __enter__(self):
        subprocess.run(["mount", "-t", "tracefs", "none", TRACING], check=False, capture_output=True)
        for event in self.EVENTS:
            self.write(f"events/smc/{event}/enable", "1")
        return self

    def __exit__(self, error, *_):
        if error:
            print(*(f"# {line}" for line in self.lines), sep="\n")
        for event in self.EVENTS:
            self.write(f"events/smc/{event}/enable", "0")
        self.write("trace", "")

    def logged(self, begin, end):
        """Is there a line with this beginning and this end?"""
        self.lines += self.log.new_lines()
        return any(f"smc: link group {begin}" in line and line.endswith(end)
                   for line in self.lines)

    def await_log(self, begin, end):
        until(f"'{begin} ... {end}' in the log", lambda: self.logged(begin, end), True)

    @staticmethod
    def traced(*words):
        """Is there an event that contains all these words?"""
        with open(f"{TRACING}/trace", encoding="ascii") as file:
            return any(all(word in line for word in words) for line in file)


def symmetric(connection, _):
    """Each end has two links, which can be selected by each of their devices."""
    with connection():
        switch.two_links()
        same("types", types(), {"client": "SYM", "server": "SYM"})
        for role, ports in PORTS.items():
            for n in ports:
                for which in (("ibdev", f"rxe{n}"), ("netdev", f"veth{n}")):
                    same(f"groups with {which}", list(groups(*which)), [role])
                    found = ask("smcr", "linkgroup", "link-show", *which)["links"]
                    same(f"links with {which}", [(k["device"], k["netdev"], k["state"]) for k in found],
                         [(f"rxe{n}", f"veth{n}", "ACTIVE")])
        same("critical devices", [d["device"] for d in ask("smcr", "device")["devices"] if d["critical"]],
             [])
        by_socket, by_link = used()
        same("links of sockets", by_socket, by_link)
        same("ends", len(by_socket), 2)


def after_loss(watch, lost, old):
    """Both ends have moved away from the links in old; the client has one device left."""
    until("types", types, {"client": "ASYML", "server": "ASYMP"})
    same("critical devices", [d["device"] for d in ask("smcr", "device")["devices"] if d["critical"]],
         [f"rxe{2 - lost}"])
    by_socket, by_link = used()
    same("links of sockets", by_socket, by_link)
    for role, (group, number, dev) in old.items():
        now = used_by(role)
        same(f"{role}'s link has changed", now[1] != number, True)
        watch.await_log(f"{group[2:]}: link {number} on {dev} port 1 is down (port or path lost); ",
                        f"connections moved to link {now[1]} on {now[2]} port 1: 1, reset: 0")
    same("the client's move in the trace", watch.traced(
        f" link {old['client'][1]} -> {used_by('client')[1]} ", f" again={UNREAD}\n"), True)
    until("the new link in the trace", lambda: watch.traced("smcr_link_up", " type=ASYML "), True)


def moved(connection, pattern):
    """The link in use is lost while the receiver has unread data."""
    data = pattern(3, UNREAD)
    with connection() as (client, server), Watch() as watch:
        switch.two_links()
        client.sendall(data)
        while len(server.recv(UNREAD, socket.MSG_PEEK)) < UNREAD:
            pass
        before, old = counters(), {role: used_by(role) for role in PORTS}
        lost = int(old["client"][2][-1])
        switch.lose(lost)
        try:
            until("moves", lambda: counters()["moved_connections"] - before["moved_connections"], 2)
            same("bytes written again", counters()["bytes_again"] - before["bytes_again"], UNREAD)
            after_loss(watch, lost, old)
            same("unread data", server.recv(UNREAD, socket.MSG_WAITALL) == data, True)
        finally:
            switch.repair(lost)
        switch.two_links()
        until("types", types, {"client": "SYM", "server": "SYM"})
        for group in groups().values():
            watch.await_log(f"{group['id'][2:]}: link ", " is up: symmetric")


def reset(end):
    """Does the connection end with a reset?"""
    try:
        return end.recv(1) and False
    except ConnectionResetError:
        return True


def ended(connection, _):
    """Both ends lose all links."""
    with connection() as ends, Watch() as watch:
        switch.two_links()
        # The connection of an earlier case may not have ended yet.
        until("connections", lambda: [g["connections"] for g in groups().values()], [1, 1])
        ids = [group["id"][2:] for group in groups().values()]
        for n in range(4):
            switch.lose(n)
        try:
            same("resets", [reset(end) for end in ends], [True, True])
            until("groups with connections", groups, {})
            for group in ids:
                watch.await_log(f"{group}: the last link, ", " port 1, is down (port or path lost); "
                                "the group ends, connections reset: 1")
        finally:
            for n in range(4):
                switch.repair(n)


CASES = {"shown_symmetric": symmetric, "shown_moved": moved, "shown_ended": ended}


def play(name, connection, pattern):
    """Returns what was wrong, as a list."""
    try:
        CASES[name](connection, pattern)
    except (Wrong, RuntimeError, OSError) as error:
        return [f"{type(error).__name__}: {error}"]
    return []
