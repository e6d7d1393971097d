# SPDX-License-Identifier: GPL-2.0
"""Runs two machines, counts their TAP lines, and marks all other output with its machine."""
import re
import subprocess


class Seen:
    """What the machines have reported so far."""

    def __init__(self):
        self.count, self.skipped, self.passed = 0, 0, set()


def run_machines(command, env, heard=lambda line: False, seen=None):
    """Prints TAP lines with new numbers and marks every other line with its machine. Lines that
    heard() accepts are not printed. seen: the reports of machines that ran before."""
    seen = seen or Seen()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace",
                          env=env) as process:
        for line in process.stdout:
            if heard(line):
                continue
            tap = re.match(r"\[\d\] (not )?ok\b", line)
            other = re.match(r"\[(\d)\] # ?(.*)", line)
            if tap:
                seen.count += 1
                seen.skipped += "# SKIP" in line
                line = re.sub(r"ok \d+", f"ok {seen.count}", line[4:], count=1)
                if not tap[1]:
                    seen.passed.add(re.sub(r".*: (\w+).*\n", r"\1", line))
            elif other:
                line = f"# [{other[1]}] {other[2]}\n"
            print(line, end="", flush=True)
    return process.returncode, seen
