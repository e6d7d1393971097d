# SPDX-License-Identifier: GPL-2.0
"""Databases, caches, directories and messages."""
import concurrent.futures
import glob
import os

import postgres
from lib.slow import slow
from program import LOOPBACK, PATIENCE, run
from services import digest, pattern, service


@service("memcached", "memcached", "memcached socat", 11311,
         "500 keys are set and read, with values up to 20 KB")
def memcached(play):
    keys = range(500)
    words = [f"set key{n} 0 0 {n * 40}\r\n{'v' * n * 40}\r\n" for n in keys]
    words += [f"get key{n}\r\n" for n in keys]
    words += ["incr none 1\r\n", "set five 0 0 1\r\n5\r\nincr five 37\r\n", "quit\r\n"]
    with play.server("memcached", "-u", "root", "-l", LOOPBACK, "-p", play.port, "-U", 0):
        output = play.client("socat", "-t", PATIENCE, "-", f"TCP:{play.at}", input="".join(words))
        for n in range(10):
            output += play.client("socat", "-t", PATIENCE, "-", f"TCP:{play.at}",
                                  input=f"get key{n}\r\nquit\r\n")
    return output


@service("mosquitto", "mosquitto", "mosquitto mosquitto_pub", 1884,
         "a subscriber that was away gets 500 messages in their order; a retained message")
def mosquitto(play):
    conf = play.file("mosquitto.conf", f"listener {play.port} {LOOPBACK}\nallow_anonymous true\n"
                     "user root\nmax_queued_messages 0\n")
    ends = ("-h", LOOPBACK, "-p", play.port, "-q", 1)
    lines = "".join(f"message {n} {'x' * n}\n" for n in range(500))
    with play.server("mosquitto", "-c", conf):
        subscribe = ("mosquitto_sub", *ends, "-i", "reader", "-c", "-t", "topic")
        output = play.client(*subscribe, "-E")
        output += play.client("mosquitto_pub", *ends, "-t", "topic", "-l", input=lines)
        output += play.client(*subscribe, "-C", 500)
        output += play.client("mosquitto_pub", *ends, "-t", "kept", "-r", "-m", "z" * 100000)
        for _ in range(5):
            output += play.client("mosquitto_sub", *ends, "-t", "kept", "-C", 1)
    return output


# Small, and without what User Mode Linux lacks: io_uring, and room for terabytes. Without the tables
# for grants, which would have to be created first.
MARIADB = ("--no-defaults", "--user=root", "--skip-grant-tables", "--innodb-use-native-aio=0",
           "--innodb-flush-method=fsync", "--innodb-flush-log-at-trx-commit=0",
           "--innodb-buffer-pool-size=32M", "--innodb-buffer-pool-size-max=32M",
           "--innodb-log-file-size=8M", "--local-infile")
LARGE = pattern(2 << 20)


@service("MariaDB", "mariadb-server", "mariadbd mariadb mariadb-dump", 3307,
         "rows and a large blob are sent and read; a dump; clients one by one and at the same time")
def mariadb(play):
    os.mkdir(play.path("data"))
    rows = play.file("rows", "".join(f"{n}\t{n * 7919 % 1000}\t{'w' * (n % 200)}\n"
                                     for n in range(1000)))
    client = ("mariadb", "--no-defaults", "-h", LOOPBACK, "-P", play.port, "-u", "root", "-B",
              "--local-infile")

    def fills(table):
        return play.client(*client, "test", input="".join(
            [f"create table {table} like t;\n",
             *(f"insert into {table} values ({n}, {n * n}, '{table}');\n" for n in range(100)),
             f"checksum table {table}; select sum(number) from {table};\n"]))

    with play.server("mariadbd", *MARIADB, f"--datadir={play.path('data')}",
                     f"--bind-address={LOOPBACK}", f"--port={play.port}",
                     f"--socket={play.path('socket')}"):
        output = play.client(*client, input=f"""create database test; use test;
create table t (id int primary key, number int, word varchar(200));
load data local infile '{rows}' into table t;
update t set word = reverse(sha2(word, 256)) where id % 7 = 0;
checksum table t; select * from t; select number % 9, count(*) from t group by 1 order by 1;
create table large (data longblob); insert into large values (x'{LARGE.hex()}');
select sha2(data, 256) from large; select hex(data) from large;
""")
        output += play.client("mariadb-dump", *client[1:-2], "--skip-dump-date", "test")
        for n in range(5):
            output += play.client(*client, "test", "-e", f"select * from t where id = {n}")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            output += "".join(pool.map(fills, ("a", "b", "c", "d")))
    return output


@service("PgBouncer", "pgbouncer", f"pgbouncer {postgres.BIN or '/usr/lib/postgresql'}/postgres", 6432,
         "in front of PostgreSQL, both sides SMC: pgbench with a connection for each transaction")
def pgbouncer(play):
    if not glob.glob(f"{postgres.DATA}/PG_VERSION") and not postgres.prepare():
        raise RuntimeError("no cluster for PostgreSQL")
    conf = play.file("pgbouncer.ini", f"""
[databases]
postgres = host={LOOPBACK} port={postgres.PORT} dbname=postgres user=postgres
[pgbouncer]
listen_addr = {LOOPBACK}
listen_port = {play.port}
auth_type = any
pool_mode = transaction
unix_socket_dir =
logfile = {play.path('log')}
""")
    run("chown", "-R", "postgres", play.directory)
    ends = ("-h", LOOPBACK, "-p", play.port, "-U", "postgres")
    pgbench = (f"{postgres.BIN}/pgbench", *ends)
    with postgres.postgres(prefix=play.prefix), play.server(*postgres.AS_POSTGRES, "pgbouncer",
                                                            conf):
        play.client(*pgbench, "-i", "-q", "postgres", timeout=slow(300))
        play.client(*pgbench, "-C", "-c", 4, "-t", 10, "postgres", timeout=slow(300))
        return play.client(
            f"{postgres.BIN}/psql", *ends, "-At", "-d", "postgres", "-c",
            "select count(*) from pgbench_history", "-c", "select sum(abalance) = (select sum(delta) "
            "from pgbench_history) from pgbench_accounts", "-c",
            "select aid, filler from pgbench_accounts order by aid limit 20000")


@service("OpenLDAP", "slapd", "slapd ldapadd", 1389,
         "300 entries are added and searched; a connection for each search")
def slapd(play):
    run("mkdir", play.path("db"))
    conf = play.file("slapd.conf", f"""
include /etc/ldap/schema/core.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {play.path('pid')}
database mdb
maxsize 16777216
suffix dc=test
rootdn cn=admin,dc=test
rootpw secret
directory {play.path('db')}
dbnosync
""")
    entries = "dn: dc=test\nobjectClass: dcObject\nobjectClass: organization\no: test\n\n"
    entries += "".join(
        f"dn: cn=person{n},dc=test\nobjectClass: person\ncn: person{n}\nsn: {'s' * n}\n\n"
        for n in range(1, 301))
    uri = f"ldap://{play.at}/"
    with play.server("slapd", "-d", 0, "-f", conf, "-h", uri):
        output = play.client("ldapadd", "-x", "-H", uri, "-D", "cn=admin,dc=test", "-w", "secret",
                             input=entries)
        output += play.client("ldapsearch", "-x", "-LLL", "-H", uri, "-b", "dc=test")
        for n in range(5):
            output += play.client("ldapsearch", "-x", "-LLL", "-H", uri, "-b", "dc=test",
                                  f"(cn=person{n + 1})")
    return output


@service("nbd-server", "nbd-server", "nbd-server nbdcopy", 10810,
         "a disk of 16 MiB is written and read by nbdcopy")
def nbd(play):
    disk, data = play.file("disk", b"\0" * (16 << 20)), play.file("data", pattern(16 << 20))
    conf = play.file("nbd.conf", f"[generic]\nport = {play.port}\nlistenaddr = {LOOPBACK}\n"
                     f"user = root\ngroup = root\n[disk]\nexportname = {disk}\nfilesize = {16 << 20}\n")
    uri = f"nbd://{play.at}/disk"
    output = ""
    for client in (("nbdcopy", "-C", 1, data, uri), ("nbdinfo", uri),
                   ("nbdcopy", "-C", 1, uri, play.path("got"))):
        # It serves one connection, unless it becomes a daemon.
        with play.server("nbd-server", "-d", "-C", conf):
            output += play.client(*client)
    return "\n".join((output, digest(disk), digest(play.path("got"))))
