# SPDX-License-Identifier: GPL-2.0
"""The output functions of the acts of make demo."""
import os
import sys
import time

COLOUR = os.environ.get("SMC_DEMO_COLOUR")
# Includes the time before this machine had booted.
started = time.monotonic() - float(os.environ.get("SMC_DEMO_ELAPSED", 0)) - \
    float(open("/proc/uptime", encoding="ascii").read().split()[0])


def paint(code, text):
    return f"\x1b[{code}m{text}\x1b[0m" if COLOUR else text


def say(text):
    print(f"[{time.monotonic() - started:2.0f} s] {text}", flush=True)


def show(text):
    print("".join(f"         {line}\n" for line in text.rstrip().splitlines()), end="", flush=True)


def fail(text):
    print(paint("31", f"FAILED: {text}"), flush=True)
    sys.exit(1)


def bar(value, most, width=36):
    eighths = max(1, round(8 * width * value / most))
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def table(rows):
    """Prints a table; each row is (what, unit, TCP, SMC)."""
    print("\n" + paint("1", "  More is better"), flush=True)
    for name, unit, tcp, smc in rows:
        most = max(tcp, smc)
        print(f"\n  {name}")
        for mode, value, code in (("TCP", tcp, "33"), ("SMC", smc, "36")):
            line = f"{bar(value, most):36}"
            times = f"   {smc / tcp:.1f} x" if mode == "SMC" else ""
            print(f"    {mode} {paint(code, line)} {value:10,.0f} {unit}{times}", flush=True)
