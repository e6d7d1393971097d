# SPDX-License-Identifier: GPL-2.0
"""Compares what every tool and sub-command prints for live objects, as text and as JSON, with the
transcripts in golden/.

What changes from run to run (inode numbers, tokens, GIDs of the loopback, numbers of link groups,
times) is masked, with its width kept. JSON is reformatted, one key on each line, in the order of
the tool.

The kernel's own module is compared with the same transcripts. For commands with a different answer,
golden/kernel/ has a block; all other answers are the same with both modules. `regenerate` writes
all transcripts.
"""
import contextlib
import difflib
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile

import host
import uapi
from host import TOOLS, Wrong
from lib.wait import in_poll

HERE = os.path.dirname(os.path.abspath(__file__))
SCENARIOS = []

HEX8 = "[0-9a-f]{8}"
# A row of smcss up to its inode
INODE = r"(?m)^([A-Z0-9]+ +\d{5}) \d{7,}\b"
MASKS = (
    (r"\bLINUX-SEID-[0-9A-F]{16}\b", "LINUX-SEID-" + 16 * "#"),
    (r"\b(0x)?[0-9a-f]{16}\b", r"\g<1>" + 16 * "#"),
    (r"\b[0-9.]+ ms\b", "# ms"),
    # smcss: inode; with -d the token of the connection
    (INODE, r"\1 #######"),
    (r"\(inode \d+,", "(inode #,"),
    (rf" ([<R][>W]    ){HEX8} ", r" \1######## "),
    # smcr -dd linkgroup link-show: the link's UIDs
    (rf"(?m)  {HEX8}  {HEX8}$", "  ########  ########"),
    (r"python3\[\d+\]", "python3[#]"),
    (r"\b\d+ of \d+ bytes\b", "# of # bytes"),
    # of the module and of each tool: another test compares it with the file VERSION
    (rf"(?m)(^|(?<= )){re.escape(uapi.read(f'{uapi.TOP}/VERSION').strip())}$", "#"),
    # depends on a parameter of the module, and on whether there are sockets
    (r"\bTCP Option: (hooks|netfilter) \(.*\)", "TCP Option: #"),
    # a multiple of the number of processors
    (r"\bTCP beyond \d+", "TCP beyond #"),
    # depends on what ran before
    (r"(?m)^(  Buffers (?:allocated|reused) .*)\d$", r"\1#"),
    (r"\bTCP connections of [0-9.]+ s\b", "TCP connections of # s"),
    # smcat: SYN and FIN count as one byte each, if they were seen
    (r"\b(10|20)\d(?= )", r"\g<1>0"),
)
# JSON: keys whose value is one of the above
MASKED_KEYS = {"inode", "token", "peer_token", "peer_uid", "memory_used", "memory_max",
               "host_memory_used", "host_memory_max", "handshakes_threshold", "tcp_option",
               "tcp_option_in_place",
               "buffers_allocated", "buffers_reused", "seconds"}
# Lists without a defined order: sockets come from a hash; smcat sorts peers and ports by bytes.
UNORDERED = ("sockets", "peers", "ports")
# What the kernel's own module does not report.
OURS = re.compile(r'(?m)^  (?:Links that|Moved to|  bytes written again) .*\n|^(?:(?:Buffer|Host) Memory|TCP Option): .*\n|'
                  r'^ +"links": \{\n(?:.*\n){4} +\},\n|'
                  r',\n +"(?:host_)?memory_used": "#",\n +"(?:host_)?memory_max": "#"|'
                  r',\n +"tcp_option(?:_in_place)?": "#"')
CURSOR = re.compile(r'\b[0-9a-f]{4}:[0-9a-f]{8}\b|"count": \d\b')


def scenario(*modules):
    def add(function):
        SCENARIOS.append((function.__name__, modules or ("ours", "kernel"), function))
        return function
    return add


def without_inode(row):
    """Inodes come from a range of each processor, so their order is not that of creation."""
    return re.sub(INODE, r"\1", row)


class Transcript:
    """Commands and their output, in blocks that begin with '$ '."""

    def __init__(self, state):
        self.blocks, self.groups = [], {}
        self.env = dict(os.environ, SMC_STATE_DIR=state)

    def know_groups(self):
        """Numbers the SMC-R link groups in their order, independent of which command shows them
        first."""
        found = host.must(f"{TOOLS}/smcr", "-j", "linkgroup")
        for group in json.loads(found)["linkgroups"]:
            self.group(group["id"][2:])

    def group(self, number):
        return self.groups.setdefault(number, f"LG-{len(self.groups) + 1:05}")

    @staticmethod
    def ordered(text, tool):
        """Sorts rows that have no defined order."""
        lines = text.splitlines(keepends=True)
        if tool == "smcss" and text.startswith(("State ", "ACTIVE ")):
            header = text.startswith("State ")
            return "".join(lines[:header] + sorted(lines[header:], key=without_inode))
        if tool == "smcat":
            for begins in (r"\d+\.\d+\.", r" +76\d\d "):
                rows = [i for i, line in enumerate(lines) if re.match(begins, line)]
                for i, line in zip(rows, sorted(lines[i] for i in rows)):
                    lines[i] = line
        return "".join(lines)

    def masked(self, text, tool):
        text = text.replace(f"{TOOLS}/", "")
        for what, instead in MASKS:
            text = re.sub(what, instead, text)
        if tool == "smcr":
            text = re.sub(rf"(?m)^{HEX8}\b", lambda m: self.group(m[0]), text)
        if tool == "smcss":
            text = re.sub(rf"(?m)(?<=[0-9a-f] ){HEX8}$", lambda m: self.group(m[0]), text)
        return text

    def value(self, key, value, inside):
        if isinstance(value, dict):
            return {k: self.value(k, v, key or inside) for k, v in value.items()}
        if isinstance(value, list):
            items = [self.value(None, v, inside) for v in value]
            return sorted(items, key=json.dumps) if key in UNORDERED else items
        of_smcr = self.tool == "smcr" or inside == "smcr"
        if of_smcr and key in ("linkgroup", "id") and inside != "filter":
            return self.group(value[2:])
        if key in MASKED_KEYS or (of_smcr and key == "uid") or (inside == "filter" and key == "id"):
            return "#"
        if key == "bytes" and self.tool == "smcat":
            return value // 50 * 50
        return self.masked(value, "") if isinstance(value, str) else value

    def json(self, text):
        found = json.loads(text)
        return json.dumps({k: self.value(k, v, k) for k, v in found.items()}, indent=1) + "\n"

    def run(self, *argv, **how):
        """Runs a command line and adds its output as a block."""
        self.tool = argv[0]
        done = host.run(f"{TOOLS}/{argv[0]}", *argv[1:], env=self.env, **how)
        self.add(" ".join(argv), done.stdout, done.stderr, done.returncode)

    def add(self, command, stdout, stderr, status):
        self.tool = command.split()[0]
        if " filter" in command:        # the numbers of rules
            stdout = re.sub(r"(?m)^ *\d+\b", lambda m: "#".rjust(len(m[0])), stdout)
        is_json = stdout and re.search(r"(^|\s)(-j|json)(\s|$)", command)
        try:
            text = self.json(stdout) if is_json else \
                self.ordered(self.masked(stdout, self.tool), self.tool)
        except ValueError as error:
            raise Wrong(f"{command}: not JSON, {error}: {stdout}") from error
        text += "".join(f"! {self.masked(line, '')}\n" for line in stderr.splitlines())
        if status:
            text += f"status {status}\n"
        while command in dict(self.blocks):
            command += " "
        self.blocks.append((command, text))


def parse(path):
    blocks = []
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("$ "):
                command = line[2:].rstrip("\n")
                while command in dict(blocks):
                    command += " "
                blocks.append((command, ""))
            elif blocks:
                blocks[-1] = (blocks[-1][0], blocks[-1][1] + line)
    return blocks


def dump(path, blocks):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        for command, text in blocks:
            file.write(f"$ {command.rstrip()}\n{text}")


# ---- the scenarios -------------------------------------------------------------

def text_and_json(t, *argv, details=0):
    t.run(*argv)
    if details:
        t.run(argv[0], "-d", *argv[1:])
        t.run(argv[0], "-dd", *argv[1:])
    t.run(argv[0], "-j", *argv[1:])


# What would otherwise be ignored, or taken for something else.
MISUSED = """
smcss --why -D
smcss --why -R
smcss --why -l
smcss --why -d
smcss -s -l
smcss -s -d
smcss not
smcss ( sport 1 and
smcss src []
smcss mode smcdirect
smc_chk -C [fd00::1]:99999
smc_chk -C host:99999 -p 80
smc_chk -t 0.5 host:99999
smc_chk -S -j
smc_chk -S -e
smc_chk -S -t 1
smc_chk -S -p http
smc_chk -i lo -6
smc_chk -i lo -p 80
smcr -j report
smcr -j save
smcr --prometheus stats json
smcr -d --prometheus stats
smcr linkgroup 100000001
smcr linkgroup +1
smcr linkgroup 1 2
smcd linkgroup all 1
smcr device netdev lo netdev eth0
smcr s
smc_run -N nix true
smc_run --tcp --keep-mptcp true
smc_run --cgroup -d true
"""


@scenario("host")
def usage(t):
    """What the tools print without asking the kernel."""
    for tool in ("smcss", "smcr", "smcd", "smc_pnet", "smc_chk", "smcat"):
        t.run(tool, "--help")
        t.run(tool, "--version")
        t.run(tool, "--nothing")
    t.run("smc_run", "-h")
    t.run("smc_run", "-v")
    t.run("smc_run", "--nothing")
    t.run("smc_run")
    t.run("smc_run", "-r", "huge", "true")
    for argv in (("smcr",), ("smcr", "nothing"), ("smcr", "linkgroup", "xyz"), ("smcr", "ueid", "add"),
                 ("smcd", "-a", "info"), ("smcd", "-w", "1", "ueid", "flush"), ("smcd", "-w", "soon", "info"),
                 ("smcr", "seid"), ("smcr", "ueid", "foo"), ("smcr", "-w", "1", "monitor"),
                 ("smcr", "--watch=0", "info"), ("smcr", "--html", "info"), ("smcss", "state", "nowhere"),
                 ("smcss", "sport", "99999"), ("smcss", "src", "10.0.0.0/33"), ("smcss", "-s", "-p"),
                 ("smc_chk", "-p", "99999", "host"), ("smcat", "1", "2"), ("smcss", "-N", "nix"),
                 ("smcss", "-a", "-l"), ("smcss", "-D", "-R"), ("smcss", "--why", "1.2.3"),
                 ("smc_pnet", "-a", "NET1"), ("smc_pnet", "-a", "NET_1", "-I", "lo"),
                 ("smc_pnet", "-a", "NET1", "-D", "rxe0", "-P", "3"),
                 ("smc_pnet", "-a", "NET1", "-I", "lo", "-P", "1"),
                 ("smc_chk",), ("smc_chk", "-t", "0", "host"), ("smc_chk", "-p", "80", "host"),
                 ("smcat",), ("smcat", "-n", "10/8", "1"), ("smcat", "-b", "0", "1"),
                 *map(shlex.split, MISUSED.strip().splitlines())):
        t.run(*argv)


@scenario()
def idle(t):
    """Without connections."""
    for options in ((), ("-a", "-d"), ("-D",), ("-R",), ("-a", "-j"), ("--why",)):
        t.run("smcss", *options)
    for tool in ("smcr", "smcd"):
        text_and_json(t, tool, "info")
        text_and_json(t, tool, "linkgroup", details=2)
        text_and_json(t, tool, "device", details=2)
        text_and_json(t, tool, "ueid")
    text_and_json(t, "smcr", "linkgroup", "link-show", details=2)
    text_and_json(t, "smcd", "seid")
    t.run("smcss", "--watch", "0.1", "--count", "2")
    t.run("smcr", "-w", "0.1", "-c", "2", "ueid")


@scenario()
def ueid(t):
    """The table of user EIDs, which has 8 entries in our module and 4 in the kernel's own."""
    for number in range(4):
        t.run("smcd" if number % 2 else "smcr", "ueid", "add", f"GOLDEN.{number}")
        if number == 2:
            t.run("smcr", "ueid", "del", "SMC-TEST-ADMIN")
    text_and_json(t, "smcr", "ueid")
    text_and_json(t, "smcd", "ueid", "show")
    t.run("smcd", "ueid", "add", "GOLDEN.0")
    t.run("smcd", "ueid", "del", "GOLDEN.9")
    t.run("smcd", "ueid", "add", "BAD..EID")
    t.run("smcd", "ueid", "add", "lower")
    t.run("smcd", "ueid", "add", 33 * "A")
    for number in range(4, 9):
        t.run("smcd", "ueid", "add", f"GOLDEN.{number}")
    t.run("smcd", "ueid", "add", "NOBODY", user=65534)
    t.run("smcr", "ueid", "flush", user=65534)
    t.run("smcd", "ueid", "del", "GOLDEN.1")
    t.run("smcd", "ueid")
    t.run("smcd", "ueid", "flush")
    t.run("smcd", "ueid")
    t.run("smcd", "seid", "disable")
    text_and_json(t, "smcd", "seid")
    t.run("smcd", "seid", "enable")
    text_and_json(t, "smcd", "seid")


def everything(t, tool, kind):
    """Sub-commands of smcss, smcr and smcd with one connection."""
    for options in (("-a",), ("-l",), ("-d",), (kind,), (kind, "-d")):
        t.run("smcss", *options)
    t.run("smcss", "-s")
    t.run("smcss", "-H", "state", "established", "not", "mode", "tcp")
    for options in (("-a",), ("-d",)):
        t.run("smcss", "-j", *options)
    t.run("smcss", "--why")
    t.run("smcss", "--why", ":7900")
    t.run("smcss", "--why", "-j", ":7900")
    text_and_json(t, tool, "info")
    text_and_json(t, tool, "linkgroup", details=2)
    text_and_json(t, tool, "device", details=2)
    t.run(tool, "stats")
    t.run(tool, "-d", "stats")
    t.run(tool, "-j", "stats")
    t.run(tool, "stats", "json")
    t.run(tool, "-w", "0.1", "-c", "2", "linkgroup")


def reset_stats(t):
    for tool in ("smcr", "smcd"):
        host.run(f"{TOOLS}/{tool}", "stats", "reset", env=t.env)


@scenario()
def smcr(t):
    """Opens both ends of a connection over RDMA."""
    host.loopback(False)
    reset_stats(t)
    with host.connection(7100):
        t.know_groups()
        everything(t, "smcr", "-R")
        text_and_json(t, "smcr", "linkgroup", "link-show", details=2)
        for what in (("linkgroup", "netdev", "veth0"), ("linkgroup", "ibdev", "rxe1"),
                     ("linkgroup", "ibdev", "nothing"), ("linkgroup", "all"),
                     ("linkgroup", "link-show", "netdev", "veth1"),
                     ("linkgroup", "link-show", "ibdev", "rxe0"), ("device", "netdev", "veth0"),
                     ("device", "ibdev", "rxe1")):
            t.run("smcr", *what)
        t.run("smcr", "linkgroup", "7fffffff")
        t.run("smcd", "linkgroup")
        t.run("smcss", "-D")
    t.run("smcr", "stats", "reset")
    t.run("smcr", "stats")
    host.loopback(True)


@scenario("ours")
def smcd(t):
    """Opens both ends of a connection over the loopback."""
    reset_stats(t)
    with host.connection(7200):
        everything(t, "smcd", "-D")
        text_and_json(t, "smcd", "linkgroup", "show", "1")
        t.run("smcd", "linkgroup", "77")
        t.run("smcss", "-R")
        t.run("smcr", "linkgroup")
    t.run("smcd", "stats", "reset")
    t.run("smcd", "-j", "stats")


@scenario()
def fallback(t):
    """The server's program does not use SMC."""
    reset_stats(t)
    with host.connection(7300, server="tcp"), host.listener(7310):
        for options in (("-a",), ("-l",), ("-d",), ("-a", "-j", "-d")):
            t.run("smcss", *options)
        t.run("smcss", "--why")
        t.run("smcss", "--why", "10.1.0.2:7300")
        t.run("smcss", "--why", "10.9.9.9")
        for tool in ("smcr", "smcd"):
            t.run(tool, "stats")
            t.run(tool, "-d", "stats")
            t.run(tool, "-j", "stats")


@scenario()
def pnet(t):
    """The PNET table, and its effect on what devices show."""
    t.run("smc_pnet")
    t.run("smc_pnet", "-j")
    t.run("smc_pnet", "-a", "net1", "-I", "veth0")
    t.run("smc_pnet", "-a", "NET1", "-D", "rxe0", "-P", "1")
    t.run("smc_pnet", "-a", "NET2", "-I", "veth1")
    t.run("smc_pnet", "-a", "NET2", "-I", "veth0")
    t.run("smc_pnet", "-a", "NET3", "-D", "rxe9")
    t.run("smc_pnet", "-a", "NET4", "-I", "veth4", "-D", "rxe9")
    t.run("smc_pnet", "-a", "NET4", "-I", "veth1", "-D", "rxe4")
    t.run("smc_pnet", "-a", "NET3", "-I", "veth5", "-D", "rxe9")
    text_and_json(t, "smc_pnet")
    t.run("smc_pnet", "-s", "NET1")
    t.run("smc_pnet", "-j", "-s", "net1")
    t.run("smc_pnet", "-s", "NET9")
    t.run("smc_pnet", "-d", "NET9")
    t.run("smc_pnet", "-a", "NET9", "-I", "veth9", user=65534)
    t.run("smc_pnet", "-f", user=65534)
    t.run("smc_chk", "-i", "veth0")
    t.run("smc_chk", "-j", "-i", "veth1")
    t.run("smc_chk", "-i", "lo")
    t.run("smc_chk", "-i", "nothing")
    t.run("smcr", "-d", "device")
    t.run("smcr", "-j", "device")
    t.run("smc_pnet", "-d", "NET2")
    t.run("smc_pnet")
    t.run("smc_pnet", "-f")
    t.run("smc_pnet")


@scenario("ours")
def filters(t):
    """Filter rules, and their effect on a connection."""
    t.run("smcd", "filter", "flush")
    t.run("smcd", "filter")
    t.run("smcd", "filter", "add", "exclude", "out", "remote", "10.1.0.0/24", "port", "7900-7909")
    t.run("smcr", "filter", "add", "permit", "in", "local", "fd00::1", "port", "22")
    t.run("smcr", "filter", "add", "exclude", "nowhere")
    t.run("smcr", "filter", "add", "exclude", user=65534)
    with host.connection(7900):
        t.run("smcss", "--why")
    text_and_json(t, "smcd", "filter")
    t.run("smcd", "filter", "del", "999")
    t.run("smcd", "filter", "flush")
    t.run("smcr", "-j", "filter", "show")


@contextlib.contextmanager
def check_server(port):
    with subprocess.Popen([f"{TOOLS}/smc_chk", "-S", "-p", str(port)], stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            host.same(process.stdout.readline(), f"Server listening on port {port}\n", "smc_chk -S")
            yield
        finally:
            process.kill()


@scenario()
def check(t):
    """smc_chk, step by step."""
    host.loopback(False)
    with check_server(7400), host.listener(7410, "tcp"):
        t.run("smc_chk", "-e", "10.1.0.2:7400")
        t.run("smc_chk", "-j", "-e", "10.1.0.2:7400")
        t.run("smc_chk", "-C", "10.1.0.2", "-p", "7400")
        t.run("smc_chk", "10.1.0.2:7410")
        t.run("smc_chk", "-j", "10.1.0.2:7410")
        t.run("smc_chk", "10.1.0.2:9")
        t.run("smc_chk", "127.0.0.1:7400")
        t.run("smc_chk", "no.such.host:7")
    host.loopback(True)


@scenario("ours")
def check_loopback(t):
    """smc_chk over SMC-D, and without a common EID."""
    with check_server(7500):
        t.run("smc_chk", "-e", "127.0.0.1:7500")
        t.run("smc_chk", "-j", "-e", "127.0.0.1:7500")
        host.must(f"{TOOLS}/smcd", "seid", "disable")
        host.flush_eids()
        t.run("smc_chk", "127.0.0.1:7500")
        t.run("smc_chk", "-j", "127.0.0.1:7500")
        host.must(f"{TOOLS}/smcd", "seid", "enable")


@scenario()
def run_program(t):
    """smc_run."""
    t.run("smc_run", "sh", "-c", "exit 7")
    t.run("smc_run", "/nonexistent")
    t.run("smc_run", "/etc/passwd")
    t.run("smc_run", "-d", sys.executable, "-c", "import socket;socket.socket();socket.socket(2,2)")
    t.run("smc_run", "/bin/busybox", "true")


class Ends:
    """Listens, as smcat does, for TCP sockets that end, which the kernel reports some time
    afterwards."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)	# NETLINK_SOCK_DIAG
        self.sock.settimeout(host.SHORT)
        self.sock.bind((0, 0))
        self.sock.setsockopt(270, 1, 1)		# SKNLGRP_INET_TCP_DESTROY
        self.ports = set()

    def wait(self, *ports):
        """Waits for all ports. Must be the last call: it closes this socket, which no other command
        may see."""
        with self.sock:
            while not self.ports.issuperset(ports):
                self.hear(self.sock.recv(65536))

    def hear(self, message):
        while len(message) > 24:	# each a header, then struct inet_diag_msg
            self.ports.add(int.from_bytes(message[22:24], "big"))	# the peer's port
            message = message[(int.from_bytes(message[:4], sys.byteorder) + 3) & ~3:]


@scenario()
def smcat(t):
    """A TCP connection that transfers 100 000 bytes, and one that does not."""
    for options in ((), ("-j",)):
        with subprocess.Popen([f"{TOOLS}/smcat", *options, "-n", "10.1.0.0/24", "3600"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                if not in_poll(process, host.SHORT):
                    raise Wrong("smcat does not listen")
                ends = Ends()
                for port, size in ((7600, 100000), (7610, 100)):
                    with host.connection(port, "tcp", "tcp") as (one, other):
                        one.sendall(size * b"z")
                        while size:
                            size -= len(other.recv(size))
                ends.wait(7600, 7601, 7610, 7611)
                process.send_signal(signal.SIGINT)
                stdout, stderr = process.communicate(timeout=host.SHORT)
            finally:
                process.kill()
        t.add(" ".join(("smcat", *options, "-n", "10.1.0.0/24", "3600")), stdout, stderr,
              process.returncode)


# ---- comparing -----------------------------------------------------------------

def differences(got, wanted, blur):
    """Returns the first block that differs, as text; '' if there is none."""
    if [command for command, _ in got] != [command for command, _ in wanted]:
        return f"the commands differ from those of the transcript: {[c for c, _ in got]}"
    for (command, text), (_, expected) in zip(got, wanted):
        if blur(text) != blur(expected):
            diff = difflib.unified_diff(blur(expected).splitlines(), blur(text).splitlines(),
                                        "transcript", command, n=1, lineterm="")
            return "\n".join(diff)
    return ""


def one(name, module, function):
    """Plays one scenario; returns the problem, or ''."""
    with host.clean() if module != "host" else contextlib.nullcontext(), \
            tempfile.TemporaryDirectory() as state:
        t = Transcript(state)
        function(t)
    common = parse(f"{HERE}/golden/{name}.txt")
    own = f"{HERE}/golden/kernel/{name}.txt" if module == "kernel" else None
    # the cursors of the kernel's own module depend on the timing of its workers
    blur = (lambda text: CURSOR.sub("#", OURS.sub("", text))) if own else (lambda text: text)
    if os.environ.get("SMC_GOLDEN") == "write":
        results = f"{os.environ['SMC_RESULTS']}/golden" if module != "host" else f"{HERE}/golden"
        if own:
            base = dict(parse(f"{results}/{name}.txt") or common)
            blocks = [(c, x) for c, x in t.blocks if c not in base or blur(base[c]) != blur(x)]
            dump(f"{results}/kernel/{name}.txt", blocks)
        else:
            dump(f"{results}/{name}.txt", t.blocks)
        return ""
    wanted = common
    if own:
        instead = dict(parse(own))
        wanted = [(command, instead.get(command, text)) for command, text in common]
    return differences(t.blocks, wanted, blur)


def cases(module):
    """Returns (name, function that returns '' or what is wrong)."""
    return [(f"golden {name}", lambda n=name, f=function: one(n, module, f))
            for name, modules, function in SCENARIOS if module in modules]
