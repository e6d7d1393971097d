# SPDX-License-Identifier: GPL-2.0
"""Shared by the tests of real programs."""
import contextlib
import json
import os
import subprocess

from lib.slow import slow
from lib.wait import holds

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("SMC_ROOT", os.path.abspath(f"{HERE}/../../../../.."))
TOOLS = f"{ROOT}/build/tools"
SMC_RUN = f"{TOOLS}/smc_run"
PREFIX = {"tcp": [], "smc": [SMC_RUN]}
LOOPBACK = "127.0.0.1"
PATIENCE = slow(120)	# time limit in seconds for anything that is awaited, on a busy host


def say(text):
    """Prints lines for people."""
    print("".join(f"# {line}\n" for line in str(text).splitlines()), end="", flush=True)


def connections(tool="smcd"):
    """Returns how many connections have become SMC so far, and how many TCP instead, according to
    smcd or smcr."""
    done = subprocess.run([f"{TOOLS}/{tool}", "-a", "-j", "stats"], stdout=subprocess.PIPE,
                          text=True, check=True)
    stats = json.loads(done.stdout)["stats"]
    return stats["smc_connections"], stats["fallbacks"]


def run(*command, timeout=PATIENCE, **how):
    """Returns (status, output)."""
    try:
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                              timeout=timeout, cwd="/tmp", **how)
    except subprocess.TimeoutExpired as error:
        return 124, f"{command}: no end after {timeout} s\n{(error.stdout or b'')[-500:]!r}"
    if done.returncode:
        say(f"{' '.join(map(str, command))[:200]}: status {done.returncode}\n{done.stdout[-1500:]}")
    return done.returncode, done.stdout


def succeeds(*command, **how):
    return run(*command, **how)[0] == 0


def listens(port):
    """Is there a listener on this port, over IPv4 or IPv6?"""
    for table in ("tcp", "tcp6"):
        with open(f"/proc/net/{table}", encoding="ascii") as lines:
            if any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"
                   for line in list(lines)[1:]):
                return True
    return False


def await_listener(port, process):
    """Waits until there is a listener, without connecting, which would disturb some servers."""
    holds(lambda: listens(port) or process.poll() is not None, PATIENCE)
    if not listens(port):
        raise RuntimeError(f"no listener on port {port}")


@contextlib.contextmanager
def server(*command, port, **how):
    """Runs a server in a with block."""
    with open(f"/tmp/server-{port}.log", "w+", encoding="utf-8", errors="replace") as log:
        with subprocess.Popen([str(word) for word in command], stdout=log,
                              stderr=subprocess.STDOUT, cwd="/tmp", **how) as process:
            try:
                await_listener(port, process)
                yield process
            except RuntimeError:
                log.seek(0)
                say(log.read()[-1500:])
                raise
            finally:
                process.terminate()


def modes(port):
    """Returns how many established connections to or from this port have which mode, according to
    smcss."""
    done = subprocess.run([f"{TOOLS}/smcss", "-a", "-j"], stdout=subprocess.PIPE, text=True,
                          check=True)
    found = {}
    for sock in json.loads(done.stdout)["sockets"]:
        ends = [sock.get(end) or {} for end in ("local", "peer")]
        if sock["state"] == "ACTIVE" and port in [end.get("port") for end in ends]:
            found[sock["mode"]] = found.get(sock["mode"], 0) + 1
    return found
