# SPDX-License-Identifier: GPL-2.0
"""Reads the files of this tree, for the checks of check_house."""
import functools
import os

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.abspath(f"{HERE}/../../..")


@functools.lru_cache(maxsize=None)
def read(path):
    """Returns the text of a file, given its path from the top of the tree."""
    with open(f"{TOP}/{path}", encoding="utf-8") as file:
        return file.read()


@functools.lru_cache(maxsize=None)
def files(*folders, ends=(".c", ".h")):
    """Returns the paths, from the top of the tree, of all files below these folders with these
    endings."""
    found = []
    for folder in folders:
        for directory, folders_below, names in os.walk(f"{TOP}/{folder}"):
            folders_below[:] = [name for name in folders_below if name not in ("build", ".git")]
            found += [os.path.relpath(f"{directory}/{name}", TOP) for name in names
                      if name.endswith(ends)]
    return sorted(found)


def entries(name):
    """Returns the lines of a list in this folder, without its comments, as [(line, words)]."""
    lines = read(f"tools/testing/house/{name}").splitlines()
    return [(line, line.split()) for line in lines if line.strip() and not line.startswith("#")]


def ceilings():
    """Returns {what is counted: maximum}."""
    return {words[0]: int(words[1]) for _, words in entries("ceilings")}


def too_many(counts):
    """Returns the counts of {what: how many} that exceed their ceiling, one line for each."""
    limits, wrong = ceilings(), []
    for what, count in counts.items():
        if count > limits.get(what, 0):
            wrong.append(f"{what}: {count}, but the ceiling is {limits.get(what, 0)}")
        elif count < limits.get(what, 0):
            print(f"# {what}: {count}; the ceiling of {limits[what]} can be lowered")
    return "\n".join(wrong)
