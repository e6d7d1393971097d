# SPDX-License-Identifier: GPL-2.0
"""PostgreSQL: pgbench and its balances; a dump that is restored unchanged."""
import contextlib
import glob

from lib.slow import slow
from lib.wait import holds
from program import LOOPBACK, PREFIX, run, server, succeeds

CONNECTIONS = 10
PORT = 5432
SMC = PREFIX["smc"]
DATA = "/tmp/postgres"
BIN = (glob.glob("/usr/lib/postgresql/*/bin") or [""])[-1]
AS_POSTGRES = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]


def ends(host=LOOPBACK):
    return ["-h", host, "-p", PORT, "-U", "postgres"]


def prepare():
    run("install", "-d", "-o", "postgres", "-m", "700", DATA)
    return succeeds(*AS_POSTGRES, f"{BIN}/initdb", "-D", DATA, "-A", "trust", "--no-sync",
                    timeout=slow(300))


def is_ready():
    """Has the server started up? It refuses queries before, although it listens."""
    with open(f"{DATA}/postmaster.pid", encoding="ascii") as file:
        return "ready" in (line.strip() for line in file)


@contextlib.contextmanager
def postgres(host=LOOPBACK, prefix=tuple(SMC)):
    with server(*prefix, *AS_POSTGRES, f"{BIN}/postgres", "-D", DATA, "-p", PORT, "-c", "fsync=off",
                "-c", "unix_socket_directories=", "-c", f"listen_addresses={host}", port=PORT):
        if not holds(is_ready):
            raise RuntimeError("PostgreSQL does not start up")
        yield


def sql(query, database="postgres", host=LOOPBACK):
    return run(*SMC, f"{BIN}/psql", *ends(host), "-At", "-d", database, "-c", query)[1].strip()


def balances(host=LOOPBACK):
    """Do the four tables of pgbench have the same sum?"""
    sums = [sql(f"select sum({column}) from pgbench_{table}", host=host) for column, table in
            (("abalance", "accounts"), ("bbalance", "branches"), ("tbalance", "tellers"),
             ("delta", "history"))]
    return len(set(sums)) == 1 and sums[0] != ""


def cases():
    yield "postgres: a new cluster", prepare()
    with postgres():
        yield "postgres: the server answers", succeeds(*SMC, f"{BIN}/pg_isready", *ends())
        yield "postgres: pgbench fills its tables", succeeds(
            *SMC, f"{BIN}/pgbench", *ends(), "-i", "-q", "postgres", timeout=slow(300))
        yield "postgres: pgbench", succeeds(*SMC, f"{BIN}/pgbench", *ends(), "-c", 4, "-t", 100,
                                            "postgres", timeout=slow(300))
        yield "postgres: the sums of the pgbench tables agree", balances()
        yield "postgres: no transaction is lost", \
            sql("select count(*) from pgbench_history") == "400"
        sql("create database again template template0")
        yield "postgres: a dump is restored", succeeds(
            "sh", "-c", f"{SMC[0]} {BIN}/pg_dump -h 127.0.0.1 -p {PORT} -U postgres -t "
            "pgbench_accounts postgres | "
            f"{SMC[0]} {BIN}/psql -q -h 127.0.0.1 -p {PORT} -U postgres again", timeout=slow(300))
        rows = "select count(*), md5(string_agg(a::text, ',' order by aid)) from pgbench_accounts a"
        first, second = sql(rows), sql(rows, "again")
        yield "postgres: the restored table is equal", first == second and first.startswith("100000|")
