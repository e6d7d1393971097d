# SPDX-License-Identifier: GPL-2.0
"""Generic netlink of SMC (linux/smc.h) and sock_diag (linux/smc_diag.h), without a library.

Works with any module that implements these, so the tests can treat ours and the kernel's own alike.
"""
import errno
import ipaddress
import os
import socket
import struct
import sys

from lib.slow import slow

NETLINK_SOCK_DIAG, NETLINK_GENERIC = 4, 16
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
SOCK_DIAG_BY_FAMILY, AF_SMC = 20, 43

FAMILY = "SMC_GEN_NETLINK"
(GET_SYS_INFO, GET_LGR_SMCR, GET_LINK_SMCR, GET_LGR_SMCD, GET_DEV_SMCD, GET_DEV_SMCR, GET_STATS,
 GET_FBACK_STATS, DUMP_UEID, ADD_UEID, REMOVE_UEID, FLUSH_UEID, DUMP_SEID, ENABLE_SEID,
 DISABLE_SEID) = range(1, 16)
EID_TABLE_ENTRY = 1

# Names and types of the nested attributes: u8, u32, u64, text, or a table for a nest.
LGR_V2_COMMON = {0: ("version", "int"), 1: ("release", "int"), 2: ("os", "int"),
                 3: ("eid", "text"), 4: ("peer_host", "text")}
LGR = {1: ("id", "int"), 2: ("role", "int"), 3: ("type", "int"), 4: ("pnetid", "text"),
       5: ("vlan", "int"), 6: ("conns", "int"), 7: ("v2_common", LGR_V2_COMMON),
       8: ("v2", {1: ("direct", "int"), 2: ("max_conns", "int"), 3: ("max_links", "int")}),
       9: ("net_cookie", "int"), 11: ("buf_type", "int"), 12: ("sndbuf_bytes", "int"),
       13: ("rmb_bytes", "int")}
LGR_D = {1: ("id", "int"), 2: ("gid", "int"), 3: ("peer_gid", "int"), 4: ("vlan", "int"),
         5: ("conns", "int"), 6: ("pnetid", "text"), 7: ("chid", "int"), 9: ("v2_common", LGR_V2_COMMON),
         10: ("gid_ext", "int"), 11: ("peer_gid_ext", "int"), 12: ("sndbuf_bytes", "int"),
         13: ("dmb_bytes", "int")}
LINK = {1: ("id", "int"), 2: ("dev", "text"), 3: ("port", "int"), 4: ("gid", "text"),
        5: ("peer_gid", "text"), 6: ("conns", "int"), 7: ("netdev", "int"), 8: ("uid", "hex"),
        9: ("peer_uid", "hex"), 10: ("state", "int")}
FBACK = {1: ("type", "int"), 2: ("server_count", "int"), 3: ("client_count", "int"),
         4: ("reason", "hex"), 5: ("reason_count", "int")}
PORT = {1: ("pnet_by_user", "int"), 2: ("pnetid", "text"), 3: ("netdev", "int"),
        4: ("state", "int"), 5: ("valid", "int"), 6: ("links", "int")}
DEV = {1: ("use_count", "int"), 2: ("critical", "int"), 3: ("pci_fid", "int"),
       4: ("pci_chid", "int"), 5: ("pci_vendor", "int"), 6: ("pci_device", "int"),
       7: ("pci_id", "text"), 8: ("port1", PORT), 9: ("port2", PORT), 10: ("name", "text")}
SIZES = {i + 1: (name, "int") for i, name in enumerate(
    ("8K", "16K", "32K", "64K", "128K", "256K", "512K", "1024K", "more"))}
BUFS = {1: ("small_peer", "int"), 2: ("small", "int"), 3: ("full_peer", "int"), 4: ("full", "int"),
        5: ("reused", "int"), 6: ("fresh", "int"), 7: ("downgraded", "int")}
TECH = {1: ("tx_rings", SIZES), 2: ("rx_elements", SIZES), 3: ("tx_sizes", SIZES),
        4: ("rx_sizes", SIZES), 5: ("tx_bufs", BUFS), 6: ("rx_bufs", BUFS), 7: ("client_v1", "int"),
        8: ("client_v2", "int"), 9: ("server_v1", "int"), 10: ("server_v2", "int"),
        16: ("rx_bytes", "int"), 17: ("tx_bytes", "int"), 18: ("rx_calls", "int"),
        19: ("tx_calls", "int"), 20: ("rx_usage", "int"), 21: ("tx_usage", "int")}
STATS = {1: ("smcd", TECH), 2: ("smcr", TECH), 3: ("client_errors", "int"),
         4: ("server_errors", "int"), 64: ("links_up", "int"), 65: ("links_down", "int"),
         68: ("conns_moved", "int"), 69: ("bytes_again", "int")}
TOP_STATS = 7
LOOPBACK = 0xffff	# CHID
PNET_FAMILY, PNET_ADD, PNET_FLUSH = "SMC_PNETID", 2, 4
PNET_NAME, PNET_ETHNAME, PNET_IBNAME, PNET_IBPORT = 1, 2, 3, 4
TOP_LGR, TOP_LINK, TOP_LGR_D, TOP_DEV_D, TOP_DEV, TOP_FBACK = 2, 3, 4, 5, 6, 8


def gid(text):
    """Normalizes an address: IPv4, abbreviated, or with all its zeros."""
    if not text:
        return text
    address = ipaddress.ip_address(text)
    return str(getattr(address, "ipv4_mapped", None) or address)


def attribute(kind, data):
    raw = struct.pack("=HH", 4 + len(data), kind) + data
    return raw + b"\0" * (-len(raw) % 4)


def attributes(data, with_nests=False):
    while len(data) >= 4:
        size, kind = struct.unpack_from("=HH", data)
        if size < 4:
            return
        found = kind & 0x3FFF, data[4:size]
        yield (*found, bool(kind & 0x8000)) if with_nests else found
        data = data[(size + 3) & ~3:]


def decode(data, table):
    """Returns a nest as a dictionary, without attributes that the table does not have."""
    out = {}
    for kind, value in attributes(data):
        if kind not in table:
            continue
        name, how = table[kind]
        if isinstance(how, dict):
            out[name] = decode(value, how)
        elif how == "text":
            out[name] = value.split(b"\0")[0].decode(errors="replace")
        elif how == "hex":
            out[name] = value.hex()
        else:
            out[name] = int.from_bytes(value, sys.byteorder)
    return out


def request(protocol, kind, flags, payload):
    """Sends one request and yields the payload of every answer."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as sock:
        sock.settimeout(slow(20))
        sock.send(struct.pack("=IHHII", 16 + len(payload), kind, NLM_F_REQUEST | flags, 1, 0)
                  + payload)
        while True:
            data = sock.recv(1 << 18)
            while len(data) >= 16:
                size, kind = struct.unpack_from("=IH", data)
                body, data = data[16:size], data[(size + 3) & ~3:]
                if kind == NLMSG_DONE:
                    return
                if kind == NLMSG_ERROR:
                    error = -struct.unpack_from("=i", body)[0]
                    if error:
                        raise OSError(error, os.strerror(error))
                    return
                yield body


def family_id(family=FAMILY):
    name = attribute(CTRL_ATTR_FAMILY_NAME, family.encode() + b"\0")
    for body in request(NETLINK_GENERIC, GENL_ID_CTRL, NLM_F_ACK,
                        struct.pack("=BBH", CTRL_CMD_GETFAMILY, 2, 0) + name):
        for kind, value in attributes(body[4:]):
            if kind == CTRL_ATTR_FAMILY_ID:
                return struct.unpack("=H", value[:2])[0]
    raise OSError(errno.ENOENT, f"no generic netlink family {family}")


def command(cmd, *attrs, family=FAMILY):
    for _ in request(NETLINK_GENERIC, family_id(family), NLM_F_ACK,
                     struct.pack("=BBH", cmd, 1, 0) + b"".join(attrs)):
        pass


def raw_dump(cmd):
    """Yields (command, attributes) of each message; nests as lists, all else as bytes."""
    def nested(data):
        return [(kind, nested(value) if nest else value)
                for kind, value, nest in attributes(data, True)]
    return [(body[0], nested(body[4:])) for body in
            request(NETLINK_GENERIC, family_id(), NLM_F_DUMP, struct.pack("=BBH", cmd, 1, 0))]


def dump(cmd, top, table):
    found = []
    for body in request(NETLINK_GENERIC, family_id(), NLM_F_DUMP, struct.pack("=BBH", cmd, 1, 0)):
        for kind, value in attributes(body[4:]):
            if kind == top:
                found.append(decode(value, table))
    return found


def add_ueid(eid):
    command(ADD_UEID, attribute(EID_TABLE_ENTRY, eid.ljust(32).encode() + b"\0"))


def flush_ueid():
    command(FLUSH_UEID)


def ueids():
    return [value.split(b"\0")[0].decode(errors="replace").strip()
            for body in request(NETLINK_GENERIC, family_id(), NLM_F_DUMP,
                                struct.pack("=BBH", DUMP_UEID, 1, 0))
            for kind, value in attributes(body[4:]) if kind == EID_TABLE_ENTRY]


def link_groups():
    return dump(GET_LGR_SMCR, TOP_LGR, LGR)


def versions():
    """Returns the SMC versions of all link groups."""
    return {group.get("v2_common", {}).get("version", 1) for group in link_groups()}


def ism_link_groups():
    """Returns the link groups over ISM devices; loopback is shown as one, too."""
    return [group for group in dump(GET_LGR_SMCD, TOP_LGR_D, LGR_D) if group["chid"] != LOOPBACK]


def ism_devices():
    """Returns all ISM devices except loopback."""
    return [device for device in dump(GET_DEV_SMCD, TOP_DEV_D, DEV) if device["pci_chid"] != LOOPBACK]


def links():
    """Returns the links of all link groups. The kernel's own module lists a link group before its
    links."""
    return dump(GET_LINK_SMCR, TOP_LINK, LINK)


def devices():
    return dump(GET_DEV_SMCR, TOP_DEV, DEV)


def stats():
    return dump(GET_STATS, TOP_STATS, STATS)[0]


def pnet_add(network, netdev="", device="", port=1):
    """Assigns a netdev or a port of a device to a network."""
    names = [attribute(PNET_ETHNAME, netdev.encode() + b"\0")] if netdev else \
        [attribute(PNET_IBNAME, device.encode() + b"\0"), attribute(PNET_IBPORT, bytes([port]))]
    command(PNET_ADD, attribute(PNET_NAME, network.encode() + b"\0"), *names, family=PNET_FAMILY)


def pnet_flush():
    command(PNET_FLUSH, family=PNET_FAMILY)


def fallbacks():
    return dump(GET_FBACK_STATS, TOP_FBACK, FBACK)


def sockets():
    """Returns every SMC socket: mode (smcr, tcp, smcd), state, ports, sizes."""
    found = []
    payload = struct.pack("=B2xB48x", AF_SMC, 1 << 0 | 1 << 1 | 1 << 4)
    for body in request(NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, payload):
        sock = {"state": body[1], "mode": {0: "smcr", 1: "tcp", 2: "smcd"}.get(body[2], "?")}
        sock["local_port"], sock["peer_port"] = struct.unpack_from(">HH", body, 4)
        for kind, value in attributes(body[64:]):
            if kind == 1 and len(value) >= 16:
                (sock["token"], sock["sndbuf"], sock["rmbe"],
                 sock["peer_rmbe"]) = struct.unpack_from("=IIII", value)
            elif kind == 2 and len(value) >= 146:
                sock["link"], sock["dev"] = value[0], value[1:65].split(b"\0")[0].decode()
                sock["gid"] = value[66:106].split(b"\0")[0].decode()
                sock["peer_gid"] = value[106:146].split(b"\0")[0].decode()
                sock["role"] = "server" if value[146:147] == b"\1" else "client"
            elif kind == 5 and len(value) >= 8:
                sock["reason"], sock["peer_diagnosis"] = struct.unpack_from("=II", value)
        found.append(sock)
    return found
