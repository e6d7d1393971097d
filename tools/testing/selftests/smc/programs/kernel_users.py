# SPDX-License-Identifier: GPL-2.0
"""Parts of the kernel that take over a socket of a program: the NFS server and KCM."""
import contextlib
import ctypes
import errno
import fcntl
import os
import select
import socket
import struct

from program import PATIENCE, run, say

CONNECTIONS = 1		# the one from before the NFS server took over the listener
FALLBACKS = 4		# both ends of a connection to the NFS server; with KCM, one end of two
IPPROTO_SMC, SOL_SMC, SMC_SOCK_INFO = 256, 286, 0x100
MODE_TCP, MODE_SMCD = 2, 3
PEER_NO_OPTION, KERNEL_USER = 0x5c040001, 0x5c020008
NFSD = "/proc/fs/nfsd"
NFS, NFS_VERSION = 100003, 4
AF_KCM, SIOCKCMATTACH = 41, 0x89e0
SYS_BPF, BPF_PROG_LOAD, SOCKET_FILTER = 321, 5, 1
MESSAGE = 5		# length of each message for KCM


def make(protocol):
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, protocol)
    sock.settimeout(PATIENCE)
    return sock


def listener(protocol=IPPROTO_SMC):
    sock = make(protocol)
    sock.bind(("127.0.0.1", 0))
    sock.listen()
    return sock


def connected(to, protocol=IPPROTO_SMC):
    sock = make(protocol)
    sock.connect(to.getsockname())
    return sock


def mode_and_reason(sock):
    return struct.unpack("4I", sock.getsockopt(SOL_SMC, SMC_SOCK_INFO, 16))[:2]


def answered(sock, calls=3):
    """Does the NFS server answer NULL calls?"""
    for xid in range(calls):
        sock.sendall(struct.pack(">11I", 1 << 31 | 40, xid, 0, 2, NFS, NFS_VERSION, 0, 0, 0, 0, 0))
        answer = sock.recv(28, socket.MSG_WAITALL)
        if answer != struct.pack(">7I", 1 << 31 | 24, xid, 1, 0, 0, 0, 0):
            say(f"answer {xid}: {answer.hex()}")
            return False
    return True


def tell_nfsd(name, text):
    """These files take one write for each open."""
    with open(f"{NFSD}/{name}", "wb", buffering=0) as file:
        file.write(f"{text}\n".encode("ascii"))


@contextlib.contextmanager
def nfsd(sock):
    """Hands a listener to the NFS server, as rpc.nfsd does. Version 4 requires no rpcbind."""
    run("modprobe", "nfsd")
    if not os.path.exists(f"{NFSD}/threads"):
        run("mount", "-t", "nfsd", "nfsd", NFSD)
    tell_nfsd("versions", "-3 +4 +4.1 +4.2")
    tell_nfsd("portlist", str(sock.fileno()))
    tell_nfsd("threads", "2")
    try:
        yield
    finally:
        tell_nfsd("threads", "0")


def nfs_cases():
    with listener() as sock, connected(sock) as early:
        with nfsd(sock), connected(sock) as late:
            yield "kernel users: the NFS server answers over TCP", answered(late)
            yield "kernel users: it answers a connection from before it had the listener", answered(
                early)
            say([[hex(word) for word in mode_and_reason(each)] for each in (early, late)])
            yield "kernel users: they are SMC and TCP", (
                mode_and_reason(early)[0] == MODE_SMCD and
                mode_and_reason(late) == (MODE_TCP, PEER_NO_OPTION))


def system_call(*args):
    result = ctypes.CDLL(None, use_errno=True).syscall(*args)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def parser():
    """A BPF program that returns the length of the next message."""
    code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xb7, 0, 0, MESSAGE, 0x95, 0, 0, 0))
    license_ = ctypes.create_string_buffer(b"GPL")
    attributes = ctypes.create_string_buffer(struct.pack(
        "IIQQ", SOCKET_FILTER, 2, ctypes.addressof(code), ctypes.addressof(license_)), 128)
    return system_call(SYS_BPF, BPF_PROG_LOAD, attributes, 128)


def disconnect(sock):
    if ctypes.CDLL(None, use_errno=True).connect(sock.fileno(), bytes(16), 16):
        raise OSError(ctypes.get_errno(), "disconnect")


def heard(kcm, end, text):
    """What a KCM socket receives of a message."""
    end.sendall(text)
    if not select.select([kcm], [], [], PATIENCE)[0]:
        return "nothing"
    try:
        return os.read(kcm.fileno(), 64)
    except OSError as error:
        return errno.errorcode[error.errno]


def through_kcm(protocol):
    """Returns what KCM receives before and after its connection is disconnected, and why the second
    one is TCP. The listener is TCP, because KCM refuses SMC."""
    with listener(socket.IPPROTO_TCP) as sock, connected(sock, protocol) as ours, \
            socket.socket(AF_KCM, socket.SOCK_DGRAM, 0) as kcm:
        end = sock.accept()[0]
        program = parser()
        fcntl.ioctl(kcm, SIOCKCMATTACH, struct.pack("ii", ours.fileno(), program))
        os.close(program)
        got = [heard(kcm, end, b"first")]
        disconnect(ours)
        end.close()
        # KCM takes each change of the state for an error.
        got += [errno.errorcode[ours.connect_ex(sock.getsockname())]]
        end = sock.accept()[0]
        got += [heard(kcm, end, b"again")]
        end.close()
        return got, protocol == IPPROTO_SMC and mode_and_reason(ours)


def kcm_cases():
    run("modprobe", "kcm")
    tcp, smc = through_kcm(socket.IPPROTO_TCP), through_kcm(IPPROTO_SMC)
    say(f"{tcp} {smc}")
    yield "kernel users: KCM receives after a disconnect", (
        tcp[0] == smc[0] == [b"first", "EPIPE", b"again"] and smc[1] == (MODE_TCP, KERNEL_USER))


def cases():
    yield from nfs_cases()
    yield from kcm_cases()
