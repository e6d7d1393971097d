# SPDX-License-Identifier: GPL-2.0
"""What the tests of real programs share."""
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("SMC_ROOT", os.path.abspath(f"{HERE}/../../../../.."))
TOOLS = f"{ROOT}/build/tools"
SMC_RUN = f"{TOOLS}/smc_run"


def say(text):
    """Lines for people."""
    print("".join(f"# {line}\n" for line in str(text).splitlines()), end="", flush=True)


def connections():
    """How many connections have become SMC so far, and how many TCP in spite of it."""
    done = subprocess.run([f"{TOOLS}/smcd", "-a", "-j", "stats"], stdout=subprocess.PIPE, text=True,
                          check=True)
    stats = json.loads(done.stdout)["stats"]
    return stats["smc_connections"], stats["fallbacks"]
