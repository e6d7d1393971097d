# SPDX-License-Identifier: GPL-2.0
"""The headers in include/uapi/linux, read as text: numbers, types and words as they are written
there, so that what the module does is compared with what the header says."""
import os
import re

TOP = os.path.abspath(f"{os.path.dirname(__file__)}/../../../../..")
HEADERS = f"{TOP}/include/uapi/linux"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Enum:
    """One enumeration: [(name, value)], what the comment behind a name says, what the comment
    before the enumeration says."""

    def __init__(self, intro):
        self.intro, self.names, self.types = intro, {}, {}


def enums(text):
    """Of a header. A value is a number, or the one after its predecessor, or a name minus 1."""
    found = []
    for match in re.finditer(r"(?:/\*((?:[^*]|\*(?!/))*)\*/\s*)?enum \{\n(.*?)\n\};", text, re.S):
        enum, last = Enum(" ".join((match[1] or "").replace("*", " ").split())), -1
        for line in match[2].splitlines():
            entry = re.match(r"\s*(\w+)(?:\s*=\s*([\w \-]+))?,?\s*(?:/\*\s*(.*?)\s*\*/)?$", line)
            if not entry:
                continue
            name, value, comment = entry.groups()
            if value is None:
                last += 1
            elif value.strip().isdigit():
                last = int(value)
            else:
                base, _, less = value.partition("-")
                last = enum.names[base.strip()] - int(less)
            enum.names[name] = last
            if comment:
                enum.types[name] = comment.split(":")[0].strip()
        found.append(enum)
    return found


def public(enum):
    """{number: name} without what only counts."""
    return {value: name for name, value in enum.names.items() if not name.endswith("_MAX")}


def by_prefix(headers, prefix):
    """The enumeration whose first name begins so."""
    for enum in headers:
        if next(iter(enum.names)).startswith(prefix):
            return enum
    raise KeyError(prefix)


def reasons():
    """[(name, code, words, remedy)] of smc_reason.h"""
    text = read(f"{HEADERS}/smc_reason.h")
    body = text[text.index("#define SMC_REASONS"):text.index("#define SMC_REASON_ENUM_")]
    rows = re.findall(r'X\((\w+), (0x[0-9a-f]+),\s*\\?\s*"((?:[^"\\]|\\.)*)",\s*\\?\s*"((?:[^"\\]|\\.)*)"\)',
                      body)
    if len(rows) != len(re.findall(r"\bX\([A-Z]", body)):
        raise ValueError(f"only {len(rows)} reasons could be read")
    return rows
