# SPDX-License-Identifier: GPL-2.0
"""Checks that the lists of tools/testing/mutate match the code. Host test."""
import importlib.machinery
import importlib.util

import uapi
from uapi import TOP


def mutate():
    """Returns the program tools/testing/mutate, as a module."""
    loader = importlib.machinery.SourceFileLoader("mutate", f"{TOP}/tools/testing/mutate")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
    loader.exec_module(module)
    return module


def stale(name):
    """The file of every entry of tools/testing/NAME contains the entry's old text exactly once."""
    program, wrong = mutate(), []
    program.LIST = f"tools/testing/{name}"
    mutants = program.read_list()
    for mutant in mutants:
        count = uapi.read(f"{TOP}/{mutant.file}").count("\n".join(mutant.old))
        if count != 1:
            wrong.append(f"{program.LIST}:{mutant.line}: its text occurs {count} times in "
                         f"{mutant.file}")
    return "\n".join(wrong if mutants else ["the list is empty"])


def cases():
    return [(f"the entries of {name} match the code", lambda name=name: stale(name))
            for name in ("mutations", "planted", "raced")]
