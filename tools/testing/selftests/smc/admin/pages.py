# SPDX-License-Identifier: GPL-2.0
"""Are the pages true? Samples, links, paths, width. Host tests."""
import glob
import os
import re

import uapi
from uapi import TOP

HERE = os.path.dirname(os.path.abspath(__file__))
PAGES = sorted([f"{TOP}/README.md", f"{TOP}/CONTRIBUTING.md",
                *glob.glob(f"{TOP}/Documentation/*.md")])
COLUMNS = 100


def relative(path):
    return os.path.relpath(path, TOP)


def transcripts():
    """{command: [pattern of what it prints, one for each transcript]}"""
    found = {}
    for path in glob.glob(f"{HERE}/golden/*.txt"):
        for block in re.split(r"(?m)^\$ ", uapi.read(path))[1:]:
            command, _, output = block.partition("\n")
            output = re.sub(r"(?m)^(status \d+|! .*)\n", "", output)
            # A masked value is any word.
            pattern = r"[^\s,]+".join(re.escape(part) for part in re.split("#+", output.rstrip()))
            found.setdefault(command, []).append(pattern)
    return found


def samples():
    """What the README shows of a tool is what a transcript in golden/ has."""
    known, wrong, seen = transcripts(), [], 0
    for block in re.findall(r"(?m)((?:^    .*\n)+)", uapi.read(f"{TOP}/README.md")):
        text = re.sub(r"(?m)^    ", "", block)
        if not text.startswith("$ "):
            continue
        command, _, output = text[2:].partition("\n")
        seen += 1
        if not any(re.fullmatch(p, output.rstrip()) for p in known.get(command, [])):
            wrong.append(f"no transcript of '{command}' has that output")
    return "\n".join(wrong if seen else ["the README has no sample"])


def width():
    """Prose has 100 columns at most; tables and code may have more."""
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
    """Every link to a file of the tree leads somewhere."""
    wrong = []
    for path in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", uapi.read(path)):
            if not os.path.exists(f"{os.path.dirname(path)}/{target}"):
                wrong.append(f"{relative(path)}: {target} is not there")
    return "\n".join(wrong)


def paths():
    """Every path of the tree that a page names exists; a pattern fits something."""
    wrong = []
    for path in PAGES:
        text = uapi.read(path)
        for name in re.findall(r"(?<![\w/.-])(?:tools|net/smc|include/uapi)/[\w./*-]*\w", text):
            if not glob.glob(f"{TOP}/{name}"):
                wrong.append(f"{relative(path)}: {name} is not there")
    return "\n".join(wrong)


def cases():
    return [(f"pages: {f.__name__}", f) for f in (samples, width, links, paths)]
