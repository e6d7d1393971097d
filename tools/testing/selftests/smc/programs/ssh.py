# SPDX-License-Identifier: GPL-2.0
"""ssh: a large file through a session, and a tunnel."""
import hashlib
import os

from program import LOOPBACK, PREFIX, run, server, succeeds

CONNECTIONS = 3
FALLBACKS = 2	# for a tunnel between two ends that are plain TCP
PORT, TUNNEL, BEHIND = 2222, 2223, 2224
SMC = PREFIX["smc"]
DIRECTORY = "/tmp/ssh"
CLIENT = ["ssh", "-F", "none", "-i", f"{DIRECTORY}/user", "-o", "StrictHostKeyChecking=no", "-o",
          "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes", "-q", "-p", PORT]


def configuration(host):
    return f"""
Port {PORT}
ListenAddress {host}
HostKey {DIRECTORY}/host
AuthorizedKeysFile {DIRECTORY}/user.pub
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
# Or bash reads .bashrc, whatever somebody has in there.
SetEnv SHLVL=2
"""


def prepare(host=LOOPBACK, mib=16):
    """Returns the hash of the large file."""
    os.makedirs(DIRECTORY, exist_ok=True)
    os.makedirs("/run/sshd", exist_ok=True)
    for key in ("host", "user"):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{DIRECTORY}/{key}")
    with open(f"{DIRECTORY}/config", "w", encoding="ascii") as file:
        file.write(configuration(host))
    data = os.urandom(mib << 20)
    with open(f"{DIRECTORY}/large", "wb") as file:
        file.write(data)
    return hashlib.sha256(data).hexdigest()


def sshd():
    return server(*SMC, "/usr/sbin/sshd", "-D", "-e", "-f", f"{DIRECTORY}/config", port=PORT)


def cases():
    wanted = prepare()
    with sshd():
        yield "ssh: runs a command", succeeds(*SMC, *CLIENT, "root@127.0.0.1", "test -d /tmp/ssh")
        pull = " ".join(map(str, [*SMC, *CLIENT, "root@127.0.0.1", f"cat {DIRECTORY}/large"]))
        yield "ssh: 16 MiB out of a session", run("sh", "-c", f"{pull} | sha256sum")[1].startswith(
            wanted)
        push = " ".join(map(str, [*SMC, *CLIENT, "root@127.0.0.1", "sha256sum"]))
        yield "ssh: 16 MiB into a session", run(
            "sh", "-c", f"{push} < {DIRECTORY}/large")[1].startswith(wanted)
        with server("/usr/bin/python3", "-m", "http.server", "-b", "127.0.0.1", "-d", DIRECTORY,
                    BEHIND, port=BEHIND), \
             server(*SMC, *CLIENT, "-N", "-L", f"{TUNNEL}:127.0.0.1:{BEHIND}", "root@127.0.0.1",
                    port=TUNNEL):
            yield "ssh: 16 MiB through a tunnel", (
                succeeds("curl", "-s", "-S", "-o", f"{DIRECTORY}/got",
                         f"http://127.0.0.1:{TUNNEL}/large") and
                run("sha256sum", f"{DIRECTORY}/got")[1].startswith(wanted))
