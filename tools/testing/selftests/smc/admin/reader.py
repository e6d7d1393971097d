# SPDX-License-Identifier: GPL-2.0
"""An independent reader: checks raw answers, attribute by attribute, against the UAPI header.

A generic netlink client that knows nothing about SMC (tools/smcss/tests/genl.py) sends the
requests. Which attributes may come, of which type and in which nest, is read from the text of the
header (uapi.py). So the test relies neither on the module nor on the tools. Invalid requests are
tested by smc_input_test.
"""
import os
import socket
import struct

import host
import genl
import uapi
from host import Wrong, same

SMC_H = uapi.enums(uapi.read(f"{uapi.HEADERS}/smc.h"))
DIAG_H = uapi.enums(uapi.read(f"{uapi.HEADERS}/smc_diag.h"))
LENGTHS = {"u8": (1,), "u16": (2,), "u32": (4,), "u64": (8,), "uint": (4, 8), "flag": (0,),
           "binary": (4, 16)}
NUMBER = {name: value for enum in SMC_H for name, value in enum.names.items()}

# Which enumeration belongs to which nest; the comments before them in the header say so.
SIZES, BUFS = "SMC_NLA_STATS_PLOAD", "SMC_NLA_STATS_RMB"
TECH = {**{f"SMC_NLA_STATS_T_{way}{what}": SIZES for way in ("TX", "RX")
           for what in ("_RMB_SIZE", "PLOAD_SIZE")},
        "SMC_NLA_STATS_T_TX_RMB_STATS": BUFS, "SMC_NLA_STATS_T_RX_RMB_STATS": BUFS}
NESTS = {
    "SMC_GEN_SYS_INFO": "SMC_NLA_SYS", "SMC_GEN_LGR_SMCR": "SMC_NLA_LGR_R_UNSPEC",
    "SMC_GEN_LINK_SMCR": "SMC_NLA_LINK", "SMC_GEN_LGR_SMCD": "SMC_NLA_LGR_D",
    "SMC_GEN_DEV_SMCD": "SMC_NLA_DEV_UNSPEC", "SMC_GEN_DEV_SMCR": "SMC_NLA_DEV_UNSPEC",
    "SMC_GEN_STATS": "SMC_NLA_STATS_PAD", "SMC_GEN_FBACK_STATS": "SMC_NLA_FBACK_STATS",
    "SMC_NLA_LGR_R_V2_COMMON": "SMC_NLA_LGR_V2", "SMC_NLA_LGR_D_V2_COMMON": "SMC_NLA_LGR_V2",
    "SMC_NLA_LGR_R_V2": "SMC_NLA_LGR_R_V2", "SMC_NLA_DEV_PORT": "SMC_NLA_DEV_PORT",
    "SMC_NLA_DEV_PORT2": "SMC_NLA_DEV_PORT", "SMC_NLA_STATS_SMCD_TECH": "SMC_NLA_STATS_T_",
    "SMC_NLA_STATS_SMCR_TECH": "SMC_NLA_STATS_T_", "SMC_GEN_FILTER": "SMC_NLA_FILTER", **TECH,
}
# Command: the top level attributes of its messages, or the enumeration that they belong to.
DUMPS = {
    "GET_SYS_INFO": {"SMC_GEN_SYS_INFO"}, "GET_LGR_SMCR": {"SMC_GEN_LGR_SMCR"},
    "GET_LINK_SMCR": {"SMC_GEN_LGR_SMCR", "SMC_GEN_LINK_SMCR"},
    "GET_LGR_SMCD": {"SMC_GEN_LGR_SMCD"}, "GET_DEV_SMCD": {"SMC_GEN_DEV_SMCD"},
    "GET_DEV_SMCR": {"SMC_GEN_DEV_SMCR"}, "GET_STATS": {"SMC_GEN_STATS"},
    "GET_FBACK_STATS": {"SMC_GEN_FBACK_STATS"}, "GET_FILTER": {"SMC_GEN_FILTER"}, "DUMP_UEID": "SMC_NLA_EID_TABLE",
    "DUMP_SEID": "SMC_NLA_SEID", "DUMP_HS_LIMITATION": "SMC_NLA_HS_LIMITATION",
}
# Not on any object of a guest: a second port; the first attribute of DUMP_*, which is for another
# family.
NEVER = {"SMC_NLA_DEV_PORT2"}


class Reader:
    """Checks messages and records which attributes it has seen."""

    def __init__(self):
        self.seen = set()

    def value(self, name, kind, value):
        """Checks one attribute against the comment in the header."""
        if kind == "nest":
            if not isinstance(value, list):
                raise Wrong(f"{name} is not a nest: {value!r}")
            self.attributes(value, uapi.by_prefix(SMC_H, NESTS[name]), name)
        elif isinstance(value, list):
            raise Wrong(f"{name} is a nest, not {kind}")
        elif kind == "string":
            if not value.endswith(b"\0") or b"\0" in value[:-1] or not value[:-1].isascii():
                raise Wrong(f"{name} is not a string: {value!r}")
        elif len(value) not in LENGTHS[kind]:
            raise Wrong(f"{name} has {len(value)} bytes, which does not fit {kind}")

    def attributes(self, items, enum, where, at_top=None):
        """Checks that each attribute occurs at most once, is known, and has its type."""
        names, here = uapi.public(enum), set()
        for number, value in items:
            name = names.get(number)
            if not name:
                raise Wrong(f"{where}: attribute {number} is not in the header")
            if at_top is not None and name not in at_top:
                raise Wrong(f"{where}: {name} does not belong there")
            # PAD is only for alignment, and number 0 of the version 2 table is a value
            if name.endswith("_PAD"):
                same(value, b"", f"{name} in {where}")
                continue
            if name in here:
                raise Wrong(f"{where}: {name} twice")
            here.add(name)
            self.seen.add(f"{where}/{name}")
            kind = "nest" if at_top is not None else enum.types.get(name)
            self.value(name, kind, value)

    def dump(self, client, command):
        """Checks every message of a dump; returns how many there were."""
        top = DUMPS[command]
        messages = client.dump(NUMBER[f"SMC_NETLINK_{command}"])
        for said, items in messages:
            same(said, NUMBER[f"SMC_NETLINK_{command}"] if command != "GET_LINK_SMCR" or
                 items[0][0] == NUMBER["SMC_GEN_LINK_SMCR"] else said, f"command in {command}")
            if isinstance(top, set):
                self.attributes(items, uapi.by_prefix(SMC_H, "SMC_GEN"), command, top)
            else:
                self.attributes(items, uapi.by_prefix(SMC_H, top), command)
        return len(messages)


def missing(seen):
    """Returns the attributes of the header that no answer had."""
    wanted = set()
    for command, top in DUMPS.items():
        if isinstance(top, set):
            wanted |= {f"{command}/{name}" for name in top}
    for nest, prefix in NESTS.items():
        if nest not in NEVER:
            wanted |= {f"{nest}/{name}" for name in uapi.public(uapi.by_prefix(SMC_H, prefix)).values()
                       if not name.endswith(("_UNSPEC", "_PAD"))}
    for command, prefix in DUMPS.items():
        if isinstance(prefix, str):
            wanted |= {f"{command}/{name}"
                       for name in uapi.public(uapi.by_prefix(SMC_H, prefix)).values()
                       if not name.endswith("_UNSPEC")}
    return {w for w in wanted - seen if w.split("/")[1] not in NEVER}


# Attributes that only some devices have: (nest, names)
ONLY_SMCR = {"SMC_NLA_DEV_IB_NAME", "SMC_NLA_DEV_PORT_NETDEV", "SMC_NLA_DEV_PORT_STATE",
             "SMC_NLA_DEV_PORT_VALID", "SMC_NLA_DEV_PORT_LNK_CNT"}
ONLY_PCI = {f"SMC_NLA_DEV_PCI_{what}" for what in ("FID", "CHID", "VENDOR", "DEVICE", "ID")}
# soft-RoCE is not a PCI device and reports for SMC-D "in use" by a count
EXPECTED_MISSING = {f"SMC_GEN_DEV_SMCR/{name}" for name in ONLY_PCI | {"SMC_NLA_DEV_USE_CNT"}} | \
    {"SMC_GEN_DEV_SMCD/SMC_NLA_DEV_IB_NAME", "SMC_GEN_FILTER/SMC_NLA_FILTER_BEFORE"}
# a rule with all fields
RULE = ("exclude", "out", "local", "10.9.0.0/16", "port", "1-2", "remote", "10.8.0.1/32", "port", "3-4")


@host.contextlib.contextmanager
def objects():
    """Creates one object of each kind: connections over both fabrics, a fallback, an EID, a filter
    rule."""
    with host.clean():
        host.must(f"{host.TOOLS}/smcd", "filter", "flush")
        host.must(f"{host.TOOLS}/smcd", "filter", "add", *RULE)
        host.loopback(False)
        with host.connection(7700) as (rdma, _):
            host.loopback(True)
            with host.connection(7710) as (shared, _), host.connection(7720, server="tcp") as (tcp, _), \
                    host.listener(7730) as idle:
                yield {"smcr": rdma, "smcd": shared, "tcp": tcp, "listen": idle}


def every_attribute():
    """Checks all dumps on live objects: the header has every attribute that comes, with its type,
    and every attribute of the header comes."""
    with objects():
        client, reader = genl.Genl(), Reader()
        for command in DUMPS:
            if not reader.dump(client, command):
                raise Wrong(f"{command}: nothing")
            same(client.interrupted, False, f"{command}: interrupted flag without a change")
        same(sorted(missing(reader.seen) - EXPECTED_MISSING), [],
             "attributes that are in the header, but in no answer")
        same(sorted(EXPECTED_MISSING & reader.seen), [],
             "attributes of EXPECTED_MISSING that an answer has")
    return ""


# ---- sock_diag -----------------------------------------------------------------

NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY = 4, 20
# struct smc_diag_msg; the length of each attribute on 64 bits, from the structures of the header
DIAG_MSG, DIAG_INODE = 64, 56
DIAG_LENGTHS = {"SMC_DIAG_CONNINFO": 76, "SMC_DIAG_LGRINFO": 147, "SMC_DIAG_SHUTDOWN": 1,
                "SMC_DIAG_DMBINFO": 40, "SMC_DIAG_FALLBACK": 8, "SMC_DIAG_LGRID": 4}
MODES = {"smcr": 0, "tcp": 1, "smcd": 2, "listen": 0}
ALWAYS = {"SMC_DIAG_SHUTDOWN", "SMC_DIAG_FALLBACK"}
COMES = {"smcr": {"SMC_DIAG_CONNINFO", "SMC_DIAG_LGRINFO", "SMC_DIAG_LGRID"} | ALWAYS,
         "smcd": {"SMC_DIAG_CONNINFO", "SMC_DIAG_DMBINFO"} | ALWAYS, "tcp": ALWAYS, "listen": ALWAYS}


def diag_request(sock, payload, flags=genl.NLM_F_DUMP, kind=SOCK_DIAG_BY_FAMILY):
    sock.send(struct.pack("=IHHII", 16 + len(payload), kind, genl.NLM_F_REQUEST | flags, 7, 0) +
              payload)


def diag_answers(sock):
    """Yields payloads up to the end; raises genl.Refused."""
    while True:
        data = sock.recv(1 << 18)
        while data:
            length, kind = struct.unpack_from("=IH", data)
            body, data = data[16:length], data[(length + 3) & ~3:]
            if kind == genl.NLMSG_DONE:
                return
            if kind == genl.NLMSG_ERROR:
                error = -struct.unpack_from("=i", body)[0]
                if error:
                    raise genl.Refused(error, "")
                return
            yield body


def diag(ext=0xff):
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as sock:
        sock.settimeout(host.SHORT)
        diag_request(sock, struct.pack("=B2xB48x", host.AF_SMC, ext))
        return {struct.unpack_from("=Q", body, DIAG_INODE)[0]: body for body in diag_answers(sock)}


def diag_attributes(body, what):
    names, here = uapi.public(uapi.by_prefix(DIAG_H, "SMC_DIAG_NONE")), {}
    for number, value in genl.attrs(body[DIAG_MSG:]):
        name = names.get(number)
        if not name or name in here:
            raise Wrong(f"{what}: attribute {number}, {name} is unknown or occurs twice")
        same(len(value), DIAG_LENGTHS[name], f"{what}: length of {name}")
        here[name] = value
    return here


def sock_diag():
    """Every socket has all the attributes that it may have; each bit of diag_ext adds its own."""
    with objects() as socks:
        found = diag()
        for what, sock in socks.items():
            body = found[os.fstat(sock.fileno()).st_ino]
            same(body[2], MODES[what], f"mode of {what}")
            same(set(diag_attributes(body, what)), COMES[what], f"attributes of {what}")
        for name, number in uapi.by_prefix(DIAG_H, "SMC_DIAG_NONE").names.items():
            if not 0 < number < 64 or name.startswith("__"):
                continue
            some = diag(1 << (number - 1))
            for what, sock in socks.items():
                body = some[os.fstat(sock.fileno()).st_ino]
                wanted = {n for n in COMES[what] if n == name or
                          (n == "SMC_DIAG_LGRID" and name == "SMC_DIAG_LGRINFO") or
                          (n == "SMC_DIAG_FALLBACK" and what == "tcp")}
                same(set(diag_attributes(body, what)), wanted, f"{what} asked for {name}")
        named_group(socks["smcr"], found)
    return ""


def named_group(sock, found):
    """The link group and the link in sock_diag's answer are also in netlink's."""
    attrs = diag_attributes(found[os.fstat(sock.fileno()).st_ino], "smcr")
    wanted = struct.unpack("=I", attrs["SMC_DIAG_LGRID"])[0]
    info, group, links = attrs["SMC_DIAG_LGRINFO"], None, {}
    for _, items in genl.Genl().dump(NUMBER["SMC_NETLINK_GET_LINK_SMCR"]):
        number, nest = items[0][0], dict(items[0][1])
        if number == NUMBER["SMC_GEN_LGR_SMCR"]:
            group = struct.unpack("=I", nest[NUMBER["SMC_NLA_LGR_R_ID"]])[0]
        else:
            links.setdefault(group, []).append(nest)
    if wanted not in links:
        raise Wrong(f"link group {wanted} does not exist: {list(links)}")
    link = links[wanted][0]
    for what, attribute, seen in (("device", "IB_DEV", info[1:65]), ("GID", "GID", info[66:106]),
                                  ("peer's GID", "PEER_GID", info[106:146])):
        same(seen.split(b"\0")[0], link[NUMBER[f"SMC_NLA_LINK_{attribute}"]].rstrip(b"\0"), what)


def cases(module):
    return [(f"reader {f.__name__}", f) for f in
            (every_attribute, sock_diag)]
