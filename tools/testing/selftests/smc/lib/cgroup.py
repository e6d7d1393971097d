# SPDX-License-Identifier: GPL-2.0
"""Memory cgroups of version 2. The guest's init has mounted them, if its kernel has them."""
import os

TOP = "/sys/fs/cgroup"


def _read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def _write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{value}")


def available():
    """Lets cgroups count memory. Returns False if this kernel does not support that."""
    if not os.path.exists(f"{TOP}/cgroup.controllers"):
        return False
    if "memory" not in _read(f"{TOP}/cgroup.controllers").split():
        return False
    _write(f"{TOP}/cgroup.subtree_control", "+memory")
    return True


class Cgroup:
    """A cgroup below the root; the memory is in bytes."""

    def __init__(self, name):
        self.path = f"{TOP}/{name}"
        os.makedirs(self.path, exist_ok=True)

    def enter(self):
        """Moves the calling process into the cgroup."""
        _write(f"{self.path}/cgroup.procs", os.getpid())

    def remove(self):
        """Moves the calling process to the root, and removes the cgroup."""
        _write(f"{TOP}/cgroup.procs", os.getpid())
        os.rmdir(self.path)

    def current(self):
        return int(_read(f"{self.path}/memory.current"))

    def limit(self):
        """The maximum, which must be set."""
        return int(_read(f"{self.path}/memory.max"))

    def set_limit(self, value, name="max"):
        """Sets memory.max or memory.high, to "max" for none."""
        _write(f"{self.path}/memory.{name}", value)

    def events(self, name):
        words = _read(f"{self.path}/memory.events").split()
        return int(words[words.index(name) + 1])

    def oom_kills(self):
        return self.events("oom_kill")
