# SPDX-License-Identifier: GPL-2.0
"""Checks that everything that the headers name is documented. Host tests."""
import glob
import os
import re
import shutil
import subprocess
import tempfile

import uapi
from uapi import TOP, HEADERS

TOOLS = f"{TOP}/build/tools"
SIDES = {0x0303: "this host", 0x5c01: "this host", 0x5c02: "this host", 0x5c03: "this host",
         0x5c04: "the peer", 0x5c05: "both hosts", 0x5c06: "the peer", 0: "unknown"}
# Headings of the page for codes of the kernel's own module, which smcss knows and smc_reason.h
# lacks.
FOREIGN = re.compile(r'\{ (0x[0-9a-f]{8}), "(KERNEL_\w+)", "([^"]*)",\s+"[^"]*",\s+"([^"]*)" \}')


def page(name):
    return uapi.read(f"{TOP}/Documentation/{name}")


def entries(text):
    """Returns {NAME: (code, words, {Side, Means, Do})} of why-not-smc.md."""
    found = {}
    for part in re.split(r"(?m)^### ", text)[1:]:
        part = re.split(r"(?m)^## ", part)[0]
        head, words, body = part.split("\n", 2)
        items = dict(re.findall(r"(?ms)^- (\w+): (.*?)(?=^- |\Z)", body))
        name, code = head.split()
        if name in found:
            raise ValueError(f"{name} occurs twice")
        found[name] = (code, words.strip('"'), {k: v.strip() for k, v in items.items()})
    return found


def reasons():
    """Every reason has an entry with its code and its words, and the same side as in smcss."""
    there = entries(page("why-not-smc.md"))
    wanted = {name: (code, words) for name, code, words, _ in uapi.reasons()}
    foreign = FOREIGN.findall(uapi.read(f"{TOP}/tools/smcss/lib/reason.c"))
    wanted.update({name: (code, words) for code, name, words, _ in foreign})
    sides = {name: SIDES.get(int(code, 16) >> 16, "this host") for name, (code, _) in wanted.items()}
    sides.update({name: side for _, name, _, side in foreign})
    wrong = [f"{name} has no entry" for name in wanted if name not in there]
    wrong += [f"{name} is not a reason" for name in there if name not in wanted]
    for name, (code, words, items) in there.items():
        if name in wanted and (code, words) != wanted[name]:
            wrong.append(f"{name}: {code} {words!r} instead of {wanted[name]}")
        if set(items) != {"Side", "Means", "Do"} or not all(items.values()):
            wrong.append(f"{name} has {sorted(items)}")
        elif items["Side"] != sides.get(name):
            wrong.append(f"{name}: the side is not {items['Side']}")
    return "\n".join(wrong)


# Reasons that no test can provoke at will.
UNASSERTED = {
    "NONE": "means that there is no reason",
    "INTERNAL": "should not happen",
    "NO_MEMORY": "smc_fault_test makes every allocation fail, but does not check the reason",
}


def asserted():
    """The module raises every reason, and some test expects it."""
    raised, wanted = set(), set()
    for top, found in ((f"{TOP}/net/smc", raised), (f"{TOP}/tools/testing/selftests/smc", wanted),
                       (f"{TOP}/tools/smcss", wanted)):
        for directory, _, files in os.walk(top):
            for name in files:
                # In tools/smcss only tests that run in a guest count, not those for the host.
                if (name.endswith((".c", ".h")) and top != f"{TOP}/tools/smcss") or \
                        name in ("test_guest", "steer_test", "tcpopt_test", "memory_budget.py",
                                 "containers"):
                    found.update(re.findall(r"\b(?:SMC_REASON_)?([A-Z][A-Z_]+[A-Z])\b",
                                            uapi.read(f"{directory}/{name}")))
    names = [name for name, *_ in uapi.reasons()]
    wrong = [f"{name} is never raised" for name in names if name not in raised]
    wrong += [f"no test expects {name}" for name in names
              if name not in wanted and name not in UNASSERTED]
    return "\n".join(wrong + [f"{name} is asserted, but in UNASSERTED" for name in UNASSERTED
                              if name not in names])


def names_of(header):
    """Returns the names of commands, attributes and options that a header defines for programs."""
    found = []
    for enum in uapi.enums(uapi.read(f"{HEADERS}/{header}")):
        found += [name for name in uapi.public(enum).values()
                  if not re.search(r"_(UNSPEC|PAD|NONE)$", name)]
    return found


def spelled_out(text):
    """netlink.md abbreviates lists of names: `SMC_NLA_DEV_PCI_FID (u32), _CHID (u16)`,
    `SMC_NLA_STATS_SMC{D,R}_TECH`. Returns all words that it contains; an abbreviated word is
    returned with every prefix that it may continue."""
    words, base = set(), ""
    for line in text.splitlines():
        for word in re.findall(r"(?:_[A-Z0-9]|[A-Z])[A-Z0-9_{},]*[A-Z0-9}]", line):
            options = [word]
            brace = re.match(r"(.*)\{([^}]*)\}(.*)", word)
            if brace:
                options = [brace[1] + o + brace[3] for o in brace[2].split(",")]
            for option in options:
                if option.startswith("_"):
                    parts = base.split("_")
                    words.update("_".join(parts[:i]) + option for i in range(1, len(parts) + 1))
                else:
                    words.add(option)
            if word.startswith("SMC_"):
                base = word
    return words


def netlink():
    """netlink.md has every command and attribute of smc.h."""
    words = spelled_out(page("netlink.md"))
    missing = [name for name in names_of("smc.h")
               if name not in words and re.sub(r"^SMC_(NETLINK|PNETID)_", "", name) not in words]
    return "\n".join(f"{name} is not in netlink.md" for name in missing)


def diag():
    """sock_diag.md has every attribute of smc_diag.h, and it or smcss(8) has every state and mode."""
    words = spelled_out(page("sock_diag.md") + uapi.read(f"{TOP}/tools/smcss/smcss/smcss.8"))
    missing = [name for name in names_of("smc_diag.h")
               if name not in words and name.replace("SMC_DIAG_STATE_", "") not in words]
    return "\n".join(f"{name} is not in sock_diag.md" for name in missing)


def sysctls():
    """sysctl.md has every sysctl of the module with its range."""
    source = uapi.read(f"{TOP}/net/smc/admin/sysctl.c")
    names = set(re.findall(r'"(\w+)",', source)) | set(re.findall(r'\.procname\s*=\s*"(\w+)"', source))
    rows = dict(re.findall(r"(?m)^\| (\w+) \*? ?\|(.*)$", page("sysctl.md")))
    missing = [f"{name} is not in sysctl.md" for name in sorted(names) if name not in rows]
    missing += [f"{name} has no range" for name, row in rows.items()
                if name in names and not re.search(r"\d+ to |\d, ", row)]
    return "\n".join(missing if names else ["no sysctls found in the source"])


def manuals():
    """The manual of a tool has every long option that the tool's help names."""
    wrong = []
    for tool in ("smcss", "smcr", "smcd", "smc_pnet", "smc_chk", "smcat"):
        text = subprocess.run([f"{TOOLS}/{tool}", "--help"], stdout=subprocess.PIPE, text=True,
                              check=True, timeout=60).stdout
        manual = "".join(uapi.read(f"{TOP}/tools/smcss/{name}/{name}.8") for name in
                         ((tool, "smcr") if tool == "smcd" else (tool,))).replace("\\-", "-")
        wrong += [f"{tool}: {option} is not in {tool}(8)"
                  for option in sorted(set(re.findall(r"--[a-z]+", text)))
                  if option not in manual]
    return "\n".join(wrong)


def versions():
    """Everything with a version has the one of the file VERSION: tools, modules, changes, packages."""
    version, wrong = uapi.read(f"{TOP}/VERSION").strip(), []
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        wrong.append(f"VERSION: {version!r}")
    for name, pattern in (("CHANGELOG.md", r"(?m)^## (\S+)"), ("debian/changelog", r"\((\S+)\)")):
        there = re.search(pattern, uapi.read(f"{TOP}/{name}"))[1]
        if there != version:
            wrong.append(f"{name} begins with {there}, but VERSION is {version}")
    for tool in ("smcss", "smcr", "smcd", "smc_pnet", "smc_chk", "smcat", "smc_run",
                 "smc-ivshmem-server"):
        said = subprocess.run([f"{TOOLS}/{tool}", "-v"], stdout=subprocess.PIPE, text=True,
                              check=True, timeout=60).stdout
        if said != f"{tool} {version}\n":
            wrong.append(f"{tool} -v prints {said!r}, but VERSION is {version}")
    for directory, _, files in os.walk(f"{TOP}/net/smc"):
        for name in (name for name in files if name.endswith(".c")):
            source = uapi.read(f"{directory}/{name}")
            if "MODULE_LICENSE(" in source and not ("MODULE_VERSION(SMC_VERSION)" in source and
                                                    "MODULE_AUTHOR(" in source):
                wrong.append(f"{name} is a module without a version or an author")
    return "\n".join(wrong)


def tracepoint_fields():
    """Returns {tracepoint of trace.h: its fields}."""
    text = uapi.read(f"{TOP}/net/smc/trace.h")
    classes, found = {}, {}
    for kind, head, body in re.findall(
            r"(?ms)^(DECLARE_EVENT_CLASS|TRACE_EVENT|DEFINE_EVENT(?:_PRINT)?)\(([^;]*?),\n(.*?)^\);", text):
        fields = set(re.findall(r"__(?:field|array)\([^,]+, (\w+)", body))
        if kind == "DECLARE_EVENT_CLASS":
            classes[head] = fields
        elif kind == "TRACE_EVENT":
            found[head] = fields
        else:
            of, name = re.split(r",\s*", head)
            found[name] = classes[of]
    return found


def bpftrace():
    """The scripts use only existing tracepoints and fields."""
    known, wrong, seen = tracepoint_fields(), [], 0
    for path in glob.glob(f"{TOP}/tools/smcss/bpftrace/*.bt"):
        for name, body in re.findall(r"(?ms)^tracepoint:smc:(\w+)\n\{(.*?)^\}", uapi.read(path)):
            seen += 1
            wrong += [f"{os.path.basename(path)}: unknown tracepoint {name}"] * (name not in known)
            wrong += [f"{os.path.basename(path)}: {name} has no field {field}"
                      for field in set(re.findall(r"args->(\w+)", body))
                      if field not in known.get(name, ())]
    return "\n".join(wrong if seen else ["no script uses a tracepoint"])


# The sources that write the JSON of each tool.
WRITERS = {"smcss": ("smcss", "lib/reason.c"), "smcr": ("objects", "lib/reason.c"),
           "smc_pnet": ("lib/pnet_table.c",), "smc_chk": ("smc_chk", "lib/reason.c"),
           "smcat": ("smcat",)}


def json_manual(tool):
    """Returns the JSON that the manual shows: everything in braces between .nf and .fi, and lines
    of text with braces."""
    text = uapi.read(f"{TOP}/tools/smcss/{tool}/{tool}.8").replace("\\-", "-")
    blocks = re.findall(r"(?ms)^\.nf\n(.*?)^\.fi", text) + re.findall(r"(?m)^JSON: \{.*$", text)
    return "\n".join(block for block in blocks if "{" in block and "jq" not in block)


def json_written(tool):
    """Returns the keys that a tool writes, and all texts of its sources."""
    keys, texts = set(), set()
    for part in WRITERS[tool]:
        path = f"{TOP}/tools/smcss/{part}"
        for name in [path] if path.endswith(".c") else glob.glob(f"{path}/*.c"):
            source = uapi.read(name)
            texts.update(re.findall(r'"([a-z]\w*)"', source))
            for call in re.findall(r"\bjson_\w+\(([^;]*)\);", source):
                key = re.match(r"(?:&?json|&j), (?:[^,]*\? )?\"(\w+)\"(?: : \"(\w+)\")?", call)
                keys.update(filter(None, key.groups()) if key else ())
    return keys, texts


def json_keys():
    """The manual has exactly the keys that the tool writes."""
    wrong = []
    for tool in WRITERS:
        shown = set(re.findall(r'"(\w+)"', json_manual(tool)))
        keys, texts = json_written(tool)
        if len(keys) < 4 or len(shown) < 4:
            wrong.append(f"{tool}: hardly any keys: {keys}, {shown}")
        wrong += [f"{tool} writes {key}, but {tool}(8) lacks it" for key in sorted(keys - shown)]
        wrong += [f"{tool}(8) describes {key}, which {tool} does not write" for key in sorted(shown)
                  if re.fullmatch(r"[a-z]\w*", key) and key not in texts | keys]
    return "\n".join(wrong)


def lint():
    """mandoc reports no warning for the manuals as they are installed."""
    wrong = []
    with tempfile.TemporaryDirectory() as there:
        os.mkdir(f"{there}/man8")
        paths = glob.glob(f"{TOP}/tools/smcss/*/*.8") + glob.glob(f"{TOP}/tools/ivshmem/*.8")
        for path in paths:
            shutil.copy(path, f"{there}/man8")
        for path in paths:
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning",
                                   f"man8/{os.path.basename(path)}"], cwd=there, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                                  timeout=60)
            wrong += [line for line in done.stdout.splitlines() if ".so is fragile" not in line]
    return "\n".join(wrong if paths else ["no manual was found"])


def numbers():
    """Our headers have every constant of the system's headers (linux-libc-dev), with the same
    value."""
    wrong = []
    for header in ("smc.h", "smc_diag.h"):
        path = f"/usr/include/linux/{header}"
        if not os.path.exists(path):
            continue
        ours, theirs = ({name: value for enum in uapi.enums(uapi.read(p))
                         for name, value in enum.names.items() if not name.endswith("_MAX")}
                        for p in (f"{HEADERS}/{header}", path))
        if not theirs:
            wrong.append(f"no definition was found in {path}")
        wrong += [f"{name} is {ours.get(name)} instead of {value}" for name, value in theirs.items()
                  if ours.get(name) != value]
    return "\n".join(wrong)


def rows(text):
    """Returns {first cell: [the other cells]} of the tables in a text."""
    table = [[cell.strip() for cell in line.split("|")[1:-1]]
             for line in text.splitlines() if line.startswith("|")]
    return {row[0]: row[1:] for row in table if row[0].strip("-")}


def section(text, heading):
    """Returns the text below a heading, up to the next one of its level or above."""
    level = len(heading) - len(heading.lstrip("#"))
    below = re.split(rf"(?m)^{re.escape(heading)}$", text)
    if len(below) != 2:
        raise ValueError(f"the heading {heading!r} is missing or occurs more than once")
    return re.split(rf"(?m)^#{{1,{level}}} ", below[1])[0]


# Table of the README, table of performance.md, which of its columns the README has, and the minimum
# number of rows.
TABLES = (
    ("### One host, by instructions", "### By instructions", (2, 3, 4), 5),
    ("### One host, by the clock", "### By the clock", (0, 2, 3), 7),
    ("### Two hosts", "## Two hosts: SMC-R", (0, 1, 2, 3, 4, 5), 4),
)


def figures():
    """The tables of the README agree with performance.md; its figures reach the targets, or it says
    that they do not."""
    readme, performance = uapi.read(f"{TOP}/README.md"), page("performance.md")
    wrong = []
    for short, full, columns, least in TABLES:
        there = rows(section(performance, full))
        here = {name: cells for name, cells in rows(section(readme, short)).items() if name}
        if len(here) < least:
            wrong.append(f"{short}: {len(here)} rows, at least {least} are required")
        for name, cells in here.items():
            # The ratio of a pipe may follow a ratio.
            cells = [re.sub(r" \(a pipe: .*", "", cell) for cell in cells]
            wanted = [there[name][i] for i in columns] if name in there else None
            if cells != wanted:
                wrong.append(f"{short}: {name}: {cells} in the README, {wanted} in performance.md")
    for name, cells in rows(section(performance, TABLES[0][1])).items():
        target = re.fullmatch(r"[0-9.]+", cells[5]) if len(cells) > 5 else None
        if target and float(cells[4]) > float(target[0]):
            wrong.append(f"{name}: {cells[4]} misses its target, {target[0]}")
    return "\n".join(wrong)


def completion():
    """Every long option in the help of a tool is completed in bash."""
    completed = uapi.read(f"{TOP}/tools/smcss/completion/smcss.bash-completion")
    known = set(re.findall(r"--[a-z0-9-]+", completed))
    wrong = []
    for tool in ("smcss", "smcr", "smcd", "smc_pnet", "smc_chk", "smcat", "smc_run"):
        text = subprocess.run([f"{TOOLS}/{tool}", "--help"], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
        options = set(re.findall(r"--[a-z0-9-]+", text))
        wrong += [f"{tool} {option} is not completed" for option in sorted(options - known)]
    return "\n".join(wrong)


def cases():
    return [(f"{f.__name__} documented" if f is not numbers else "numbers of the system's headers", f)
            for f in (reasons, asserted, netlink, diag, sysctls, manuals, completion, lint, json_keys,
                      bpftrace, figures, versions, numbers)]
