# SPDX-License-Identifier: GPL-2.0
"""The rows of the table in Documentation/kernels.md, and the tests of each row. There is a row for
every kernel, machine, and method of exchanging the TCP option."""
import dataclasses
import os

HERE = os.path.dirname(os.path.abspath(__file__))
SUITE = "tools/testing/selftests/smc"
# The behaviour that an application sees: with IPv4 and IPv6, with AF_SMC, and with peers without
# SMC.
SOCKETS = "-V smc4,smc6,+clc4,+afsmc6,+tcpsrv4"
# With the kernel's own module as the peer, in both roles: data, many connections, each way to
# close.
PEER_CASES = "transfer_quick many churn_quick half_close_client close_unread_server unload".split()
OURS_CASES = "transfer_quick many churn_quick urgent half_close_client close_unread_server unload".split()


@dataclasses.dataclass
class Row:
    """name: for the command line. kernel, machine, hooks: the words in the table.

    kver: as for vm/run. directory: a command that prints what the module is built against; none for
    a Debian kernel. programs: a command that builds the programs for its guests, if they cannot run
    the host's. build: more arguments for make. guest: more arguments for vm/run. environment: more
    environment for guests. interop: {words: command}; each command prints TAP. If a command fails,
    the words also describe the failure.
    """
    name: str
    kernel: str
    machine: str
    hooks: str
    kver: str
    directory: tuple = ()
    programs: tuple = ()
    build: tuple = ()
    guest: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)
    sockets: str = SOCKETS
    cases: tuple = (f"{SUITE}/run_in_vm.sh",)
    load: tuple = ("tools/testing/guest_load",)
    interop: dict = dataclasses.field(default_factory=dict)


def pair(name, *options, cases=PEER_CASES):
    return (f"{SUITE}/rdma/pair", "--variant=-test", "--name", f"kernels-{name}", "--timeout", "900",
            *options, "--", *cases)


def series_of(kver):
    """The word for a kernel in the table; um is 6.12 as a process."""
    return "6.12" if kver == "um" else kver


def with_own(name, kver, peer):
    """Returns pairs with the kernel's own module of another kernel, in both roles."""
    series = series_of(peer)
    return {
        f"{series}'s own as server": pair(f"{name}-client", "--client", "ours", "--server", "kernel",
                                          "--kver", peer, "--client-kver", kver),
        f"{series}'s own as client": pair(f"{name}-server", "--client", "kernel", "--server", "ours",
                                          "--kver", kver, "--client-kver", peer),
    }


def with_ours(name, kver, peer):
    return {f"ours on {series_of(peer)}": pair(f"{name}-ours", "--kver", peer,
                                               "--client-kver", kver, cases=OURS_CASES)}


def debian(series, **more):
    return Row(series, f"Debian's {series}", "x86-64", "with", series, **more)


def as_process(series, flavour="um", **more):
    """User Mode Linux, with KASAN, lockdep and kmemleak; um-plain is without CONFIG_SMC."""
    name = flavour if series == "6.12" else f"{flavour}-{series}"
    return Row(name, f"{series}, as a process", "x86-64", "with" if flavour == "um" else "without", name,
               ("tools/testing/vm/debug-kernel", flavour, series), build=("ARCH=um",), **more)


def small(series, **more):
    """A kernel for QEMU with two processors, built from the sources of that version."""
    return Row(f"small-{series}", f"{series}, small configuration", "x86-64", "with",
               f"small-{series}", ("tools/testing/vm/debug-kernel", "small", series), **more)


def foreign(machine, words, series, **more):
    """Debian's kernel for another architecture. Emulation is slow, so fewer cases run."""
    name = f"{machine}-{series}"
    return Row(name, f"Debian's {series}", words, "with", name,
               ("tools/testing/vm/foreign", machine, series),
               ("tools/testing/vm/foreign-programs", machine), sockets="-V smc4,+clc4,+afsmc6", **more)


def with_x86(name, more):
    """Returns pairs with our module on x86-64 in both roles, and the pairs in more."""
    cases = dict(cases=OURS_CASES)
    return {"ours on x86-64 as server": pair(f"{name}-client", "--kver", "6.12", "--client-kver", name, **cases),
            "ours on x86-64 as client": pair(f"{name}-server", "--kver", name, "--client-kver", "6.12", **cases),
            **more}


def s390x_own(name):
    """The kernel's own module on s390x with our module on x86-64."""
    return {"its own as server, ours on x86-64": pair(f"{name}-own-server", "--client", "ours", "--server",
                                                      "kernel", "--kver", name, "--client-kver", "6.12"),
            "its own as client, ours on x86-64": pair(f"{name}-own-client", "--client", "kernel", "--server",
                                                      "ours", "--kver", "6.12", "--client-kver", name)}


def smcr_um(series, flavour="um"):
    name = f"{flavour}-{series}"
    return {**with_ours(name, name, "um"), **with_own(name, name, "um")}


ROWS = [
    debian("6.1", interop=with_own("6.1", "6.1", "6.12")),
    debian("6.12", interop=with_own("6.12", "6.12", "6.12")),
    as_process("6.12", interop=with_own("um", "um", "um")),
    as_process("6.12", "um-plain", interop=with_own("um-plain", "um-plain", "um")),
    as_process("6.17", interop=smcr_um("6.17")),
    as_process("7.3", interop=smcr_um("7.3")),
    as_process("7.3", "um-plain", interop=smcr_um("7.3", "um-plain")),
    small("7.3", interop=with_own("small-7.3", "small-7.3", "6.12")),
    foreign("arm64", "arm64", "6.1"),
    foreign("arm64", "arm64", "6.12", interop=with_x86("arm64-6.12", {})),
    foreign("s390x", "s390x, big endian", "6.1"),
    foreign("s390x", "s390x, big endian", "6.12", interop=with_x86("s390x-6.12", s390x_own("s390x-6.12"))),
    foreign("i386", "i386, 32 bit", "6.1"),
]
NEWEST = "um-7.3"
