# SPDX-License-Identifier: GPL-2.0
"""A static Go program, whose runtime polls sockets itself, under smc_run --cgroup."""
import os
import shutil
import subprocess

from program import ROOT, SMC_RUN, modes, run, server, succeeds

COUNT, MIB = 4, 4
CONNECTIONS = 2 * (COUNT + 1)	# each has both ends here
ECHO, WEB = "127.0.0.1:8090", "127.0.0.1:8091"
# Run from memory, so that no page of it comes over 9p while the clock runs.
PROGRAM, COPY = f"{ROOT}/build/selftests/programs/smc_go", "/tmp/smc_go"
CONVERTED = [SMC_RUN, "--cgroup", COPY]
CGROUPS = "/sys/fs/cgroup"


def echoed():
    """Returns (whether all bytes were echoed, modes of the connections)."""
    with subprocess.Popen([*CONVERTED, "echo", ECHO, str(MIB), str(COUNT)], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        said, carried = process.stdout.readline(), modes(8090)
        process.communicate()
    return process.returncode == 0 and said == "all is back\n", carried


def cases():
    if not os.path.exists(f"{CGROUPS}/cgroup.procs"):
        run("mount", "-t", "cgroup2", "none", CGROUPS)
    shutil.copyfile(PROGRAM, COPY)
    os.chmod(COPY, 0o755)
    with server(*CONVERTED, "serve", ECHO, WEB, port=8091):
        good, carried = echoed()
        yield f"go: {COUNT} connections echo {MIB} MiB at once", good
        yield "go: all connections are SMC", carried == {"SMCD": 2 * COUNT}
        with open("/tmp/server-8091.log", encoding="ascii") as said:
            wanted = said.read().strip()
        yield "go: 20 files of 4 MiB over net/http", succeeds(*CONVERTED, "get", f"http://{WEB}/",
                                                             wanted)
