# SPDX-License-Identifier: GPL-2.0
"""Rows of bench/run_bench with real, unmodified programs, with smc_run and without it.

Loopback, default buffers, both transports in one boot. By the wall clock with two processors, and
with one processor whose clock counts its instructions. Only the ratio of SMC to TCP is meaningful;
the figures themselves are those of an emulated machine.
"""
import collections
import statistics

SECONDS = 3

# target: what the ratio of SMC to TCP must reach (a minimum if more is better). incumbent: the
# ratio of the kernel's own SMC over loopback, measured elsewhere.
Program = collections.namedtuple("Program", "label row unit target more incumbent",
                                 defaults=(True, None))
PROGRAMS = (
    Program("nginx, wrk, 1 KiB, keep-alive", "nginx-keepalive", "req/s", 2.4, True, 2.0),
    Program("nginx, wrk, 1 KiB, one each", "nginx-close", "req/s", 0.8, True, 0.46),
    Program("curl, 64 MiB from nginx", "curl", "MB/s", 1.2),
    Program("redis GET 1 KiB, 50 clients", "redis-get", "req/s", 2.6, True, 2.2),
    Program("redis SET 1 KiB, 50 clients", "redis-set", "req/s", 2.6, True, 2.2),
    Program("sockperf stream 64 000 B", "sockperf-stream", "MB/s", 1.3, True, 0.56),
    Program("sockperf latency 14 B", "sockperf-latency", "us", 0.5, False, 0.61),
    Program("iperf3", "iperf3", "Mbit/s", 1.3, True, 0.56),
)


def of_lines(lines, wanted, progress):
    """Returns the result of each wanted program from the lines of JSON that programs.sh prints."""
    runs = collections.defaultdict(lambda: collections.defaultdict(list))
    for one in lines:
        runs[one["program"]][one["transport"]].append(one["value"])
        progress(one)
    return [summary(program, runs[program.row]) for program in wanted]


def summary(program, runs):
    median = {transport: statistics.median(values) for transport, values in runs.items()}
    ratio = median["smc"] / median["tcp"] if len(median) == 2 and median["tcp"] else None
    return program._asdict() | {"value": median, "runs": runs, "ratio": ratio}


def reached(row):
    if row["ratio"] is None:
        return False
    return row["ratio"] >= row["target"] if row["more"] else row["ratio"] <= row["target"]


def spread(values):
    return f"{min(values):,.0f}-{max(values):,.0f}" if values else "-"


def as_ratio(value):
    return "-" if value is None else f"{value:.2f}"


def print_beside(rows, kernel):
    """Prints the kernel's own SMC on this machine, and the ratios that the targets are based on."""
    print(f"\n  {'ratio of SMC to TCP':32}{'ours':>10}{'kernel':>10}{'kernel, elsewhere':>20}"
          f"{'target':>10}")
    for row, own in zip(rows, kernel):
        print(f"  {row['label']:32}{as_ratio(row['ratio']):>10}{as_ratio(own['ratio']):>10}"
              f"{as_ratio(row['incumbent']):>20}{row['target']:>10.2f}")


def print_table(rows, counted, kernel=()):
    """counted: the same programs on one processor, with time counted in instructions. kernel: the
    same programs with the kernel's own SMC."""
    print(f"\n  {'programs, two CPUs, wall clock':32}{'':8}{'TCP':>10}{'SMC':>10}   smc/tcp"
          f"  target           one CPU, counted   runs of TCP, of SMC")
    for row, exact in zip(rows, counted):
        value = {t: f"{row['value'][t]:,.0f}" if t in row["value"] else "-"
                 for t in ("tcp", "smc")}
        target = f"{'>=' if row['more'] else '<='} {row['target']:.1f}"
        print(f"  {row['label']:32}{row['unit']:8}{value['tcp']:>10}{value['smc']:>10}"
              f"{as_ratio(row['ratio']):>10}  {target} "
              f"{'reached' if reached(row) else 'missed ':8}{as_ratio(exact['ratio']):>13}"
              f"       {spread(row['runs'].get('tcp'))}, {spread(row['runs'].get('smc'))}")
    if kernel:
        print_beside(rows, kernel)
    good = [row["label"] for row in rows if reached(row)]
    print(f"\n  {len(good)} of {len(rows)} targets of programs reached by the medians")
