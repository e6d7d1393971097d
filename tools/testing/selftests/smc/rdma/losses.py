# SPDX-License-Identifier: GPL-2.0
"""A table of the losses of a run: how many of each kind the connections survived, how long they
were stalled, and how long it took until there were two links again."""
import json
import os
import re
import statistics

HEAD = ("loss", "under", "device", "number", "failed", "stall, median", "90 %", "longest",
        "both links up, median", "longest")


class Losses:
    """Collects the lines that the client's machine prints for each loss."""

    def __init__(self):
        self.all = []

    def heard(self, line):
        """Is the line only meant for this table?"""
        match = re.match(r"\[\d\] # @loss (.*)", line)
        if match:
            self.all.append(json.loads(match[1]))
        return bool(match)

    def groups(self):
        """Yields (words of a row, its losses), for each kind and for all."""
        kinds = {}
        for loss in self.all:
            what = {"ends": f"both {loss['kind']}", "first": "first contact"}.get(
                loss["how"], loss["kind"])
            kinds.setdefault((what, loss["which"]), []).append(loss)
        for (what, which), losses in sorted(kinds.items()):
            yield what, "+".join(sorted({loss["load"] for loss in losses})), which, losses
        yield "all", "", "", self.all

    def rows(self):
        for what, loads, which, losses in self.groups():
            pauses = sorted(loss["pause"] for loss in losses if "pause" in loss)
            backs = sorted(loss["back"] for loss in losses if "back" in loss)
            yield (what, loads if len(loads) < 20 else "several", which, len(losses),
                   sum("failed" in loss for loss in losses),
                   *((f"{statistics.median(pauses):.0f} ms", f"{pauses[len(pauses) * 9 // 10]} ms",
                      f"{pauses[-1]} ms") if pauses else ("-",) * 3),
                   *((f"{statistics.median(backs):.2f} s", f"{backs[-1]:.2f} s") if backs else
                     ("-",) * 2))

    def table(self):
        lines = [[str(word) for word in row] for row in (HEAD, *self.rows())]
        widths = [max(map(len, column)) for column in zip(*lines)]
        return ["  ".join(word.ljust(width) if n < 3 else word.rjust(width)
                          for n, (word, width) in enumerate(zip(line, widths))).rstrip()
                for line in lines]

    def report(self, path, title):
        """Prints the table, and writes the table and the failures to a file."""
        if not self.all:
            return
        failed = [f"{loss['kind']}, {loss['load']}: {loss['failed']}" for loss in self.all
                  if "failed" in loss]
        lines = [title, "", *self.table(), *([""] if failed else []), *failed]
        print("".join(f"# {line}\n" for line in lines), end="", flush=True)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
