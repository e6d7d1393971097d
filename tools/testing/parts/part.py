# SPDX-License-Identifier: GPL-2.0
"""A part of the check: what it plays, shown and counted as it comes."""
import collections
import os
import re
import subprocess
import sys
import threading
import time

TESTING = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOP = os.path.abspath(f"{TESTING}/../..")
SUITE = f"{TESTING}/selftests/smc"
sys.path[:0] = [f"{TESTING}/vm"]
from verdict import EMULATOR  # noqa: E402

# A guest's number or, from a check within this one, the name of a part may come before it.
RESULT = re.compile(r"(?:[\w.-]+ *\| )?(?:\[\d\] )?(not ok|ok)\b[\s\d]*-?\s*(.*)")
LAST_WORDS = 24		# lines of a dying kernel that the summary shows
printing = threading.Lock()


class Running(set):
    """The programs that run just now, so that a signal can end them."""
    stopped = False


running = Running()


def stop(*_):
    """The runners of the guests clean up after themselves; nothing new starts."""
    running.stopped = True
    for process in list(running):
        process.terminate()


def lines_of(command, consume, spend=lambda seconds: None, **environment):
    """Runs a command and hands every line that it says to consume(), and to spend() the seconds of
    a processor that it took; its exit status."""
    if running.stopped:
        return 1
    env = {k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k != "MFLAGS"}
    with subprocess.Popen(command, cwd=TOP, env=env | environment, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        running.add(process)
        for line in process.stdout:
            consume(line.rstrip())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        spend(usage.ru_utime + usage.ru_stime)
    running.discard(process)
    return process.returncode


def listed(name):
    """Lines of a list beside this program: the text before a #, without what is empty."""
    with open(f"{TESTING}/{name}", encoding="utf-8") as lines:
        return [text for line in lines if (text := line.partition("#")[0].strip())]


class Quarantine:
    """Cases whose failures are shown and do not count, as nobody knows yet why they fail."""

    def __init__(self):
        self.patterns = [re.compile(text) for text in listed("quarantine")]

    def holds(self, text):
        return any(pattern.search(text) for pattern in self.patterns)


class Stream:
    """What one command of a part says, one after the other."""

    def __init__(self, tag, log, quarantine):
        self.tag, self.log, self.quarantine = tag, log, quarantine
        self.passed, self.failed, self.skipped, self.repeated = 0, [], [], []
        self.quarantined, self.processor = [], 0
        self.lately = collections.deque(maxlen=8)	# for the summary, where the rest is not seen
        self.said = {}

    def line(self, text):
        with printing:
            self.log.write(f"{text}\n")
            self.log.flush()
            print(f"{self.tag:5} | {text}", flush=True)
        # A guest that died, whatever its tests had said until then.
        if re.match(r"(\[\d\] )?vm: .*: fail: (?!the script ended)", text):
            self.failure(text)
        repeated = re.match(r"# (\[\d\] )?REPEATED (.*)", text)
        if repeated:
            self.repeated.append(repeated[2])
        last_words = re.match(r"(\[\d\] )?console: (.*)", text)
        if last_words and self.failed and len(self.said[self.failed[-1]]) < LAST_WORDS:
            self.said[self.failed[-1]].append(last_words[2])
        match = RESULT.match(text)
        if not match:
            self.lately.append(text)
            return
        test, _, directive = match[2].partition("#")
        if match[1] == "not ok":
            self.failure(test.strip() or text)
        elif directive.strip().upper().startswith("SKIP"):
            # "ok 1 name # SKIP reason", or as kselftest has it: "ok 1 # SKIP name reason"
            self.skipped.append(" ".join((test + directive.strip()[4:]).split()))
        else:
            self.passed += 1

    def failure(self, what):
        of = self.quarantined if self.quarantine.holds(f"{self.tag}: {what}") else self.failed
        of.append(what)
        self.said[what] = list(self.lately)

    def bad(self):
        return len(self.failed) + len(self.quarantined)

    def run(self, command, **environment):
        """Passes on what a command says; its exit status."""
        return lines_of(command, self.line, self.spend, **environment)

    def spend(self, seconds):
        self.processor += seconds

    def suite(self, name, command, **environment):
        """A command that prints TAP. It must print some, and its status must agree. Once more,
        when nothing went wrong but that the emulator died, which only the fall-back does."""
        before = self.passed, self.bad(), len(self.failed)
        skipped, processor, started = len(self.skipped), self.processor, time.monotonic()
        status = self.run(command, **environment)
        self.line(f"# {name} took {time.monotonic() - started:.0f} s, and "
                  f"{self.processor - processor:.0f} s of a processor")
        new = self.failed[before[2]:]
        if new and all(EMULATOR in text for text in new):
            self.line(f"# REPEATED {name}: the emulator died")
            self.passed = before[0]
            del self.failed[before[2]:], self.skipped[skipped:]
            status = self.run(command, **environment)
        if status and self.bad() == before[1]:
            self.line(f"not ok - {name}: ended with status {status}")
        elif (self.passed, self.bad()) == before[:2]:
            self.line(f"not ok - {name}: ran no test")


class Part(Stream):
    """One part of the check; streams() are what it plays at the same time, if anything."""

    def __init__(self, name, quarantine=None):
        log = open(f"{TOP}/build/check/{name}.log", "w", encoding="utf-8")
        super().__init__(name, log, quarantine or Quarantine())
        self.name, self.seconds, self.children = name, 0, []

    def stream(self, tag):
        log = open(f"{TOP}/build/check/{self.name}.{tag}.log", "w", encoding="utf-8")
        child = Stream(f"{self.name}.{tag}", log, self.quarantine)
        self.children.append(child)
        return child

    def together(self, calls):
        """Makes (function, argument) calls at the same time; function gets this part first."""
        threads = [threading.Thread(target=function, args=(self, argument))
                   for function, argument in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def all(self, what):
        """Everything of one kind: failed, skipped, repeated, quarantined."""
        return [text for stream in (self, *self.children) for text in getattr(stream, what)]

    def all_said(self):
        return {text: lines for stream in (self, *self.children)
                for text, lines in stream.said.items()}

    def all_processor(self):
        """Seconds of a processor that all of it took."""
        return self.processor + sum(child.processor for child in self.children)

    def all_passed(self):
        return self.passed + sum(child.passed for child in self.children)

    def count(self):
        """Cases, whatever became of them."""
        return self.all_passed() + sum(len(self.all(kind))
                                       for kind in ("failed", "skipped", "quarantined"))


def built_quietly(part, kver, *arguments):
    """Builds; a warning is a failure."""
    output = []
    status = lines_of(["make", *arguments], output.append, getattr(part, "spend", lambda _: None))
    complaints = [line for line in output if re.search(r"\b(warning|error|Error)\b", line)]
    for line in complaints[:20] or (output[-10:] if status else []):
        part.line(f"# {line}")
    part.line(f"{'not ' if status or complaints else ''}ok - {arguments[0]} for {kver}")
    return status == 0
