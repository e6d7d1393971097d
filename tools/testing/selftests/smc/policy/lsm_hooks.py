#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The hooks of security modules: every hook that a TCP connection passes, an SMC connection passes
as well, and as often where a system call passes it. Counts the calls of the functions behind which
the modules are (security/security.c) with ftrace, so it needs a guest with a distribution's kernel:

  tools/testing/vm/run --kver 6.12 --variant=-test -- tools/testing/selftests/smc/policy/lsm_hooks.py

A hook for packets, socket_sock_rcv_skb, is called for the packets of the TCP connection only. BPF
programs may be security modules as well (BPF_LSM_MAC, BPF_LSM_CGROUP).
"""
import collections
import os
import re
import socket
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.abspath(f"{os.path.dirname(__file__)}/..")]
from lib.guest import IPPROTO_SMC, SHORT, Skip, case, main, run, same, setting  # noqa: E402

TRACING = "/sys/kernel/tracing"
SO_PEERSEC = 31
# Called by the system calls of the process, so that the numbers are the same.
OF_CALLS = ("socket_create socket_post_create socket_bind socket_connect socket_listen socket_accept "
            "socket_sendmsg socket_recvmsg socket_getsockname socket_getpeername socket_getsockopt "
            "socket_setsockopt socket_shutdown socket_getpeersec_stream").split()
# Called by TCP, perhaps in a bottom half or for a socket of the module's own.
OF_TCP = ("socket_sock_rcv_skb sk_alloc_security sk_free_security sk_clone_security sk_getsecid "
          "inet_conn_request inet_csk_clone inet_conn_established req_classify_flow").split()
# The functions that are not called security_HOOK.
FUNCTIONS = {"socket_sock_rcv_skb": "sock_rcv_skb", "sk_alloc_security": "sk_alloc",
             "sk_free_security": "sk_free", "sk_clone_security": "sk_clone",
             "sk_getsecid": "sk_classify_flow"}


def write(name, text):
    with open(f"{TRACING}/{name}", "w", encoding="ascii") as file:
        file.write(text)


def read(name):
    with open(f"{TRACING}/{name}", encoding="ascii") as file:
        return file.read()


def function(hook):
    return f"security_{FUNCTIONS.get(hook, hook)}"


def one_connection(protocol):
    """Passes every hook once or more."""
    kind = socket.AF_INET, socket.SOCK_STREAM, protocol
    with socket.socket(*kind) as listener, socket.socket(*kind) as one:
        for sock in (listener, one):
            sock.settimeout(SHORT)
        listener.bind(("127.0.0.1", 0))
        listener.listen(5)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        one.connect(listener.getsockname())
        other, _ = listener.accept()
        with other:
            one.sendall(b"there")
            same(other.recv(5), b"there", "data")
            other.sendall(b"back")
            same(one.recv(4), b"back", "data")
            try:
                one.getsockopt(socket.SOL_SOCKET, SO_PEERSEC, 100)
            except OSError:
                pass
            one.getpeername()
            one.shutdown(socket.SHUT_WR)
            same(other.recv(1), b"", "the end")


def calls(protocol):
    """Returns {hook: (calls by this process, all calls)}."""
    if not os.path.exists(f"{TRACING}/tracing_on"):
        run("mount", "-t", "tracefs", "tracefs", TRACING)
    if not os.path.exists(f"{TRACING}/set_ftrace_filter"):
        raise Skip("this kernel has no ftrace")
    there = set(re.findall(r"(?m)^(security_\w+)", read("available_filter_functions")))
    write("set_ftrace_filter", "\n".join(function(h) for h in OF_CALLS + OF_TCP if function(h) in there))
    write("current_tracer", "function")
    write("trace", "")
    try:
        one_connection(protocol)
        lines = read("trace").splitlines()
    finally:
        write("current_tracer", "nop")
    own, total = collections.Counter(), collections.Counter()
    for line in lines:
        if found := re.match(r"\s*(\S+)-(\d+)\s.*: (security_\w+) <-", line):
            total[found[3]] += 1
            own[found[3]] += int(found[2]) == os.getpid()
    return {h: (own[function(h)], total[function(h)]) for h in OF_CALLS + OF_TCP}


def compare():
    tcp, ours = calls(socket.IPPROTO_TCP), calls(IPPROTO_SMC)
    for hook, (own, total) in tcp.items():
        print(f"# {hook}: over TCP {own} of {total}, over SMC {ours[hook][0]} of {ours[hook][1]}")
    same([h for h in OF_CALLS if tcp[h][0] == 0], [], "hooks that TCP does not pass")
    same({h: ours[h][0] for h in OF_CALLS}, {h: tcp[h][0] for h in OF_CALLS}, "calls of this process")
    same([h for h in OF_TCP if tcp[h][1] and not ours[h][1]], [], "hooks that SMC does not pass")


@case
def paired():
    compare()


@case
def negotiated():
    with setting("/proc/sys/net/smc/loopback_pairing", 0):
        compare()


if __name__ == "__main__":
    sys.exit(main("lsm_hooks"))
