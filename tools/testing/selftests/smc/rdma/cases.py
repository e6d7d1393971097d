# SPDX-License-Identifier: GPL-2.0
"""The cases: which roles of smc_xfer they run, on machines in what state, and what is looked at
meanwhile. Both machines go through the same list."""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time

import netlink
import tools
from machine import EID, run

GID_INDEX = 1		# of rxe0: 0 is the link-local address, 1 the IPv4 one
RESULTS = os.environ.get("SMC_RESULTS", "/tmp")

MIB = 1 << 20


class Skip(Exception):
    """The case cannot run here; the text says why."""


class Case:
    """name: as on the command line. role: the case of smc_xfer. around: a context manager
    that gets the machine and prepares it. look(machine, where): called at smc_xfer's look().
    program(machine, session): instead of smc_xfer. quick: one of those that all means.
    ours_only: SMC between two of ours, TCP with the kernel's own module."""

    def __init__(self, name, role=None, around=None, look=None, expect="smcr", v6=False,
                 kinds=("smc", "smc"), timeout=120, quick=True, last=False, program=None, ours_only=False,
                 **args):
        self.name, self.role, self.around, self.look = name, role or name, around, look
        self.program, self.ours_only = program, ours_only
        self.expect, self.v6, self.kinds, self.timeout = expect, v6, kinds, timeout
        self.quick, self.last, self.args = quick, last, args


def sysctls(server=None, client=None, both=None, kernel=None):
    """Sets net.smc.* for the case, and begins without a link group. kernel: where that is the
    kernel's own module, or everywhere if it is nowhere."""
    @contextlib.contextmanager
    def around(machine):
        values = dict(both or {}) | ((server if machine.is_server else client) or {})
        if machine.module == "kernel" or "kernel" not in machine.modules:
            values |= kernel or {}
        try:
            before = {name: machine.sysctl(f"net.smc.{name}") for name in values}
        except FileNotFoundError as error:
            raise Skip(f"no {error.filename} here") from None
        for name, value in values.items():
            machine.sysctl(f"net.smc.{name}", value)
        # Some settings are those of a link group, for as long as it lives.
        machine.fresh()
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
            links = len(machine.queue_pairs())
            if links < wanted:
                raise AssertionError(f"{links} links, not {wanted}")
            return [f"{links} links; this module does not list link groups"]
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
        [f"link {l}" for l in machine.links() if l.get("conns")]


def indirect(machine, where):
    """The link goes through the router."""
    lines = show_link(machine, where)
    for group in machine.link_groups() or []:
        if group.get("conns") and group.get("v2", {}).get("direct") not in (0, None):
            raise AssertionError(f"a direct link through a router: {group}")
    return lines


class Capture:
    """tcpdump on a device, from its first packet to the last one before end()."""
    MARK = b"the capture ends here"

    def __init__(self, device, path):
        self.path = path
        self.process = subprocess.Popen(
            ["tcpdump", "-i", device, "-U", "--immediate-mode", "-B", "32768", "-w", path],
            stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if "listening on" in line:
                return
        raise RuntimeError("tcpdump does not start")

    def end(self, address):
        """A packet of our own has to arrive in the file before everything before it has."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(self.MARK, (address, 9))
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with open(self.path, "rb") as file:
                if self.MARK in file.read():
                    break
            time.sleep(0.2)
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()


def version_1(machine):
    """SMC-Rv1, on soft-RoCE: our module takes its GIDs when it is told to, and without an EID
    there is no version 2. With the kernel's own module on the other side that ends as TCP."""
    path = "/sys/module/smc/parameters/v1_over_rocev2"
    values = ("Y", "N") if machine.module == "ours" else (None, None)

    @contextlib.contextmanager
    def around():
        netlink.flush_ueid()
        set_parameter(path, values[0])
        machine.fresh()
        try:
            yield
        finally:
            set_parameter(path, values[1])
            netlink.add_ueid(EID)
            machine.fresh()
    return around()


def set_parameter(path, value):
    if value:
        with open(path, "w", encoding="ascii") as file:
            file.write(value)


def captured(name, inner=None):
    """The client writes down all packets; both say what their tools show meanwhile."""
    @contextlib.contextmanager
    def around(machine):
        with inner(machine) if inner else contextlib.nullcontext():
            machine.fresh()
            dump = None if machine.is_server else Capture("eth0", f"{RESULTS}/{name}.pcap")
            try:
                yield
            finally:
                if dump:
                    dump.end(machine.address(peer=True))
    return around


def write_down(name):
    """What the host compares with the packets (capture.py)."""
    def look(machine, where):
        with open(f"{RESULTS}/{name}.json", "w", encoding="ascii") as file:
            json.dump({"sockets": json.loads(run("$SMC_ROOT/build/tools/smcss -R -d -j"))["sockets"],
                       "groups": machine.link_groups(), "links": machine.links(),
                       "module": machine.module, "qps": machine.queue_pairs()}, file, indent=1)
        return []
    return look


def turn_off(machine, where):
    machine.power_off()
    return []


def listens(port):
    """Somebody listens there, over IPv4 or IPv6."""
    wanted = f":{port:04X} "
    return any(line.split()[1].endswith(wanted.strip()) and line.split()[3] == "0A"
               for table in ("tcp", "tcp6") for line in open(f"/proc/net/{table}").readlines()[1:])


def perftest(machine, session):
    """Raw RDMA between the two machines: what SMC-R at most could be."""
    problem = ""
    for what, command in (("bandwidth", "ib_write_bw -s 65536 -n 500"),
                          ("latency", "ib_send_lat -s 1 -n 500")):
        argv = f"{command} -d rxe0 -x {GID_INDEX} -F".split()
        argv += [] if machine.is_server else [machine.address(peer=True)]
        if not machine.is_server:
            session.receive()
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as process:
            while machine.is_server and process.poll() is None and not listens(18515):
                time.sleep(0.05)
            if machine.is_server:
                session.send({"listening": what})
            output = process.communicate(timeout=120)[0]
        numbers = re.findall(r"^ *(?:65536|1) +500 +(.*)$", output, re.MULTILINE)
        if process.returncode or not numbers:
            problem = f"{command}: {output[-300:]}"
        elif not machine.is_server:
            values = [float(v) for v in numbers[0].split()]
            # average bandwidth in MB/s of 2^20 bytes; typical latency one way in us
            print("# " + json.dumps({"perftest": what, "value": values[1] * MIB / 1e6
                                     if what == "bandwidth" else values[2]}), flush=True)
    return problem


def unload(machine, session):
    """The module goes away, and leaves nothing."""
    machine.swap(machine.module)
    return ""


CASES = [
    Case("transfer", bytes=64 * MIB, timeout=400, look=show_link),
    Case("transfer_quick", "transfer", bytes=4 * MIB, look=show_link),
    Case("one_way", bytes=8 * MIB),
    Case("transfer_poll", bytes=8 * MIB),
    Case("transfer_v6", "transfer", bytes=4 * MIB, v6=True, ours_only=True, look=show_link),
    Case("transfer_ipproto", "transfer", bytes=4 * MIB, kinds=("ipproto", "ipproto")),
    Case("transfer_16k", "transfer", bytes=4 * MIB,
         around=sysctls(both={"rmem": 16384, "wmem": 16384})),
    Case("transfer_128k", "transfer", bytes=8 * MIB,
         around=sysctls(both={"rmem": 131072, "wmem": 131072})),
    # Not with the kernel's own: it writes all of that at once, and an rxe that has to resend
    # from the middle of a long write breaks the connection.
    Case("transfer_512k", "transfer", bytes=16 * MIB, quick=False,
         around=sysctls(both={"rmem": 524288, "wmem": 524288})),
    Case("transfer_unequal", "transfer", bytes=4 * MIB,
         around=sysctls(server={"rmem": 16384}, client={"rmem": 262144})),
    Case("buf_type_1", "transfer", bytes=4 * MIB, around=sysctls(both={"smcr_buf_type": 1})),
    Case("buf_type_2", "transfer", bytes=4 * MIB, around=sysctls(both={"smcr_buf_type": 2})),
    Case("many", "at_once", count=300, threads=4, look=at_least_groups(2), timeout=300),
    Case("max_conns_16", "at_once", count=40, threads=2, look=at_least_groups(3),
         around=sysctls(kernel={"smcr_max_conns_per_lgr": 16}), timeout=120),
    Case("churn", count=2000, threads=4, timeout=300),
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
    Case("sweep", bytes=2 * MIB, timeout=400),
    Case("v1", "transfer", bytes=4 * MIB, around=version_1, ours_only=True, look=show_link),
    Case("v1_many", "at_once", count=300, threads=4, around=version_1, ours_only=True,
         timeout=300),
    Case("capture", "session", around=captured("capture"), look=write_down("capture")),
    Case("capture_v1", "session", around=captured("capture_v1", version_1), ours_only=True,
         look=write_down("capture_v1")),
    Case("routed", "transfer", bytes=4 * MIB, around=routed, look=indirect),
    Case("routed_v6", "transfer", bytes=4 * MIB, v6=True, ours_only=True, around=routed,
         look=indirect),
    Case("tools", program=tools.tools, expect="any", around=sysctls(both={"rmem": 65536,
                                                                          "wmem": 65536})),
    Case("unload", program=unload, expect="any"),
    Case("ping_pong", count=1000, size=1, quick=False),
    Case("stream", count=400, size=65536, quick=False),
    Case("connect_close", count=200, quick=False),
    Case("parallel", count=50, threads=32, size=1, quick=False),
    Case("perftest", program=perftest, expect="any", quick=False),
    Case("power_off", around=sysctls(both={"smcr_testlink_time": 4}), look=turn_off, timeout=100,
         quick=False, last=True),
    # Nobody has anything to send: only TEST LINK can find out.
    Case("power_off_idle", "power_off", around=sysctls(both={"smcr_testlink_time": 4}),
         look=turn_off, timeout=100, quick=False, last=True, threads=0),
]
BY_NAME = {case.name: case for case in CASES}
