# SPDX-License-Identifier: GPL-2.0
"""smc_run --cgroup: BPF in the kernel converts the sockets of static programs, here of busybox."""
import ctypes
import glob
import hashlib
import os
import socket
import struct

from program import SMC_RUN, run, server

CONNECTIONS = 1
PORT = 8088
DIRECTORY = "/tmp/convert"
CGROUPS = "/sys/fs/cgroup"
CONVERT = [SMC_RUN, "--cgroup", "/bin/busybox"]
SYS_BPF, BPF_PROG_GET_NEXT_ID = 321, 11


def bpf_programs():
    """Returns how many BPF programs the kernel has."""
    attributes, count = ctypes.create_string_buffer(64), 0
    while ctypes.CDLL(None).syscall(SYS_BPF, BPF_PROG_GET_NEXT_ID, attributes, 64) == 0:
        count += 1
        struct.pack_into("I", attributes, 0, struct.unpack_from("I", attributes, 4)[0])
    return count


def prepare():
    """Returns the hash of a large file."""
    if not os.path.exists(f"{CGROUPS}/cgroup.procs"):
        run("mount", "-t", "cgroup2", "none", CGROUPS)
    os.makedirs(DIRECTORY, exist_ok=True)
    data = os.urandom(8 << 20)
    with open(f"{DIRECTORY}/large", "wb") as file:
        file.write(data)
    return hashlib.sha256(data).hexdigest()


def fetched():
    run(*CONVERT, "wget", "-q", "-O", f"{DIRECTORY}/got", f"http://127.0.0.1:{PORT}/large")
    with open(f"{DIRECTORY}/got", "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cases():
    wanted, before = prepare(), bpf_programs()
    with server(*CONVERT, "httpd", "-f", "-p", f"127.0.0.1:{PORT}", "-h", DIRECTORY, port=PORT):
        yield "convert: 8 MiB between static programs", fetched() == wanted
        with socket.socket() as outside:
            yield "convert: other programs are not converted", outside.getsockopt(
                socket.SOL_SOCKET, socket.SO_PROTOCOL) == socket.IPPROTO_TCP
        yield "convert: the exit status is passed on", run(*CONVERT, "sh", "-c", "exit 7")[0] == 7
    yield "convert: no cgroup is left", not glob.glob(f"{CGROUPS}/**/smc_run-*", recursive=True)
    yield "convert: no BPF program is left", bpf_programs() == before
