# SPDX-License-Identifier: GPL-2.0
"""Reads the headers in include/uapi/linux as text: numbers, types and words as they are written
there. So the module's behaviour is compared with the header."""
import os
import re

TOP = os.path.abspath(f"{os.path.dirname(__file__)}/../../../../..")
HEADERS = f"{TOP}/include/uapi/linux"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Enum:
    """One enumeration: [(name, value)], the comment behind each name, the comment before the
    enumeration."""

    def __init__(self, intro):
        self.intro, self.names, self.types = intro, {}, {}


def enums(text):
    """Yields the enumerations of a header. A value is a number, its predecessor plus 1, or a name
    minus 1."""
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
    """Returns {number: name} without names that only count."""
    return {value: name for name, value in enum.names.items() if not name.endswith("_MAX")}


def by_prefix(headers, prefix):
    """Returns the enumeration whose first name begins with this."""
    for enum in headers:
        if next(iter(enum.names)).startswith(prefix):
            return enum
    raise KeyError(prefix)


def reasons():
    """Returns [(name, code, words, remedy)] of smc_reason.h."""
    text = read(f"{HEADERS}/smc_reason.h")
    body = text[text.index("#define SMC_REASONS"):text.index("#define SMC_REASON_ENUM_")]
    rows = re.findall(r'X\((\w+), (0x[0-9a-f]+),\s*\\?\s*"((?:[^"\\]|\\.)*)",\s*\\?\s*"((?:[^"\\]|\\.)*)"\)',
                      body)
    if len(rows) != len(re.findall(r"\bX\([A-Z]", body)):
        raise ValueError(f"only {len(rows)} reasons could be read")
    return rows
