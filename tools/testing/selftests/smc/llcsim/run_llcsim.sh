#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Runs the schedules on two processors: some with the sanitizers, all without.
#
#   run_llcsim.sh DIRECTORY SCHEDULES SANITIZED

half=$(($2 / 2))
"$1/llcsim" -n $half -s $((half + 1)) >"$1/second" 2>&1 &
"$1/llcsim-san" -n "$3" 2>&1
bad=$?
"$1/llcsim" -n $half 2>&1 || bad=1
wait $! || bad=1
cat "$1/second"
exit $bad
