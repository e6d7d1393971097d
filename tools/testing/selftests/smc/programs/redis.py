# SPDX-License-Identifier: GPL-2.0
"""redis: every command of redis-benchmark, then a mixed load with a save and a replica."""
import subprocess

from program import PREFIX, modes, run, server, succeeds

CONNECTIONS = 200
MASTER, REPLICA = 6379, 6380
SMC = PREFIX["smc"]


def cli(port, *words):
    return run(*SMC, "redis-cli", "-p", port, *words)[1].strip()


def redis(port, *options):
    return server(*SMC, "redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", "/tmp",
                  "--dbfilename", f"{port}.rdb", "--enable-debug-command", "local", *options,
                  port=port)


def mixed_load():
    load = ["redis-benchmark", "-p", str(MASTER), "-c", "20", "-n", "20000", "-r", "5000", "-d",
            "3000", "-q", "-t", "set,get,incr,lpush,rpop,sadd,hset,spop,zadd,mset"]
    with subprocess.Popen([*SMC, *load], stdout=subprocess.DEVNULL) as process:
        saved = cli(MASTER, "bgsave")
        carried = modes(MASTER)
        process.wait()
    return process.returncode, saved, carried


def cases():
    with redis(MASTER), redis(REPLICA, "--replicaof", "127.0.0.1", MASTER):
        yield "redis: all commands of redis-benchmark", succeeds(
            *SMC, "redis-benchmark", "-p", MASTER, "-c", 20, "-n", 1000, "-d", 100, "-q",
            timeout=600)
        status, saved, carried = mixed_load()
        yield "redis: a mixed load", status == 0
        yield "redis: a save during it", "saving started" in saved.lower()
        yield "redis: clients and replica use SMC", set(carried) == {"SMCD"}
        yield "redis: the replica follows", cli(MASTER, "wait", 1, 60000) == "1"
        digests = [cli(port, "debug", "digest") for port in (MASTER, REPLICA)]
        yield "redis: the replica has the same data", (digests[0] == digests[1] and
                                                       len(digests[0]) == 40 and
                                                       set(digests[0]) != {"0"})
