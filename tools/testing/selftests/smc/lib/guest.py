# SPDX-License-Identifier: GPL-2.0
"""Shared by the tests in Python that run in a guest and check connections over loopback."""
import contextlib
import json
import os
import socket
import subprocess
import sys
import traceback

from lib.wait import SHORT

ROOT = os.environ.get("SMC_ROOT", os.path.abspath(f"{os.path.dirname(__file__)}/../../../../.."))
TOOLS = f"{ROOT}/build/tools"
IPPROTO_SMC = 256
V4, V6 = socket.AF_INET, socket.AF_INET6
CASES = []


def case(function):
    CASES.append(function)
    return function


class Skip(Exception):
    """This kernel or build lacks what a case needs."""


def same(got, wanted, what):
    if got != wanted:
        raise AssertionError(f"{what}: {got!r} instead of {wanted!r}")


def run(*argv):
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, check=False,
                          timeout=SHORT)


def tool(words, name="smcr"):
    """Runs a tool, which must succeed without an error message; returns its output."""
    done = run(f"{TOOLS}/{name}", *words.split())
    same((done.returncode, done.stderr), (0, ""), f"{name} {words}")
    return done.stdout


def sysctl(name, value=None):
    with open(f"/proc/sys/net/smc/{name}", "r+" if value is not None else "r",
              encoding="ascii") as file:
        if value is None:
            return int(file.read())
        file.write(f"{value}\n")
        return value


@contextlib.contextmanager
def setting(path, value):
    """Sets a file of /proc/sys or a module parameter in a with block."""
    with open(path, encoding="ascii") as file:
        old = file.read()
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))
    try:
        yield
    finally:
        with open(path, "w", encoding="ascii") as file:
            file.write(old)


def smc(family=V4):
    sock = socket.socket(family, socket.SOCK_STREAM, IPPROTO_SMC)
    sock.settimeout(SHORT)
    return sock


def listen(family=V4, address="127.0.0.1", port=0, make=smc):
    sock = make(family)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((address, port))
    sock.listen(64)
    return sock


def of_socket(sock):
    inode = os.fstat(sock.fileno()).st_ino
    found = [s for s in json.loads(tool("-a -j", "smcss"))["sockets"] if s["inode"] == inode]
    same(len(found), 1, "entries of smcss")
    return found[0]["mode"] if found[0]["mode"] != "TCP" else found[0]["fallback"]["reason"]["name"]


def load():
    with open("/proc/modules", encoding="ascii") as modules:
        loaded = [line.split()[0] for line in modules]
    for name, variable in (("smc", "SMC_KO"), ("smc_diag", "SMC_DIAG_KO")):
        if name not in loaded and os.environ.get(variable):
            parameters = os.environ.get("SMC_PARAMS", "").split() if name == "smc" else ()
            done = run("insmod", os.environ[variable], *parameters)
            same(done.returncode, 0, f"insmod {name}: {done.stderr}")


def main(suite):
    """Plays the cases named on the command line, or all, in a network namespace. Prints TAP."""
    if "SMC_GUEST_NAMESPACE" not in os.environ:
        os.environ["SMC_GUEST_NAMESPACE"] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    same(run("ip", "link", "set", "lo", "up").returncode, 0, "ip link set lo up")
    if not run("modprobe", "-q", "inet_diag").returncode:
        run("modprobe", "-q", "tcp_diag")
    load()
    failed = 0
    same([n for n in sys.argv[1:] if n not in [c.__name__ for c in CASES]], [], "unknown cases")
    cases = [c for c in CASES if not sys.argv[1:] or c.__name__ in sys.argv[1:]]
    print("TAP version 13")
    print(f"1..{len(cases)}", flush=True)
    for number, function in enumerate(cases, 1):
        try:
            function()
            print(f"ok {number} {suite}.{function.__name__}", flush=True)
        except Skip as reason:
            print(f"ok {number} {suite}.{function.__name__} # SKIP {reason}", flush=True)
        except Exception:   # pylint: disable=broad-except
            failed += 1
            print(f"not ok {number} {suite}.{function.__name__}")
            for line in traceback.format_exc().splitlines():
                print(f"# {line}", flush=True)
    return failed != 0
