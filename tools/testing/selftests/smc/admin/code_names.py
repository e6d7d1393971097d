# SPDX-License-Identifier: GPL-2.0
"""Checks that what the pages name exists in the code. Host tests."""
import functools
import os
import re

import uapi
from pages import PAGES, relative
from uapi import TOP

# Functions of the kernel that the pages name and the code does not.
KERNEL = {"proto_register", "socket_type_to_security_class", "try_to_wake_up"}


def texts(*tops, ends=(".c", ".h")):
    """Returns {path from the top: text} of the files below these folders with these endings."""
    return {relative(f"{directory}/{name}"): uapi.read(f"{directory}/{name}")
            for top in tops for directory, _, files in os.walk(f"{TOP}/{top}")
            for name in files if name.endswith(ends)}


def words_of(found):
    return {word for text in found.values() for word in re.findall(r"\w+", text)}


@functools.lru_cache(None)
def sources():
    """Returns {path from the top: text} of what a page can name."""
    return texts("net/smc", "include", "tools/smcss")


@functools.lru_cache(None)
def tested():
    """Returns the words of the tests."""
    return words_of(texts("tools/testing", ends=(".c", ".h", ".py")))


@functools.lru_cache(None)
def words():
    return words_of(sources())


@functools.lru_cache(None)
def members(struct):
    """Returns the words of the definition of a struct, or None if there is none."""
    for text in sources().values():
        match = re.search(rf"(?ms)^struct {struct} \{{\n(.*?)^\}}", text)
        if match:
            return set(re.findall(r"\w+", match[1]))
    return None


def file_of(name):
    """Finds the file of the module, or of the tree, that a page means: conn/send.c, smc.h"""
    known = [path for path in sources() if path == name or path == f"net/smc/{name}"]
    return known[0] if known else None


def unknown(name):
    """Returns what is wrong with a name in backticks, or None. A member of a struct is written
    struct.member; a family of names ends with *."""
    if re.fullmatch(r"[\w/]+\.[ch]", name):
        return None if file_of(name) else "no such file"
    if re.fullmatch(r"\w+\*", name):
        return None if any(w.startswith(name[:-1]) for w in words()) else "no name begins like this"
    if re.fullmatch(r"\w+\.\w+", name):
        struct, member = name.split(".")
        return None if member in (members(struct) or ()) else "no such member"
    if re.fullmatch(r"\w+(\(\))?", name):
        return None if name.removesuffix("()") in words() else "not in the code"
    return "cannot be looked up"


def functions():
    """A function of ours that a page names in its text or in a chart exists, and so does each
    function in backticks, which may be one of the kernel or of a test. NAME stands for a name."""
    wrong = []
    for path in PAGES:
        names = set(re.findall(r"\b(?:__)?(?:smc|hs|lo|rdma|lgr)_\w+(?=\(\))", uapi.read(path)))
        others = set(re.findall(r"`(\w+)\(\)`", uapi.read(path))) - KERNEL
        wrong += [f"{relative(path)}: {name}() is not in the code"
                  for name in names - words() | others - words() - tested()
                  if not name.startswith("NAME_")]
    return "\n".join(sorted(wrong))


def struct_members():
    """A member of a struct of ours that a page names in backticks exists."""
    wrong = []
    for path in PAGES:
        for struct, member in re.findall(r"`((?:smc|rdma|lo)_\w+)\.(\w+)`", uapi.read(path)):
            if member not in ("c", "h", "ko", "py") and unknown(f"{struct}.{member}"):
                wrong.append(f"{relative(path)}: {struct}.{member} is not in the code")
    return "\n".join(wrong)


def table_cells(page):
    """Returns [cells] of every row of a page's tables."""
    text = uapi.read(f"{TOP}/Documentation/{page}")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]]
            for line in text.splitlines() if line.startswith("|")]
    return [row for row in rows if row[0].strip("-")]


def glossary():
    """Every identifier in the second column of the glossary exists."""
    wrong, seen = [], 0
    for term, ours, *_ in table_cells("glossary.md"):
        for name in re.findall(r"`([^`]+)`", ours):
            seen += 1
            problem = unknown(name)
            if problem:
                wrong.append(f"glossary.md: {term}: {name}: {problem}")
    return "\n".join(wrong if seen > 50 else ["glossary.md has hardly any identifier"])


def where():
    """The files that where.md names exist, and the functions of a row are in the row's files."""
    text = uapi.read(f"{TOP}/Documentation/where.md")
    named = re.findall(r"`(\w[\w/]*/\w+\.[ch])`", text)
    wrong = [f"where.md: {name} does not exist" for name in named if not file_of(name)]
    seen = 0
    for question, files, names, *_ in table_cells("where.md"):
        there = ""
        for name in re.findall(r"`([^`]+)`", files):
            if file_of(name):
                there += sources()[file_of(name)]
            else:
                wrong.append(f"where.md: {question}: {name} does not exist")
        for name in re.findall(r"`(\w+)(?:\(\))?`", names):
            seen += 1
            if not re.search(rf"\b{name}\b", there):
                wrong.append(f"where.md: {question}: {name} is not in {files}")
    return "\n".join(wrong if seen > 50 else ["where.md has hardly any name"])


def cases():
    return [(f"pages: {f.__name__}", f) for f in (functions, struct_members, glossary, where)]
