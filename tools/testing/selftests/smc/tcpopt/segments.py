# SPDX-License-Identifier: GPL-2.0
"""Dissects, checks and crafts TCP segments on a netdev."""
import socket
import struct

from lib.guest import SHORT, same
from lib.world import checksum

SYN, ACK = 2, 16
MSS, SCALE, SACK, STAMPS, MD5, FASTOPEN, EXPERIMENT = 2, 3, 4, 8, 19, 34, 254
OPTION = b"\xfe\x06\xe2\xd4\xc3\xd9"    # kind 254, "SMCR" in EBCDIC
SOL_PACKET, PACKET_AUXDATA = 263, 8
NOT_READY = 8               # TP_STATUS_CSUMNOTREADY: the device has to complete the checksum
NEIGHBOUR = bytes.fromhex("020000000099")
EXTENSIONS = (0, 43, 60)    # of IPv6: hop-by-hop, routing, destination


def sum_of(data):
    """Returns the Internet checksum before inversion."""
    return checksum(data + b"\0" * (len(data) & 1)) ^ 0xffff


def option_list(data):
    """Returns [(kind, data)] without padding."""
    found = []
    while data:
        if data[0] <= 1:
            data = data[1:]
            continue
        same(2 <= data[1] <= len(data), True, f"the length of an option in {data.hex()}")
        found.append((data[0], data[2:data[1]]))
        data = data[data[1]:]
    return found


class Seen:
    """A TCP segment seen on the wire; checks its lengths and checksums."""

    def __init__(self, packet, partial):
        self.v6 = packet[0] >> 4 == 6
        at = self.over_v6(packet) if self.v6 else self.over_v4(packet)
        tcp = packet[at:]
        self.sport, self.dport, self.seq, self.ack = struct.unpack_from("!HHII", tcp)
        self.flags = tcp[13] & 0x3f
        self.raw_options = tcp[20:4 * (tcp[12] >> 4)]
        same(4 * (tcp[12] >> 4) <= len(tcp), True, "the header is within the segment")
        pseudo = self.ends + struct.pack("!II" if self.v6 else "!HH", *(
            (len(tcp), socket.IPPROTO_TCP) if self.v6 else (socket.IPPROTO_TCP, len(tcp))))
        self.partial = partial
        self.data = tcp[4 * (tcp[12] >> 4):]
        self.tcp, self.pseudo = tcp, pseudo

    def over_v4(self, packet):
        same(struct.unpack_from("!H", packet, 2)[0], len(packet), "length of the IP packet")
        same(sum_of(packet[:4 * (packet[0] & 15)]), 0xffff, "checksum of the IP header")
        self.ends = packet[12:20]
        return 4 * (packet[0] & 15)

    def over_v6(self, packet):
        same(struct.unpack_from("!H", packet, 4)[0], len(packet) - 40, "length of the IP packet")
        self.ends, at, kind = packet[8:40], 40, packet[6]
        self.extended = kind != socket.IPPROTO_TCP
        while kind in EXTENSIONS:
            kind, at = packet[at], at + 8 * (packet[at + 1] + 1)
        same(kind, socket.IPPROTO_TCP, "behind the extension headers")
        return at

    def check(self):
        """Checks the part of the checksum that TCP computes: the pseudo header, or all of it."""
        if self.partial:
            same(struct.unpack_from("!H", self.tcp, 16)[0], sum_of(self.pseudo),
                 "checksum of the pseudo header")
        else:
            same(sum_of(self.pseudo + self.tcp), 0xffff, "checksum of TCP")
        return self

    @property
    def options(self):
        return option_list(self.raw_options)

    @property
    def has_smc(self):
        """Is SMC's option there? It must occur once, aligned."""
        found = self.raw_options.count(OPTION)
        if found:
            same((found, self.raw_options.index(OPTION) % 4), (1, 2), "SMC's option")
        return bool(found)

    def without_smc(self):
        """Returns the options without SMC's, and without values that change with time."""
        options = self.raw_options.replace(b"\1\1" + OPTION, b"")
        return [(kind, b"" if kind in (STAMPS, MD5, FASTOPEN) else data)
                for kind, data in option_list(options)], len(options)


def is_tcp(packet):
    if packet[0] >> 4 == 4:
        return packet[9] == socket.IPPROTO_TCP
    return packet[0] >> 4 == 6 and packet[6] in (socket.IPPROTO_TCP, *EXTENSIONS) and \
        packet[40] != 58


class Tap:
    """Captures all packets of a netdev of this namespace."""

    def __init__(self, name):
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        self.sock.settimeout(SHORT)
        self.sock.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.sock.bind((name, 0x0003))
        self.mac = self.sock.getsockname()[4]

    def next(self, flags, sport=None, dport=None):
        """Returns the next segment with exactly these of SYN and ACK."""
        while True:
            data, aux, _, _ = self.sock.recvmsg(4096, 256)
            packet = data[14:]
            if not is_tcp(packet):
                continue
            status = struct.unpack_from("I", aux[0][2])[0]
            seen = Seen(packet, bool(status & NOT_READY))
            if seen.flags & (SYN | ACK) == flags and sport in (None, seen.sport) and \
                    dport in (None, seen.dport):
                return seen.check()

    def send(self, to, packet):
        """Sends an IPv4 packet to the link of another tap."""
        self.sock.send(to.mac + NEIGHBOUR + b"\x08\x00" + packet)

    def close(self):
        self.sock.close()


def segment(source, dest, seq, flags=SYN, ack=0, options=b""):
    """Returns an IPv4 packet."""
    options += b"\1" * (-len(options) % 4)
    ends = socket.inet_aton(source[0]) + socket.inet_aton(dest[0])
    tcp = struct.pack("!HHIIBBHHH", source[1], dest[1], seq, ack, (5 + len(options) // 4) << 4, flags,
                      65000, 0, 0) + options
    total = checksum(ends + struct.pack("!HH", socket.IPPROTO_TCP, len(tcp)) + tcp)
    tcp = tcp[:16] + struct.pack("!H", total) + tcp[18:]
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, socket.IPPROTO_TCP, 0)
    return head[:10] + struct.pack("!H", checksum(head + ends)) + ends + tcp
