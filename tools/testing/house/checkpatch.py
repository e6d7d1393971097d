# SPDX-License-Identifier: GPL-2.0
"""The kernel's checkpatch --strict does not complain about our C code, except as checkpatch_ignored
allows. The result for a file is kept, also for other checkouts: checking all files takes two
minutes."""
import concurrent.futures
import fnmatch
import hashlib
import os
import re
import subprocess

import scripts
import tree

FOLDERS = ("net/smc", "include/uapi", "tools")
OPTIONS = ("--strict", "--no-tree", "--terse", "--show-types", "--no-summary",
           "--max-line-length=100")
BATCH = 20	# files at a time, because checkpatch starts slowly
# checkpatch leaves files in its working directory.
ELSEWHERE = f"{tree.TOP}/build/house/tree"
COMPLAINT = re.compile(r"(\S+?):(\d+): (?:ERROR|WARNING|CHECK):(\w+): (.*)")


def kept():
    """Returns the directory of kept results, beside the script of this version."""
    return f"{scripts.folder()}/said"


def kept_as(path):
    """Returns the path of the kept result for a file. The name covers everything that the result
    depends on."""
    what = "\0".join((path, *OPTIONS, tree.read(path)))
    return f"{kept()}/{hashlib.sha256(what.encode()).hexdigest()}"


def ask(paths):
    """Runs checkpatch on these files and keeps the result for each."""
    done = subprocess.run(["perl", f"{scripts.folder()}/checkpatch.pl", *OPTIONS, "-f", *paths],
                          cwd=ELSEWHERE, text=True, check=False, capture_output=True)
    # checkpatch goes on without a file that it cannot open; only its diff complains.
    if done.returncode not in (0, 1) or re.search("^diff:", done.stderr, re.MULTILINE):
        raise ValueError(f"checkpatch ended with status {done.returncode}: {done.stderr}")
    said = {path: [] for path in paths}
    for line in done.stdout.splitlines():
        match = COMPLAINT.match(line)
        if match:
            said[match[1]].append(line)
        elif line.strip():
            raise ValueError(f"checkpatch: {line}")
    for path, lines in said.items():
        name = kept_as(path)
        with open(f"{name}.{os.getpid()}", "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        os.replace(file.name, name)	# another checkout may be looking for it right now


def complaints():
    """Returns [(path, line, type, words)] of all files."""
    paths = tree.files(*FOLDERS)
    os.makedirs(kept(), exist_ok=True)
    os.makedirs(ELSEWHERE, exist_ok=True)
    for name in {folder.split("/")[0] for folder in FOLDERS}:
        # Relative, because the tree has another path during `make check` (tools/plain-path).
        target = os.path.relpath(f"{tree.TOP}/{name}", ELSEWHERE)
        if not os.path.exists(f"{ELSEWHERE}/{name}"):
            os.symlink(target, f"{ELSEWHERE}/{name}")
    new = [path for path in paths if not os.path.exists(kept_as(path))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(ask, [new[i:i + BATCH] for i in range(0, len(new), BATCH)]))
    found = []
    for path in paths:
        with open(kept_as(path), encoding="utf-8") as file:
            found += [COMPLAINT.match(line).groups() for line in file.read().splitlines()]
    return found


def ignored():
    """Returns [(line of the list, type, pattern of paths, text that must be in the words or
    None)]."""
    found = []
    for line, words in tree.entries("checkpatch_ignored"):
        quoted = re.match(r'\S+\s+\S+\s+"([^"]+)"\s+\S', line)
        if len(words) < 4:
            raise ValueError(f"checkpatch_ignored: not 'TYPE files reason': {line}")
        found.append((line, words[0], words[1], quoted and quoted[1]))
    return found


def quiet():
    """Every complaint is ignored by an entry of the list, and every entry is needed."""
    known, used, wrong = ignored(), set(), []
    for path, number, kind, words in complaints():
        fits = [line for line, type_of, files, text in known if kind == type_of and
                fnmatch.fnmatch(path, files) and (not text or text in words)]
        used.update(fits)
        if not fits:
            wrong.append(f"{path}:{number}: {kind}: {words}")
    wrong += [f"no complaint matches this entry: {line}" for line, *_ in known if line not in used]
    return "\n".join(wrong)


def cases():
    return [("checkpatch --strict", quiet)]
