# SPDX-License-Identifier: GPL-2.0
"""The tools of tools/smcss on a live link group: compares the output of smcr, smcd, smcss, smc_chk
and smc_pnet with what is expected, with either module. IDs and sizes that a module chooses are
masked."""
import json
import os
import re
import socket
import subprocess

from lib.slow import slow

TOOLS = f"{os.environ.get('SMC_ROOT', '')}/build/tools"
STATE = "/run/smc-test"
IPPROTO_SMC = 256
PORT, TCP_PORT, CHECK_PORT = 7400, 7401, 7402
SHORT = slow(60)

LINKGROUP = """\
LG-ID    LG-Role  LG-Type  VLAN  #Conns  PNET-ID
######## {role}     SINGLE      0       1
"""
LINKGROUP_DETAILS = """\
LG-ID    LG-Role  LG-Type  VLAN  #Conns  PNET-ID           Version  Peer-OS  Peer-Host         EID
######## {role}     SINGLE      0       1                        2.1  Linux    smc-vm{peer}           SMC-TEST-PAIR
"""
LINKS = """\
LG-ID    LG-Role  LG-Type  Link  Link-State  Net-Dev         IB-Dev   IB-P  #Conns  GID                                      Peer-GID
######## {role}     SINGLE      1  ACTIVE      eth0            rxe0        1       1  {gid}  {peer_gid}
"""
DEVICE = """\
Net-Dev         IB-Dev   IB-P  IB-State  Type          Crit  #Links  PNET-ID
eth0            rxe0        1    ACTIVE  software       Yes       1
"""
INFO = """\
Kernel Capabilities
SMC Version: 2.1
SMC Hostname: smc-vm{me}
SMC-D Features: v1 v2
SMC-R Features: v1 v2
Handshake Limit: off

Hardware Capabilities
RoCE: v1 v2
"""
STATS = """\
SMC-R Connections Summary
  Total connections handled             1
  SMC connections                       1
  Handshake errors                      0
  Avg requests per SMC conn             2.0
  TCP fallback                          0

RX Stats
  Data transmitted (Bytes)              1 (1)
  Total requests                        1
            8KB    16KB    32KB    64KB   128KB   256KB   512KB  >512KB
  Reqs        1       0       0       0       0       0       0       0

TX Stats
  Data transmitted (Bytes)              1 (1)
  Total requests                        1
            8KB    16KB    32KB    64KB   128KB   256KB   512KB  >512KB
  Reqs        1       0       0       0       0       0       0       0

Extras
  Special socket calls                  0
"""
CHECK = """\
Test with {peer_address}, which is {peer_address}:{port}
  socket    ok    the kernel has SMC sockets (IPPROTO_SMC){whose}
  tcp       ok    connected within # ms
  option    ok    both ends have the SMC option
  proposal  ok    sent
  accept    ok    SMC-R
  link      ok    rxe0 port 1, link 1, GID {gid} to {peer_gid}
  data      ok    25 bytes were sent and came back
Success, using SMC-R
"""


class Wrong(Exception):
    """A tool's output differs from what was expected; the text has both."""


def run(*argv, **how):
    return subprocess.run([f"{TOOLS}/{argv[0]}", *argv[1:]], capture_output=True, text=True,
                          check=False, timeout=SHORT, env=dict(os.environ, SMC_STATE_DIR=STATE),
                          **how)


def say(*argv, status=0, mask=None):
    """Returns the output of a tool, after a check of its exit status."""
    done = run(*argv)
    if done.returncode != status or (not status and done.stderr):
        raise Wrong(f"{' '.join(argv)}: status {done.returncode}, {done.stdout}{done.stderr}")
    text = done.stdout if not status else done.stdout + done.stderr
    return mask(text) if mask else text


def same(got, wanted, what):
    if got != wanted:
        raise Wrong(f"{what}:\n{got}instead of\n{wanted}" if isinstance(got, str) else
                    f"{what}: {got} instead of {wanted}")


def no_ids(text):
    return re.sub(r"^[0-9a-f]{8}\b", "########", text, flags=re.MULTILINE)


def no_times(text):
    return re.sub(r"[0-9.]+ ms", "# ms", text)


def without(*words):
    """Removes lines with these beginnings: their content depends on the module or on the speed of
    the host."""
    return lambda text: "".join(line + "\n" for line in text.splitlines()
                                if not line.strip().startswith(words))


class Facts(dict):
    """The values that are inserted into the expected texts."""

    def __init__(self, machine):
        super().__init__(
            role="SERV" if machine.is_server else "CLNT", me=machine.index, peer=3 - machine.index,
            gid=self.mapped(machine.address()), peer_gid=self.mapped(machine.address(peer=True)),
            peer_address=machine.address(peer=True), port=CHECK_PORT)

    @staticmethod
    def mapped(address):
        return "0000:0000:0000:0000:0000:ffff:" + ":".join(
            "%02x%02x" % pair for pair in zip(*[iter(map(int, address.split(".")))] * 2))


def together(session, what, function, *args):
    """Runs a step on both machines. It ends when both have completed it; if it fails on one
    machine, the other one is told."""
    problem = result = None
    try:
        result = function(*args)
    except (Wrong, OSError, KeyError, IndexError, ValueError, subprocess.TimeoutExpired) as error:
        problem = f"{what}: {type(error).__name__}: {error}"
    there = session.exchange({"step": what, "problem": problem}, 2 * SHORT)
    if problem or there.get("problem"):
        raise Wrong(problem or f"(peer) {there['problem']}")
    return result


def listen(port, kind):
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, kind)
    listener.settimeout(SHORT)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("0.0.0.0", port))
    listener.listen(5)
    return listener


def connect(machine, listener, port, kind):
    """Sends one byte each way; then both ends have completed the handshake."""
    if machine.is_server:
        sock = listener.accept()[0]
        listener.close()
        sock.settimeout(SHORT)
        sock.sendall(sock.recv(1))
        return sock
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, kind)
    sock.settimeout(SHORT)
    sock.connect((machine.address(peer=True), port))
    sock.sendall(b"x")
    same(sock.recv(1), b"x", "the byte echoed")
    return sock


def connection(machine, session, kind=IPPROTO_SMC, port=PORT):
    listener = together(session, "listen", lambda: machine.is_server and listen(port, kind))
    return together(session, "connect", connect, machine, listener, port, kind)


def look_at_text(facts):
    same(say("smcr", "linkgroup", mask=no_ids), LINKGROUP.format(**facts), "smcr linkgroup")
    same(say("smcr", "-d", "l", "netdev", "eth0", "ibdev", "rxe0", mask=no_ids),
         LINKGROUP_DETAILS.format(**facts), "smcr -d linkgroup")
    same(say("smcr", "-d", "linkgroup", "link-show", mask=no_ids), LINKS.format(**facts),
         "smcr -d linkgroup link-show")
    same(say("smcr", "device", "netdev", "eth0"), DEVICE, "smcr device")
    for tool in ("smcr", "smcd"):
        # The number is a multiple of the number of processors. The kernel's own module reports
        # none.
        info = re.sub(r" \(0 in progress, TCP beyond \d+\)", "",
                      say(tool, "info", mask=without("SEID", "ISM", "Buffer", "Host Memory",
                                                    "TCP Option", "SMC Module", "SMC Tools")))
        same(info, INFO.format(**facts), f"{tool} info")
    same(say("smcr", "stats", mask=without("Bufs", "Buffer")), STATS, "smcr stats")
    group = say("smcr", "linkgroup").splitlines()[1].split()[0]
    same(say("smcr", "linkgroup", group), say("smcr", "linkgroup", "all"), "one link group")
    same(len(say("smcr", "linkgroup", "ibdev", "nothing").splitlines()), 1,
         "lines for an unknown device")
    same(len(say("smcr", "-w", "0.1", "-c", "3", "linkgroup").splitlines()), 6,
         "lines of three rounds")


def look_at_json(machine, facts):
    groups = json.loads(say("smcr", "-j", "linkgroup"))["linkgroups"]
    same([{key: group.get(key) for key in ("role", "type", "connections", "vlan", "pnetid",
                                           "version", "release", "eid", "peer_host", "peer_os",
                                           "direct")} for group in groups],
         [{"role": "server" if machine.is_server else "client", "type": "SINGLE", "connections": 1,
           "vlan": 0, "pnetid": "", "version": 2, "release": 1, "eid": "SMC-TEST-PAIR",
           "peer_host": f"smc-vm{facts['peer']}", "peer_os": "Linux", "direct": True}],
         "smcr -j linkgroup")
    for key in ("id", "net_cookie", "max_connections", "max_links", "buffer_type",
                "sndbuf_bytes", "rcvbuf_bytes"):
        same(key in groups[0], True, f"key {key} of a link group")
    links = json.loads(say("smcr", "-j", "linkgroup", "link-show"))["links"]
    same([(l["linkgroup"], l["link"], l["state"], l["netdev"], l["device"], l["port"],
           l["connections"], l["gid"], l["peer_gid"]) for l in links],
         [(groups[0]["id"], 1, "ACTIVE", "eth0", "rxe0", 1, 1, facts["gid"], facts["peer_gid"])],
         "smcr -j linkgroup link-show")
    devices = json.loads(say("smcr", "-j", "device"))["devices"]
    same(devices, [{"device": "rxe0", "type": "software", "critical": True, "ports": [
        {"port": 1, "pnetid": "", "pnetid_by_user": False, "netdev": "eth0", "state": "ACTIVE",
         "links": 1}]}], "smcr -j device")
    stats = json.loads(say("smcr", "stats", "json"))["stats"]
    side = stats["server" if machine.is_server else "client"]
    same((side, stats["rx"]["bytes"], stats["tx"]["request_sizes"]["8KB"],
          stats["rx"]["buffers_allocated"] + stats["rx"]["buffers_reused"]),
         ({"smc_v1": 0, "smc_v2": 1, "handshake_errors": 0, "fallbacks": 0}, 1, 1, 1),
         "smcr stats json")
    sockets = json.loads(say("smcss", "-R", "-j"))["sockets"]
    same([(s["mode"], s["smcr"]["role"], s["smcr"]["device"], s["smcr"]["gid"]) for s in sockets],
         [("SMCR", groups[0]["role"], "rxe0", facts["gid"])], "smcss -R -j")


def look_at_link(machine, session, facts):
    """Checks all tools with a connection that has sent one byte each way."""
    machine.fresh()
    together(session, "reset", say, "smcr", "stats", "reset")
    with connection(machine, session):
        together(session, "text", look_at_text, facts)
        together(session, "JSON", look_at_json, machine, facts)


def fallback_stats(machine):
    stats = json.loads(say("smcr", "stats", "json"))["stats"]
    same((stats["fallbacks"], stats["client"]["fallbacks"], stats["smc_connections"]),
         (0, 0, 0) if machine.is_server else (1, 1, 0), "fallbacks")
    reasons = [(r["side"], r["count"], r["reason"]["name"]) for r in stats["fallback_reasons"]]
    name = "KERNEL_NO_OPTION" if machine.module == "kernel" else "PEER_NO_OPTION"
    same(reasons, [] if machine.is_server else [("client", 1, name)], "reasons")


def look_at_fallback(machine, session):
    """The server's program does not use SMC: the client's counters must show that."""
    together(session, "reset", say, "smcr", "stats", "reset")
    with connection(machine, session, 0 if machine.is_server else IPPROTO_SMC, TCP_PORT):
        together(session, "fallback", fallback_stats, machine)


def eids():
    for tool in ("smcr", "smcd"):
        say(tool, "ueid", "add", "A.TOOL-0")
        same(say(tool, "ueid").splitlines(), ["SMC-TEST-PAIR", "A.TOOL-0"], f"{tool} ueid")
        same(json.loads(say(tool, "-j", "ueid")), {"ueids": ["SMC-TEST-PAIR", "A.TOOL-0"]},
             f"{tool} -j ueid")
        same("exists already" in say(tool, "ueid", "add", "A.TOOL-0", status=1), True, "twice")
        say(tool, "ueid", "del", "A.TOOL-0")
        same("there is no EID" in say(tool, "ueid", "del", "A.TOOL-0", status=1), True, "gone")


def checked_by_client(machine, facts):
    to = f"{facts['peer_address']}:{CHECK_PORT}"
    whose = ", of the kernel's own module" if machine.module == "kernel" else ""
    same(say("smc_chk", "-e", to, mask=no_times), CHECK.format(whose=whose, **facts), "smc_chk")
    result = json.loads(say("smc_chk", "-j", "-C", facts["peer_address"], "-p",
                            str(CHECK_PORT)))["check"]
    same((result["mode"], [s["result"] for s in result["steps"]]),
         ("SMCR", ["ok"] * 6 + ["not tried"]), "smc_chk -j")
    text = say("smc_chk", f"{facts['peer_address']}:{TCP_PORT}", status=3)
    same("option    FAIL" in text and "the connection is TCP" in text and "Remedy: " in text, True,
         f"smc_chk with a TCP server: {text}")
    text = say("smc_chk", f"{facts['peer_address']}:9", status=1)
    same("tcp       FAIL  Connection refused" in text, True, f"smc_chk without a server: {text}")
    # There is nothing to propose. (Our module counts the machine's own loopback as a device.)
    machine.no_rdma()
    text = say("smc_chk", to, status=3)
    machine.rdma("eth0")
    if machine.module == "kernel":
        same("no RDMA device serves 10.0.0.2, the address of eth0: add one with 'rdma link add "
             "rxe0 type rxe netdev eth0'" in text, True, f"no device: {text}")
    same(re.search(r"(proposal|accept) +FAIL", text) is not None, True, f"no device: {text}")
    # The machines have no EID in common.
    machine.eid("OTHER")
    text = say("smc_chk", to, status=3)
    machine.eid()
    same(re.search(r"(proposal|accept) +FAIL", text) is not None, True, f"no EID: {text}")


class Servers:
    """The servers that the client's smc_chk connects to."""

    def __enter__(self):
        self.check = subprocess.Popen([f"{TOOLS}/smc_chk", "-S", "-p", str(CHECK_PORT)], text=True,
                                      stdout=subprocess.PIPE)
        self.tcp = listen(TCP_PORT, 0)
        return self

    def ready(self):
        same(self.check.stdout.readline(), f"Server listening on port {CHECK_PORT}\n", "smc_chk -S")

    def __exit__(self, *_):
        self.check.kill()
        self.check.communicate()
        self.tcp.close()


def checks(machine, session, facts):
    """Runs smc_chk on the second machine against the first one."""
    if not machine.is_server:
        together(session, "servers", bool)
        together(session, "smc_chk", checked_by_client, machine, facts)
        return
    with Servers() as servers:
        together(session, "servers", servers.ready)
        together(session, "smc_chk", bool)


def pnet_table():
    """Only edits and lists the table; other tests check its effect."""
    say("smc_pnet", "-f")
    say("smc_pnet", "-a", "net1", "-I", "eth1")
    say("smc_pnet", "-a", "NET2", "-D", "rxe0", "-P", "1")
    try:
        same(sorted(say("smc_pnet").splitlines()), ["NET1 eth1 n/a 255", "NET2 n/a rxe0 1"],
             "smc_pnet")
        same(json.loads(say("smc_pnet", "-j", "-s", "NET2")),
             {"pnetids": [{"pnetid": "NET2", "device": "rxe0", "port": 1}]}, "smc_pnet -j -s")
        same(say("smc_chk", "-i", "eth1"), "NET1\n", "smc_chk -i")
        same(say("smcr", "device").splitlines()[1].split()[-1], "*NET2", "PNETID of the device")
        same("already has a PNETID" in say("smc_pnet", "-a", "NET3", "-I", "eth1", status=1), True,
             "a second PNETID")
        same("there is no entry NET3" in say("smc_pnet", "-d", "NET3", status=1), True,
             "removal of an unknown entry")
        same("the entry will apply" in run("smc_pnet", "-a", "NET1", "-I", "nix").stderr, True,
             "the note about an unknown interface")
        say("smc_pnet", "-d", "NET1")
        same(say("smc_pnet"), "NET2 n/a rxe0 1\n", "after a removal")
    finally:
        say("smc_pnet", "-f")
    same(say("smc_pnet"), "", "after a flush")


def tools(machine, session):
    """Returns '' or what went wrong."""
    facts = Facts(machine)
    try:
        look_at_link(machine, session, facts)
        look_at_fallback(machine, session)
        together(session, "EIDs", eids)
        checks(machine, session, facts)
        together(session, "PNET table", pnet_table)
    except Wrong as error:
        return str(error)
    return ""
