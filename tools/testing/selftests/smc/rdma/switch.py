# SPDX-License-Identifier: GPL-2.0
"""One guest with both ends of its link groups. Four network devices are on a switch, each with an
RDMA device: rxe0 and rxe2 are the client's, rxe1 and rxe3 the server's."""
import contextlib
import os
import socket
import subprocess

from lib import smc_netlink as netlink
from lib.slow import slow
from lib.wait import holds

ROOT = os.environ["SMC_ROOT"]
IPPROTO_SMC = 256
CLIENT, SERVER = "10.1.0.1", "10.1.0.2"
TIMEOUT = slow(60)
NETWORKS = "CLIENT", "SERVER", "CLIENT", "SERVER"
ACTIVE = 3	# state of a link, as in netlink


def run(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def set_networks(*names):
    """Assigns the ports to client and server by PNETID: one host has all of them."""
    netlink.pnet_flush()
    for n, name in enumerate(names):
        netlink.pnet_add(name, netdev=f"veth{n}")


def set_up(eid, *parameters):
    run(f"{ROOT}/tools/testing/vm/rxe_switch", "4")
    run("insmod", os.environ["SMC_KO"], "loopback=N", *parameters,
        *os.environ.get("SMC_PARAMS", "").split())
    run("insmod", os.environ["SMC_DIAG_KO"])
    netlink.add_ueid(eid)
    set_networks(*NETWORKS)


def until(condition, what, show=str):
    """Waits for a condition; on timeout show() returns the actual state."""
    if not holds(condition, TIMEOUT, 0.05):
        raise RuntimeError(f"{what}: {show()}")


def two_links():
    """Waits until each end has two active links that share no port."""
    until(lambda: sorted((link["dev"], link["state"]) for link in netlink.links()) ==
          [(f"rxe{n}", ACTIVE) for n in range(4)], "not two links at both ends", netlink.links)


def lose(n):
    run("ip", "link", "set", f"veth{n}", "down")


def repair(n):
    run(f"{ROOT}/tools/testing/vm/rxe_switch", "again", str(n))


def delete(n):
    """Takes the RDMA device away; its network device stays."""
    run("rdma", "link", "delete", f"rxe{n}")


def make_again(n):
    run(f"{ROOT}/tools/testing/vm/rxe", f"veth{n}", f"rxe{n}")


def new_socket():
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)


def listen(address=SERVER, backlog=1):
    listener = new_socket()
    listener.bind((address, 0))
    listener.listen(backlog)
    return listener


def connect(listener, client=None):
    """Returns both ends of a new connection from the client's address."""
    client = client or new_socket()
    client.settimeout(TIMEOUT)
    client.bind((CLIENT, 0))
    client.connect(listener.getsockname())
    server, _ = listener.accept()
    server.settimeout(TIMEOUT)
    return client, server


@contextlib.contextmanager
def connections(n):
    """Gives both ends of @n connections, which are closed afterwards."""
    with listen(backlog=n) as listener, contextlib.ExitStack() as stack:
        yield [[stack.enter_context(end) for end in connect(listener)] for _ in range(n)]


def remove_module():
    run("rmmod", "smc_diag")
    until(lambda: not subprocess.run(["rmmod", "smc"], check=False, stderr=subprocess.DEVNULL)
          .returncode, "the module cannot be unloaded")
