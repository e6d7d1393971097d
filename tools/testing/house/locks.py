# SPDX-License-Identifier: GPL-2.0
"""The list at the head of net/smc/smc.h contains exactly the locks of the module. Each driver is a
separate module and has its own list."""
import os
import re

import tree

LIST = "net/smc/smc.h"
DRIVERS = "net/smc/drivers/"
LISTS = (LIST, f"{DRIVERS}ivshmem/shm.h", f"{DRIVERS}virtio/vism.h",
         f"{DRIVERS}ism_pci/ism_pci.h", f"{DRIVERS}dibs/dism.h")
MEMBER = re.compile(r"^\s+(?:spinlock_t|raw_spinlock_t|rwlock_t|seqlock_t|local_lock_t|struct mutex|"
                    r"struct rw_semaphore|struct semaphore)\s+(\w+)\b[^()]*;")
STATIC = re.compile(r"^(?:static )?(?:DEFINE_(?:SPINLOCK|RAW_SPINLOCK|RWLOCK|SEQLOCK|MUTEX|SRCU|"
                    r"STATIC_SRCU|SEMAPHORE)|DECLARE_RWSEM)\((\w+)\);")
GLOBAL = re.compile(r"^(?:static )?(?:spinlock_t|rwlock_t|struct mutex|struct rw_semaphore)\s+(\w+)")
STRUCT = re.compile(r"^(?:static )?(?:struct|union) (\w+) \{$")
# Locks of other subsystems that are part of the lock order.
FOREIGN = {"lock_sock(sk)"}
CLASSES = "net/smc/lock_class.c"
CLASS_HEADER = "net/smc/lock_class.h"
INIT = re.compile(r"\b(?:spin_lock|raw_spin_lock|rwlock|seqlock|mutex|init_rwsem)_init\(")


def files_of(list_of, **which):
    """Returns the source files whose locks are in this list."""
    folder = os.path.dirname(list_of) + "/"
    return [path for path in tree.files("net/smc", **which)
            if path.startswith(folder) and (list_of != LIST or not path.startswith(DRIVERS))]


def in_source(list_of=LIST):
    """Returns {struct.member, or name of a static: file}."""
    found = {}
    for path in files_of(list_of):
        struct = None
        for line in tree.read(path).splitlines():
            begin = STRUCT.match(line)
            if begin:
                struct = begin[1]
            elif line.startswith("}"):
                struct = None
            member = struct and MEMBER.match(line)
            alone = not struct and (STATIC.match(line) or GLOBAL.match(line))
            if member:
                found[f"{struct}.{member[1]}"] = path
            elif alone:
                found[alone[1]] = path
    return found


def in_list(list_of=LIST):
    """Returns the names in the first column of the list."""
    text = tree.read(list_of)
    start = text.index(" * Locks, outermost first;")
    block = text[start:text.index("\n * References:", start)]
    return re.findall(r"(?m)^ \*  ([\w.]+(?:\(sk\))?),?\t", block)


def listed():
    """Each lock in the source is listed once, and each lock in the list exists."""
    wrong, total = [], 0
    for path in tree.files(DRIVERS.rstrip("/")):
        # Files that the drivers share are beside their folders.
        if "/" in path[len(DRIVERS):] and \
                not any(path in files_of(list_of) for list_of in LISTS[1:]):
            wrong.append(f"{path}: this driver has no list of its locks")
    for list_of in LISTS:
        there, names = in_source(list_of), in_list(list_of)
        total += len(there)
        wrong += [f"{path}: {name} is not in the list of {list_of}" for name, path in there.items()
                  if name not in names]
        wrong += [f"{list_of} lists {name}, which does not exist" for name in names
                  if name not in there and name not in FOREIGN]
        wrong += [f"{list_of} lists {name} twice" for name in set(names) if names.count(name) > 1]
    return "\n".join(wrong if total > 10 else ["hardly any lock was found"])


def classes():
    """Each lock in an object has a lockdep class of its own. The classes have the names and the
    order of the list. No lock is initialised without a class."""
    names = re.findall(r'(?m)^\t\[(\w+)\]\t+= "([\w.]+)",$', tree.read(CLASSES))
    enum = re.findall(r"(?m)^\t(SMC_LOCK_\w+),$", tree.read(CLASS_HEADER))
    there = in_source()
    wanted = [name for name in in_list() if "." in name]
    wrong = []
    if [name for _, name in names] != wanted or set(wanted) != {n for n in there if "." in n}:
        wrong.append(f"{CLASSES} differs from {LIST} in its locks or their order")
    if [constant for constant, _ in names] != enum:
        wrong.append(f"{CLASS_HEADER} and {CLASSES} differ in their order")
    for path in files_of(LIST):
        text = tree.read(path)
        if path != CLASS_HEADER and INIT.search(text):
            wrong.append(f"{path}: a lock has no class of {CLASS_HEADER}")
        enum = [constant for constant in enum
                if path == CLASS_HEADER or not re.search(rf"_init\([^;]*, {constant}\)", text)]
    wrong += [f"{constant}: no lock has this class" for constant in enum]
    return "\n".join(wrong)


def bodies():
    """Yields (path, comment in front, name, body) of each function."""
    pattern = re.compile(r"(?ms)(/\*(?:(?!\*/).)*\*/\n)?^((?:[a-z_]\w* |\w+ \*+)[^\n;{}=]*?"
                         r"\b(\w+)\([^;{}]*?\))\n\{\n(.*?)^\}")
    for path in tree.files("net/smc", ends=(".c",)):
        for match in pattern.finditer(tree.read(path)):
            yield path, match[1] or "", match[3], match[4]


def asserted():
    """A function whose name begins with __ expects its caller to hold a lock. No more of them than
    the ceiling allows lack an assertion for it. Names with __sanitizer_ belong to the compiler."""
    missing = [f"{path}: {name}()" for path, _, name, body in bodies()
               if re.match("__(?!sanitizer_)", name) and
               not re.search(r"lockdep_|sock_owned_by|assert", body)]
    for line in missing:
        print(f"# without lockdep_assert_held(): {line}")
    return tree.too_many({"unasserted": len(missing)})


def cases():
    return [("every lock is in the list of locks", listed),
            ("every lock has a class for lockdep", classes),
            ("functions assert the locks that they expect to be held", asserted)]
