# SPDX-License-Identifier: GPL-2.0
"""Guests whose runs follow from a seed (seed/seed.c), and that play a workload: one guest that plays
a list of seeds, or two hosts with a network between them (seed/cable.c) that play one."""
import concurrent.futures
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.abspath(f"{HERE}/../../..")
PLAY = os.path.abspath(f"{HERE}/../selftests/smc/seeds/play")
TIMEOUT = 900		# seconds for a guest, of which 25 seeds need some fifty

RDMA = os.path.abspath(f"{HERE}/../selftests/smc/rdma")
PAIR = [f"{RDMA}/pair", "--kver", "um", "--variant=-test"]
PLAIN = "um-plain"	# a kernel without hooks
SLOW = 10		# jumps of the clock slow everything down; a hang costs nothing
# Two hosts play one of the lists of cases of their workload.
HOSTS = {
    "hosts": ("transfer_quick churn_quick", "many all_ended",
              "few_wr_many transfer_unequal few_wr_urgent_abort",
              "urgent urgent_first urgent_unread urgent_full urgent_left urgent_abort all_ended",
              "half_close_client half_close_server early_churn withdrawn all_ended",
              "close_unread_client close_unread_server late_abort rkeys_cross",
              "device_gone_server device_gone_client transfer_quick", "v1 v1_many by_bytes"),
    # The kernel's own module as the client or as the server
    "foreign": ("transfer_quick churn_quick", "many", "half_close_client close_unread_server"),
    "ism": ("transfer_quick churn_quick", "late_write late_abort all_ended",
            "urgent urgent_first urgent_unread urgent_full urgent_left urgent_abort all_ended",
            "half_close_client half_close_server close_unread_client close_unread_server",
            "unplugged_server unplugged_client transfer_quick", "replugged"),
}
# A kernel without hooks as the client or as the server
HOSTS["mixed"] = HOSTS["foreign"]
# With the strict device at both ends
STRICT = ("strict_hosts", "strict_foreign", "strict_losses", "strict_shards")
PAIRS = (*HOSTS, "losses", "shards", *STRICT)
ALL = "0-4294967295"	# decisions
COMMAND = 4000		# characters, fewer than a page has
LOADS = ("bulk", "ping_pong", "urgent", "half_close", "mixed")


def threads():
    """Returns an executor with a thread for each processor, on which its guests run, too."""
    free = sorted(os.sched_getaffinity(0))
    return concurrent.futures.ThreadPoolExecutor(
        len(free), initializer=lambda: os.sched_setaffinity(0, {free.pop()}))


def pair_command(workload, seed, name):
    """Returns the command that plays a seed on two hosts."""
    workload = workload.removeprefix("strict_")
    run = ["--name", name, "--timeout", f"{TIMEOUT // SLOW}"]
    if workload == "shards":
        return [f"{HERE}/run", *run, "--kver", "um", "--variant=-test", "--vms", "2",
                "--seed", f"{seed}", "--", f"{RDMA}/sock_pair", "-N", "-V", "smc4", "-T", "1000",
                "--shard", f"{seed % 24 + 1}/24"]
    run += ["--from-seed", f"{seed}"]
    if workload == "losses":
        return [f"{RDMA}/failover_pair", *run, "--count", "3", "--each", "3", "--seed", f"{seed}",
                "--load", LOADS[seed % len(LOADS)]]
    lists = HOSTS[workload]
    cases, odd = lists[seed % len(lists)].split(), seed // len(lists) % 2
    if cases == ["replugged"]:	# Its connections shall use up the memory.
        return ["/usr/bin/env", "SMC_ISM_PARAMS=slots=2", *PAIR, "--ism", "8", *run, "--", *cases]
    options = {
        "ism": ["--ism", "256"],
        "foreign": ["--server" if odd else "--client", "kernel"],
        "mixed": ["--kver", PLAIN, "--client-kver", "um"] if odd else ["--client-kver", PLAIN],
    }
    return [*PAIR, *options.get(workload, []), *run, "--", *cases]


def commands(name, keep):
    """Returns a directory for the commands that guests write to /proc/seed before a run begins, and
    writes those in @keep: {file: decisions}. All have the same length, because a longer one makes
    the guest's kernel and shell allocate other memory, and the run another one."""
    files = f"{TOP}/build/seeds/{name}"
    os.makedirs(files, exist_ok=True)
    for file, decisions in keep.items():
        with open(f"{files}/{file}", "w", encoding="ascii") as out:
            out.write(f"keep {decisions or ALL}".ljust(COMMAND) + "\n")
    return files


def play_pair(workload, seed, name, keep=()):
    """Plays a seed on two hosts. @keep: the decisions of each that have an effect, or nothing.
    Returns as play()."""
    files = commands(name, {f"host{host}": text for host, text in enumerate(keep or ("", ""), 1)})
    done = subprocess.run(pair_command(workload, seed, name), text=True, errors="replace",
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "SMC_SEED_FILES": files, "SMC_NO_LEAKS": "1",
                               "SMC_SLOW": f"{SLOW}",
                               "SMC_RDMA_TYPE": "strict" if workload in STRICT else "rxe"})
    text = done.stdout
    if said := re.search(rf"\bseed {seed},\d+: .*", text):
        text += f"{'FAILED' if done.returncode else 'clean'} {said[0]}\n"
    return done.returncode, text


def play(workload, first, last, name, keep="", kver="um"):
    """Plays the seeds from first to last, which has only the decisions in keep, if there are any.
    Returns the status and the output."""
    files = commands(name, {seed: keep if seed == last else "" for seed in range(first, last + 1)})
    if workload == "plain":
        kver = PLAIN
    command = [f"{HERE}/run", "--kver", kver, "--variant=-test", "--seed", str(first), "--timeout",
               str(TIMEOUT), "--name", name, "--", PLAY, workload, f"{first:09}", f"{last:09}"]
    done = subprocess.run(command, text=True, errors="replace", check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "SMC_SEED_FILES": files, "SMC_NO_LEAKS": "1"})
    return done.returncode, done.stdout
