# SPDX-License-Identifier: GPL-2.0
"""The tests that run in QEMU: with Debian's kernels as users have them, with several processors,
and with KCSAN."""
import os

from parts.part import SUITE, TESTING, TOP, built_quietly
from parts.slots import BEFORE_OTHERS, FIRST, slots

import kernel as kernels

# The cases that run with a module built without TEST=1.
PLAIN = "-V smc4,clc4,afsmc6 " + " ".join(f"-t {case}" for case in (
    "create_ok create_errors echo_sizes half_close close_unread reset_wakes poll_wakes epoll_edge "
    "urgent outq accept_many").split())
# How LLC and CDC treat bad messages does not depend on the kernel: run it once, under KASAN.
PARTS_OF_ROGUE = {"6.1": "clc peer link time wait stall gone".split(), "debug": ["llc", "cdc"]}


def check_debian(part):
    kver = kernels.full_version(part.name)
    # On 6.12 every case runs over IPv4; on 6.1 it runs over IPv6, and with a TCP client.
    some = {} if part.name == "6.12" else {
        "SMC_SOCK_ARGS": "-V smc6,tcpcli6,clc6,+smc4,+tcpsrv4,+afsmc6"}
    if built_quietly(part, kver, "sparse", "TEST=1", f"KVER={kver}"):
        run_guest(part, ["--kver", kver], 2400, **some)


def debug_kernel(part, flavour="debug"):
    """Returns the arguments of vm/run for the debug kernel, or None. Builds the kernel and our
    modules if necessary."""
    if part.run([f"{TESTING}/vm/debug-kernel", flavour]):
        part.line("not ok - build the debug kernel")
        return None
    directory, kernel = kernels.debug(flavour)
    if not built_quietly(part, kernel.version, "modules", "TEST=1", f"KDIR={directory}"):
        return None
    # This kernel needs a minute to set up interrupts by interpreting ACPI code. With five-level
    # page tables KASAN reports a wild access for an interrupt within identify_cpu(), where the
    # processor has no features for a moment. Modules are a small part of the code that KCSAN
    # watches, so it samples more often than once in 4000 accesses.
    return ["--append", "acpi=noirq no5lvl kcsan.skip_watch=400", "--mem", "2048",
            "--kernel", kernel.image, "--modules", kernel.modules]


def check_debug(part):
    kernel = debug_kernel(part)
    if kernel:
        run_guest(part, kernel, 5400, SMC_DEBUG_KERNEL="1")


# What the threads of the stress program do in addition to their calls, and the share of the time.
STRESS = {"loopback": 25, "clc": 15, "nobody": 10, "namespaces": 10, "fallback": 10, "stalls": 10,
          "rdma": 20}

# Only a data race with a function of a module, which the report names in brackets, is ours.
KERNELS_OWN_RACES = {"SMC_LOG_ALLOW": r"KCSAN: data-race in [^[]*$"}


def check_stress(part):
    """Runs colliding socket calls on the debug kernel, for five minutes or longer."""
    kernel = debug_kernel(part, "kcsan" if part.name.endswith("kcsan") else "debug")
    seconds = int(os.environ.get("SMC_SOAK_SECONDS", 7200)) if "soak" in part.name else 300
    if kernel:
        modes = [f"{mode}:{seconds * share // 100}" for mode, share in STRESS.items()]
        part.suite("stress", [f"{TESTING}/vm/run", *kernel, "--variant=-test", "--timeout",
                              str(2 * seconds + 1200), "--name", f"check-{part.name}", "--",
                              f"{SUITE}/stress/stress_guest", *modes],
                   **KERNELS_OWN_RACES if part.name.endswith("kcsan") else {})


def run_guest(part, kernel, timeout, **environment):
    if part.run(["make", "-s", "-C", f"{SUITE}/rdma", f"{TOP}/build/selftests/rdma/smc_xfer"]):
        part.line("not ok - build smc_xfer")
    part.suite("guest", [f"{TESTING}/vm/run", *kernel, "--variant=-test", "--timeout",
                         str(timeout), "--name", f"check-{part.name}", "--",
                         f"{TESTING}/guest_suite"], **environment)


def check_plain(part):
    """Tests the module as it is installed, without test hooks: it builds and works on both kernels;
    on 6.12 with more processors than the other guests have."""
    for version, processors in (("6.1", "2"), ("6.12", "4")):
        kver = kernels.full_version(version)
        if built_quietly(part, kver, "modules", f"KVER={kver}"):
            part.suite(f"guest, {version}",
                       [f"{TESTING}/vm/run", "--kver", kver, "--smp", processors, "--timeout", "600",
                        "--name", f"check-plain-{version}", "--", f"{SUITE}/run_in_vm.sh"],
                       SMC_TESTS="sock memory", SMC_SOCK_ARGS=PLAIN)


def check_memory(part):
    """Opens ten thousand connections at once, and measures the memory of each and the cost of the
    next. The same for link groups, with 64 peers."""
    kver = kernels.full_version("6.12")
    if built_quietly(part, "6.12", "modules", f"KVER={kver}"):
        part.suite("memory", [f"{SUITE}/bench/mem_check.sh", "6.12"])
    if built_quietly(part, "6.12, test build", "modules", "TEST=1", f"KVER={kver}"):
        part.suite("peers", [f"{SUITE}/bench/peers.sh", "6.12"])


def check_users(part):
    kver = kernels.full_version("6.12")
    if built_quietly(part, kver, "sparse", "TEST=1", f"KVER={kver}"):
        part.suite("users", [f"{TESTING}/vm/run", "--kver", "6.12", "--variant=-test", "--timeout",
                             "900", "--name", "check-users", "--", f"{TESTING}/guest_users"])


def check_programs(part):
    """Runs real programs in one guest."""
    kver = kernels.full_version("6.12")
    if built_quietly(part, kver, "modules", "TEST=1", f"KVER={kver}"):
        part.suite("programs", [f"{TESTING}/vm/run", "--kver", "6.12", "--variant=-test", "--timeout",
                                "1800", "--mem", "1024", "--name", "check-programs", "--",
                                f"{SUITE}/programs/programs_guest"])
        part.suite("bpftrace", [f"{TESTING}/vm/run", "--kver", "6.12", "--variant=-test", "--timeout",
                                "300", "--name", "check-bpftrace", "--",
                                f"{TESTING}/../smcss/tests/test_bpftrace"])


def check_rdma(part):
    """Runs cases between two guests with a link, over soft-RoCE or ivshmem."""
    which = {"programs-rdma": "programs", "programs-ism": "programs-ism"}.get(
        part.name, part.name.partition("-")[2])
    if which == "debug":
        kernel = debug_kernel(part)
        if not kernel:
            return
    else:
        kernel = []
        for version in ("6.12",) if which in ("kernel", "programs", "programs-ism") else \
                ("6.12", "6.1"):
            kver = kernels.full_version(version)
            if not built_quietly(part, kver, "modules", "TEST=1", f"KVER={kver}"):
                return
    part.suite("rdma", [f"{SUITE}/rdma/suite", which or "ours", *kernel],
               SMC_RDMA_VARIANT="-test", SMC_ISM_PARAMS="slots=2")


# Only losses that are signalled: on emulated hosts a silent link cannot be told from a busy host.
DEBIAN_LOSSES = ("bulk_down_server_used bulk_device_client_used ping_pong_down_client_used "
                 "half_close_device_server_used").split()


def check_failover(part):
    """Loses links between two guests with Debian's kernel and two processors each."""
    kver = kernels.full_version("6.12")
    if built_quietly(part, kver, "modules", "TEST=1", f"KVER={kver}"):
        part.suite("failover", [f"{SUITE}/rdma/failover_pair", "--kver", "6.12", "--name",
                                f"check-{part.name}", "--times", "2", "--", *DEBIAN_LOSSES])


def check_sockets(part):
    """Runs the socket suite, with its servers in one guest and its clients in the other."""
    kver = kernels.full_version("6.12")
    if built_quietly(part, kver, "modules", "TEST=1", f"KVER={kver}"):
        part.suite("sockets", [f"{TESTING}/vm/run", "--kver", "6.12", "--vms", "2", "--variant=-test",
                               "--timeout", "900", "--name", "check-sockets-rdma", "--",
                               f"{SUITE}/rdma/sock_pair", "-V", "smc4,+afsmc6"])


def check_rogue(part):
    """Runs one guest, in which a peer in user space does everything wrong."""
    if part.name.endswith("debug"):
        kernels_of = [("debug", debug_kernel(part), 5400)]
    else:
        kernels_of = [(v, ["--kver", kernels.full_version(v)], 1800) for v in ("6.12", "6.1")]
    if part.run(["make", "-s", "-C", f"{SUITE}/rdma"]):
        part.line("not ok - build the peer")
        return
    for name, kernel, timeout in kernels_of:
        if not kernel or (name != "debug" and not built_quietly(
                part, kernel[1], "modules", "TEST=1", f"KVER={kernel[1]}")):
            return
        part.suite(f"rogue, {name}",
                   [f"{TESTING}/vm/run", *kernel, "--variant=-test", "--timeout", str(timeout),
                    "--name", f"check-{part.name}-{name}", "--", f"{SUITE}/rdma/rogue_guest",
                    *PARTS_OF_ROGUE.get(name, [])])


# The variant of the module for the short run. The part "build" builds it as well.
SHORT = {"6.12": "-test", "6.1": ""}


# Over ivshmem; only QEMU has its server and doorbells.
IVSHMEM = ("transfer_quick urgent half_close_client close_unread_server kill_client churn_quick "
           "unplugged_client lies_count unload after_tcp").split()


def check_ivshmem(part):
    """Runs a few cases between two Debian guests, or all of them, on two kernels in turn. Two
    processors, because with a single one the emulator does not use atomics that another machine
    would see."""
    short = part.name.startswith("debian")
    for client, server in (("6.12", "6.12"),) if short else (("6.12", "6.1"), ("6.1", "6.12")):
        for version in {client, server}:
            kver = kernels.full_version(version)
            if not built_quietly(part, kver, "modules", "TEST=1", f"KVER={kver}"):
                return
        with slots.one(FIRST):
            part.suite(f"{client} to {server}",
                       [f"{SUITE}/rdma/pair", "--ism", "256", "--kver", server, "--client-kver",
                        client, "--variant=-test", "--timeout", "400" if short else "1800", "--name",
                        f"check-{part.name}", "--", *(IVSHMEM if short else ())],
                       SMC_ISM_PARAMS="slots=2", **BEFORE_OTHERS)


# Debian's kernels for other architectures; 6.1 is the last one for 32 bit.
FOREIGN = {"s390x": ("6.1", "6.12"), "arm64": ("6.1", "6.12"), "i386": ("6.1",)}


def foreign_module(part, machine, version):
    return built_quietly(part, f"{version}, {machine}", "modules", "TEST=1",
                         f"KDIR={kernels.foreign(machine, version)}")


def foreign_programs(part, machine):
    if part.run([f"{TESTING}/vm/foreign-programs", machine]):
        part.line(f"not ok - build the programs for {machine}")
        return False
    return True


def check_foreign(part):
    """Runs the module and all of its drivers on another architecture, with Debian's kernels for
    it."""
    if not foreign_programs(part, part.name):
        return
    for version in FOREIGN[part.name]:
        if foreign_module(part, part.name, version):
            part.suite(f"guest, {version}", [f"{TESTING}/vm/run", "--kver",
                                             f"{part.name}-{version}", "--variant=-test",
                                             "--timeout", "3600", "--name",
                                             f"check-{part.name}-{version}", "--",
                                             f"{TESTING}/guest_foreign"])
# Between another architecture and x86: the data on the wire, and what the tools show of it.
FOREIGN_ROUND = ("transfer_quick v1 many urgent half_close_client half_close_server close_unread_client "
                 "close_unread_server kill_client kill_server churn_quick tools after_tcp").split()
FOREIGN_KERNEL = "transfer_quick many half_close_client close_unread_server kill_client capture".split()


def check_foreign_pairs(part):
    """Runs SMC-R in both roles. With s390x, which is big endian, also runs the kernel's own module
    at either end."""
    machine = part.name.partition("-")[2]
    foreign, kver = f"{machine}-6.12", kernels.full_version("6.12")
    if not (foreign_programs(part, machine) and foreign_module(part, machine, "6.12") and
            built_quietly(part, kver, "modules", "TEST=1", f"KVER={kver}")):
        return
    rounds = [("ours", "ours", FOREIGN_ROUND)]
    if machine == "s390x":
        rounds += [("ours", "kernel", FOREIGN_KERNEL), ("kernel", "ours", FOREIGN_KERNEL)]
    for server, client, cases in rounds:
        for kvers in ((foreign, "6.12"), ("6.12", foreign)):
            part.suite(f"{client} on {kvers[1]} to {server} on {kvers[0]}",
                       [f"{SUITE}/rdma/pair", "--server", server, "--client", client, "--kver",
                        kvers[0], "--client-kver", kvers[1], "--variant=-test", "--timeout", "1800",
                        "--name", f"check-{part.name}", "--", *cases])


# All cases run with the second form of virtio-ism, and with the first form those that differ.
VIRTIO_FIRST = ("transfer_quick many urgent half_close_client shown_ism unload after_tcp unplugged_both "
                "virtio_outside_server after_tcp virtio_late_client after_tcp virtio_keeps "
                "virtio_not_started after_tcp power_off_ism").split()


def check_virtio_ism(part):
    """Runs two Debian guests with a model of a virtio-ism device, in a QEMU that is built for it.
    Two processors, because with a single one the emulator does not use atomics that others would
    see."""
    for client, server, form in (("6.12", "6.12", "44"), ("6.12", "6.1", "43"), ("6.1", "6.12", "43")):
        for version in {client, server}:
            kver = kernels.full_version(version)
            if not built_quietly(part, kver, "modules", "TEST=1", f"KVER={kver}"):
                return
        part.suite(f"form {form}, {client} to {server}",
                   [f"{SUITE}/rdma/pair", "--ism-virtio", form, "--kver", server, "--client-kver", client,
                    "--variant=-test", "--timeout", "1800", "--name", f"check-{part.name}", "--",
                    *(VIRTIO_FIRST if form == "43" else ())])


def check_short(part):
    """Runs a short test with one processor."""
    version = part.name.partition("-")[2]
    kver, variant = kernels.full_version(version), SHORT[version]
    if built_quietly(part, kver, "modules", f"KVER={kver}", *(["TEST=1"] if variant else [])):
        with slots.one(FIRST):
            part.suite("guest", [f"{TESTING}/vm/run", "--kver", kver, f"--variant={variant}", "--smp",
                                 "1", "--timeout", "400", "--name", f"check-{part.name}", "--",
                                 f"{TESTING}/guest_short"], **BEFORE_OTHERS)


def check_cost(part):
    """Counts instructions, so a busy host does not matter."""
    kver = kernels.full_version("6.12")
    if built_quietly(part, kver, "modules", f"KVER={kver}", "TEST=1"):
        with slots.one(60):
            part.suite("guard", [f"{SUITE}/bench/guard"])
