# SPDX-License-Identifier: GPL-2.0
"""iperf3 in both directions, alone and in parallel, and sockperf."""
import json

from program import LOOPBACK, PREFIX, run, server, succeeds

CONNECTIONS = 12
PORT, SOCKPERF = 5201, 11111
SMC = PREFIX["smc"]


def moved(*options, host=LOOPBACK, mib=32):
    """Has everything arrived, according to iperf3? Each stream may send one block too many. The
    receiver stops counting when the sender is done, with TCP too, so a little may be missing."""
    status, said = run(*SMC, "iperf3", "-c", host, "-p", PORT, "-n", f"{mib}M", "-J", *options)
    if status:
        return False
    end = json.loads(said)["end"]
    return (0 <= end["sum_sent"]["bytes"] - (mib << 20) <= 1 << 20 and
            end["sum_received"]["bytes"] > (mib - min(mib // 2, 8)) << 20)


def iperf(host=LOOPBACK):
    return server(*SMC, "iperf3", "-s", "-B", host, "-p", PORT, port=PORT)


def sockperf(host=LOOPBACK):
    return server(*SMC, "sockperf", "server", "--tcp", "-i", host, "-p", SOCKPERF, port=SOCKPERF)


def plays(what, size, host=LOOPBACK):
    return succeeds(*SMC, "sockperf", what, "--tcp", "-i", host, "-p", SOCKPERF, "-m", size,
                    "-t", 2)


def cases():
    with iperf():
        for name, options in (("", ()), (", backwards", ("-R",)), (", 4 streams", ("-P", "4")),
                              (", 4 streams backwards", ("-P", "4", "-R")),
                              (", zero copy", ("-Z",))):
            yield f"iperf3: 32 MiB{name}", moved(*options)
    with sockperf():
        for what, size in (("ping-pong", 14), ("throughput", 64000)):
            yield f"sockperf: {what}", plays(what, size)
