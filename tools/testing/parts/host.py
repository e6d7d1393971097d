# SPDX-License-Identifier: GPL-2.0
"""The tests that run on the host: logic that compiles in user space, the checks of the source and
the documents, builds, and the tests for a change of some files."""
import os
import subprocess
import time

import needs
from parts import um
from parts.part import SUITE, TESTING, TOP, built_quietly

import kernel as kernels


def make(*words):
    return f"{os.path.basename(words[0])}, {words[1]}", ["make", "-s", "-C", *words]


# Two of them run at a time; each runs one program after the other.
ON_HOST = {
    "models": [("models", [f"{SUITE}/model/check_models"]),
               ("litmus", [f"{SUITE}/model/check_litmus"]),
               ("admin", [f"{SUITE}/admin/check_host"]),
               ("install", [f"{TESTING}/test_install"]),
               ("rig", [f"{TESTING}/vm/test_rig"]),
               ("house", [f"{TESTING}/house/check_house", "-calls"])],
    "units": [make(f"{SUITE}/unit", "check"), make(f"{SUITE}/unit", "check-s390x"),
              make(f"{SUITE}/fuzz", "smoke"), make(f"{SUITE}/llcsim", "check"),
              make(f"{TOP}/tools/smcss", "check"), make(f"{TOP}/tools/ivshmem", "check"),
              make(f"{TOP}/tools/include", "check")],
}


def play_suites(part, name):
    stream = part.stream(name)
    for suite, command in ON_HOST[name]:
        stream.suite(suite, command)


def check_host(part):
    part.together([(play_suites, name) for name in ON_HOST])


def check_intree(part):
    part.suite("intree", [f"{TESTING}/intree"])
    part.suite("intree, 7.3", [f"{TESTING}/intree", "--series", "7.3"])


def check_newest(part):
    """Runs a row of the table in Documentation/kernels.md without writing the results; that
    kernel's own ISM device; and looks in its headers for what surface/tcp_table lacks."""
    part.suite("newest", [f"{TESTING}/check_kernels", "--dry", "newest"])
    part.suite("loopback-ism", [f"{TESTING}/vm/run", "--kver", "um-7.3", "--variant=-test", "--timeout",
                                "480", "--name", "check-newest-dibs", "--", f"{TESTING}/guest_dibs"])
    part.suite("seeds", [f"{TESTING}/seeds", "all", "--kver", "um-7.3", "--from", "1", "--count", "5"])
    part.suite("headers", ["sh", "-c", f'python3 {SUITE}/admin/tcp_table.py '
                           f'"$({TESTING}/vm/debug-kernel um 7.3)"'])


def check_build(part):
    """Builds the module for Debian's kernels: as it is installed, and with test hooks. The objects
    tell which files call each other."""
    for version, target, *more in (("6.12", "sparse", "TEST=1"), ("6.1", "modules")):
        kver = kernels.full_version(version)
        built_quietly(part, " ".join((kver, *more)), target, *more, f"KVER={kver}")
    part.suite("calls", [f"{TESTING}/house/check_house", "calls"])


def check_fresh(part):
    part.suite("fresh", [f"{TESTING}/fresh", *part.name.split("-")[1:]])


def check_packages(part):
    part.suite(part.name, [f"{TESTING}/fresh", part.name])


def changed():
    """Returns the files that differ from the last commit."""
    done = subprocess.run(["git", "status", "--porcelain", "--no-renames"], cwd=TOP, text=True,
                          check=True, capture_output=True)
    return [line[3:] for line in done.stdout.splitlines()]


def check_for(part, paths):
    """Runs the steps that needs.py names for these files."""
    paths = [os.path.relpath(os.path.abspath(path), TOP) for path in paths] or changed()
    steps, idle = needs.steps_for(paths)
    for path in idle:
        part.line(f"# {path}: no test covers it")
    if any(step in needs.GUEST or step in needs.PAIRS for step in steps):
        for directory in (SUITE, f"{SUITE}/rdma", f"{TOP}/tools/smcss"):
            part.run(["make", "-s", "-C", directory])
        if not um.ready(part):
            return
    part.together([(play_step, step) for step in steps])


def play_step(part, step):
    started = time.monotonic()
    stream = part.stream(step.replace(" ", "-"))
    if step in needs.HOST:
        stream.suite(step, needs.HOST[step])
    else:
        options = ["--virtual-time"] if step in needs.VIRTUAL else []
        um.play(stream, needs.GUEST[step], *options)
    stream.line(f"# {step} took {time.monotonic() - started:.0f} s")
