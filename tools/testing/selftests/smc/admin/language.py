# SPDX-License-Identifier: GPL-2.0
"""Checks that comments, pages and manuals are in plain English, as far as a program can tell. Host
test."""
import glob
import re

import uapi
from code_names import sources
from pages import PAGES, relative
from uapi import TOP

# At the beginning of a sentence.
BEGIN = r"(?:(?<=[.;:!?] )|(?<=[.;:!?]  )|^)"
HABITS = (
    ("'who' for a subject", BEGIN + r"Who(?:ever|m)?\b(?![^.]*\?)"),
    ("'so long', 'so many' in front", BEGIN + r"So (?:long|many|much|large|often|few)\b"),
    ("'is no'", r"(?<!there )(?<!There )\b(?:is|are|was|were) (?:no(?! longer| more|t)|none)\b"),
    ("'he' for a task or a peer", r"\b(?:he|his|him|himself)\b"),
    ("'wants' for requires", r"\bwants (?:an?|the|its|something|nothing|root|CAP\w*)\b"),
)
# CONTRIBUTING.md shows them in a table with this beginning.
SHOWN = "| not | but |"


def prose(path, text):
    """Returns [(line, text without breaks)] of the comments of a source, or of the paragraphs of a
    page."""
    if not path.endswith((".c", ".h")):
        return [(text.count("\n", 0, m.start()) + 1, " ".join(m[0].split()))
                for m in re.finditer(r"(?m)(?:^.+\n)+", text)]
    found = []
    for m in re.finditer(r"(?s)/\*.*?\*/", text):
        comment = re.sub(r"\s*\n\s*\*?[ \t]*", " ", m[0]).strip("/* ")
        # In kernel-doc each line begins a sentence.
        found.append((text.count("\n", 0, m.start()) + 1, re.sub(r" @[\w.]+:\s*", ". ", comment)))
    return found


def habits():
    """Comments, pages and manuals have none of the habits that CONTRIBUTING.md names."""
    manuals = glob.glob(f"{TOP}/tools/smcss/*/*.8")
    texts = sources() | {relative(path): uapi.read(path) for path in (*PAGES, *manuals)}
    wrong = []
    for path, text in sorted(texts.items()):
        for line, words_of in prose(path, text):
            for habit, pattern in HABITS:
                match = None if words_of.startswith(SHOWN) else re.search(pattern, words_of)
                if match:
                    near = words_of[max(0, match.start() - 20):match.end() + 30]
                    wrong.append(f"{path}:{line}: {habit}: {near}")
    return "\n".join(wrong)


def cases():
    return [("language: habits", habits)]
