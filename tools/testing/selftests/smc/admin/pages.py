# SPDX-License-Identifier: GPL-2.0
"""Checks the samples, links, paths and width of the pages. Host tests."""
import glob
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import uapi
from uapi import TOP

HERE = os.path.dirname(os.path.abspath(__file__))
PAGES = sorted([f"{TOP}/README.md", f"{TOP}/SECURITY.md", f"{TOP}/CONTRIBUTING.md", f"{TOP}/CHANGELOG.md",
                *glob.glob(f"{TOP}/Documentation/*.md")])
COLUMNS = 100


def relative(path):
    return os.path.relpath(path, TOP)


def transcripts():
    """Returns {command: [pattern of its output, one for each transcript]}."""
    found = {}
    for path in glob.glob(f"{HERE}/golden/*.txt"):
        for block in re.split(r"(?m)^\$ ", uapi.read(path))[1:]:
            command, _, output = block.partition("\n")
            output = re.sub(r"(?m)^(status \d+|! .*)\n", "", output)
            # A masked value matches any word.
            pattern = r"[^\s,]+".join(re.escape(part) for part in re.split("#+", output.rstrip()))
            found.setdefault(command, []).append(pattern)
    return found


def samples():
    """What the README shows of a tool occurs in a transcript in golden/."""
    known, wrong, seen = transcripts(), [], 0
    for block in re.findall(r"(?m)((?:^    .*\n)+)", uapi.read(f"{TOP}/README.md")):
        text = re.sub(r"(?m)^    ", "", block)
        if not text.startswith("$ "):
            continue
        command, _, output = text[2:].partition("\n")
        seen += 1
        if not any(re.fullmatch(p, output.rstrip()) for p in known.get(command, [])):
            wrong.append(f"no transcript of '{command}' has this output")
    return "\n".join(wrong if seen else ["the README has no sample of output"])


def width():
    """Prose has at most 100 columns; tables and code may have more."""
    wrong = []
    for path in PAGES:
        code = False
        for number, line in enumerate(uapi.read(path).splitlines(), 1):
            code ^= line.startswith("```")
            words = line.strip().removeprefix("- ")
            if len(line) > COLUMNS and not code and not line.startswith(("|", "    ", "```", '"')) \
                    and " " in words:
                wrong.append(f"{relative(path)}:{number}: {len(line)} columns")
    return "\n".join(wrong)


def links():
    """Every link to a file of the tree has a target."""
    wrong = []
    for path in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", uapi.read(path)):
            if not os.path.exists(f"{os.path.dirname(path)}/{target}"):
                wrong.append(f"{relative(path)}: {target} does not exist")
    return "\n".join(wrong)


def paths():
    """Every path of the tree that a page names exists; a pattern matches at least one file."""
    wrong = []
    for path in PAGES:
        text = uapi.read(path)
        for name in re.findall(r"(?<![\w/.-])(?:tools|net/smc|include/uapi)/[\w./*-]*\w", text):
            if not glob.glob(f"{TOP}/{name}"):
                wrong.append(f"{relative(path)}: {name} does not exist")
    return "\n".join(wrong)


def ivshmem_lines():
    """Users are told the same command lines that the tests use: QEMU's options, libvirt's device,
    the server's socket."""
    sys.path.insert(0, f"{TOP}/tools/testing/vm")
    import backend_qemu  # pylint: disable=import-outside-toplevel
    unit = uapi.read(f"{TOP}/tools/ivshmem/smc-ivshmem-server.service")
    path = re.search(r" -S (\S+)", unit)[1]
    wanted, wrong = backend_qemu.ivshmem_arguments(path), []
    for page in ("Documentation/two-vms.md", "Documentation/ism-ivshmem.md",
                 "tools/ivshmem/smc-ivshmem-server.8"):
        text = uapi.read(f"{TOP}/{page}").replace("\\\\\n\t", "")
        lines = [line for line in text.splitlines() if line.startswith("qemu-system-")]
        wrong += [f"{page}: not {' '.join(wanted)}: {line}" for line in lines or ["no such line"]
                  if " ".join(wanted) not in line]
    page = uapi.read(f"{TOP}/Documentation/two-vms.md")
    device = ElementTree.fromstring(re.search(r"<shmem .*?</shmem>", page, re.DOTALL)[0])
    said = [device.find("model").get("type"), device.find("server").get("path"),
            f"vectors={device.find('msi').get('vectors')}"]
    wrong += [f"two-vms.md: only libvirt gets {word}" for word in said
              if word not in " ".join(wanted)]
    wrong += [f"two-vms.md: the unit does not know {word}" for word in re.findall(
        r"/etc/default/\S+|SMC_IVSHMEM\w+", page) if word not in unit]
    options = re.findall(r'"  (-\w)', uapi.read(f"{TOP}/tools/ivshmem/smc-ivshmem-server.c"))
    told = re.findall(r'(?:OPTIONS="|`)(-\w)\b', page)
    wrong += [f"two-vms.md: the server lacks {word}" for word in told if word not in options]
    return "\n".join(wrong)


def ivshmem_symptoms():
    """The driver logs the texts that users are told to look for; a row that begins with QEMU quotes
    QEMU."""
    driver = "".join(map(uapi.read, glob.glob(f"{TOP}/net/smc/drivers/ivshmem/*.c")))
    table = re.findall(r"(?m)^\| (?!QEMU)(.*?) \|", uapi.read(f"{TOP}/Documentation/two-vms.md"))
    texts = [text for row in table for text in re.findall(r'"(.*?)"', row)]
    parts = [part for text in texts for part in text.split(": ")]
    wrong = [part for part in parts
             if not re.search(re.sub(r"\d+", "%(?:ll)?u", re.escape(part)), driver)]
    return f"the driver does not log {wrong}" if wrong or len(texts) < 4 else ""


def manuals():
    """mandoc accepts the manuals; long lines are allowed in this tree."""
    manuals = sorted(glob.glob(f"{TOP}/tools/*/*.[1-9]") + glob.glob(f"{TOP}/tools/smcss/*/*.[1-9]"))
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *manuals], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.stdout.replace(f"{TOP}/", "") if len(manuals) > 8 else "hardly any manual was found"


def cases():
    return [(f"pages: {f.__name__}", f)
            for f in (samples, width, links, paths, ivshmem_lines, ivshmem_symptoms, manuals)]
