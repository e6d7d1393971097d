# SPDX-License-Identifier: GPL-2.0
"""An #include "..." in net/smc names a header of the same layer or a lower one, never a higher
one."""
import functools
import os
import re

import tree

SOURCE = "net/smc"
PAGE = "Documentation/architecture.md"
# Only these and a fabric itself include headers from its folder; others use struct smc_fabric_ops.
FABRICS = re.compile(r"fabric/(\w+)/")
KNOW_FABRICS = ("main.c",)
# Shared by the fabrics, and not used by anyone else.
SHARED = "fabric/msg/"
# An exception: drivers implement this interface.
FOR_DRIVERS = "fabric/smcd/ism.h"


def chart():
    """Returns the lines of the chart, without the comment above them."""
    lines = [line for line in tree.read("tools/testing/house/layers").splitlines()
             if not line.startswith("#")]
    return "\n".join(lines).strip("\n")


@functools.lru_cache(maxsize=None)
def floors():
    """Returns {folder or file: number of its floor}; 0 is the top."""
    found, floor = {}, 0
    for line in chart().splitlines():
        if line.strip() == "|":
            floor += 1
            continue
        names = re.match(r" ((?:[\w./]+, )*[\w./]+)  +\S", line)
        if not names:
            raise ValueError(f"layers: a line that is neither a floor nor a |: {line!r}")
        for name in names[1].split(", "):
            if name in found:
                raise ValueError(f"layers: {name} is listed twice")
            found[name] = floor
    return found


def floor_of(path):
    """Returns the floor of a file, or None."""
    fits = [name for name in floors() if path == name or
            (name.endswith("/") and path.startswith(name))]
    return floors()[max(fits, key=len)] if fits else None


def sources():
    return [os.path.relpath(path, SOURCE) for path in tree.files(SOURCE)]


@functools.lru_cache(maxsize=None)
def includes():
    """Returns [(file, file that it includes)], as paths from net/smc."""
    found = []
    for path in sources():
        for name in re.findall(r'(?m)^#\s*include "([^"]+)"', tree.read(f"{SOURCE}/{path}")):
            found.append((path, os.path.normpath(os.path.join(os.path.dirname(path), name))))
    return found


def allowed():
    """Returns {(file, included): reason} from includes_up."""
    found = {}
    for line, words in tree.entries("includes_up"):
        if len(words) < 4 or words[1] != "->":
            raise ValueError(f"includes_up: not 'file -> file reason': {line}")
        found[words[0], words[2]] = " ".join(words[3:])
    return found


def breaks_rule(path, included):
    """Returns what is wrong with an include, or None."""
    if floor_of(included) < floor_of(path):
        return "includes a file of a higher floor"
    fabric = FABRICS.match(included)
    if included == FOR_DRIVERS and path.startswith("drivers/"):
        return None
    friends = "fabric/" if fabric and fabric[0] == SHARED else fabric and fabric[0]
    if fabric and not path.startswith(friends) and path not in KNOW_FABRICS:
        return f"names the fabric {fabric[1]}"
    return None


def every_file_has_a_floor():
    """Every file is in the chart, because otherwise its includes cannot be checked."""
    wrong = [f"{path} has no floor in tools/testing/house/layers" for path in sources()
             if floor_of(path) is None]
    there = sources()
    wrong += [f"the chart names {name}, which does not exist" for name in floors()
              if name != "compat/" and not any(path.startswith(name) for path in there)]
    wrong += [f"{path} includes {included}, which does not exist" for path, included in includes()
              if included not in there]
    return "\n".join(wrong)


def documented():
    """architecture.md contains the chart."""
    return "" if f"```\n{chart()}\n```" in tree.read(PAGE) else \
        f"{PAGE} does not contain the chart of tools/testing/house/layers unchanged"


def downwards():
    """No include goes up, except those in includes_up, and each of those still does."""
    known, wrong, used = allowed(), [], set()
    for path, included in includes():
        problem = breaks_rule(path, included)
        if problem and (path, included) in known:
            used.add((path, included))
        elif problem:
            wrong.append(f"{path} -> {included}: {problem}")
    wrong += [f"{path} -> {included} is no longer an exception: remove it from includes_up"
              for path, included in known if (path, included) not in used]
    if used:
        print(f"# {len(used)} includes are known exceptions, see tools/testing/house/includes_up")
    return "\n".join(wrong)


def unit(path):
    """Returns the unit of a file: a source file and its header are one unit."""
    return os.path.splitext(path)[0]


def biggest_cycle(edges):
    """Returns the largest set of units that include each other, directly or indirectly (Tarjan)."""
    after = {}
    for path, included in edges:
        after.setdefault(unit(path), set()).add(unit(included))
        after.setdefault(unit(included), set())
    index, low, stack, best = {}, {}, [], []

    def visit(node):
        nonlocal best
        index[node] = low[node] = len(index)
        stack.append(node)
        for following in after[node] - {node}:
            if following not in index:
                visit(following)
            if following in stack:
                low[node] = min(low[node], low[following])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > len(best):
                best = stack[at:]
            del stack[at:]

    for node in after:
        if node not in index:
            visit(node)
    return sorted(best)


def circle():
    """The largest cycle of includes has no more files than the ceiling allows."""
    files = biggest_cycle(includes())
    total = len({unit(path) for path in sources()})
    print(f"# biggest include cycle: {len(files)} of {total} (x.c and x.h count as one): "
          f"{' '.join(files)}")
    return tree.too_many({"circle": len(files)})


def cases():
    return [("every file of net/smc has a floor", every_file_has_a_floor),
            ("architecture.md shows the chart of the floors", documented),
            ("no file includes a file of a higher floor", downwards),
            ("the biggest include cycle does not grow", circle)]
