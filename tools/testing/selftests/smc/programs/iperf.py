# SPDX-License-Identifier: GPL-2.0
"""iperf3 in both directions, alone and in parallel, and sockperf."""
import json

from program import PREFIX, run, server, succeeds

CONNECTIONS = 12
PORT, SOCKPERF = 5201, 11111
SMC = PREFIX["smc"]


def moved(*options):
    """Has arrived what was sent, by iperf3's own account? When the sender is done the receiver
    looks no further, with TCP as well, so a little may be missing."""
    status, said = run(*SMC, "iperf3", "-c", "127.0.0.1", "-p", PORT, "-n", "32M", "-J", *options)
    if status:
        return False
    end = json.loads(said)["end"]
    return end["sum_sent"]["bytes"] == 32 << 20 and end["sum_received"]["bytes"] > 24 << 20


def cases():
    with server(*SMC, "iperf3", "-s", "-B", "127.0.0.1", "-p", PORT, port=PORT):
        for name, options in (("", ()), (", backwards", ("-R",)), (", 4 streams", ("-P", "4")),
                              (", 4 streams backwards", ("-P", "4", "-R")),
                              (", zero copy", ("-Z",))):
            yield f"iperf3: 32 MiB{name}", moved(*options)
    with server(*SMC, "sockperf", "server", "--tcp", "-i", "127.0.0.1", "-p", SOCKPERF,
                port=SOCKPERF):
        for what, size in (("ping-pong", 14), ("throughput", 64000)):
            yield f"sockperf: {what}", succeeds(
                *SMC, "sockperf", what, "--tcp", "-i", "127.0.0.1", "-p", SOCKPERF, "-m", size,
                "-t", 2)
