# SPDX-License-Identifier: GPL-2.0
"""The cases: which roles of smc_xfer they run, how the machines are prepared, and what is checked
meanwhile. Both machines run the same list."""
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import ism_faults as faults
import ism_model as model
import ism_peers as peers
import ism_strangers as stranger
import ism_v1 as v1
import ism_virtio as virtio
import tools
from ism_machine import has_ivshmem_bus, plug
from lib import smc_netlink as netlink
from lib.slow import slow
from lib.wait import holds, remains
from machine import EID, UPPER, run

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../programs")
import between  # noqa: E402
import losing  # noqa: E402
from program import listens  # noqa: E402

RATE = "6mbit"		# of a link that is to be the bottleneck
GID_INDEX = 1		# on rxe0: 0 is the link-local address, 1 the IPv4 one
RESULTS = os.environ.get("SMC_RESULTS", "/tmp")

MIB = 1 << 20


class Skip(Exception):
    """The case cannot run here; the text gives the reason."""


class Case:
    """name: as on the command line. role: the case of smc_xfer. around: a context manager that gets
    the machine and prepares it. look(machine, where): called at smc_xfer's look(); the connections
    are in mode look_on. program(machine, session): runs instead of smc_xfer. quick: run by default.
    last, reborn: the client's machine dies, for good, or to be replaced by another one. logged: what
    the server's kernel log says then. ours_only: SMC between two machines with our module, TCP with
    the kernel's own module."""

    def __init__(self, name, role=None, around=None, look=None, expect="smcr", v6=False,
                 kinds=("smc", "smc"), timeout=120, quick=True, last=False, program=None, ours_only=False,
                 look_on="smcr", reborn=False, logged="", **args):
        self.name, self.role, self.around, self.look = name, role or name, around, look
        self.program, self.ours_only, self.look_on = program, ours_only, look_on
        self.expect, self.v6, self.kinds, self.timeout = expect, v6, kinds, timeout
        self.quick, self.last, self.reborn, self.args = quick, last, reborn, args
        self.dies, self.logged = last or reborn, logged


def sysctls(server=None, client=None, both=None, kernel=None):
    """Sets net.smc.* for the case and starts it without a link group. kernel: settings for the
    machine with the kernel's own module, or for both machines if neither has it."""
    @contextlib.contextmanager
    def around(machine):
        values = dict(both or {}) | ((server if machine.is_server else client) or {})
        if machine.module == "kernel" or "kernel" not in machine.modules:
            values |= kernel or {}
        try:
            before = {name: machine.sysctl(f"net.smc.{name}") for name in values}
        except FileNotFoundError as error:
            raise Skip(f"{error.filename} does not exist") from None
        for name, value in values.items():
            machine.sysctl(f"net.smc.{name}", value)
        # A link group keeps some settings for its lifetime.
        machine.fresh()
        try:
            yield
        finally:
            for name, value in before.items():
                machine.sysctl(f"net.smc.{name}", value)
    return around


def both_of(inner, outer):
    """Nests one preparation in another."""
    @contextlib.contextmanager
    def around(machine):
        with outer(machine), inner(machine):
            yield
    return around


def eids(server, client):
    """Replaces the usual user EID; None removes it."""
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
def client_is_ours(machine):
    """The kernel's own client resets at SHUT_RDWR if there is unread data."""
    if machine.modules[1] == "kernel":
        raise Skip("the client is the kernel's own")
    yield


@contextlib.contextmanager
def routed(machine):
    machine.route()
    try:
        yield
    finally:
        machine.unroute()


def pnet(tunnel, **networks):
    """Sets the PNET table, by name of a netdev or of the RDMA device, with or without a tunnel
    between the machines. Once the table is set, the device is removed and added again."""
    @contextlib.contextmanager
    def around(machine):
        if tunnel:
            machine.tunnel()
        for name, network in networks.items():
            if name.startswith("rxe"):
                netlink.pnet_add(network, device=name)
            else:
                netlink.pnet_add(network, netdev=name)
        machine.fresh()
        try:
            yield
        finally:
            netlink.pnet_flush()
            if tunnel:
                machine.untunnel()
            machine.fresh()
    return around


def upper(kind, virtual=False):
    """The connections go through a device above eth0, which is the netdev of rxe0."""
    @contextlib.contextmanager
    def around(machine):
        machine.upper(kind, virtual)
        machine.fresh()
        try:
            yield
        finally:
            machine.no_upper()
            machine.fresh()
    return around


class Disturbance:
    """A disturbance of one machine, or of both, in the middle of a case. It is undone at smc_xfer's
    next look(), or at the end of the case if that look() is not reached."""

    def __init__(self, do, undo, server=True, client=True):
        self.do, self.undo, self.roles = do, undo, {True: server, False: client}
        self.done = False

    @contextlib.contextmanager
    def around(self, machine):
        try:
            yield
        finally:
            if self.done:
                self.look(machine, "restore")

    def look(self, machine, where):
        if self.roles[machine.is_server]:
            self.done = where == "disturb"
            (self.do if self.done else self.undo)(machine)
        return []


def device_gone(machine):
    machine.no_rdma()


def device_back(machine):
    machine.rdma("eth0")
    machine.port_is_up()


def address_gone(machine):
    run(f"ip addr del {machine.address()}/24 dev eth0")


def address_back(machine):
    run(f"ip addr add {machine.address()}/24 dev eth0")
    machine.port_is_up()


def eth0_down(machine):
    run("ip link set eth0 down")


def eth0_up(machine):
    """Setting eth0 down has removed its IPv6 addresses."""
    run(f"ip link set eth0 up; ip -6 addr add {machine.address(v6=True)}/64 dev eth0 nodad")
    machine.port_is_up()


def bad_wire(machine):
    """Losses stay moderate: after one, soft-RoCE needs a second to recover, or never does."""
    run("modprobe sch_netem; "
        "tc qdisc add dev eth0 root netem delay 1ms reorder 1% loss 0.3% duplicate 1%")


def good_wire(machine):
    run("tc qdisc del dev eth0 root")


def disturbed(name, do, undo, role="disturbed", **args):
    """A peer that is not notified, and has nothing to send, finds out by TEST LINK."""
    d = Disturbance(do, undo, **{k: args.pop(k) for k in ("server", "client") if k in args})
    return Case(name, role, around=both_of(d.around, sysctls(both={"smcr_testlink_time": 2})),
                look=d.look, timeout=60, quick=False, **args)


@contextlib.contextmanager
def few_messages(machine):
    """rxe0 mostly sends data and acknowledgments. It sends few window updates, by far not one for
    each byte read. A slow machine retransmits."""
    before = machine.counters().get("sent_pkts", 0)
    yield
    sent = machine.counters().get("sent_pkts", 0) - before
    print(f"# {sent} packets", flush=True)
    if not 0 < sent < slow(300):
        raise RuntimeError(f"{sent} packets")


def has_pnetid(machine, where):
    """Checks that the device and the link group show their network."""
    port, groups = netlink.devices()[0]["port1"], [g for g in machine.link_groups() if g["conns"]]
    if (port["pnetid"], port["pnet_by_user"]) != ("NET1", 1):
        raise AssertionError(f"the device shows {port}")
    if machine.module == "ours" and any(g["pnetid"] != "NET1" for g in groups):
        raise AssertionError(f"a link group shows {groups}")
    return show_link(machine, where)


def counted(size):
    """Runs one connection that carries this much in each direction and checks the counters."""
    @contextlib.contextmanager
    def around(machine):
        before = netlink.stats()
        yield
        after, role = netlink.stats(), "server_v2" if machine.is_server else "client_v2"
        grew = {name: after["smcr"][name] - before["smcr"][name]
                for name in ("tx_bytes", "rx_bytes", "tx_calls", "rx_calls", role)}
        sizes = {kind: sum(after["smcr"][kind].values()) - sum(before["smcr"][kind].values())
                 for kind in ("tx_sizes", "rx_sizes", "tx_rings", "rx_elements")}
        print(f"# {grew} {sizes}", flush=True)
        # The kernel's own module counts in its own way.
        if machine.module == "ours" and (
                not size <= grew["tx_bytes"] <= size + 4096 or
                not size <= grew["rx_bytes"] <= size + 4096 or grew[role] != 1 or
                sizes["tx_sizes"] != grew["tx_calls"] or sizes["tx_rings"] != 1 or
                sizes["rx_sizes"] != grew["rx_calls"] or sizes["rx_elements"] != 1 or
                after["smcr"]["rx_usage"] != before["smcr"]["rx_usage"]):
            raise RuntimeError(f"counters: {grew} {sizes} {after['smcr']}")
    return around


def at_least_groups(wanted):
    """The open connections must use at least this many link groups."""
    def look(machine, where):
        groups = machine.link_groups()
        used = sorted((g.get("conns", 0) for g in groups if g.get("conns")), reverse=True)
        if len(used) < wanted:
            raise AssertionError(f"{len(used)} link groups in use, not {wanted}: {groups}")
        return [f"link groups in use: {len(used)}, with {used} connections"]
    return look


def show_link(machine, where):
    groups = [g for g in machine.link_groups() if g["conns"]]
    links = [l for l in machine.links() if l["conns"]]
    devices = netlink.devices()
    if not groups or sum(g["conns"] for g in groups) != sum(l["conns"] for l in links):
        raise AssertionError(f"{groups} do not match {links}")
    if not devices or sum(d["port1"]["links"] for d in devices) < len(links):
        raise AssertionError(f"{devices} do not match {links}")
    # sock_diag must show the same sockets.
    for sock in netlink.sockets():
        if "gid" in sock and not any(l["gid"] == sock["gid"] and l["id"] == sock["link"] and
                                     l["dev"] == sock["dev"] for l in links):
            raise AssertionError(f"{sock} is on none of {links}")
    return [f"link group {g}" for g in groups] + [f"link {l}" for l in links] + \
        [f"device {d}" for d in devices]


def every_group(wanted):
    """More link groups than fit into one buffer of a dump: each is listed once."""
    def look(machine, where):
        lines = at_least_groups(wanted)(machine, where)
        ids = [g["id"] for g in machine.link_groups()]
        if ids != sorted(set(ids)):
            raise AssertionError(f"link groups in this order: {ids}")
        show_link(machine, where)
        return lines
    return look


# (attribute, bytes), or (attribute, [nest]), as the kernel's own module of 6.12 sends them. None:
# any length.
SHAPE_V2_COMMON = [(0, 1), (1, 1), (2, 1), (4, 33), (3, 33)]
SHAPE_LGR = [(1, 4), (6, 4), (2, 1), (3, 1), (11, 1), (5, 1), (9, 8), (4, None), (12, 4), (13, 4),
             (7, SHAPE_V2_COMMON), (8, [(1, 1), (2, 1), (3, 1)])]
SHAPE_LINK = [(1, 1), (10, 4), (6, 4), (3, 1), (7, 4), (2, None), (8, 4), (9, 4), (4, 40), (5, 40)]
SHAPE_DEV = [(2, 1), (10, None), (8, [(1, 1), (2, None), (3, 4), (5, 1), (4, 1), (6, 4)])]


def has_shape(items, shape):
    """Are these the same attributes in order? PAD (0 without bytes, or 10) may be anywhere."""
    items = [item for item in items if item[1] != b""]
    if [kind for kind, _ in items] != [kind for kind, _ in shape]:
        return False
    return all(has_shape(value, size) if isinstance(size, list) else
               isinstance(value, bytes) and size in (None, len(value))
               for (_, value), (_, size) in zip(items, shape))


def shapes(machine, where):
    """Compares the attributes with those that both modules send."""
    for cmd, wanted in ((netlink.GET_LGR_SMCR, {2: (2, SHAPE_LGR)}),
                        (netlink.GET_LINK_SMCR, {2: (2, SHAPE_LGR), 3: (3, SHAPE_LINK)}),
                        (netlink.GET_DEV_SMCR, {6: (6, SHAPE_DEV)})):
        seen = set()
        for number, items in netlink.raw_dump(cmd):
            top, shape = wanted[number]
            if len(items) != 1 or items[0][0] != top or not has_shape(items[0][1], shape):
                raise AssertionError(f"command {cmd}: {items} is not {shape}")
            seen.add(number)
        if seen != set(wanted):
            raise AssertionError(f"command {cmd}: messages {seen}")
    return show_link(machine, where)


class Watcher:
    """Dumps all objects over and over while connections are opened and closed."""
    DUMPS = (netlink.GET_LGR_SMCR, netlink.GET_LINK_SMCR, netlink.GET_LGR_SMCD,
             netlink.GET_DEV_SMCD, netlink.GET_DEV_SMCR)

    def __init__(self):
        self.stop, self.rounds, self.problem = False, 0, ""
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        while not self.stop and not self.problem:
            try:
                for cmd in self.DUMPS:
                    netlink.raw_dump(cmd)
                ids = [g["id"] for g in netlink.link_groups()]
                if ids != sorted(set(ids)):
                    self.problem = f"link groups in this order: {ids}"
                for link in netlink.links():
                    if not link["dev"] or not link["gid"]:
                        self.problem = f"an incomplete link: {link}"
            except OSError as error:
                self.problem = f"a dump: {error}"
            self.rounds += 1

    def end(self):
        self.stop = True
        self.thread.join()
        print(f"# {self.rounds} rounds of dumps", flush=True)
        if self.problem or not self.rounds:
            raise RuntimeError(self.problem or "no dump was made")


@contextlib.contextmanager
def watched(machine):
    """Meanwhile the device is removed and added again, too."""
    watcher = Watcher()
    try:
        yield
        for _ in range(3):
            machine.fresh()
    finally:
        watcher.end()


def indirect(machine, where):
    """Checks that the link goes through the router."""
    lines = show_link(machine, where)
    for group in machine.link_groups():
        if group.get("conns") and group.get("v2", {}).get("direct") not in (0, None):
            raise AssertionError(f"a direct link through a router: {group}")
    return lines


class Capture:
    """Runs tcpdump on a device, from its first packet to the last one before end()."""
    MARK = b"the capture ends here"

    def __init__(self, device, path):
        self.path = path
        self.process = subprocess.Popen(
            ["tcpdump", "-Z", "root", "-i", device, "-U", "--immediate-mode", "-B", "32768",
             "-w", path],
            stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if "listening on" in line:
                return
        raise RuntimeError("tcpdump did not start")

    def end(self, address):
        """Stops the capture once the file contains a packet of our own: then all earlier packets
        are in it."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.sendto(self.MARK, (address, 9))

        def complete():
            with open(self.path, "rb") as file:
                return self.MARK in file.read()

        holds(complete, slow(60), 0.2)
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()


def narrow(count):
    """Sets the number of links, and limits what the client sends over each of them to RATE, so that
    neither the processor nor memory is the bottleneck."""
    @contextlib.contextmanager
    def around(machine):
        before = machine.sysctl("net.smc.smcr_max_links_per_lgr")
        machine.sysctl("net.smc.smcr_max_links_per_lgr", count)
        machine.fresh()
        for netdev in machine.devices.values():
            run(f"tc qdisc add dev {netdev} root netem rate {RATE} limit 10000")
        try:
            yield
        finally:
            for netdev in machine.devices.values():
                run(f"tc qdisc del dev {netdev} root")
            machine.sysctl("net.smc.smcr_max_links_per_lgr", before)
            machine.fresh()
    return around


def has_links(count):
    """Waits for this many links. After "spread", each must have its share of the connections."""
    def look(machine, where):
        until = time.monotonic() + slow(30)
        while len(links := [link for link in machine.links() if link["state"] == 3]) != count:
            assert time.monotonic() < until, f"{len(links)} links, not {count}"
            time.sleep(0.05)
        conns = [link["conns"] for link in links]
        assert where != "spread" or max(conns) - min(conns) <= 2, f"connections of the links: {conns}"
        return [f"{where}: connections {conns}"]
    return look


def version_1(machine):
    """SMC-Rv1 on soft-RoCE: a parameter of our module makes it use the GIDs there, and without
    an EID version 2 is not possible. With the kernel's own module at the other end the result is
    TCP."""
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
    """The client captures all packets; both machines record what their tools show meanwhile."""
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
    """Records what the host compares with the packets (capture.py)."""
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


# perftest prints a line for a size; the columns are counted from the third one. Which column is
# reported, and in which unit: MB/s, with 2^20 bytes in perftest's; us one way; messages per s, both
# directions together.
PERFTEST = (("bandwidth", "ib_write_bw -s 65536 -n 500", 1, MIB / 1e6),
            ("latency", "ib_send_lat -s 1 -n 500", 2, 1),
            ("rate", "ib_send_bw -b -s 44 -n 2000", 2, 1e6))


def perftest(machine, session):
    """Measures raw RDMA between the two machines: the upper limit for SMC-R."""
    problem = ""
    for what, command, column, factor in PERFTEST:
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
            output = process.communicate(timeout=slow(120))[0]
        size, count = re.search(r"-s (\d+) -n (\d+)", command).groups()
        numbers = re.findall(rf"^ *{size} +{count} +(.*)$", output, re.MULTILINE)
        if process.returncode or not numbers:
            problem = f"{command}: {output[-300:]}"
        elif not machine.is_server:
            print("# " + json.dumps({"perftest": what, "value":
                                     float(numbers[0].split()[column]) * factor}), flush=True)
    return problem


def all_ended(machine, session):
    """However the connections ended, the peer has answered, and our module has freed their
    elements."""
    if machine.module != "ours":
        return ""
    left = remains(lambda: [g for g in machine.link_groups() if g["conns"]], slow(15))
    return f"link groups remain: {left}" if left else ""


def unload(machine, session):
    """Unloads the module, which must leave nothing behind."""
    machine.swap(machine.module)
    return ""


FEW_WR = sysctls(both={"smcr_max_send_wr": 4, "smcr_max_recv_wr": 4})
CASES = [
    Case("transfer", bytes=64 * MIB, timeout=400, look=show_link),
    Case("transfer_quick", "transfer", bytes=4 * MIB, look=show_link),
    Case("shapes", "at_once", count=3, threads=1, look=shapes),
    Case("one_way", bytes=8 * MIB),
    Case("transfer_poll", bytes=8 * MIB),
    Case("transfer_v6", "transfer", bytes=4 * MIB, v6=True, ours_only=True, look=show_link),
    Case("transfer_ipproto", "transfer", bytes=4 * MIB, kinds=("ipproto", "ipproto")),
    Case("transfer_16k", "transfer", bytes=4 * MIB,
         around=sysctls(both={"rmem": 16384, "wmem": 16384})),
    Case("transfer_128k", "transfer", bytes=8 * MIB,
         around=sysctls(both={"rmem": 131072, "wmem": 131072})),
    # Not with the kernel's own module: it writes all of that at once, and if rxe has to resend from
    # the middle of a long write it breaks the connection.
    Case("transfer_512k", "transfer", bytes=16 * MIB, quick=False,
         around=sysctls(both={"rmem": 524288, "wmem": 524288})),
    Case("transfer_unequal", "transfer", bytes=4 * MIB,
         around=sysctls(server={"rmem": 16384}, client={"rmem": 262144})),
    Case("buf_type_1", "transfer", bytes=4 * MIB, around=sysctls(both={"smcr_buf_type": 1})),
    Case("buf_type_2", "transfer", bytes=4 * MIB, around=sysctls(both={"smcr_buf_type": 2})),
    Case("duplex", count=300, threads=2, timeout=180, quick=False),
    Case("duplex_unequal", "duplex", count=150, threads=2, timeout=180, quick=False,
         around=sysctls(server={"rmem": 262144, "wmem": 16384},
                        client={"rmem": 131072, "wmem": 32768})),
    Case("duplex_long", "duplex", count=6000, threads=4, timeout=900,
         quick=False),
    # A device with few work requests: all connections wait for each other's completions.
    Case("few_wr", "transfer", bytes=4 * MIB, quick=False, around=FEW_WR),
    Case("few_wr_many", "at_once", count=100, threads=4, quick=False, around=FEW_WR),
    Case("many", "at_once", count=300, threads=4, look=at_least_groups(2), timeout=300),
    Case("max_conns_16", "at_once", count=40, threads=2, look=at_least_groups(3),
         around=sysctls(kernel={"smcr_max_conns_per_lgr": 16}), timeout=120),
    Case("many_groups", "at_once", count=320, threads=4, look=every_group(20), timeout=300,
         around=sysctls(both={"smcr_max_conns_per_lgr": 16, "rmem": 16384, "wmem": 16384})),
    Case("churn", count=2000, threads=4, timeout=300),
    Case("churn_quick", "churn", count=200, threads=4),
    Case("churn_watched", "churn", count=200, threads=4, around=watched),
    Case("urgent", count=20),
    Case("urgent_first", count=20, quick=False),
    Case("urgent_unread"),
    Case("urgent_full"),
    Case("urgent_left"),
    Case("urgent_abort"),
    Case("few_wr_urgent_abort", "urgent_abort", quick=False, around=FEW_WR),
    Case("half_close_client"),
    Case("half_close_server"),
    Case("close_unread_client"),
    Case("close_unread_server"),
    Case("late_abort", around=client_is_ours),
    Case("late_abort_leak", around=client_is_ours),
    Case("late_write"),
    Case("early_churn", count=20),
    Case("withdrawn", count=200),
    Case("kill_client"),
    Case("kill_server"),
    Case("all_ended", program=all_ended, expect="any"),
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
    Case("counters", "transfer", bytes=4 * MIB, around=counted(4 * MIB)),
    Case("tunnel", "transfer", bytes=MIB, expect="tcp", around=pnet(True)),
    Case("pnet", "transfer", bytes=MIB, around=pnet(True, tun0="NET1", rxe0="net1"),
         look=has_pnetid, ours_only=True),
    Case("pnet_other", "transfer", bytes=MIB, expect="tcp", around=pnet(False, eth0="A", rxe0="B")),
    Case("routed", "transfer", bytes=4 * MIB, around=routed, look=indirect),
    Case("routed_v6", "transfer", bytes=4 * MIB, v6=True, ours_only=True, around=routed,
         look=indirect),
    Case("tools", program=tools.tools, expect="any", around=sysctls(both={"rmem": 65536,
                                                                          "wmem": 65536})),
    # Both sides need a new RMB for each connection, at the same time.
    Case("rkeys_cross", "at_once", count=24, threads=8, look=show_link, quick=False,
         around=sysctls(both={"rmem": 524288, "wmem": 16384})),
    Case("by_bytes", bytes=50000, quick=False,
         around=both_of(few_messages, sysctls(both={"rmem": 16384, "wmem": 16384}))),
    # The device below all of these is rxe0, which uses the address of the connection. It receives
    # what arrives for eth0 and its VLANs, and drops packets for other devices: the link is not
    # confirmed.
    *(Case(kind, "transfer", bytes=MIB, around=upper(kind), quick=False, look=show_link,
           expect="smcr" if kind == "vlan" else "tcp") for kind in UPPER),
    Case("macvlan_virtual", "transfer", bytes=MIB, around=upper("macvlan", True), quick=False,
         look=show_link),
    disturbed("device_gone_server", device_gone, device_back, role="broken_off", client=False),
    disturbed("device_gone_client", device_gone, device_back, role="broken_off", server=False),
    disturbed("gid_gone", address_gone, address_back, client=False),
    disturbed("eth0_down", eth0_down, eth0_up, server=False),
    disturbed("lossy", bad_wire, good_wire, role="lossy", count=4, bytes=20000),
    # A model of IBM's ISM function, and its driver
    *(disturbed(f"ism_{name}", do, undo, role="broken_off", server=server, client=client,
                look_on="smcd")
      for name, do, undo, server, client in (
          ("unbound_server", model.unbind, model.reload, True, False),
          ("unbound_client", model.unbind, model.reload, False, True),
          ("dead_server", model.die, model.mend, True, False),
          ("dead_client", model.die, model.mend, False, True))),
    disturbed("ism_storm", model.storm, model.calm, role="undisturbed", look_on="smcd"),
    *(Case(f"ism_{name}_{'server' if server else 'client'}", "transfer", bytes=MIB, expect="tcp",
           around=faults.faulty(model, server, kind, command), quick=False)
      for server in (True, False)
      for name, kind, command in (("fails", model.FAIL, model.REGISTER_DMB),
                                  ("unreached", model.FAIL, model.QUERY_GID),
                                  ("silent", model.SILENT, model.REGISTER_DMB),
                                  ("wrong", model.WRONG, model.REGISTER_DMB))),
    *(Case(f"ism_{name}", "transfer", bytes=MIB, around=model.unwilling(kind, command), quick=False)
      for name, kind, command in (("keeps_dmb", model.FAIL, model.UNREGISTER_DMB),
                                  ("keeps_sba", model.FAIL, model.UNREGISTER_SBA),
                                  ("silent_end", model.SILENT, model.UNREGISTER_IEQ))),
    # SMC-Dv1 and physical networks
    *(Case(f"ism_{name}", "transfer", bytes=MIB, quick=False, look_on="smcd", **of_case)
      for name, of_case in (
          ("v1", {"around": v1.networks(v1.OLD, both=v1.SAME), "look": v1.speaks(1, 0, "NET1")}),
          ("v1_vlan", {"around": v1.networks(v1.OLD, vlan=True, both=v1.SAME),
                       "look": v1.speaks(1, v1.VLAN, "NET1")}),
          ("v1_server", {"around": v1.networks((model.OLD, model.NONE), both=v1.SAME),
                         "look": v1.speaks(1)}),
          ("v1_client", {"around": v1.networks((model.NONE, model.OLD), both=v1.SAME),
                         "look": v1.speaks(1)}),
          ("v2_same", {"around": v1.networks(both=v1.SAME), "look": v1.speaks(2, 0, "NET1")}),
          ("v2_vlan", {"around": v1.networks(vlan=True, both=v1.SAME),
                       "look": v1.speaks(2, 0, "NET1")}),
          ("v2_own", {"around": v1.networks((model.NETWORK, model.NETWORK), both={"eth0": "MODELNET"}),
                      "look": v1.speaks(2, 0, "MODELNET")}),
          ("v2_own_other", {"around": v1.networks((model.NETWORK, model.NETWORK), both={"eth0": "NET1"}),
                            "expect": "tcp"}),
          ("v1_nowhere", {"around": v1.networks(v1.OLD), "expect": "tcp"}),
          ("v1_half", {"around": v1.networks(v1.OLD, server=v1.SAME), "expect": "tcp"}),
          ("v1_other", {"around": v1.networks(v1.OLD, both=v1.OTHER), "expect": "tcp"}),
          ("v2_other_server", {"around": v1.networks(server=v1.OTHER), "expect": "tcp"}),
          ("v2_other_client", {"around": v1.networks(client=v1.OTHER), "expect": "tcp"}))),
    Case("ism_vlans", program=v1.many_vlans, expect="any", quick=False, timeout=200),
    Case("ism_charged", program=model.charged, expect="any", quick=False),
    Case("ism_not_started", program=model.not_started, expect="any", quick=False),
    Case("ism_confirmed_late", program=model.confirmed_late, expect="any", quick=False),
    # A virtio-ism device
    *(Case(f"virtio_{name}_{'server' if server else 'client'}", "transfer", bytes=MIB, expect="tcp",
           around=faults.faulty(virtio, server, *what), quick=False)
      for server in (True, False) for name, what in virtio.FAULTS.items()),
    Case("virtio_keeps", "transfer", bytes=MIB, around=virtio.keeping, quick=False),
    Case("virtio_not_started", program=virtio.not_started, expect="any", quick=False),
    Case("unload", program=unload, expect="any"),
    Case("ping_pong", count=1000, size=1, quick=False),
    Case("stream", count=400, size=65536, quick=False),
    Case("stream_much", "stream", count=4000, size=65536, quick=False),
    *(Case(f"{name}_tcp", name, kinds=("tcp", "tcp"), expect="tcp", quick=False, **args)
      for name, args in (("stream", {"count": 1000, "size": 65536}),
                         ("ping_pong", {"count": 1000, "size": 1}))),
    Case("connect_close", count=200, quick=False),
    Case("connect_close_tcp", "connect_close", count=200, kinds=("tcp", "tcp"), expect="tcp",
         quick=False),
    *(Case(f"streams_{n}", "streams", count=16, threads=8, size=65536, quick=False, timeout=200,
           around=narrow(n), look=has_links(n)) for n in (1, 2)),	# requires --links 2
    Case("parallel", count=50, threads=32, size=1, quick=False),
    Case("perftest", program=perftest, expect="any", quick=False),
    Case("power_off", around=sysctls(both={"smcr_testlink_time": 4}), look=turn_off, timeout=100,
         quick=False, last=True),
    *(Case(f"losing_{name}", program=losing.case(name), timeout=900, quick=False)
      for name in losing.PROGRAMS),	# requires --links 2
    *(Case(f"program_{name}", program=between.case(name), timeout=400, quick=False)
      for name in between.PROGRAMS),
    # Neither side has anything to send: only TEST LINK can notice.
    Case("power_off_idle", "power_off", around=sysctls(both={"smcr_testlink_time": 4}),
         look=turn_off, timeout=100, quick=False, last=True, threads=0),
]


# ---- ISM devices: `pair --ism`, `pair --ism-virtio`

def unplugged(machine):
    """Removes the device while connections use it; its driver stays until they have ended."""
    plug(False)
    if "in use" not in run("rmmod $(basename $SMC_ISM_KO .ko)", check=False):
        raise AssertionError("the driver was unloaded before its connections ended")


def plugged(machine):
    plug(True)
    machine.wait_for_device()


def ism_disturbed(name, **roles):
    d = Disturbance(unplugged, plugged, **roles)
    return Case(name, "disturbed", around=d.around, look=d.look, timeout=60, quick=False,
                look_on="smcd")


def pause(machine, where):
    machine.pause()
    return []


def replug(machine, where):
    plug(False)
    plug(True)
    machine.wait_for_device()
    return []


@contextlib.contextmanager
def can_replug(machine):
    """The PCI driver of ivshmem cannot be bound again while sockets use the first instance."""
    if has_ivshmem_bus():
        raise Skip("no new device while sockets use the old one")
    yield


def begin_again(peer):
    """The client dies. A new one usually has the same peer ID and so gets its slot at once. A
    client with another peer ID, if no slot is free, has to wait until the old one is considered
    dead."""
    def look(machine, where):
        machine.begin_again(peer)
        return []
    return look


# Bits of the words of control data; see net/smc/wire/control.h.
LIES = {"count": ("prod", 1 << 46), "wrap": ("prod", 1 << 15),
        "consumed": ("cons", 1 << 46), "consumed_wrap": ("cons", 1 << 15)}


def lying(what):
    """One end sends impossible cursors; the other end resets the connection."""
    word, bits = LIES[what]

    def tell(value):
        return lambda machine: run(f"echo {value} > /sys/module/smc/parameters/lie_{word}")
    d = Disturbance(tell(bits), tell(0), client=False)
    return Case(f"lies_{what}", "broken_off", around=d.around, look=d.look, timeout=60, quick=False,
                look_on="smcd")


def show_ism(machine, where):
    """Netlink and the tools list the device and the link group once each."""
    groups = [g for g in machine.link_groups() if g["conns"]]
    devices = netlink.ism_devices()
    if len(groups) != 1 or len(devices) != 1 or devices[0]["use_count"] != 1 or \
            groups[0]["chid"] != devices[0]["pci_chid"]:
        raise AssertionError(f"{groups} do not match {devices}")
    shown = run("$SMC_ROOT/build/tools/smcd device; $SMC_ROOT/build/tools/smcd linkgroup; "
                "$SMC_ROOT/build/tools/smcss -D")
    if f"{devices[0]['pci_chid']:04x}" not in shown or "changed" in shown or \
            shown.count("loopback") != 2 or f"{groups[0]['id']:08x}" not in shown:
        raise AssertionError(f"the tools show {shown}")
    return shown.splitlines()


CASES += [
    *map(lying, LIES),
    Case("shown_ism", "at_once", count=3, threads=1, quick=False, look=show_ism, look_on="smcd"),
    Case("power_off_ism", "power_off", look=turn_off, timeout=100, quick=False, last=True,
         look_on="smcd", logged=" is gone; connections reset: 3"),
    Case("strangers", program=stranger.strangers, expect="any", quick=False),
    # More connections than the memory of `pair --ism 8` has room for
    Case("paused", look=pause, look_on="any", expect="any", count=80, timeout=100, quick=False),
    Case("replugged", look=replug, look_on="any", expect="any", count=80, quick=False),
    *(Case(f"replugged_{name}", look=replug, look_on="smcd", around=can_replug, rcvbuf=262144,
           timeout=60, quick=False) for name in ("unread", "ended", "watched")),
    ism_disturbed("unplugged_server", client=False),
    ism_disturbed("unplugged_client", server=False),
    ism_disturbed("unplugged_both"),
    *(Case(f"reborn_{name}", "dies", look=begin_again(peer), timeout=60, quick=False, reborn=True,
           look_on="smcd", logged=" is gone; connections reset: ") for name, peer in (("same", ""), ("other", 7))),
    *peers.cases(Case, Disturbance),
]
BY_NAME = {case.name: case for case in CASES}

# The cases that do not need RDMA
ISM_COMMON = (
    "transfer_quick one_way transfer_poll transfer_v6 transfer_ipproto transfer_16k transfer_128k "
    "transfer_512k transfer_unequal duplex duplex_unequal many churn_quick urgent urgent_first "
    "urgent_unread urgent_full urgent_left urgent_abort shown_ism half_close_client half_close_server close_unread_client "
    "close_unread_server late_abort late_abort_leak late_write early_churn withdrawn strangers kill_client kill_server all_ended tcp_server tcp_client sweep unload after_tcp "
    "lies_count lies_wrap lies_consumed lies_consumed_wrap").split()
UNREAD = ("replugged_unread", "replugged_ended", "replugged_watched")
# For `pair --ism`
ISM = (*ISM_COMMON, "unplugged_server", "unplugged_client", "unplugged_both", *UNREAD, "reborn_same",
       "transfer_quick", "power_off_ism")
# For `pair --ism-peers`, with more participants than machines
ISM_PEERS = peers.NAMES
# For `pair --ism-virtio`
ISM_VIRTIO = (*ISM_COMMON, "unplugged_server", "unplugged_client", "unplugged_both", *UNREAD,
              *(name for case in CASES if case.name.startswith("virtio_")
                for name in (case.name, "after_tcp")), "power_off_ism")
# For `pair --ism-model`. After each fault of the device, the next case checks that it works again.
ISM_MODEL = (*ISM_COMMON, *(name for case in CASES if case.name.startswith("ism_")
                            for name in (case.name, "after_tcp")))
