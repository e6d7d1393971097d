# SPDX-License-Identifier: GPL-2.0
"""kernel-doc -Wall prints no warning about the module and its headers."""
import os
import subprocess

import scripts
import tree


def quiet():
    """Every comment that begins with /** describes the declaration that follows it."""
    done = subprocess.run(["perl", f"{scripts.folder()}/kernel-doc", "-Wall", "-none",
                           *tree.files("net/smc", "include")], cwd=tree.TOP, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=os.environ | {"LC_ALL": "C"})
    said = [line for line in done.stdout.splitlines() if line.strip()]
    if done.returncode and not said:
        said = [f"kernel-doc ended with status {done.returncode}"]
    return "\n".join(said)


def cases():
    return [("kernel-doc -Wall", quiet)]
