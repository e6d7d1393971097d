# SPDX-License-Identifier: GPL-2.0
"""The files of net/smc call each other in one direction: few of them are in a cycle of calls.

A file calls another one if its code refers to a function that the other one defines. Tables of
functions do not count, because they are data. The objects of a test build tell this exactly.
"""
import functools
import glob
import os
import re
import subprocess

import includes
import tree

BUILDS = f"{tree.TOP}/build/*-test/net/smc"
# .text, and .init.text and the like.
SECTION = re.compile(r"RELOCATION RECORDS FOR \[\.(?:\w+\.)?text")
RELOCATION = re.compile(r"[0-9a-f]+ +R_\w+ +([A-Za-z_]\w*)")


def objects_of(folder):
    """Returns {file, as a path from net/smc: its object} of a build, or {} if the build is not
    complete or the sources have changed since."""
    module = f"{folder}/smc.ko"
    if not os.path.exists(module):
        return {}
    found = {}
    for path in (path for path in includes.sources() if path.endswith(".c")):
        name = f"{folder}/{path[:-2]}.o"
        if os.path.exists(name):
            found[path] = name
        if os.path.getmtime(f"{tree.TOP}/{includes.SOURCE}/{path}") > \
                os.path.getmtime(found.get(path, module)):
            return {}
    return found


@functools.lru_cache(maxsize=None)
def objects():
    """Returns {file, as a path from net/smc: its object} of a test build, or {}."""
    return next(filter(None, map(objects_of, glob.glob(BUILDS))), {})


def lines_of(*command):
    """Returns [(object, line)] of what a tool of binutils prints about all objects."""
    paths = {path: path for path in objects().values()}
    done = subprocess.run([*command, *paths], text=True, check=True, stdout=subprocess.PIPE,
                          env=os.environ | {"LC_ALL": "C"})
    found, current = [], None
    for line in done.stdout.splitlines():
        name = line.split(":", 1)[0]
        current = paths.get(name, current)
        found.append((current, line))
    return found


def definitions():
    """Returns {function: object that defines it}, for functions that other files can call."""
    return {line.split()[-1]: path for path, line in lines_of("nm", "--defined-only")
            if re.search(r" [TW] \w+$", line)}


@functools.lru_cache(maxsize=None)
def calls():
    """Returns {(file, file that it calls): functions}, as paths from net/smc."""
    file_of = {path: name for name, path in objects().items()}
    defined, found, code = definitions(), {}, False
    for path, line in lines_of("objdump", "-r"):
        code = bool(SECTION.match(line)) if line.startswith("RELOC") else code
        symbol = RELOCATION.match(line) if code else None
        if symbol and defined.get(symbol[1], path) != path:
            edge = file_of[path], file_of[defined[symbol[1]]]
            found.setdefault(edge, set()).add(symbol[1])
    return found


def cycle():
    """The largest cycle of calls has no more files than the ceiling allows."""
    files = includes.biggest_cycle(calls())
    print(f"# biggest cycle of calls: {len(files)} of {len(objects())}: {' '.join(files)}")
    return tree.too_many({"calls": len(files)})


def cases():
    if not objects():
        return [("the biggest cycle of calls does not grow # SKIP no test build is up to date",
                 lambda: "")]
    return [("the biggest cycle of calls does not grow", cycle)]
