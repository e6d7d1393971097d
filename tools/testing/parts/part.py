# SPDX-License-Identifier: GPL-2.0
"""A part of the check: runs commands, and shows and counts their results as they arrive."""
import collections
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time

TESTING = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOP = os.path.abspath(f"{TESTING}/../..")
SUITE = f"{TESTING}/selftests/smc"
sys.path[:0] = [f"{TESTING}/vm"]
from verdict import EMULATOR  # noqa: E402

# A guest's number may come first or, in the output of a check within this one, the name of a part.
RESULT = re.compile(r"(?:[\w.-]+ *\| )?(?:\[\d\] )?(not ok|ok)\b[\s\d]*-?\s*(.*)")
LAST_WORDS = 24		# lines of a dying kernel that the summary shows
printing = threading.Lock()


class Running(set):
    """The programs that are running, so that a signal can end them."""
    stopped = False


running = Running()


def stop(*_):
    """Ends all runners of guests, which clean up after themselves, and lets nothing new start."""
    running.stopped = True
    for process in list(running):
        # Popen.terminate() would reap the process, and lines_of() waits for it.
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGTERM)


def lines_of(command, consume, spend=lambda seconds: None, **environment):
    """Runs a command and returns its exit status. Passes every line of its output to consume(), and
    the seconds of processor time that it took to spend()."""
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
    """Returns the lines of a list beside this program: the text before a #, without empty lines."""
    with open(f"{TESTING}/{name}", encoding="utf-8") as lines:
        return [text for line in lines if (text := line.partition("#")[0].strip())]


class Quarantine:
    """Cases whose failures are shown but do not count, because their cause is not yet known."""

    def __init__(self):
        self.patterns = [re.compile(text) for text in listed("quarantine")]

    def holds(self, text):
        return any(pattern.search(text) for pattern in self.patterns)


class Stream:
    """The output of the commands of a part, which run one after the other."""

    def __init__(self, tag, log, quarantine, only=()):
        self.tag, self.log, self.quarantine = tag, log, quarantine
        self.only = only	# the names of the suites to run, or empty for all
        self.passed, self.failed, self.skipped, self.repeated = 0, [], [], []
        self.quarantined, self.processor = [], 0
        self.lately = collections.deque(maxlen=8)	# shown in the summary
        self.said = {}

    def line(self, text):
        with printing:
            self.log.write(f"{text}\n")
            self.log.flush()
            print(f"{self.tag:5} | {text}", flush=True)
        # A guest that died is a failure, whatever its tests had printed before.
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
            # "ok 1 name # SKIP reason", or in the form of kselftest: "ok 1 # SKIP name reason"
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
        """Passes on the output of a command, and returns its exit status."""
        return lines_of(command, self.line, self.spend, **environment)

    def spend(self, seconds):
        self.processor += seconds

    def suite(self, name, command, **environment):
        """Runs a command that prints TAP. It must print at least one result, and its status must
        match the results. If the only fault was that the emulator died, which only the fall-back
        emulator does, the command runs a second time."""
        # The name may have that of the part before it, as in um-admin.tools.
        if self.only and not any(f".{name}".endswith(f".{wanted}") for wanted in self.only):
            return
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
    """One part of the check; streams() are the things that it runs at the same time, if any."""

    def __init__(self, name, quarantine=None, only=()):
        log = open(f"{TOP}/build/check/{name}.log", "w", encoding="utf-8")
        super().__init__(name, log, quarantine or Quarantine(), only)
        self.name, self.seconds, self.children = name, 0, []

    def stream(self, tag):
        log = open(f"{TOP}/build/check/{self.name}.{tag}.log", "w", encoding="utf-8")
        child = Stream(f"{self.name}.{tag}", log, self.quarantine, self.only)
        self.children.append(child)
        return child

    def together(self, calls):
        """Makes (function, argument) calls at the same time, with this part as the first
        argument."""
        threads = [threading.Thread(target=function, args=(self, argument))
                   for function, argument in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def all(self, what):
        """Returns all results of one kind: failed, skipped, repeated, quarantined."""
        return [text for stream in (self, *self.children) for text in getattr(stream, what)]

    def all_said(self):
        return {text: lines for stream in (self, *self.children)
                for text, lines in stream.said.items()}

    def all_processor(self):
        """Returns the processor time of the whole part in seconds."""
        return self.processor + sum(child.processor for child in self.children)

    def all_passed(self):
        return self.passed + sum(child.passed for child in self.children)

    def count(self):
        """Returns the number of cases, whatever their results."""
        return self.all_passed() + sum(len(self.all(kind))
                                       for kind in ("failed", "skipped", "quarantined"))


def built_quietly(part, kver, *arguments):
    """Builds the module; a warning is a failure."""
    output = []
    status = lines_of(["make", *arguments], output.append, getattr(part, "spend", lambda _: None))
    complaints = [line for line in output if re.search(r"\b(warning|error|Error)\b", line)]
    for line in complaints[:20] or (output[-10:] if status else []):
        part.line(f"# {line}")
    part.line(f"{'not ' if status or complaints else ''}ok - {arguments[0]} for {kver}")
    return status == 0
