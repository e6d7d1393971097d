# SPDX-License-Identifier: GPL-2.0
"""redis: every command of redis-benchmark, then a mixed load with a save and a replica."""
import os
import threading
import time

from lib.slow import slow
from program import LOOPBACK, PREFIX, modes, run, say, server, succeeds

CONNECTIONS = 200
# The CI machine does not have time for a minute of load.
SECONDS = 15 if os.environ.get("CI") == "true" else 60
MASTER, REPLICA = 6379, 6380
SMC = PREFIX["smc"]


def cli(port, *words, host=LOOPBACK):
    return run(*SMC, "redis-cli", "-h", host, "-p", port, *words)[1].strip()


def redis(port, *options, host=LOOPBACK, debug="local"):
    return server(*SMC, "redis-server", "--port", port, "--bind", host, "--dir", "/tmp",
                  "--dbfilename", f"{port}.rdb", "--enable-debug-command", debug,
                  "--protected-mode", "no", *options, port=port)


def followed(host=LOOPBACK):
    """Does the replica have everything that the master has? WAIT refers to the last write of the
    same connection; a replica that has it also has everything before it."""
    return run(*SMC, "redis-cli", "-h", host, "-p", MASTER,
               input=f"set last 1\nwait 1 {slow(60000)}\n")[1].split() == ["OK", "1"]


def same_data(*digests):
    """Compares the outputs of "debug digest"; without any data a digest is all zeros."""
    say(f"digests {', '.join(digests)}")
    return len(set(digests)) == 1 and len(digests[0]) == 40 and set(digests[0]) != {"0"}


class Load(threading.Thread):
    """Runs a mixed load for some time, in rounds; each round must end well."""
    ROUND = ["redis-benchmark", "-p", MASTER, "-c", "20", "-n", "2000", "-r", "5000", "-d", "3000",
             "-q", "-t", "set,get,incr,lpush,rpop,sadd,hset,spop,zadd,mset"]

    def __init__(self):
        super().__init__()
        self.rounds, self.good = 0, True
        self.start()

    def run(self):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and self.good:
            self.good = succeeds(*SMC, *self.ROUND, timeout=slow(300))
            self.rounds += 1


def mixed_load():
    """Returns (whether it went well, the answer to the save request, the connections' modes)."""
    load = Load()
    saved = cli(MASTER, "bgsave")
    carried = modes(MASTER)
    load.join()
    say(f"{load.rounds} rounds in {SECONDS} s")
    return load.good, saved, carried


def cases():
    with redis(MASTER), redis(REPLICA, "--replicaof", "127.0.0.1", MASTER):
        yield "redis: all commands of redis-benchmark", succeeds(
            *SMC, "redis-benchmark", "-p", MASTER, "-c", 20, "-n", 1000, "-d", 100, "-q",
            timeout=slow(600))
        good, saved, carried = mixed_load()
        yield f"redis: a mixed load for {SECONDS} s", good
        yield "redis: a save during the load", "saving started" in saved.lower()
        yield "redis: clients and replica use SMC", set(carried) == {"SMCD"}
        yield "redis: the replica catches up", followed()
        yield "redis: the replica has the same data", same_data(
            *(cli(port, "debug", "digest") for port in (MASTER, REPLICA)))
