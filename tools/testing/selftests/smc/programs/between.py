# SPDX-License-Identifier: GPL-2.0
"""Real programs between two machines, over SMC-R or over an ISM device: cases of ../rdma/pair.

The servers run on the first machine, their clients on the second. Each machine counts its own
connections and fallbacks. While connections exist, both are checked with smcss and smcr or smcd.
"""
import contextlib
import json
import os
import subprocess
import tempfile
import time

import iperf
import nginx
import postgres
import redis
import ssh
from lib.slow import slow
from program import PREFIX, TOOLS, connections, modes, run, say, succeeds

SMC = PREFIX["smc"]
LOOPBACK = "0xffff"	# its CHID
PATIENCE = slow(400)	# seconds until the other machine must have answered
PROBLEMS = (RuntimeError, OSError, ValueError, subprocess.SubprocessError)


def looked(port, tool):
    """Returns the modes of connections to or from a port, and how many the link groups carry,
    without loopback."""
    done = subprocess.run([f"{TOOLS}/{tool}", "-j", "linkgroup"], stdout=subprocess.PIPE, text=True,
                          check=True)
    groups = [group for group in json.loads(done.stdout)["linkgroups"]
              if group.get("chid") != LOOPBACK]
    return {"modes": modes(port), "carried": sum(group["connections"] for group in groups)}


class Client:
    """What a client needs to run its part of a program."""

    def __init__(self, machine, session, known):
        self.session, self.known, self.mode = session, known, machine.mode
        self.here, self.there = machine.address(), machine.address(peer=True)
        self.seen = False	# both machines have shown SMC-R (or SMC-D) and nothing else
        self.allowed = {machine.mode.upper()}	# modes of connections

    def look(self, port):
        """Do both machines have SMC-R, and no mode that is not allowed? Returns None if connections
        do not exist on both sides yet. With ISM devices the same for SMC-D."""
        self.session.send({"look": port})
        mine, other = looked(port, self.mode), self.session.receive()
        if "problem" in other:
            raise RuntimeError(f"(peer) {other['problem']}")
        found = [mine["modes"], other["modes"]]
        good = all(set(of) <= self.allowed for of in found)
        if good and not all([*found, mine["carried"], other["carried"]]):
            return None
        if not good or not self.seen:
            say(f"port {port}: {mine} on this machine, {other} on the other one")
        self.seen = self.seen or good
        return good

    def watched(self, port, *command):
        """Runs a command and checks its connections until something is seen; returns (status,
        output)."""
        with tempfile.TemporaryFile("w+", errors="replace") as output, \
             subprocess.Popen([str(word) for word in command], stdout=output, cwd="/tmp",
                              stderr=subprocess.STDOUT) as process:
            good = None
            while good is None and process.poll() is None:
                good = self.look(port)
            process.wait(PATIENCE)
            output.seek(0)
            said = output.read()
        if process.returncode or good is False:
            say(said[-1500:])
        return process.returncode or int(good is False), said


class Redis:
    CONNECTIONS = 50

    @staticmethod
    @contextlib.contextmanager
    def serve(here, _there):
        with redis.redis(redis.MASTER, "--repl-diskless-sync-delay", "0", host=here, debug="yes"):
            yield None

    @staticmethod
    def drive(client):
        load = [*SMC, "redis-benchmark", "-h", client.there, "-p", redis.MASTER, "-c", 10, "-n",
                400, "-r", 500, "-d", 3000, "-q", "-t", "set,get,incr,lpush,sadd,hset,mset"]
        with redis.redis(redis.REPLICA, "--replicaof", client.there, redis.MASTER,
                         host=client.here, debug="yes"):
            yield "redis-benchmark with a mixed load", client.watched(redis.MASTER, *load)[0] == 0
            yield "a save", redis.cli(redis.MASTER, "save", host=client.there) == "OK"
            yield "the replica catches up", redis.followed(client.there)
            yield "the replica uses SMC", client.look(redis.MASTER)
            yield "the replica has the same data", redis.same_data(
                redis.cli(redis.MASTER, "debug", "digest", host=client.there),
                redis.cli(redis.REPLICA, "debug", "digest", host=client.here))


class Nginx:
    CONNECTIONS = 10

    @staticmethod
    @contextlib.contextmanager
    def serve(here, there):
        """Also serves as a proxy for the other machine's files."""
        wanted = nginx.prepare(here, there, 8)
        with nginx.nginx():
            yield wanted

    @staticmethod
    def drive(client):
        at = client.there
        behind = nginx.prepare(client.here, client.there, 4)
        with nginx.nginx():
            yield "8 MiB by sendfile", nginx.fetched(f"http://{at}:{nginx.PLAIN}/large",
                                                     client.known)
            yield "8 MiB over TLS", nginx.fetched(f"https://{at}:{nginx.TLS}/large", client.known)
            yield "4 MiB through a proxy", nginx.fetched(f"http://{at}:{nginx.PROXY}/large",
                                                         behind)
            # The proxy keeps its connection open.
            yield "the proxy uses SMC", client.look(nginx.PLAIN)
        status, said = run(*SMC, "curl", "-s", "-o", "/dev/null", "-w", "%{http_code} ",
                           f"http://{at}:{nginx.PLAIN}/small?[1-300]")
        yield "300 requests on one connection", status == 0 and said.split() == ["200"] * 300
        status, said = client.watched(nginx.PLAIN, *SMC, "wrk", "-t", 1, "-c", 20, "-d", "2s",
                                      "--timeout", nginx.WRK_TIMEOUT,
                                      f"http://{at}:{nginx.PLAIN}/small")
        yield "wrk", status == 0 and "Socket errors" not in said and "Non-2xx" not in said


class Iperf:
    CONNECTIONS = 15

    @staticmethod
    @contextlib.contextmanager
    def serve(here, _there):
        with iperf.iperf(here), iperf.sockperf(here):
            yield None

    @staticmethod
    def drive(client):
        for name, options in (("", ()), (", backwards", ("-R",)), (", 4 streams", ("-P", "4")),
                              (", 4 streams backwards", ("-P", "4", "-R"))):
            yield f"iperf3: 8 MiB{name}", iperf.moved(*options, host=client.there, mib=8)
        yield "iperf3: 2 s in both directions", client.watched(
            iperf.PORT, *SMC, "iperf3", "-c", client.there, "-p", iperf.PORT, "-t", 2,
            "--bidir")[0] == 0
        for what, size in (("ping-pong", 14), ("throughput", 64000)):
            yield f"sockperf: {what}", iperf.plays(what, size, host=client.there)


class Postgres:
    CONNECTIONS = 10

    @staticmethod
    @contextlib.contextmanager
    def serve(here, there):
        if not postgres.prepare():
            raise RuntimeError("no cluster")
        with open(f"{postgres.DATA}/pg_hba.conf", "a", encoding="ascii") as file:
            file.write(f"host all all {there}/32 trust\n")
        with postgres.postgres(here):
            yield None

    @staticmethod
    def drive(client):
        at = client.there
        yield "answers", succeeds(*SMC, f"{postgres.BIN}/pg_isready", *postgres.ends(at), "-t", 60)
        yield "pgbench fills its tables", succeeds(*SMC, f"{postgres.BIN}/pgbench",
                                                   *postgres.ends(at), "-i", "-q", "postgres")
        yield "pgbench", client.watched(postgres.PORT, *SMC, f"{postgres.BIN}/pgbench",
                                        *postgres.ends(at), "-n", "-c", 4, "-t", 25,
                                        "postgres")[0] == 0
        yield "the sums of the pgbench tables agree", postgres.balances(at)
        yield "no transaction is lost", postgres.sql("select count(*) from pgbench_history",
                                              host=at) == "100"


class Ssh:
    CONNECTIONS = 2

    @staticmethod
    @contextlib.contextmanager
    def serve(here, _there):
        wanted = ssh.prepare(here, 2)
        with open(f"{ssh.DIRECTORY}/user", encoding="ascii") as key, ssh.sshd():
            yield {"wanted": wanted, "key": key.read()}

    @staticmethod
    def drive(client):
        os.makedirs(ssh.DIRECTORY, exist_ok=True)
        with open(f"{ssh.DIRECTORY}/user", "w", opener=lambda path, flags: os.open(
                path, flags, 0o600), encoding="ascii") as key:
            key.write(client.known["key"])
        command = [*map(str, ssh.CLIENT), f"root@{client.there}"]
        size, got = 2 << 20, f"{ssh.DIRECTORY}/got"
        yield "ssh runs a command", succeeds(*SMC, *command, "true")
        # The session exists until its input ends.
        with subprocess.Popen([*SMC, *command, f"cat {ssh.DIRECTORY}/large -"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            data = process.stdout.read(size)
            yield "a session over SMC", client.look(ssh.PORT)
            data += process.communicate()[0]
        with open(got, "wb") as file:
            file.write(data)
        yield "2 MiB out of a session", run("sha256sum", got)[1].startswith(client.known["wanted"])
        push = " ".join([*SMC, *command, "sha256sum"])
        yield "2 MiB into a session", run("sh", "-c", f"{push} < {got}")[1].startswith(
            client.known["wanted"])


PROGRAMS = {"redis": Redis, "nginx": Nginx, "iperf": Iperf, "postgres": Postgres, "ssh": Ssh}


def serving(part, machine, session):
    """Returns '' or what went wrong. Once the servers run, the client leads."""
    up = False
    try:
        with part.serve(machine.address(), machine.address(peer=True)) as known:
            session.send({"known": known})
            up = True
            while "look" in (message := session.receive(PATIENCE)):
                try:
                    answer = looked(message["look"], machine.mode)
                except PROBLEMS as error:
                    answer = {"problem": str(error)}
                session.send(answer)
    except PROBLEMS as error:
        if not up:
            session.send({"problem": str(error)})
        return str(error)
    return ""


def driving(part, machine, session):
    """Returns '' or what went wrong."""
    up = session.receive(PATIENCE)
    if "problem" in up:
        return f"(peer) {up['problem']}"
    client = Client(machine, session, up["known"])
    failed, began = [], time.monotonic()
    try:
        for case, good in part.drive(client):
            say(f"{'good' if good else 'BAD'}: {case}, after {time.monotonic() - began:.1f} s")
            failed += [] if good else [case]
    except PROBLEMS as error:
        failed.append(f"{type(error).__name__}: {error}")
    session.send({"done": failed})
    return "; ".join(failed) or ("" if client.seen else "no connection was seen to use SMC")


def case(name, programs=None):
    """Returns the program of a case of the pair, which both machines run at the same time."""
    part = (programs or PROGRAMS)[name]

    def program(machine, session):
        before = connections(machine.mode)
        problem = (serving if machine.is_server else driving)(part, machine, session)
        smc, tcp = (now - then for now, then in zip(connections(machine.mode), before))
        said = f"{smc} connections over {machine.mode}, {tcp} over TCP although SMC was expected"
        say(f"{name}: {said}")
        if not problem and (smc < part.CONNECTIONS or tcp > getattr(part, "FALLBACKS", 0)):
            problem = said
        # The client counts a connection before the server can reset its handshake. Some clients
        # connect again without a word.
        there = session.exchange({"smc": smc}, PATIENCE)["smc"]
        if not problem and smc != there and getattr(part, "BOTH_COUNT", False):
            problem = f"{smc} connections here, {there} on the other machine"
        return problem
    return program
