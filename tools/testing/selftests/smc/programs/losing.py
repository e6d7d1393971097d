# SPDX-License-Identifier: GPL-2.0
"""Real programs that lose an RDMA device in the middle, and again and again: their clients see
nothing. Cases of ../rdma/pair --links 2. TCP is on the network that stays."""
import threading
import time

import between
import postgres
import redis
from failover import links, set_up
from lib.slow import slow
from program import run, say, succeeds

NETDEV, DEVICE = "eth0", "rxe0"
SMC = between.SMC
PATIENCE = slow(60)


class Losing(threading.Thread):
    """Takes the device away while it carries connections, and gives it back, as long as the block
    lasts."""

    def __init__(self):
        super().__init__()
        self.times, self.problem, self.over = 0, "", threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()
        say(f"{DEVICE} was lost {self.times} times")

    @staticmethod
    def carried():
        return sum(link["conns"] for link in links() if link["dev"] == DEVICE)

    def wait(self, what, condition):
        """False when the block is over."""
        until = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > until:
                self.problem = f"not after {PATIENCE} s: {what}"
            if self.problem or self.over.wait(0.02):
                return False
        return True

    def run(self):
        while self.wait(f"connections over {DEVICE}", self.carried):
            set_up(NETDEV, False)
            gone = self.wait(f"{DEVICE} carries nothing", lambda: not self.carried())
            set_up(NETDEV, True)
            self.times += gone
            if not gone:
                break


def under_loss(client, port, *command):
    """Cases: a program's client, and whether it lost a device meanwhile."""
    with Losing() as losing:
        good = client.watched(port, *command)[0] == 0
    yield "the clients see nothing", good
    yield f"links were lost: {losing.problem or losing.times}", losing.times and not losing.problem


class Redis(between.Redis):
    KEYS = 5000

    @staticmethod
    def drive(client):
        benchmark = [*SMC, "redis-benchmark", "-h", client.there, "-p", redis.MASTER, "-q"]
        yield from under_loss(client, redis.MASTER, *benchmark, "-c", 20, "-n", 8000, "-r", 2000, "-d",
                              3000, "-t", "set,get,incr,lpush,rpop,sadd,hset,mset")
        # Each value is the random number of its key, so a byte in a wrong place is seen.
        writes = "".join(f"set loss:{n} {n * 7919}\n" for n in range(Redis.KEYS))
        reads = "".join(f"get loss:{n}\n" for n in range(Redis.KEYS))
        cli = [*SMC, "redis-cli", "-h", client.there, "-p", redis.MASTER]
        with Losing():
            said = run(*cli, input=writes, timeout=slow(300))[1].split()
            values = run(*cli, input=reads, timeout=slow(300))[1].split()
        yield "every write is confirmed", said == ["OK"] * Redis.KEYS
        yield "every value is there", values == [str(n * 7919) for n in range(Redis.KEYS)]


class Postgres(between.Postgres):
    TRANSACTIONS = 400	# of each of four clients

    @staticmethod
    def drive(client):
        at = client.there
        yield "answers", postgres.sql("select 1", host=at) == "1"
        pgbench = [*SMC, f"{postgres.BIN}/pgbench", *postgres.ends(at)]
        yield "pgbench fills its tables", succeeds(*pgbench, "-i", "-q", "postgres", timeout=slow(300))
        yield from under_loss(client, postgres.PORT, *pgbench, "-n", "-c", 4, "-t",
                              Postgres.TRANSACTIONS, "postgres")
        yield "the books balance", postgres.balances(at)
        yield "nothing is lost", postgres.sql("select count(*) from pgbench_history", host=at) == \
            str(4 * Postgres.TRANSACTIONS)


PROGRAMS = {"redis": Redis, "postgres": Postgres}


def case(name):
    play = between.case(name, PROGRAMS)

    def program(machine, session):
        machine.network = 1
        try:
            return play(machine, session)
        finally:
            machine.network = 0
    return program
