#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""A small generic netlink client that knows nothing about SMC: the independent reader of the tests,
and a way to query SMC_GEN_NETLINK from a shell.

    genl.py dump CMD | do CMD [ATTR=TEXT...]      in the guest, on either module

Prints each message as nested lists of (attribute number, bytes).
"""
import os
import socket
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(f"{HERE}/../../testing/selftests/smc")
from lib.slow import slow  # noqa: E402

NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLM_F_DUMP_INTR = 0x10
NLMSG_ERROR, NLMSG_DONE = 2, 3
SOL_NETLINK, NETLINK_CAP_ACK, NETLINK_EXT_ACK, NETLINK_GET_STRICT_CHK = 270, 10, 11, 12
GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 3
NLA_F_NESTED, NLA_TYPE_MASK = 0x8000, 0x3fff


class Refused(OSError):
    """The kernel's answer: errno, and a message text if there was one."""

    def __init__(self, errno, words):
        super().__init__(errno, os.strerror(errno) + (f": {words}" if words else ""))
        self.words = words


def attr(number, data):
    if isinstance(data, str):
        data = data.encode() + b"\0"
    length = 4 + len(data)
    return struct.pack("=HH", length, number) + data + bytes(-length % 4)


def attrs(data):
    """Returns [(number, bytes or list)]; a list if the attribute is marked as nested."""
    result = []
    while len(data) >= 4:
        length, number = struct.unpack_from("=HH", data)
        if length < 4 or length > len(data):
            raise ValueError("broken attribute")
        value = data[4:length]
        if number & NLA_F_NESTED:
            value = attrs(value)
        result.append((number & NLA_TYPE_MASK, value))
        data = data[(length + 3) & ~3:]
    return result


class Genl:
    """One socket, one family. The kernel makes a dump's buffers as large as @buffer, up to 32 KiB."""

    def __init__(self, family="SMC_GEN_NETLINK", version=1, buffer=1 << 20):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.sock.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
        self.sock.settimeout(slow(30))
        self.version = version
        self.buffer = buffer
        self.seq = 0
        self.interrupted = False
        self.family = GENL_ID_CTRL
        reply = self.ask(CTRL_CMD_GETFAMILY, attr(2, family))
        self.info = dict(reply[0][1])
        self.family = struct.unpack("=H", self.info[1])[0]

    def send(self, cmd, payload=b"", flags=NLM_F_ACK, family=None):
        self.seq += 1
        body = struct.pack("=BBH", cmd, self.version, 0) + payload
        self.sock.send(struct.pack("=IHHII", 16 + len(body), family or self.family,
                                   NLM_F_REQUEST | flags, self.seq, 0) + body)

    def ask(self, cmd, payload=b"", flags=NLM_F_ACK):
        """Returns [(command, attributes)] of the messages up to the acknowledgment or the end."""
        self.send(cmd, payload, flags)
        messages = []
        self.interrupted = False
        while True:
            data = self.sock.recv(self.buffer)
            while data:
                length, kind, nlflags, seq, _ = struct.unpack_from("=IHHII", data)
                body, data = data[16:length], data[(length + 3) & ~3:]
                if seq != self.seq:
                    continue
                self.interrupted |= bool(nlflags & NLM_F_DUMP_INTR)
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    error = struct.unpack_from("=i", body)[0] if len(body) >= 4 else 0
                    if error < 0:
                        skip = 20 if kind == NLMSG_ERROR else 4
                        words = dict(attrs(body[skip:])).get(1, b"") if nlflags & 0x200 else b""
                        raise Refused(-error, words.rstrip(b"\0").decode())
                    return messages
                messages.append((body[0], attrs(body[4:])))

    def dump(self, cmd, payload=b""):
        return self.ask(cmd, payload, NLM_F_DUMP)


def show(items, indent=""):
    for number, value in items:
        if isinstance(value, list):
            print(f"{indent}{number}:")
            show(value, indent + "  ")
        else:
            text = value.rstrip(b"\0")
            words = f"  {text.decode()!r}" if len(text) > 2 and text.isascii() else ""
            print(f"{indent}{number}: {value.hex()}{words}")


def main():
    what, cmd, *rest = sys.argv[1:]
    payload = b"".join(attr(int(k), v) for k, _, v in (a.partition("=") for a in rest))
    genl = Genl()
    try:
        reply = genl.dump(int(cmd), payload) if what == "dump" else genl.ask(int(cmd), payload)
    except Refused as error:
        print(f"refused: {error}")
        return 1
    for command, items in reply:
        print(f"command {command}")
        show(items, "  ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
