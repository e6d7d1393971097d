# SPDX-License-Identifier: GPL-2.0
"""The tests that `tools/testing/check --for` runs for a file: the shortest ones that can find what
a change of the file breaks. They do not replace `make check`."""
import re

SUITE = "tools/testing/selftests/smc"


def rogue(*parts):
    return [f"{SUITE}/rdma/rogue_guest", *parts]


def suite(parts, *more):
    return ["/usr/bin/env", f"SMC_TESTS={parts}", *more, f"{SUITE}/run_in_vm.sh"]


def cases(variants, *names):
    names = " ".join(f"-t {name}" for name in names)
    return suite("sock", f"SMC_SOCK_ARGS=-V {variants} {names}")


MODELS = ("reader", "poll", "window", "update", "pair", "control")

# The steps that run on the host, and those that run in a User Mode Linux guest.
HOST = {
    "unit": ["make", "-s", "-C", f"{SUITE}/unit", "check"],
    "simulation": ["make", "-s", "-C", f"{SUITE}/llcsim", "check", "SCHEDULES=100000",
                   "SANITIZED=5000"],
    "fuzz": ["make", "-s", "-C", f"{SUITE}/fuzz", "smoke"],
    **{f"model {name}": [f"{SUITE}/model/check_models", name] for name in MODELS},
    "litmus": [f"{SUITE}/model/check_litmus"],
    "tools": ["make", "-s", "-C", "tools/smcss", "check"],
    "installation": ["tools/testing/test_install"],
    "headers": ["tools/include/test_headers"],
    "ivshmem server": ["make", "-s", "-C", "tools/ivshmem", "check"],
    "admin": [f"{SUITE}/admin/check_host"],
    "rig": ["tools/testing/vm/test_rig"],
    "house": ["tools/testing/house/check_house"],
    "two hosts": ["env", "SMC_ISM_PARAMS=slots=2", f"{SUITE}/rdma/pair", "--kver", "um",
                  "--variant=-test", "--ism", "256", "--", "transfer_quick", "duplex", "urgent",
                  "close_unread_server", "kill_client", "all_ended", "unplugged_server", "lies_wrap"],
    "losses": [f"{SUITE}/rdma/failover_pair", "--times", "1", "--", "bulk_down_server_used",
               "ping_pong_device_client_used"],
    "ISM peers": ["env", "SMC_ISM_PARAMS=slots=16", f"{SUITE}/rdma/pair", "--kver", "um",
                  "--variant=-test", "--ism", "256", "--ism-peers", "--name", "for-ism-peers", "--",
                  "peers_full", "peers_scribble_marks", "peers_wait_leave", "after_tcp"],
    "virtio-ism": [f"{SUITE}/rdma/pair", "--kver", "um", "--variant=-test", "--ism-virtio", "44", "--name",
                   "for-virtio-ism"],
    "ISM function": [f"{SUITE}/rdma/pair", "--kver", "um", "--variant=-test", "--ism-model", "--name",
                     "for-ism-function"],
}
PAIRS = {"losses", "two hosts", "ISM function", "ISM peers",
	 "virtio-ism"}	# the steps that start guests themselves
GUEST = {
    **{f"sockets {n}": suite("sock", f"SMC_SOCK_ARGS=-V smc4,+clc4 --shard {n}/3") for n in (1, 2, 3)},
    "data": cases("smc4,clc4,tcpsrv4,afsmc6", "echo_sizes", "half_close", "close_unread", "urgent",
                  "reset_wakes", "poll_wakes", "epoll_edge", "outq", "threads_64"),
    "hostile": suite("hostile"),
    "stall": suite("stall owner"),
    "netlink": suite("netlink"),
    "many": suite("many"),
    "signed": suite("signed"),
    "input": suite("input", "SMC_INPUT_CASES=netlink,diag,sysctl"),
    "options": suite("input", "SMC_INPUT_CASES=options"),
    "budget": suite("budget memory"),
    "module": suite("module"),
    "steering": [f"{SUITE}/policy/steer_test"],
    "TCP option": [f"{SUITE}/tcpopt/tcpopt_test"],
    "TCP option by netfilter": ["/usr/bin/env", "SMC_PARAMS=tcp_option=netfilter",
                                f"{SUITE}/tcpopt/tcpopt_test"],
    "pairs": [f"{SUITE}/policy/pair_test"],
    "smcss": ["tools/smcss/tests/test_guest"],
    "saved": ["tools/smcss/tests/test_saved"],
    "switch": ["tools/smcss/tests/test_switch"],
    "reader": [f"{SUITE}/admin/admin_guest", "reader"],
    "fuzz of calls": [f"{SUITE}/callfuzz/fuzz_guest", "-n", "500", "-s", "1"],
    "rogue clc": rogue("clc"),
    **{f"rogue llc {n}": rogue("--shard", f"{n}/2", "llc") for n in (1, 2)},
    "rogue cdc": rogue("cdc"),
    "rogue peer": rogue("peer"),
    **{f"rogue {part}": rogue(part) for part in ("verbs", "verbs2", "late", "links", "cont",
                                                 "exchanges", "failover")},
    "second path": rogue("second_path"),
    "failover": [f"{SUITE}/rdma/failover_switch"],
    "failover v1": [f"{SUITE}/rdma/failover_switch", "--v1", "client_down", "server_deleted"],
    "failover ends": [f"{SUITE}/rdma/failover_ends"],
    "buffers": [f"{SUITE}/rdma/buffers"],
    "which group": [f"{SUITE}/rdma/which_group"],
    "SMC-R": [f"{SUITE}/rdma/sock_guest", "-V", "smc4", "-t", "echo_sizes", "-t", "half_close",
              "-t", "close_unread", "-t", "urgent", "-t", "poll_wakes", "-t", "reset_wakes"],
}

# Steps that wait long, and can run in virtual time.
VIRTUAL = {"hostile", "stall", "signed", "budget", "fuzz of calls", "rogue clc", "rogue llc 1",
           "rogue llc 2", "rogue cdc", "rogue peer", "rogue verbs", "rogue verbs2", "rogue late",
           "rogue links", "rogue cont", "rogue exchanges", "rogue failover", "second path",
           "failover ends"}
SOCKETS = "sockets 1, sockets 2, sockets 3"
LLC = "rogue llc 1, rogue llc 2"

# The first line that matches decides.
NEEDS = [(re.compile(pattern), steps.split(", ")) for pattern, steps in (
    (r"net/smc/wire/tcp_option", "unit, TCP option by netfilter"),
    (r"net/smc/tcpopt/(netfilter|segment)", "TCP option by netfilter"),
    (r"net/smc/tcpopt/", "TCP option, TCP option by netfilter"),
    (r"net/smc/wire/cdc", "unit, fuzz, rogue cdc"),
    (r"net/smc/wire/llc", f"unit, simulation, fuzz, {LLC}"),
    (r"net/smc/wire/", "unit, fuzz, hostile"),
    (r"net/smc/conn/(state|ring)", "unit, data"),
    (r"net/smc/conn/(wait|recv)", "data, SMC-R, model reader, litmus"),
    (r"net/smc/conn/conn", "data, SMC-R, model reader, model poll, model window, litmus"),
    (r"net/smc/conn/reader", "data, SMC-R, model poll, litmus"),
    (r"net/smc/conn/poll", "data, SMC-R, model poll, model window, litmus"),
    (r"net/smc/conn/send", "data, SMC-R, model window, litmus"),
    (r"net/smc/conn/", "data, SMC-R"),
    (r"net/smc/socket/registry|net/smc/admin/diag", "many, reader"),
    (r"net/smc/socket/(sockopt|packets|eligible)", f"{SOCKETS}, options, signed"),
    (r"net/smc/socket/ulp", f"{SOCKETS}, options"),
    (r"net/smc/socket/(release|orphan|shutdown|defer)", f"{SOCKETS}, stall"),
    (r"net/smc/socket/", SOCKETS),
    (r"net/smc/handshake/pair", "data, pairs, model pair, litmus"),
    (r"net/smc/handshake/(client|run)", "data, hostile, stall, model pair, litmus"),
    (r"net/smc/handshake/", "data, hostile, stall"),
    (r"net/smc/mem/", "budget, buffers, SMC-R"),
    (r"net/smc/fabric/(rdma/conn/cdc|msg/)",
     "rogue cdc, rogue late, rogue failover, failover ends, SMC-R, model window, model update, litmus"),
    (r"net/smc/fabric/rdma/link/", "rogue verbs, rogue verbs2, rogue failover, SMC-R"),
    (r"net/smc/fabric/rdma/lgr/rtoken", "simulation, rogue cdc, SMC-R"),
    (r"net/smc/fabric/rdma/conn/(?!move)", "rogue cdc, SMC-R"),
    (r"net/smc/fabric/rdma/ib/.*second_path", "second path"),
    (r"net/smc/fabric/rdma/ib/(gid|path|next_hop)", "rogue clc, second path, SMC-R"),
    (r"net/smc/fabric/rdma/(ib/|rdma)", "rogue clc, SMC-R"),
    (r"net/smc/fabric/rdma/lgr/(links|failover|new_link|new_path|report)",
     "simulation, failover, rogue failover, SMC-R"),
    (r"net/smc/fabric/rdma/conn/move",
     "failover, failover ends, rogue late, rogue failover, SMC-R"),
    (r"net/smc/fabric/rdma/lgr/(lgr|group|active)", "rogue peer, which group, SMC-R"),
    (r"net/smc/fabric/rdma/lgr/(retire|release|llc_unused)", "simulation, buffers"),
    (r"net/smc/fabric/rdma/lgr/llc_add",
     f"simulation, {LLC}, rogue links, rogue cont, rogue exchanges, failover, failover v1"),
    (r"net/smc/fabric/rdma/lgr/llc", f"simulation, {LLC}, rogue links, rogue exchanges"),
    (r"net/smc/fabric/rdma/lgr/(mem|end|ending)", "simulation, rogue peer, SMC-R"),
    (r"net/smc/fabric/rdma/show", "reader"),
    (r"net/smc/fabric/rdma/", "rogue peer, SMC-R"),
    (r"net/smc/fabric/smcd/loopback", "data, SMC-R, model window, litmus"),
    (r"net/smc/fabric/smcd/control", "two hosts, model control, litmus"),
    (r"net/smc/fabric/smcd/", "two hosts, netlink"),
    (r"net/smc/wire/control", "unit, two hosts"),
    (r"net/smc/fabric/", "data, SMC-R"),
    (r"net/smc/drivers/ivshmem/(region|order|format)", "unit, fuzz, two hosts, virtio-ism"),
    (r"net/smc/drivers/virtio/(home|window|format)", "unit, fuzz, virtio-ism"),
    (r"net/smc/drivers/virtio/", "virtio-ism"),
    (r"net/smc/drivers/ism_pci/format", "unit, ISM function"),
    (r"tools/testing/ism/(peers|region)", "ISM peers"),
    (r"net/smc/drivers/ism_pci/|tools/testing/ism/", "ISM function"),
    (r"net/smc/drivers/dibs/", "house"),
    (r"net/smc/drivers/", "two hosts"),
    (r"net/smc/policy/(rules|ewma)", "unit, steering"),
    (r"net/smc/policy/", "steering"),
    (r"net/smc/events|net/smc/admin/genl_event", "smcss, admin"),
    (r"net/smc/(admin|config)/", "netlink, input, reader"),
    (r"net/smc/(stats|trace)", "netlink"),
    (r"net/smc/(main|netns)", "module"),
    (r"net/smc/coverage", "fuzz of calls"),
    (r"net/smc/", "data"),
    (r"include/uapi/", "admin, tools, reader"),
    (r"tools/smcss/tests/test_guest", "smcss"),
    (r"tools/smcss/tests/test_saved", "saved"),
    (r"tools/smcss/tests/test_switch|tools/smcss/lib/convert_|tools/smcss/(objects/.*convert|smc_run/)",
     "tools, admin, switch"),
    (r"tools/smcss/bpftrace/|tools/smcss/tests/test_bpftrace", "admin, house"),
    (r"tools/smcss/objects/state", "tools, admin, saved"),
    (r"tools/smcss/.*\.[ch8]$|tools/smcss/Makefile", "tools, admin, smcss"),
    (r"tools/smcss/", "tools"),
    (r"tools/ivshmem/", "ivshmem server"),
    (r"tools/install-modules|tools/testing/test_install", "installation"),
    (r"Documentation/examples/oci-convert", "switch"),
    (r"tools/include/|Documentation/examples/", "headers"),
    (r"VERSION|CHANGELOG|debian/", "admin"),
    (r"tools/testing/vm/|tools/testing/check", "rig"),
    (f"{SUITE}/unit/", "unit"),
    (f"{SUITE}/llcsim/", "simulation"),
    (f"{SUITE}/fuzz/", "fuzz"),
    (f"{SUITE}/model/(reader|poll|window|update|pair|control)", "model {}"),
    (f"{SUITE}/model/.*(litmus|lkmm)", "litmus"),
    (f"{SUITE}/model/", ", ".join(f"model {name}" for name in MODELS)),
    (f"{SUITE}/callfuzz/", "fuzz of calls"),
    (f"{SUITE}/socket/", SOCKETS),
    (f"{SUITE}/netlink/many", "many"),
    (f"{SUITE}/netlink/", "netlink"),
    (f"{SUITE}/hostile/smc_signed", "signed"),
    (f"{SUITE}/lib/trap", "stall, signed"),
    (f"{SUITE}/surface/.*option", "options"),
    (f"{SUITE}/surface/", "input, options, fuzz of calls"),
    (f"{SUITE}/(hostile|lib)/", "hostile"),
    (f"{SUITE}/memory/memory_budget", "budget"),
    (f"{SUITE}/module/", "module"),
    (f"{SUITE}/policy/pair", "pairs"),
    (f"{SUITE}/tcpopt/", "TCP option, TCP option by netfilter"),
    (f"{SUITE}/policy/", "steering"),
    (f"{SUITE}/admin/(admin_guest|churn|host|reader|regenerate)", "reader"),
    (f"{SUITE}/admin/", "admin"),
    (f"{SUITE}/rdma/rogue_cases_llc", LLC),
    (f"{SUITE}/rdma/rogue_cases_(clc|cdc|many|peer|late|links|cont|exchanges|failover)", "rogue {}"),
    (f"{SUITE}/rdma/rogue_(cases_)?verbs", "rogue verbs, rogue verbs2"),
    (f"{SUITE}/rdma/rogue_links", "rogue links, rogue cont, rogue exchanges, rogue failover"),
    (f"{SUITE}/rdma/second_path", "second path"),
    (f"{SUITE}/rdma/failover_(switch|shown)", "failover"),
    (f"{SUITE}/rdma/failover_ends", "failover ends"),
    (f"{SUITE}/rdma/(failover|losses|xfer_(failover|churn|live))", "losses"),
    (f"{SUITE}/rdma/ism_peers", "ISM peers"),
    (f"{SUITE}/rdma/ism_virtio", "virtio-ism"),
    (f"{SUITE}/rdma/ism_", "ISM function"),
    (f"{SUITE}/rdma/buffers", "buffers"),
    (f"{SUITE}/rdma/which_group", "which group"),
    (f"{SUITE}/rdma/", "SMC-R"),
    (r"Documentation/|README|CONTRIBUTING|tools/testing/mut", "admin"),
)]


def steps_for(paths):
    """Returns the names of the steps, host steps first, and the files that need none."""
    wanted, idle = ["house"], []	# cheap, and it checks every kind of file
    for path in paths:
        for pattern, steps in NEEDS:
            match = pattern.match(path)
            if match:
                wanted += [step.format(*match.groups()) for step in steps]
                break
        else:
            idle.append(path)
    return [step for step in (*HOST, *GUEST) if step in wanted], idle
