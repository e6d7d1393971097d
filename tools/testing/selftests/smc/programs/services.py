# SPDX-License-Identifier: GPL-2.0
"""Server programs of Debian: over SMC a client gets the same output as over TCP.

Each program is one entry of web.py, data.py or others.py, and one case. Without SMC_SERVICES="squid
Samba" all of them run. Lines that begin with "# |" are rows for Documentation/programs.md.
"""
import contextlib
import dataclasses
import hashlib
import importlib
import os
import shutil
import subprocess
import tempfile
import typing

import program
from lib.wait import holds, remains
from program import LOOPBACK, PATIENCE, PREFIX, TOOLS, connections, listens, say

CONNECTIONS = 10
FALLBACKS = 2		# both ends of the connection that is excluded on purpose
SERVICES = {}


@dataclasses.dataclass
class Service:
    """A program: where it comes from, what is done with it, and the function that does it."""
    name: str
    package: str
    things: tuple	# commands and files that must exist on this machine
    port: int
    does: str
    play: typing.Callable


def service(name, package, things, port, does):
    """Adds a function to the table. It gets a Play, and returns the output to compare."""
    def add(function):
        SERVICES[name] = Service(name, package, tuple(things.split()), port, does, function)
        return function
    return add


class Play:
    """One run of an entry over TCP or over SMC, with a directory of its own."""

    def __init__(self, how, port, directory):
        self.prefix, self.port, self.directory = PREFIX[how], port, directory
        self.at = f"{LOOPBACK}:{port}"

    def path(self, name):
        return f"{self.directory}/{name}"

    def file(self, name, content):
        """Writes a file, and returns its path."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def server(self, *command, port=None, **how):
        return program.server(*self.prefix, *command, port=port or self.port, **how)

    def client(self, *command, **how):
        """Runs a client to its end, and returns its output."""
        status, output = program.run(*self.prefix, *command, **how)
        if status:
            raise RuntimeError(f"{command[0]}: status {status}")
        return output


def both_ends(play, *command):
    """Plays a program that is server and client: COMMAND server PORT, and COMMAND client PORT."""
    with play.server(*command, "server", play.port):
        return play.client(*command, "client", play.port)


def digest(path):
    """Returns a hash of a file, or of the names and contents of all files in a directory."""
    if os.path.isdir(path):
        return "\n".join(f"{name} {digest(f'{path}/{name}')}" for name in sorted(os.listdir(path)))
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pattern(size):
    """Returns bytes that are the same in each run, and nowhere repeat soon."""
    blocks = (hashlib.sha256(b"%d" % n).digest() for n in range(size // 32))
    return b"".join(blocks)


def opened():
    """Returns how many connections the listeners of this network namespace have got."""
    with open("/proc/net/snmp", encoding="ascii") as lines:
        names, values = [line.split() for line in lines if line.startswith("Tcp:")]
    return int(values[names.index("PassiveOpens")])


def counted():
    """Returns (connections, ends that are SMC, ends that became TCP although SMC was expected)."""
    return (opened(), *connections())


def since(before):
    return tuple(now - then for now, then in zip(counted(), before))


def all_smc(counts):
    """Have all connections been SMC, at both ends? Counts every connection of this guest, also one
    between two programs that were not converted."""
    opened_, smc, tcp = counts
    return opened_ > 0 and smc == 2 * opened_ and tcp == 0


def played(one, how):
    """Returns (output, counts) of a run."""
    before = counted()
    with tempfile.TemporaryDirectory(dir="/tmp", prefix=f"{one.name}-") as directory:
        os.chmod(directory, 0o755)
        output = one.play(Play(how, one.port, directory))
    if remains(lambda: listens(one.port)):
        raise RuntimeError(f"{one.name} still listens after its end")
    if how == "smc":	# an end may be counted a moment after the connection is used
        holds(lambda: all_smc(since(before)), program.slow(2))
    return output, since(before)


def difference(one, outputs):
    """Says how the outputs differ."""
    for how, output in outputs.items():
        say(f"{one.name} over {how}:\n{output[-1500:]}")


def judged(one):
    """Returns (case, whether it passed, connections)."""
    try:
        tcp, over_tcp = played(one, "tcp")
        smc, counts = played(one, "smc")
    except (RuntimeError, OSError, ValueError) as error:
        say(f"{type(error).__name__}: {error}")
        return f"{one.name}: runs over TCP and SMC", False, 0
    good = tcp == smc and tcp.strip() != "" and over_tcp[1:] == (0, 0) and all_smc(counts)
    if tcp != smc:
        difference(one, {"TCP": tcp, "SMC": smc})
    if good:
        return f"{one.name}: as over TCP, {counts[0]} connections, all SMC", True, counts[0]
    say(f"{one.name}: (connections, SMC, TCP instead): {counts}; over TCP: {over_tcp}")
    return f"{one.name}: as over TCP, all connections SMC", False, 0


def lacking(one):
    """Returns what this machine does not have."""
    return [thing for thing in one.things
            if not (os.path.exists(thing) if thing[0] == "/" else shutil.which(thing))]


def versions():
    """Returns {package: version} of the packages of all programs."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\n",
                           *{one.package for one in SERVICES.values()}], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return {words[0]: words[-1] for line in done.stdout.splitlines() if (words := line.split())}


@contextlib.contextmanager
def excluded(port):
    """A filter keeps this port on TCP."""
    smcd = f"{TOOLS}/smcd"
    program.run(smcd, "filter", "add", "exclude", "out", "remote", "port", port)
    try:
        yield
    finally:
        program.run(smcd, "filter", "flush")


def play_once(play):
    with play.server("socat", f"TCP-LISTEN:{play.port},bind={LOOPBACK},reuseaddr", "PIPE"):
        return play.client("socat", "-t", PATIENCE, "-", f"TCP:{play.at}", input="one\n")


def play_unconverted(play):
    play.prefix = []
    return play_once(play)


def notices(play):
    """Does the judge notice a program whose connection is not SMC?"""
    return not judged(dataclasses.replace(SERVICES["socat"], play=play))[1]


def judge_cases():
    """The judge fails when it has to."""
    with excluded(SERVICES["socat"].port):
        yield "services: a program that falls back is noticed", notices(play_once)
    yield "services: a program that is not converted is noticed", notices(play_unconverted)
    yield "services: one that is SMC passes", not notices(play_once)


def cases():
    for module in ("web", "data", "others"):	# they import this module
        importlib.import_module(module)
    version = versions()
    for name in os.environ.get("SMC_SERVICES", "").split() or SERVICES:
        one = SERVICES[name]
        if lacking(one):
            yield f"{name} # SKIP no {' '.join(lacking(one))} on this machine", True
            continue
        case, good, count = judged(one)
        if good:	# a row of the table in Documentation/programs.md
            say(f"| {name} | {one.package} {version.get(one.package, '-')} | {one.does} | {count} |")
        yield case, good
    if shutil.which("socat"):
        yield from judge_cases()
