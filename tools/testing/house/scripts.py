# SPDX-License-Identifier: GPL-2.0
"""The kernel's own scripts, from the package linux-source-6.12. They are unpacked into the cache,
once per version of the package. Nothing else of the package is unpacked."""
import fcntl
import functools
import os
import subprocess
import tempfile

PACKAGE = "linux-source-6.12"
TARBALL = f"/usr/src/{PACKAGE}.tar.xz"
NAMES = ("kernel-doc", "checkpatch.pl", "const_structs.checkpatch", "spelling.txt")


@functools.lru_cache(maxsize=None)
def version():
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", PACKAGE], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


@functools.lru_cache(maxsize=None)
def folder():
    """Returns the directory of the scripts."""
    cache = os.environ.get("SMC_CACHE", "/var/cache/smc")
    there = f"{cache}/scripts-{version()}"
    os.makedirs(cache, exist_ok=True)
    with open(f"{cache}/scripts.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(there):
            with tempfile.TemporaryDirectory(dir=cache) as new:
                subprocess.run(["tar", "-C", new, "--strip-components=2", "-xf", TARBALL,
                                *(f"{PACKAGE}/scripts/{name}" for name in NAMES)], check=True)
                os.chmod(new, 0o755)
                os.rename(new, there)
                os.mkdir(new)	# for the context manager to remove
    return there
