# SPDX-License-Identifier: GPL-2.0
"""Checks the command lines of the pages, as far as that is possible without running them. Host
tests. Arguments of smcr, smcss and the like are compared with their help texts, those of make with
the Makefile; modules, settings, packages and files with the tree. Any other program must be in a
list.
"""
import functools
import os
import re
import shlex
import subprocess

import uapi
from uapi import TOP

PAGES = ("install", "quickstart-rdma", "deploy", "faq", "two-vms")
TOOLS = f"{TOP}/build/tools"
OURS = ("smcss", "smcr", "smcd", "smc_pnet", "smc_chk", "smcat", "smc_run")
# Programs of other projects, whose arguments cannot be checked here.
OTHERS = set("docker echo git grep ip iperf3 iwarp ls lspci mkdir mokutil openssl podman qemu-system-x86_64 "
             "rdma reboot redis-server systemctl tee virsh".split())
MODULES = {"smc", "smc_diag", "smc_ism_ivshmem", "smc_ism_virtio", "smc_ism_pci", "rdma_rxe"}
PACKAGES = {"rdma-core"}
APT_OPTIONS = {"--allow-downgrades"}
UNITS = {"smc.service", "smc-ivshmem-server", "smc-ivshmem-server.service", "redis-server"}


@functools.lru_cache(None)
def help_of(tool):
    option = "-h" if tool == "smc_run" else "--help"
    return subprocess.run([f"{TOOLS}/{tool}", option], stdout=subprocess.PIPE, text=True, check=True,
                          timeout=60).stdout


def lines(text):
    """Returns [command line] of the fenced blocks without a language. What is far to the right is a
    remark. A line that begins with capitals, or in a block with a table head, is output."""
    found = []
    for language, block in re.findall(r"(?ms)^```(\w*)\n(.*?)^```", text):
        if language or re.match(r"(?:FID|State|Net-Dev) |<", block):
            continue
        for line in block.replace("\\\n", " ").splitlines():
            line = re.split(r" {2,}|\t", line.strip())[0]
            found += [part.strip() for part in line.split("&&") if part.strip()]
    return found


def short_options(word):
    return [f"-{letter}" for letter in word[1:]]


def wrong_of_tool(tool, words):
    text = help_of(tool)
    if tool == "smc_run":
        # What follows the name of the program belongs to the program.
        words = words[:next((i for i, w in enumerate(words) if not w.startswith("-")), 0)]
    for word in words:
        known = [word] if word.startswith("--") else short_options(word)
        if word.startswith("-") and not re.fullmatch(r"-d+", word):
            for option in known:
                if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text):
                    return f"{tool} has no {option}"
    plain = [word for before, word in zip([""] + words, words)
             if not word.startswith("-") and before != "-N"]
    if tool in ("smcr", "smcd"):
        plain = [word for word in plain if not word.isdigit()] if "-w" in words else plain
        if plain and not re.search(rf"(?m)^  {plain[0]}\b", text):
            return f"{tool} has no {plain[0]}"
        row = re.search(rf"(?ms)^  {plain[0]}\b.*?(?=^  \w|\Z)", text)[0] if plain else ""
        commands = set(re.findall(r"[\w-]+", row))
        if plain[1:] and plain[0] not in ("save", "restore") and plain[1] not in commands:
            return f"{tool} {plain[0]} has no {plain[1]}"
    return None


def wrong_of_make(words):
    top = f"{TOP}/{words[1]}" if words[:1] == ["-C"] else TOP
    if words[:1] == ["-C"]:
        words = words[2:]
    targets = set(re.findall(r"(?m)^([\w-]+):", uapi.read(f"{top}/Makefile")))
    for word in words:
        name, equals, _ = word.partition("=")
        if equals and name in ("KVER", "KDIR", "DESTDIR", "SIGN_KEY", "SIGN_CERT", "UNSIGNED", "VMS", "ISM"):
            continue
        if word not in targets:
            return f"make has no {word}"
    return None


def wrong_of_apt(words):
    known = PACKAGES | {line.split()[1] for line in
                        uapi.read(f"{TOP}/tools/testing/packages").splitlines()
                        if line.strip() and not line.startswith("#")}
    ours = re.findall(r"(?m)^Package: (\S+)", uapi.read(f"{TOP}/debian/control"))
    for word in words[1:]:
        file = re.fullmatch(r"\./(?:build/deb/)?([\w-]+)_.*\.deb", word)
        if word not in known | set(ours) | APT_OPTIONS and not (file and file[1] in ours):
            return f"apt-get {words[0]} {word}: not a package that the tree names"
    return None


def wrong_of_others(program, words):
    if program == "modprobe":
        return next((f"unknown module {w}" for w in words if w not in MODULES and w != "-r"), None)
    if program == "modinfo":
        return None if words[-1] in MODULES else f"unknown module {words[-1]}"
    if program == "dkms":
        return None if words == ["status", "af-smc"] else f"dkms {words}"
    if program == "systemctl":
        return next((f"unknown unit {w}" for w in words[1:] if w not in UNITS and w[0] != "-"),
                    None)
    return None if program in OTHERS else f"{program} is unknown"


def wrong_of(line):
    """Returns what is wrong with a command line, or None."""
    try:
        words = shlex.split(line.replace("$(uname -r)", "amd64"), comments=True)
    except ValueError as error:
        return str(error)
    if not words:
        return None
    program, rest = os.path.basename(words[0]), words[1:]
    if program in OURS:
        return wrong_of_tool(program, rest)
    if program == "make":
        return wrong_of_make(rest)
    if program == "apt-get":
        return wrong_of_apt(rest)
    if program == "sysctl":
        return setting_wrong(rest[-1])
    return wrong_of_others(program, rest)


def setting_wrong(text):
    name = re.match(r"net\.smc\.(\w+)", text)
    if not name:
        return None
    there = re.search(rf"(?m)^\| {name[1]} ", uapi.read(f"{TOP}/Documentation/sysctl.md"))
    return None if there else f"unknown setting net.smc.{name[1]}"


def command_lines():
    """Each command line of the pages for users could be typed in."""
    wrong, seen = [], 0
    for name in PAGES:
        text = uapi.read(f"{TOP}/Documentation/{name}.md")
        inline = [code for code in re.findall(r"`([^`\n]+)`", text)
                  if code.split()[0] in (*OURS, "make", "modprobe", "sysctl") and "FAIL" not in code
                  and ":" not in code.split()[0] and not code.endswith("says")]
        for line in lines(text) + inline:
            seen += 1
            problem = wrong_of(line)
            if problem:
                wrong.append(f"{name}.md: {line}: {problem}")
    return "\n".join(wrong if seen > 60 else [f"only {seen} command lines were found"])


def units():
    """The packages contain the programs and files that units and drop-ins of the pages name."""
    wrong = []
    text = "".join(uapi.read(f"{TOP}/Documentation/{name}.md") for name in PAGES)
    for program in set(re.findall(r"/usr/bin/(smc\w*)", text)):
        if program not in OURS:
            wrong.append(f"unknown program {program}")
    unit = uapi.read(f"{TOP}/tools/boot/smc.service")
    for path in set(re.findall(r"/etc/smc/\w+", text + uapi.read(f"{TOP}/tools/smcss/smcr/smcr.8"))):
        if f"ConditionPathExists={path}\n" not in unit or f"restore {path}\n" not in unit:
            wrong.append(f"smc.service does not read {path}")
    return "\n".join(wrong)


def cases():
    return [(f"pages: {f.__name__}", f) for f in (command_lines, units)]
