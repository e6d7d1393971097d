# SPDX-License-Identifier: GPL-2.0
"""Reads from the headers of a kernel what can be set on a TCP socket, attached to it, passed with a
call, or decided about it by others: the names of the table in surface/tcp."""
import os
import re

NUMBER = r"(?:0x[0-9a-fA-F]+|\d+)\b"


def text(top, path):
    with open(f"{top}/include/{path}", encoding="utf-8") as file:
        return re.sub(r"(?s)/\*.*?\*/", "", file.read())


def defines(top, path, names, but="-"):
    """The names that a header defines as numbers; without those that `but` matches."""
    found = re.findall(rf"(?m)^#\s*define\s+({names})\s+(?:{NUMBER}|\(?F_LINUX_SPECIFIC_BASE)", text(top, path))
    return [name for name in found if not re.match(but, name)]


def between(body, first, last):
    body = body[body.index(first):]
    return body[:body.index(last)]


def tcp_options(top):
    body = between(text(top, "uapi/linux/tcp.h"), "#define TCP_NODELAY", "#define TCP_REPAIR_ON")
    return re.findall(r"(?m)^#define\s+(TCP_\w+)", body)


def uring_operations(top):
    body = between(text(top, "uapi/linux/io_uring.h"), "enum io_uring_op {", "IORING_OP_LAST")
    return re.findall(r"\b(IORING_OP_\w+)", body)


def attach_types(top):
    body = between(text(top, "uapi/linux/bpf.h"), "enum bpf_attach_type {", "__MAX_BPF_ATTACH_TYPE")
    return re.findall(r"\b(BPF_\w+)", body)


def hooks(top):
    found = re.findall(r"LSM_HOOK\(\w+,\s*[\w-]+,\s*(\w+)", text(top, "linux/lsm_hook_defs.h"))
    return [name for name in found if re.match("socket_|sk_|inet_|req_|secmark_", name)]


def names(top):
    """Returns {kind: [name]}, in the order of the headers; @top has include/."""
    found = {
        "SOL_SOCKET": defines(top, "uapi/asm-generic/socket.h", r"SO_\w+"),
        "IPPROTO_TCP": tcp_options(top),
        "IPPROTO_IP": defines(top, "uapi/linux/in.h", r"(?:IP|MCAST)_\w+",
                              "IP_PMTUDISC|IP_DEFAULT|MCAST_(IN|EX)CLUDE"),
        "IPPROTO_IPV6": defines(top, "uapi/linux/in6.h", r"IPV6_\w+",
                                "IPV6_(FL_|FLOWINFO_(?!SEND)|PRIORITY|TLV|PMTUDISC|PREFER_SRC)"),
        "cmsg": re.findall(r"(?m)^#\s*define\s+(SCM_\w+)\s", text(top, "uapi/asm-generic/socket.h") +
                           text(top, "linux/socket.h")) + ["TCP_CM_INQ"],
        "ioctl": defines(top, "uapi/linux/sockios.h", r"SIOC\w+") +
                 defines(top, "uapi/asm-generic/sockios.h", r"SIOC\w+|FIO\w+") +
                 defines(top, "uapi/asm-generic/ioctls.h", r"FIO\w+|TIOC(?:INQ|OUTQ)"),
        "fcntl": defines(top, "uapi/asm-generic/fcntl.h", r"F_\w+") +
                 defines(top, "uapi/linux/fcntl.h", r"F_\w+"),
        "flag": defines(top, "linux/socket.h", r"MSG_\w+"),
        "io_uring": uring_operations(top),
        "bpf": attach_types(top),
        "cgroup": re.findall(r"SUBSYS\((\w+)\)", text(top, "linux/cgroup_subsys.h")),
        "namespace": defines(top, "uapi/linux/sched.h", r"CLONE_NEW\w+"),
        "lsm": hooks(top),
    }
    return {kind: list(dict.fromkeys(of)) for kind, of in found.items()}


def installed():
    """The headers of the kernels that are installed, the oldest first."""
    tops = [f"/usr/src/{name}" for name in os.listdir("/usr/src")
            if re.match(r"linux-headers-.*-common$", name)]
    return sorted(tops, key=lambda top: [int(n) for n in re.findall(r"\d+", top)[:2]])
