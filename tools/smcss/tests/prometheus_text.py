# SPDX-License-Identifier: GPL-2.0
"""The text format of Prometheus, version 0.0.4, as its documentation has it: is a text in it?"""
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)?\}})? ([0-9.eE+-]+|NaN|[+-]Inf)")
TYPES = ("counter", "gauge", "histogram", "summary", "untyped")


def samples(text):
    """{name and labels: value}"""
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
            for line in text.splitlines() if line and not line.startswith("#")}


def family_of(name, types):
    """The metric that a sample belongs to: those of a histogram have endings."""
    for ending in ("_bucket", "_sum", "_count"):
        base = name.removesuffix(ending)
        if base != name and types.get(base) == "histogram":
            return base
    return name


def histogram_problems(text, types):
    """Buckets grow, end with +Inf, and that is the count."""
    found, rows, series = [], samples(text), {}
    for key, value in rows.items():
        match = re.fullmatch(r'(\w+)_bucket\{(.*),le="([^"]*)"\}', key)
        if match and types.get(match[1]) == "histogram":
            series.setdefault((match[1], match[2]), []).append((float(match[3]), value))
    for (name, labels), buckets in series.items():
        values = [value for _, value in buckets]
        if buckets != sorted(buckets) or values != sorted(values):
            found.append(f"{name}{{{labels}}}: buckets do not grow")
        if buckets[-1][0] != float("inf") or \
                values[-1] != rows.get(f"{name}_count{{{labels}}}") or \
                f"{name}_sum{{{labels}}}" not in rows:
            found.append(f"{name}{{{labels}}}: no end, sum or count")
    return found


def head_problems(kind, name, what, types, helped, order):
    """A head comes once, before the samples of its metric."""
    found = []
    if name in (helped if kind == "HELP" else types) or name in order:
        found.append(f"{name}: {kind} twice, or behind its samples")
    if kind == "HELP":
        helped.add(name)
    else:
        types[name] = what
        if what not in TYPES:
            found.append(f"{name}: no type {what}")
    return found


def problems(text):
    """What is wrong with it, in words."""
    found, types, helped, seen, order = [], {}, set(), set(), []
    for line in text.splitlines():
        head = re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.+)", line)
        sample = SAMPLE.fullmatch(line)
        if head:
            found += head_problems(*head.groups(), types, helped, order)
        elif not sample:
            found.append(f"not in the format: {line!r}")
        else:
            name, labels, _ = sample.groups()
            family = family_of(name, types)
            if family not in types:
                found.append(f"{family}: no type")
            if (name, labels) in seen:
                found.append(f"{name}: twice with {labels}")
            seen.add((name, labels))
            if family in order[:-1]:
                found.append(f"{family}: its samples are not together")
            elif not order or order[-1] != family:
                order.append(family)
    if not text.endswith("\n"):
        found.append("the last line has no end")
    return found + histogram_problems(text, types)
