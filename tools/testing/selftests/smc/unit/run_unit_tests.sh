#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs test programs, passes on their TAP, and counts. A program that crashes,
# or prints nothing, counts as a failure.
#
#   run_unit_tests.sh PROGRAM...		RUN names the program that runs them

passed=0
failed=0
for test in "$@"; do
	echo "# ${test##*/}"
	out=$(${RUN:-} "$test" 2>&1)
	rc=$?
	printf '%s\n' "$out"
	ok=$(printf '%s\n' "$out" | grep -c '^ok ')
	not=$(printf '%s\n' "$out" | grep -c '^not ok ')
	passed=$((passed + ok))
	failed=$((failed + not))
	plan=$(printf '%s\n' "$out" | sed -n 's/^1\.\.//p')
	if [ "$plan" != $((ok + not)) ] || { [ $rc -ne 0 ] && [ "$not" -eq 0 ]; }; then
		echo "not ok - ${test##*/} ended early, exit status $rc"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
