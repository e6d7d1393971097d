# SPDX-License-Identifier: GPL-2.0
"""Real programs that lose an RDMA device in the middle, over and over; their clients must not
notice. Cases of ../rdma/pair --links 2. TCP uses the network that is not lost."""
import concurrent.futures
import threading

import between
import postgres
import redis
from failover import links, set_up
from lib.slow import slow
from lib.wait import remains
from program import run, say, succeeds

NETDEV, DEVICE = "eth0", "rxe0"
SMC = between.SMC
PATIENCE = slow(60)


class Losing(threading.Thread):
    """In a with block: takes the device away whenever it carries connections, and gives it back."""

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

    def run(self):
        while not self.over.wait(0.02):
            # Connections do not move back; new ones use the link with fewer.
            if not self.carried():
                continue
            set_up(NETDEV, False)
            if remains(self.carried, PATIENCE):
                self.problem = f"{DEVICE} is down, but still has connections after {PATIENCE} s"
            set_up(NETDEV, True)
            self.times += 1


def under_loss(client, port, *command):
    """Yields cases: a program's client, and whether it lost a device meanwhile."""
    # A handshake that loses its link continues as TCP; the case limits their number.
    client.allowed.add("TCP")
    with Losing() as losing:
        good = client.watched(port, *command)[0] == 0
    yield "the clients see no error", good
    yield f"links were lost: {losing.problem or losing.times}", losing.times and not losing.problem


def in_parallel(function, count):
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(function, range(count)))


class Redis(between.Redis):
    CLIENTS, KEYS = 4, 1500
    BOTH_COUNT = True
    FALLBACKS = 20	# of 100; a handshake that loses its link continues as TCP

    @staticmethod
    def exchange(client, index):
        """Each value is a different number, so a misplaced byte is noticed."""
        keys = range(index * Redis.KEYS, (index + 1) * Redis.KEYS)
        asked = "".join(f"set loss:{n} {n * 7919}\nget loss:{n}\n" for n in keys)
        said = run(*SMC, "redis-cli", "-h", client.there, "-p", redis.MASTER, input=asked,
                   timeout=slow(300))[1].split()
        return said == [word for n in keys for word in ("OK", str(n * 7919))]

    @staticmethod
    def drive(client):
        benchmark = [*SMC, "redis-benchmark", "-h", client.there, "-p", redis.MASTER, "-q"]
        yield from under_loss(client, redis.MASTER, *benchmark, "-c", 20, "-n", 1500, "-r", 500, "-d",
                              3000, "-t", "set,get,incr,lpush,rpop,sadd,hset,mset")
        with Losing():
            good = in_parallel(lambda index: Redis.exchange(client, index), Redis.CLIENTS)
        yield "every value read is the value written", all(good)


class Postgres(between.Postgres):
    TRANSACTIONS = 400	# for each of four clients
    BOTH_COUNT = True

    @staticmethod
    def drive(client):
        at = client.there
        yield "PostgreSQL answers", postgres.sql("select 1", host=at) == "1"
        pgbench = [*SMC, f"{postgres.BIN}/pgbench", *postgres.ends(at)]
        yield "pgbench fills its tables", succeeds(*pgbench, "-i", "-q", "postgres", timeout=slow(300))
        yield from under_loss(client, postgres.PORT, *pgbench, "-n", "-c", 4, "-t",
                              Postgres.TRANSACTIONS, "postgres")
        yield "the sums of the pgbench tables agree", postgres.balances(at)
        yield "no transaction is lost", postgres.sql(
            "select count(*) from pgbench_history", host=at) == str(4 * Postgres.TRANSACTIONS)


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
