# SPDX-License-Identifier: GPL-2.0
"""The cases: which roles of smc_xfer they run, on machines in what state, and what is looked at
meanwhile. Both machines go through the same list."""
import contextlib

import netlink
from machine import EID

MIB = 1 << 20


class Skip(Exception):
    """The case cannot run here; the text says why."""


class Case:
    """name: as on the command line. role: the case of smc_xfer. around: a context manager
    that gets the machine and prepares it. look(machine, where): called at smc_xfer's look()."""

    def __init__(self, name, role=None, around=None, look=None, expect="smcr", v6=False,
                 kinds=("smc", "smc"), timeout=60, quick=True, last=False, **args):
        self.name, self.role, self.around, self.look = name, role or name, around, look
        self.expect, self.v6, self.kinds, self.timeout = expect, v6, kinds, timeout
        self.quick, self.last, self.args = quick, last, args


def sysctls(server=None, client=None, both=None):
    """Sets net.smc.* for the case."""
    @contextlib.contextmanager
    def around(machine):
        values = dict(both or {}) | ((server if machine.is_server else client) or {})
        before = {name: machine.sysctl(f"net.smc.{name}") for name in values}
        for name, value in values.items():
            machine.sysctl(f"net.smc.{name}", value)
        try:
            yield
        finally:
            for name, value in before.items():
                machine.sysctl(f"net.smc.{name}", value)
    return around


def eids(server, client):
    """Other user EIDs than the usual one; None is none at all."""
    @contextlib.contextmanager
    def around(machine):
        eid = server if machine.is_server else client
        netlink.flush_ueid()
        if eid:
            netlink.add_ueid(eid)
        try:
            yield
        finally:
            netlink.flush_ueid()
            netlink.add_ueid(EID)
    return around


def without_rdma(on_server):
    @contextlib.contextmanager
    def around(machine):
        if machine.is_server == on_server:
            machine.no_rdma()
        try:
            yield
        finally:
            if machine.is_server == on_server:
                machine.rdma("eth0")
    return around


@contextlib.contextmanager
def routed(machine):
    machine.route()
    try:
        yield
    finally:
        machine.unroute()


def at_least_groups(wanted):
    """So many link groups are needed for the connections that are open."""
    def look(machine, where):
        groups = machine.link_groups()
        if groups is None:
            return ["this module does not list link groups"]
        used = sorted((g.get("conns", 0) for g in groups if g.get("conns")), reverse=True)
        if len(used) < wanted:
            raise AssertionError(f"{len(used)} link groups in use, not {wanted}: {groups}")
        return [f"link groups in use: {len(used)}, with {used} connections"]
    return look


def show_link(machine, where):
    groups = machine.link_groups()
    if groups is None:
        return ["this module does not list link groups"]
    # The dump of links of a module may name none; what is there must agree with smc_diag.
    return [f"link group {g}" for g in groups if g.get("conns")] + \
        [f"link {l}" for l in netlink.links() if l.get("conns")]


def indirect(machine, where):
    """The link goes through the router."""
    lines = show_link(machine, where)
    for group in machine.link_groups() or []:
        if group.get("conns") and group.get("v2", {}).get("direct") not in (0, None):
            raise AssertionError(f"a direct link through a router: {group}")
    return lines


def turn_off(machine, where):
    machine.power_off()


CASES = [
    Case("transfer", bytes=64 * MIB, timeout=180, look=show_link),
    Case("transfer_quick", "transfer", bytes=4 * MIB, look=show_link),
    Case("one_way", bytes=8 * MIB),
    Case("transfer_poll", bytes=8 * MIB),
    Case("transfer_v6", "transfer", bytes=4 * MIB, v6=True, look=show_link),
    Case("transfer_ipproto", "transfer", bytes=4 * MIB, kinds=("ipproto", "ipproto")),
    Case("transfer_16k", "transfer", bytes=4 * MIB,
         around=sysctls(both={"rmem": 16384, "wmem": 16384})),
    Case("transfer_512k", "transfer", bytes=16 * MIB,
         around=sysctls(both={"rmem": 524288, "wmem": 524288})),
    Case("transfer_unequal", "transfer", bytes=4 * MIB,
         around=sysctls(server={"rmem": 16384}, client={"rmem": 262144})),
    Case("buf_type_1", "transfer", bytes=4 * MIB, around=sysctls(both={"smcr_buf_type": 1})),
    Case("buf_type_2", "transfer", bytes=4 * MIB, around=sysctls(both={"smcr_buf_type": 2})),
    Case("many", "at_once", count=300, threads=4, look=at_least_groups(2), timeout=120),
    Case("max_conns_16", "at_once", count=40, threads=2, look=at_least_groups(3),
         around=sysctls(both={"smcr_max_conns_per_lgr": 16}), timeout=120),
    Case("churn", count=2000, threads=4, timeout=120),
    Case("churn_quick", "churn", count=200, threads=4),
    Case("half_close_client"),
    Case("half_close_server"),
    Case("close_unread_client"),
    Case("close_unread_server"),
    Case("kill_client"),
    Case("kill_server"),
    Case("ueid_mismatch", "transfer", expect="tcp", bytes=MIB, around=eids("HERE", "THERE")),
    Case("no_ueid_server", "transfer", expect="tcp", bytes=MIB, around=eids(None, EID)),
    Case("no_ueid_client", "transfer", expect="tcp", bytes=MIB, around=eids(EID, None)),
    Case("no_rdma_server", "transfer", expect="tcp", bytes=MIB, around=without_rdma(True)),
    Case("no_rdma_client", "transfer", expect="tcp", bytes=MIB, around=without_rdma(False)),
    Case("tcp_server", "transfer", expect="tcp", bytes=MIB, kinds=("tcp", "smc")),
    Case("tcp_client", "transfer", expect="tcp", bytes=MIB, kinds=("smc", "tcp")),
    Case("after_tcp", "transfer", bytes=MIB),
    Case("sweep", bytes=2 * MIB, timeout=180),
    Case("routed", "transfer", bytes=4 * MIB, around=routed, look=indirect),
    Case("routed_v6", "transfer", bytes=4 * MIB, v6=True, around=routed, look=indirect),
    Case("ping_pong", count=200, size=1, quick=False),
    Case("stream", count=200, size=65536, quick=False),
    Case("connect_close", count=100, quick=False),
    Case("parallel", count=30, threads=32, size=1, quick=False),
    Case("power_off", around=sysctls(both={"smcr_testlink_time": 4}), look=turn_off, timeout=150,
         last=True),
]
BY_NAME = {case.name: case for case in CASES}
