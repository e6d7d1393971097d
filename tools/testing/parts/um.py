# SPDX-License-Identifier: GPL-2.0
"""The tests that run in User Mode Linux: everything that needs neither Debian's kernels nor several
processors, under KASAN and lockdep."""
import copy
import functools
import os
import threading
import time
import types

from parts.part import SUITE, TESTING, TOP, built_quietly, lines_of
from parts.slots import BEFORE_OTHERS, FIRST, slots

import kernel as kernels

RUN_IN_VM = f"{SUITE}/run_in_vm.sh"
PROGRAMS = f"{TOP}/Documentation/programs.md"
PROGRAMS_HEAD = ("| program | package | what it does | connections, all SMC |\n", "|---|---|---|---|\n")
TCPOPT = f"{SUITE}/tcpopt/tcpopt_test"
# The kernel without CONFIG_SMC, and the setting that makes other kernels behave like it.
PLAIN = "um-plain"
NETFILTER = {"SMC_PARAMS": "tcp_option=netfilter"}
FUZZ = f"{SUITE}/callfuzz/fuzz_guest"
DIFF = f"{SUITE}/callfuzz/diff_guest"
# Timeout of each guest in seconds, for a hang that no case notices; a busy host is slow.
TIMEOUT = "900"
building = threading.Lock()


class Guest:
    """One guest of a part: its name, its script, and its environment."""

    def __init__(self, name, *script, **environment):
        self.name, self.script, self.environment = name, script, environment
        self.options, self.seconds, self.kver = (), 0, "um"


def long(seconds, guest):
    """Sets the time that this guest takes on an idle host."""
    guest.seconds = seconds
    return guest


def in_virtual_time(guest):
    """Lets this guest's clock leap while it waits, so long waits cost nothing, and run slowly while
    it computes. Not for a test that runs until a point in time."""
    guest.options += ("--virtual-time",)
    return guest


def without_hooks(guest):
    """Runs this guest on the kernel whose TCP has no SMC hooks."""
    guest.kver = PLAIN
    return guest


def again(parts, change):
    """Returns all guests of these parts once more, with a change."""
    guests = [copy.deepcopy(guest) for part in parts for guest in PARTS[part]]
    for number, guest in enumerate(guests, 1):
        guest.name = f"{guest.name}-{number}"
        change(guest)
    return guests


def large(guest):
    guest.options = ("--mem", "4096")
    return guest


def busy(guest):
    """Gives this guest time for everything that starts in it."""
    guest.options = ("--mem", "2048", "--timeout", "2400")
    return guest


def sockets(shards):
    return [long(50, Guest(f"{n}", RUN_IN_VM, SMC_TESTS="sock memory",
                           SMC_SOCK_ARGS=f"--shard {n}/{shards}"))
            for n in range(1, shards + 1)]


def over_smcr(shards):
    return [Guest(f"{n}", f"{SUITE}/rdma/sock_guest", "-V", "smc4", "--shard", f"{n}/{shards}")
            for n in range(1, shards + 1)]


def without_orphans(*names):
    """Returns a guest that plays these cases over SMC-R while no socket may outlive its file."""
    cases = [word for name in names for word in ("-t", name)]
    return Guest("no_orphans", f"{SUITE}/rdma/sock_guest", "-V", "smc4", *cases,
                 SMC_PARAMS="max_orphans=0")


def tests(*names):
    return Guest(names[0], RUN_IN_VM, SMC_TESTS=f"{' '.join(names)} memory")


def rogue(*parts):
    return Guest(parts[0], f"{SUITE}/rdma/rogue_guest", *parts)


def stress(*modes, first_seed=1):
    """Returns a guest with colliding calls; the seed is the same each time."""
    return [Guest(mode.partition(":")[0], f"{SUITE}/stress/stress_guest", mode, "-s", str(seed))
            for seed, mode in enumerate(modes, first_seed)]


def fuzz(programs, seed, clock=""):
    """Returns guests that run programs of system calls, over loopback and over SMC-R."""
    return [Guest(f"loopback{clock}", FUZZ, "-n", f"{programs}", "-s", f"{seed}"),
            Guest(f"rdma{clock}", FUZZ, "rdma", "-n", f"{programs // 2}", "-s", f"{seed}")]


# Tests that mostly wait share a guest, because booting a guest and looking for leaks takes three
# seconds of processor time.
PARTS = {
    "um-kselftest": [tests("netlink", "many", "fault"), *map(in_virtual_time, (
        long(94, tests("module")), long(74, tests("budget")),
        tests("stall", "owner", "signed", "hostile"), long(46, tests("input"))))],
    "um-sockets": [*map(in_virtual_time, sockets(4))],
    "um-stress": stress("loopback:15", "clc:15", "nobody:8", "namespaces:8", "fallback:8",
                        "stalls:8", "rdma:15"),
    "um-smcr": [*map(in_virtual_time, (
        *over_smcr(2),
        without_orphans("close_plain", "close_unsent", "exit_unsent", "linger_wait",
                        "close_at_once", "close_while_sending", "time_wait_client",
                        "time_wait_server", "churn", "close_member"),
        Guest("fault", f"{SUITE}/rdma/sock_guest", "fault"),
        Guest("xfer", f"{SUITE}/rdma/xfer_guest")))],
    "um-rogue": [*map(in_virtual_time, (rogue("time", "clc", "cdc", "peer"),
                                        rogue("llc", "link", "wait", "stall", "gateway", "moments"),
                                        rogue("device", "many", "verbs", "gone", "containers",
                                              "second_path"),
                                        rogue("links", "cont", "verbs2", "late", "exchanges",
                                              "failover")))],
    "um-failover": [*map(in_virtual_time, (
        long(60, Guest("switch", f"{SUITE}/rdma/failover_switch")),
        Guest("v1", f"{SUITE}/rdma/failover_switch", "--v1", "client_down", "server_deleted",
              "other_down"),
        Guest("ends", f"{SUITE}/rdma/failover_ends"),
        Guest("buffers", f"{SUITE}/rdma/buffers"),
        Guest("which_group", f"{SUITE}/rdma/which_group")))],
    "um-fuzz": [*map(in_virtual_time, [*fuzz(600, seed=1),
                                       Guest("compare", DIFF, "-n", "2000", "-s", "5"),
                                       Guest("options", DIFF, "-o", "2")])],
    "um-admin": [long(30, Guest("tools", f"{TESTING}/../smcss/tests/test_guest")),
                 long(48, Guest("admin", f"{SUITE}/admin/admin_guest", "golden", "reader", "churn",
                                SMC_CHURN_SECONDS="5", SMC_DEBUG_KERNEL="1")),
                 *map(in_virtual_time, (
                     Guest("saved", f"{TESTING}/../smcss/tests/test_saved"),
                     Guest("convert", f"{TESTING}/../smcss/tests/test_switch"),
                     long(66, Guest("steering", f"{SUITE}/policy/steer_test")),
                     Guest("pairs", f"{SUITE}/policy/pair_test")))],
    "um-nohooks": [*map(in_virtual_time, map(without_hooks, (
        Guest("option", TCPOPT), Guest("sockets", RUN_IN_VM, SMC_TESTS="sock memory",
                                       SMC_SOCK_ARGS="--shard 5/16"))))],
    "um-services": [busy(long(200, Guest("services", f"{SUITE}/programs/programs_guest", "services")))],
    "um-many": [large(Guest("many", RUN_IN_VM, SMC_TESTS="many memory", SMC_MANY="100000"))],
}


SUITES = ("um-kselftest", "um-sockets", "um-smcr", "um-rogue", "um-failover", "um-stress", "um-fuzz",
          "um-admin")
PARTS["nohooks"] = again(SUITES, without_hooks)
PARTS["netfilter"] = [Guest("option", TCPOPT, **NETFILTER),
                      *again(SUITES, lambda guest: guest.environment.update(NETFILTER))]


@functools.cache
def built(kver):
    """Builds our module for User Mode Linux, once for all parts. Returns what went wrong."""
    said = []
    directory, kernel = kernels.debug(kver)
    built_quietly(types.SimpleNamespace(line=said.append), kernel.version, "modules", "TEST=1",
                  f"KDIR={directory}", "ARCH=um")
    return said if said[-1].startswith("not ok") else []


def ready(part, *kvers):
    wrong = []
    with building:
        for kver in kvers or ("um",):
            if part.run([f"{TESTING}/vm/debug-kernel", kver]):
                part.line("not ok - build the kernel for User Mode Linux")
                return False
            wrong += built(kver)
    for line in wrong:
        part.line(line)
    return not wrong


def ready_for_peers(part, *kvers):
    """As ready(), and the kernel's own module is there as a peer."""
    if ready(part, *kvers) and not part.run([f"{TESTING}/vm/kernel-loopback", "um"]):
        return True
    part.line("not ok - build what two hosts need")
    return False


def play(stream, script, *options, kver="um", seconds=0, **environment):
    """Runs one guest, as soon as there is a free slot."""
    with slots.one(seconds) as cpu:
        stream.suite(stream.tag,
                     [f"{TESTING}/vm/run", "--kver", kver, "--variant=-test", "--timeout", TIMEOUT,
                      "--cpu", f"{cpu}", "--name", stream.tag, *options, "--", *script],
                     **environment)


def play_guest(part, guest):
    play(part.stream(guest.name), guest.script, *guest.options, kver=guest.kver,
         seconds=guest.seconds, **guest.environment)


def check(part):
    if ready(part, *dict.fromkeys(guest.kver for guest in PARTS[part.name])):
        part.together([(play_guest, guest) for guest in PARTS[part.name]])


def check_services(part):
    """Runs server programs of Debian. Without their packages they are skipped. With
    SMC_WRITE_PROGRAMS=1 it writes the table of Documentation/programs.md."""
    part.run([f"{TOP}/tools/install-packages", "services"])
    check(part)
    if os.environ.get("SMC_WRITE_PROGRAMS") == "1" and not part.all("failed"):
        with open(f"{TOP}/build/check/{part.name}.services.log", encoding="utf-8") as lines:
            write_programs([line[2:] for line in lines if line.startswith("# | ")])


def write_programs(rows):
    """Replaces the rows between the two marks of the document."""
    with open(PROGRAMS, encoding="utf-8") as file:
        before, begin, rest = file.read().partition("<!-- rows of the run -->\n")
    _, end, after = rest.partition("<!-- end of the rows -->\n")
    with open(f"{PROGRAMS}.new", "w", encoding="utf-8") as file:
        file.write("".join([before, begin, *PROGRAMS_HEAD, *sorted(rows, key=str.lower), end, after]))
    os.rename(f"{PROGRAMS}.new", PROGRAMS)


ROUND = 300	# seconds of each guest of soak-um
MODES = ("loopback", "clc", "nobody", "namespaces", "fallback", "stalls", "rdma")


def check_soak_um(part):
    """Runs colliding calls for SMC_SOAK_SECONDS in total, in all modes in turn. Each guest has
    another seed, and is checked for leaks."""
    rounds = max(1, int(os.environ.get("SMC_SOAK_SECONDS", 7200)) // ROUND)
    seed = int(os.environ.get("SMC_STRESS_SEED", time.time())) % 1000000
    if not ready(part):
        return
    for n in range(0, rounds, 2):
        guests = [guest for i in range(n, min(n + 2, rounds))
                  for guest in stress(f"{MODES[i % len(MODES)]}:{ROUND}", first_seed=seed + i)]
        for i, guest in enumerate(guests):
            guest.name += f"-{seed + n + i}"
            guest.options += ("--timeout", f"{4 * ROUND}")
        part.line(f"# round {n + 1} of {rounds}, seed {seed + n}")
        part.together([(play_guest, guest) for guest in guests])


def check_soak_fuzz(part):
    """Runs SMC_SOAK_PROGRAMS programs, with another seed each time. In virtual time no call is
    preempted, so half of them run in real time."""
    programs = int(os.environ.get("SMC_SOAK_PROGRAMS", 250000)) // 3
    seed = int(os.environ.get("SMC_FUZZ_SEED", time.time()))
    if ready(part):
        guests = [*map(in_virtual_time, fuzz(programs, seed, "-virtual")), *fuzz(programs, seed + 1)]
        for guest in guests:
            guest.options += ("--timeout", f"{600 + programs}")
        part.together([(play_guest, guest) for guest in guests])


def check_rig(part):
    with slots.one(FIRST):
        part.suite("endings", [f"{TESTING}/vm/test_endings"], **BEFORE_OTHERS)


def strict_ready(part):
    """The strict RDMA device is there, too."""
    if not part.run([f"{TESTING}/strict/build", "um"]):
        return True
    part.line("not ok - build the strict RDMA device")
    return False


# A seed of these costs half a minute, and others play the same cases or the same device.
DEAR_SEEDS = ("strict_hosts", "strict_shards")


def check_seeds(part):
    """Plays every workload with a seed, and checks that a seed repeats a run."""
    if not ready_for_peers(part, "um", PLAIN) or not strict_ready(part):
        return
    with slots.one(60), slots.one(60):
        part.stream("same").suite("same", [f"{TESTING}/vm/test_seed"])
        part.stream("workloads").suite(
            "workloads", [f"{TESTING}/seeds", "all", "--from", "1", "--count", "5", "--built",
                          *(word for name in DEAR_SEEDS for word in ("--without", name))])


def check_soak_seeds(part):
    """Plays new seeds of all workloads in turn, for SMC_SOAK_SECONDS."""
    minutes = int(os.environ.get("SMC_SOAK_SECONDS", 7200)) / 60
    if ready_for_peers(part, "um", PLAIN) and strict_ready(part):
        part.suite("seeds", [f"{TESTING}/seeds", "all", "--new", "--minutes", f"{minutes}", "--built"])


# name: client, server, cases
PAIRS = {
    "ours-ours": ("ours", "ours", "transfer_quick many churn_quick half_close_client half_close_server "
                  "urgent_left few_wr_urgent_abort withdrawn "
                  "close_unread_client close_unread_server kill_client kill_server all_ended v1 "
                  "transfer_v6 urgent_first rkeys_cross few_wr_many tools unload"),
    "ours-kernel": ("ours", "kernel", "transfer_quick many churn_quick half_close_client "
                    "close_unread_server unload"),
    "kernel-ours": ("kernel", "ours", "transfer_quick many churn_quick half_close_client "
                    "close_unread_server unload"),
}


def check_pairs(part):
    """Runs two hosts with soft-RoCE, which times out when it has to wait. So only one pair runs at
    a time, and it has priority over all others."""
    if ready_for_peers(part):
        play(part.stream("taken"), [f"{TESTING}/guest_taken"])
        play_pairs(part)


def play_pairs(part, **environment):
    for name, (client, server, cases) in PAIRS.items():
        with slots.one(FIRST), slots.one(FIRST):
            part.stream(name).suite(
                name, [f"{SUITE}/rdma/pair", "--client", client, "--server", server, "--kver", "um",
                       "--variant=-test", "--name", f"{part.name}-{name}", "--timeout", "300", "--",
                       *cases.split()],
                # Leaks of our module have been found by then, and leaks of the kernel's own module
                # do not count.
                **{} if client == server else {"SMC_NO_LEAKS": "1"}, **BEFORE_OTHERS, **environment)


# The same between a kernel without hooks and one with hooks: (client, its kernel, server, its
# kernel)
NO_HOOKS = {
    "netfilter-netfilter": ("ours", PLAIN, "ours", PLAIN),
    "netfilter-hooks": ("ours", PLAIN, "ours", "um"),
    "hooks-netfilter": ("ours", "um", "ours", PLAIN),
    "netfilter-kernel": ("ours", PLAIN, "kernel", "um"),
    "kernel-netfilter": ("kernel", "um", "ours", PLAIN),
}


def check_nohooks_pairs(part):
    if not ready_for_peers(part, "um", PLAIN):
        return
    for name, (client, client_kver, server, server_kver) in NO_HOOKS.items():
        cases = PAIRS[f"{client}-{server}"][2].split()
        if "transfer_v6" not in cases:
            cases.insert(1, "transfer_v6")
        with slots.one(FIRST), slots.one(FIRST):
            part.stream(name).suite(
                name, [f"{SUITE}/rdma/pair", "--client", client, "--server", server, "--kver",
                       server_kver, "--client-kver", client_kver, "--variant=-test", "--name",
                       f"{part.name}-{name}", "--timeout", "300", "--", *cases],
                **{} if client == server else {"SMC_NO_LEAKS": "1"}, **BEFORE_OTHERS)


PAIR, SOCKETS = [f"{SUITE}/rdma/pair"], [f"{TESTING}/vm/run", "--vms", "2"]
SOCKET_CASES = [f"{SUITE}/rdma/sock_pair", "-V", "smc4"]
SOME_OF_THEM = [*SOCKET_CASES, "--shard", "1/3"]	# the part ism runs all of them
# Each host has half of the memory, which leaves room for hundreds of connections.
SHARED, MODEL = ["--ism", "256"], ["--ism-model"]
# Cases for what is different with IBM's function: it copies, how it is signalled, and its faults.
# What becomes of memory when a connection ends
REUSE = "late_abort late_abort_leak late_write early_churn strangers".split()
TOLD = [*REUSE, *("transfer_quick urgent shown_ism kill_client unload after_tcp ism_unbound_server ism_dead_client "
        "ism_storm ism_fails_server ism_silent_client ism_wrong_server ism_keeps_dmb ism_v1 ism_v1_vlan "
        "ism_charged ism_not_started ism_confirmed_late").split()]
# A machine that comes back with another peer id finds no slot until its old one is considered dead.
REBORN = "reborn_other transfer_quick reborn_same duplex reborn_other churn_quick".split()
# A virtio-ism device, in its two forms, and its faults
VIRTIO = {form: ["--ism-virtio", form] for form in ("43", "44")}
POLLED = [*REUSE, *("transfer_quick churn_quick half_close_client kill_client unload after_tcp unplugged_server "
          "replugged_unread replugged_ended replugged_watched virtio_alloc_fails_client virtio_attach_fails_server virtio_outside_server "
          "virtio_garbage_server virtio_keeps after_tcp power_off_ism").split()]
# The memory is so small that the connections of these cases use it up.
PAUSED = (["--ism", "8"], ["paused", "replugged"])
PEERS = [*SHARED, "--ism-peers"]
MAPS, COPIES, MANY = "slots=2", "slots=2 copying=1", "slots=16"
# Tests of two hosts with an ISM device: {part: {name: (program, device, arguments, its
# parameters)}}
ISM = {
    "um-ism": {"mapped": (PAIR, SHARED, [], MAPS), "sockets": (SOCKETS, SHARED, SOME_OF_THEM, MAPS),
               "model": (PAIR, MODEL, TOLD, ""), "virtio": (PAIR, VIRTIO["44"], POLLED, "")},
    "ism": {"copying": (PAIR, SHARED, [], COPIES), "mapped": (SOCKETS, SHARED, SOCKET_CASES, MAPS),
            "sockets": (SOCKETS, SHARED, SOCKET_CASES, COPIES), "model": (PAIR, MODEL, [], ""),
            "peers": (PAIR, PEERS, [], MANY), "reborn": (PAIR, SHARED, REBORN, MAPS),
            "virtio-43": (PAIR, VIRTIO["43"], [], ""), "virtio-44": (PAIR, VIRTIO["44"], [], ""),
            "paused": (PAIR, *PAUSED, MAPS), "paused-copying": (PAIR, *PAUSED, COPIES),
            "paused-virtio": (PAIR, VIRTIO["43"], ["paused"], ""),
            "shell": ([f"{TESTING}/vm/test_shell"], SHARED, [], MANY)},
}
# On a slow host, all cases with the model of IBM's function take more than 900 s.
SECONDS = {"um-ism": TIMEOUT, "ism": "1800"}


def play_ism(part, name):
    program, device, arguments, parameters = ISM[part.name][name]
    with slots.one(60):
        part.stream(name).suite(
            name, [*program, *device, "--kver", "um", "--variant=-test", "--timeout",
                   SECONDS[part.name], "--name", f"{part.name}-{name}", "--", *arguments],
            SMC_ISM_PARAMS=parameters)


def check_ism(part):
    """Runs the tests of two hosts with an ISM device."""
    if not ready(part) or part.run(["make", "-s", "-C", f"{TESTING}/ism"]):
        part.line("not ok - build what the hosts need")
        return
    part.together([(play_ism, name) for name in ISM[part.name]])


FAILOVER = f"{SUITE}/rdma/failover_pair"
STRICT = {"SMC_RDMA_TYPE": "strict"}
QUICK_LOSSES = ("bulk_down_server_used", "churn_device_client")
# With the kernel's own module at one end. That module does not survive all losses, even with itself
# as the peer. Its silence costs fifteen seconds, so one loss is enough. No loss of a connection
# that is closed in one direction: two such modules lose bytes then, hang, or use up the memory.
PEER_LOSSES = ("bulk_down_server_used bulk_down_client_used bulk_device_server_used "
               "bulk_device_client_used ping_pong_down_server_used bulk_silent_server_used").split()
# Not with the kernel's own module as the server: after DELETE LINK it keeps the dead link for 20 s,
# and then ends the group. It did so in 4 of 6 runs with itself as the client, in 12 of 16 with ours.
PEER_CLIENT_LOSSES = ["ping_pong_device_client_used"]


def failover_pair(part, name, *options, **environment):
    with slots.one(FIRST), slots.one(FIRST):
        part.stream(name).suite(
            name, [FAILOVER, "--kver", "um", "--name", f"{part.name}-{name}", *options],
            # As in check_pairs: leaks of the kernel's own module do not count.
            **{"SMC_NO_LEAKS": "1"} if "kernel" in options else {}, **BEFORE_OTHERS, **environment)


def check_failover_quick(part):
    """Loses links between two hosts, with our module at both ends."""
    if ready(part):
        failover_pair(part, "losses", "--times", "1", "--", *QUICK_LOSSES)


def check_failover(part):
    """Runs all cases, a thousand losses in a row, asymmetric links, a hundred losses in version 1,
    and the kernel's own module at either end."""
    if not ready_for_peers(part):
        return
    names = []
    lines_of([FAILOVER, "--list"], lambda line: names.append(line.split()[0]))
    for load in dict.fromkeys(name.partition("_")[0] for name in names):
        failover_pair(part, load, "--times", "1", "--", *(
            name for name in names if name.startswith(f"{load}_")))
    failover_pair(part, "thousand", "--count", "1000", "--seed",
                  os.environ.get("SMC_FAILOVER_SEED", "1"))
    failover_pair(part, "lan", "--lan", "--count", "50")
    failover_pair(part, "v1", "--v1", "--count", "100")
    for client, server in (("ours", "kernel"), ("kernel", "ours")):
        failover_pair(part, f"{client}-{server}", "--client", client, "--server", server, "--times",
                      "1", "--", *PEER_LOSSES, *(PEER_CLIENT_LOSSES if server == "ours" else []))


# So few that its cases can use them up
STRICT_RULES = in_virtual_time(Guest("rules", f"{TESTING}/strict/with", "max_qp=8", "max_mr=8",
                                     f"{TESTING}/strict/run_test"))
STRICT_ENDS = in_virtual_time(Guest("ends", f"{SUITE}/rdma/failover_ends", **STRICT))


def strict_profiles(part, option):
    with slots.one(60):
        part.stream("profiles").suite("profiles", [f"{TESTING}/strict/profiles", option])


def check_strict_quick(part):
    """Runs the strict RDMA device's own cases, the ends of connections over lost links on it, and a
    connection on each profile of a device."""
    if ready(part) and strict_ready(part):
        part.together([(play_guest, STRICT_RULES), (play_guest, STRICT_ENDS),
                       (strict_profiles, "--quick")])


def check_strict(part):
    """Runs the pairs and losses of links with the strict RDMA device (tools/testing/strict) at both
    ends, after its own cases, and the socket cases and losses of links on each profile of a device."""
    if not ready_for_peers(part) or not strict_ready(part):
        return
    play_guest(part, STRICT_RULES)
    strict_profiles(part, "--spread")
    play_pairs(part, **STRICT)
    failover_pair(part, "losses", "--times", "1", "--", *QUICK_LOSSES, "bulk_roce_server_used", **STRICT)
    for client, server in (("ours", "kernel"), ("kernel", "ours")):
        failover_pair(part, f"losses-{client}-{server}", "--client", client, "--server", server,
                      "--times", "1", "--", *PEER_LOSSES, **STRICT)


def check_programs(part):
    """Runs real programs between two hosts, which lose a link again and again."""
    if ready(part):
        part.suite("programs", [f"{SUITE}/rdma/pair", "--links", "2", "--kver", "um", "--variant=-test",
                                "--name", part.name, "--timeout", TIMEOUT, "--mem", "2048", "--",
                                "losing_redis", "losing_postgres"])
