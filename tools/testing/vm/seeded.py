# SPDX-License-Identifier: GPL-2.0
"""A guest whose run follows from a seed (seed/seed.c), and that plays a workload."""
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.abspath(f"{HERE}/../../..")
PLAY = os.path.abspath(f"{HERE}/../selftests/smc/seeds/play")
TIMEOUT = 900		# seconds for a guest, of which 25 seeds need some fifty


def play(workload, first, last, name, cpu, keep=""):
    """Plays the seeds from first to last, which has only the decisions in keep, if there are any.
    Returns the status and the output."""
    files = f"{TOP}/build/seeds/{name}"
    os.makedirs(files, exist_ok=True)
    for seed in range(first, last + 1):
        with open(f"{files}/{seed}", "w", encoding="ascii") as out:
            out.write(f"keep {keep}\n" if keep and seed == last else "stop\n")
    command = [f"{HERE}/run", "--kver", "um", "--variant=-test", "--seed", str(first), "--timeout",
               str(TIMEOUT), "--cpu", str(cpu), "--name", name, "--", PLAY, workload,
               f"{first:09}", f"{last:09}"]
    done = subprocess.run(command, text=True, errors="replace", check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "SMC_SEED_FILES": files, "SMC_NO_LEAKS": "1"})
    return done.returncode, done.stdout
