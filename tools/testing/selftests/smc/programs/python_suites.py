# SPDX-License-Identifier: GPL-2.0
"""Python's own socket tests: each test that passes over TCP here must pass over SMC."""
import json
import os
import subprocess

from lib.slow import slow
from program import HERE, SMC_RUN, say

# SMC_PYTHON_SUITES="test_ftplib test_asyncio" selects other suites of the package.
ASKED = os.environ.get("SMC_PYTHON_SUITES")
SUITES = (ASKED or "test_socket test_selectors test_socketserver test_ssl").split()
CONNECTIONS = 1 if ASKED else 500	# at least this many must be SMC
SOME = 5 if ASKED else 20	# more tests than this must pass over TCP
LIMIT = slow(600)	# time limit for one suite, in seconds


def outcomes(prefix, names):
    """Returns {test: (outcome, why)} of every test that ended."""
    found = {}
    with subprocess.Popen([*prefix, "/usr/bin/python3", f"{HERE}/outcomes.py", *names], cwd="/tmp",
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          errors="replace", env=dict(os.environ, HOME="/tmp")) as process:
        try:
            for line in process.communicate(timeout=LIMIT)[0].splitlines():
                if line.startswith('{"test"'):
                    one = json.loads(line)
                    found[one["test"]] = one["outcome"], one["why"]
        except subprocess.TimeoutExpired:
            process.kill()
            say(f"{' '.join(names)[:60]} took more than {LIMIT} s")
    return found


def passes(test):
    """A test with a time limit of its own may exceed it in an emulated machine, over any transport.
    It gets one more attempt, alone, which is counted (tools/testing/check)."""
    outcome, why = outcomes([SMC_RUN], [test]).get(test, ("not run", ""))
    if outcome != "passed":
        say(f"{test}: {outcome}\n{why[-1500:]}")
    return outcome == "passed"


def cases():
    """Yields (name, whether it passed)."""
    for suite in SUITES:
        tcp = outcomes([], [f"test.{suite}"])
        smc = outcomes([SMC_RUN], [f"test.{suite}"])
        wanted = [test for test, (outcome, _) in tcp.items() if outcome == "passed"]
        say(f"{suite}: {len(wanted)} pass over TCP, {len(tcp) - len(wanted)} do not or are skipped")
        yield f"{suite}: some tests pass over TCP", len(wanted) > SOME
        for test in wanted:
            outcome, why = smc.get(test, ("not run", ""))
            if outcome != "passed":
                say(f"REPEATED {test.removeprefix('test.')}: {outcome}\n{why[-1500:]}")
            yield test.removeprefix("test."), outcome == "passed" or passes(test)
