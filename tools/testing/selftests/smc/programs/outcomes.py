#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs tests from Python's own test package; prints one line of JSON for each when it has ended.

  outcomes.py test.test_socket test.test_ssl.ThreadedTests.test_x ...

Does not use regrtest, which reports files rather than single tests.
"""
import faulthandler
import json
import os
import sys
import unittest

from test import support

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.slow import slow  # noqa: E402


class Outcomes(unittest.TestResult):
    def say(self, test, outcome, why=""):
        print("\n" + json.dumps({"test": test.id(), "outcome": outcome, "why": str(why)}),
              file=sys.__stdout__, flush=True)

    def addSuccess(self, test):
        self.say(test, "passed")

    def addSkip(self, test, reason):
        self.say(test, "skipped", reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say(test, "failed", self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.say(test, "failed", self.errors[-1][1])

    def addExpectedFailure(self, test, err):
        self.say(test, "expected failure")

    def addUnexpectedSuccess(self, test):
        self.say(test, "unexpected success")


def main():
    support.verbose = 0
    # Scale the time limits of the package before a test reads them.
    for name in ("LOOPBACK_TIMEOUT", "INTERNET_TIMEOUT", "SHORT_TIMEOUT", "LONG_TIMEOUT"):
        setattr(support, name, slow(getattr(support, name)))
    faulthandler.enable()
    suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
    with support.captured_stderr():
        suite.run(Outcomes())


if __name__ == "__main__":
    main()
