# SPDX-License-Identifier: GPL-2.0
"""Checks whether a text has Prometheus' text format, version 0.0.4, as documented."""
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)?\}})? ([0-9.eE+-]+|NaN|[+-]Inf)")
TYPES = ("counter", "gauge", "histogram", "summary", "untyped")


def samples(text):
    """Returns {name and labels: value}."""
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
            for line in text.splitlines() if line and not line.startswith("#")}


def family_of(name, types):
    """Returns the metric that a sample belongs to; samples of a histogram have suffixes."""
    for ending in ("_bucket", "_sum", "_count"):
        base = name.removesuffix(ending)
        if base != name and types.get(base) == "histogram":
            return base
    return name


def histogram_problems(text, types):
    """Checks that buckets never decrease, and end with +Inf, which equals the count."""
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
    """Checks that a header occurs once, before the samples of its metric."""
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
    """Returns what is wrong with the text, in words."""
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
