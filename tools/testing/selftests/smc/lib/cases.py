# SPDX-License-Identifier: GPL-2.0
"""Runs a test in Python that is a list of cases."""


def play(cases, *arguments, skip=lambda function: None):
    """Prints TAP for [(what, function)]; a case that raises has failed. skip() gives a reason to
    leave one out."""
    failed = 0
    print(f"TAP version 13\n1..{len(cases)}")
    for number, (what, function) in enumerate(cases, 1):
        reason = skip(function)
        if reason:
            print(f"ok {number} {what} # SKIP {reason}")
            continue
        try:
            function(*arguments)
            print(f"ok {number} {what}", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed = 1
            print(f"# {type(error).__name__}: {error}\nnot ok {number} {what}", flush=True)
    return failed
