# SPDX-License-Identifier: GPL-2.0
# For scripts that run a measurement in a guest and judge its figures: TAP and JSON. Sourced.
# shellcheck shell=bash
failed=0
tests=0

# check YES WHAT: passes if YES is "yes"
check()
{
	local verdict=ok

	[ "$1" = yes ] || verdict="not ok" failed=1
	tests=$((tests + 1))
	echo "$verdict $tests $2"
}

# member NAME: an integer from each line of JSON in $row, without its fraction
member()
{
	# shellcheck disable=SC2154
	sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" <<< "$row"
}
