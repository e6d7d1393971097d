# SPDX-License-Identifier: GPL-2.0
"""Checks surface/tcp_table, and writes the manual page smc-tcp(7) from it. Host tests.

  tcp_table.py --write     writes the page
  tcp_table.py HEADERS...  prints TAP; HEADERS/include has the headers of a kernel
"""
import glob
import os
import re
import sys
import textwrap

import tcp_names
import uapi
from uapi import TOP

SMC = f"{TOP}/tools/testing/selftests/smc"
TABLE = f"{SMC}/surface/tcp_table"
PAGE = f"{TOP}/tools/include/smc-tcp.7"
VERDICTS = ("works", "differs", "TCP", "refused", "none")
OPTIONS = ("SOL_SOCKET", "IPPROTO_TCP", "IPPROTO_IP", "IPPROTO_IPV6")
TITLES = {
    "SOL_SOCKET": "Options of level SOL_SOCKET", "IPPROTO_TCP": "Options of level IPPROTO_TCP",
    "IPPROTO_IP": "Options of level IPPROTO_IP", "IPPROTO_IPV6": "Options of level IPPROTO_IPV6",
    "cmsg": "Control messages", "ioctl": "ioctl()", "fcntl": "fcntl()",
    "flag": "Flags of send() and recv()", "io_uring": "Operations of io_uring",
    "bpf": "Attach types of BPF programs", "cgroup": "Controllers of cgroups", "namespace": "Namespaces",
    "lsm": "Hooks of security modules",
}


class Row:
    """Names of one kind that share a verdict, a test and words."""

    def __init__(self, kind, verdict, test, words):
        self.kind, self.verdict, self.test, self.words = kind, verdict, test, words
        self.names = []


def rows():
    found, kind = [], None
    for line in uapi.read(TABLE).splitlines():
        if section := re.match(r"\[(\w+)\]$", line):
            kind = section[1]
        elif line.startswith("    "):
            found[-1].names += line.split()
        elif line and not line.startswith("#"):
            verdict, test, words = re.match(r"(\w+)(?: ([\w.]+))?(?:: (.*))?$", line).groups()
            found.append(Row(kind, verdict, test, words or ""))
    return found


def complete(*tops):
    """Every name that a kernel's headers have is in one row."""
    there = {}
    wrong = []
    for row in rows():
        for name in row.names:
            if there.setdefault((row.kind, name), row) is not row:
                wrong.append(f"{name} is in two rows of {row.kind}")
    for top in tops or tcp_names.installed():
        wrong += [f"{name} of {kind} is not in the table" for kind, names in
                  tcp_names.names(top).items() for name in names if (kind, name) not in there]
    return "\n".join(dict.fromkeys(wrong))


def socket_cases():
    """Returns {case: text of its file} of smc_sock_test."""
    found = {}
    for path in glob.glob(f"{SMC}/socket/sock_*.c"):
        text = uapi.read(path)
        for case in re.findall(r'(?m)^\t(?:[A-Z_0-9]+\(|\{ ")(\w+)[",]', text):
            found[case] = text
    return found


def files():
    return {os.path.basename(path): uapi.read(path)
            for path in glob.glob(f"{SMC}/**/*.py", recursive=True)}


# What a test that does not contain a name calls it.
OTHER_NAMES = {"TCP_CM_INQ": "TCP_INQ", "FIONREAD": "SIOCINQ", "TIOCOUTQ": "SIOCOUTQ",
               "MSG_SPLICE_PAGES": "splice"}


# The names that programs use for them.
ALIASES = {"FIONREAD": "SIOCINQ", "TIOCOUTQ": "SIOCOUTQ", "SO_DETACH_FILTER": "SO_DETACH_BPF",
           "IP_RETOPTS": "IP_RECVRETOPTS", "IP_ORIGDSTADDR": "IP_RECVORIGDSTADDR",
           "IPV6_ORIGDSTADDR": "IPV6_RECVORIGDSTADDR"}

# A row is about one name or about several.
PLURALS = {"Acts": "Act", "Concerns": "Concern", "Counts": "Count", "Fails": "Fail", "Is": "Are",
           "Keeps": "Keep", "Labels": "Label", "Sees": "See", "Shows": "Show", "Works": "Work"}


def used(name, text):
    words = (name, re.sub(r"_(OLD|NEW)$", "", name), re.sub("^SCM_", "SO_", name),
             OTHER_NAMES.get(name, name))
    return any(re.search(rf"\b{word}\b", text) for word in words)


def tested():
    """Every row has a test, which uses its names."""
    options = set(re.findall(r"OPT(?:_OF)?\(\w+, (\w+)", uapi.read(f"{SMC}/surface/options.c")))
    tests, wrong = {**socket_cases(), **files()}, []
    for row in rows():
        if row.verdict not in VERDICTS:
            wrong.append(f"{row.verdict} is not a verdict")
        if not row.names or (row.verdict != "works" and not row.words):
            wrong.append(f"a row of {row.kind}, {row.verdict} {row.test}, has no names or no words")
        if row.verdict == "none":
            continue
        if row.kind in OPTIONS:
            wrong += [f"{name} is not in surface/options.c" for name in row.names
                      if name not in options and name not in OTHER_NAMES]
        if row.test == "options" and row.kind in OPTIONS:
            continue
        if row.test not in tests:
            wrong.append(f"there is no test {row.test} for {' '.join(row.names)}")
        else:
            wrong += [f"the test {row.test} does not use {name}" for name in row.names
                      if not used(name, tests[row.test])]
    return "\n".join(wrong)


def reasons():
    """A connection that stays TCP has a reason, which the row names."""
    known = {name for name, *_ in uapi.reasons()}
    return "\n".join(f"{' '.join(row.names)}: {row.words} does not begin with a reason"
                     for row in rows() if row.verdict == "TCP" and
                     re.match(r"\w*", row.words)[0] not in known)


# ---- the manual page ----

HEAD = """.\\" SPDX-License-Identifier: GPL-2.0
.\\" Written by tools/testing/selftests/smc/admin/tcp_table.py from surface/tcp_table.
.TH SMC-TCP 7 2026-12-01 "smc" "SMC sockets"
.ad l
.nh
.SH NAME
smc-tcp \\- every option, flag, ioctl and hook of a TCP socket, and what it does over SMC
.SH DESCRIPTION
This is the complete list of what can be set on a TCP socket, attached to it, passed with a call, or
decided about it, in Linux 6.1 to 7.3.
.BR smc (7)
describes those that matter most.
.PP
Most of it works as over TCP.
What cannot, keeps the connection on TCP if it is there before
.BR connect (2)
or on a listener, and
.BR smcss (8)
shows the reason; on an SMC connection it fails.
What concerns only packets or segments, of which an SMC connection has few, has no effect on the
data, and this page says so.
.PP
Options for times exist in two formats, for which the kernel has two names, such as SO_RCVTIMEO_OLD
and SO_RCVTIMEO_NEW.
This page has the name that programs use, SO_RCVTIMEO, and applies to both.
A name in parentheses is another name of the same option.
"""

OTHERS = """.SS Other calls
.B splice(), sendfile(), sendmmsg(), recvmmsg()
.RS
As over TCP.
.RE
.PP
.B epoll
.RS
As over TCP.
But with EPOLLET, the end of a connection may be reported once more.
.RE
.PP
.B SO_GET_FILTER, SO_ORIGINAL_DST, IP6T_SO_ORIGINAL_DST
.RS
As over TCP.
The first one, SO_ATTACH_FILTER in getsockopt(), finds no filter on an SMC connection.
.RE
.PP
.B mmap()
.RS
Fails with ENODEV on an SMC connection.
Over TCP it is for TCP_ZEROCOPY_RECEIVE.
.RE
.PP
.B PSP keys
.RS
Keep the connection on TCP if they are there before SMC is negotiated.
The reason is PACKET_OPTION.
Later, they protect only the packets of the TCP connection, and the data go over RDMA in the clear.
A key needs the route of a socket, so a program usually sets it later: exclude such connections by a
filter.
.RE
.PP
.B ss -K, bpf_sock_destroy(), rules of Landlock for TCP
.RS
As over TCP.
.RE
.PP
.B BPF iterators (bpf_iter_tcp)
.RS
Show the TCP connection below.
.RE
.SS Parts of the kernel that take over a socket
.B nbd, usbip, 9p with trans=fd, iscsi_tcp
.RS
As over TCP, but iscsi_tcp only if its parameter recv_from_iscsi_q is not set.
.RE
.PP
.B NFS server, lockd
.RS
The connections of a listener that they take over stay TCP.
The reason is KERNEL_USER.
.RE
.PP
.B KCM, ovpn
.RS
Fail with EALREADY or EBUSY on an SMC connection, and work after a fallback to TCP.
But the module cannot be unloaded any more if a socket is closed while ovpn uses it.
.RE
.SS What an administrator sets
.B Sysctls net.ipv4.tcp_*
.RS
Those for TCP's handshake, its listeners, keepalive and TIME_WAIT act, such as tcp_syn_retries,
tcp_abort_on_overflow, tcp_keepalive_time, tcp_tw_reuse.
Those for buffers and segments do not act on the data, such as tcp_rmem, tcp_wmem, tcp_retries2,
tcp_notsent_lowat, tcp_congestion_control.
The page sysctl.md of the documentation has a table.
.RE
.PP
.B Routes and their attributes
.RS
Act when TCP connects, and the RDMA device follows the route.
Attributes such as mtu, rto_min, initcwnd and congctl concern TCP's own segments.
.RE
.PP
.B tc
.RS
Acts on the packets of the TCP connection, not on the data.
Over soft-RoCE it also acts on the packets of the RDMA device.
.RE
"""

TAIL = """.SH ERRORS
.TP
.B EOPNOTSUPP
An option or call that acts on packets comes after SMC has been offered.
Or a listener is put into a sockmap.
.TP
.B EISCONN
The same, for keys with which TCP signs its segments, and for
.BR MSG_FASTOPEN .
.TP
.B ENOTCONN
.B TCP_ULP
before
.BR connect (2),
and
.BR IPV6_ADDRFORM .
.TP
.B ENOENT
.B TCP_ULP
for another protocol than tls.
.TP
.B EBUSY
An SMC connection is put into a sockmap, or given to ovpn.
.TP
.B EALREADY
An SMC connection is given to KCM.
.TP
.B ENODEV
.BR mmap (2)
of an SMC socket that is not a TCP connection.
.TP
.B EPERM
On Linux 6.1,
.B SO_ATTACH_FILTER
and
.B SO_ATTACH_BPF
fail with this error on an SMC connection.
.SH SEE ALSO
.BR smc (7),
.BR smcss (8),
.BR socket (7),
.BR tcp (7),
.BR ip (7),
.BR ipv6 (7)
"""


def sentence(row):
    """What the page says about a row."""
    words = row.words.replace("; ", ". ").replace("\\", "\\\\")
    words = ". ".join(part[0].upper() + part[1:] for part in words.split(". ")) if words else ""
    if row.verdict == "TCP":
        reason, _, rest = row.words.partition("; ")
        reason, _, when = reason.partition(", ")
        words = f"Keeps the connection on TCP{', ' + when if when else ''}. The reason is {reason}."
        return words + (f" {rest[0].upper()}{rest[1:]}." if rest else "")
    if row.verdict == "refused":
        return f"Fails {words[0].lower()}{words[1:]}."
    return f"{words}." if words else "As over TCP."


def grouped(chosen):
    """Yields (text, names) of these rows; those whose text is the same are one entry."""
    found = {}
    for row in chosen:
        found.setdefault(sentence(row), []).extend(row.names)
    return found.items()


def plain(names):
    """The names that programs use, each once."""
    names = [re.sub(r"_(OLD|NEW)$", "", name) for name in names]
    names = [f"{name} ({ALIASES[name]})" if name in ALIASES else name for name in names]
    return list(dict.fromkeys(names))


def plural(words):
    first, space, rest = words.partition(" ")
    return PLURALS.get(first, first) + space + rest


def section(title, chosen):
    text = f".SS {title}\n"
    for number, (words, names) in enumerate(grouped(chosen)):
        names = plain(names)
        if len(names) > 1:
            words = plural(words)
        text += (".PP\n" if number else "") + ".B " + "\n.B ".join(
            textwrap.wrap(", ".join(names), 90, break_on_hyphens=False)) + "\n.RS\n"
        text += "\n".join(re.split(r"(?<=[.]) (?=[A-Z])", words)) + "\n.RE\n"
    return text


def page():
    text = HEAD
    for kind, title in TITLES.items():
        text += section(title, [row for row in rows()
                                if row.kind == kind and row.verdict != "none"])
    return text + OTHERS + section("What is not about TCP sockets",
                                   [row for row in rows() if row.verdict == "none"]) + TAIL


def fresh():
    """smc-tcp(7) is what the table says."""
    return "" if uapi.read(PAGE) == page() else "it differs; run admin/tcp_table.py --write"


def cases():
    return [("every option, flag and hook of TCP is in surface/tcp_table", complete),
            ("every row of surface/tcp_table has a test", tested),
            ("every row of surface/tcp_table that leads to TCP names the reason", reasons),
            ("smc-tcp(7) is written from surface/tcp_table", fresh)]


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page())
        sys.exit()
    problem = complete(*sys.argv[1:])
    print("1..1")
    for text in problem.splitlines():
        print(f"# {text}")
    print(f"{'not ' if problem else ''}ok 1 the headers have no name that surface/tcp_table lacks")
    sys.exit(bool(problem))
