#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In the guest: runs every row that bench/run_bench asks for, one line of JSON each.
#
#   rows.sh REPEAT ROW...      a row is "work:size:count:transport,transport,...:options"
#
# The transports of a row take turns, so that a drift of the machine hits all of them.
# From memory, so that no page of it comes over 9p while the clock is running.
cp "${SMC_BENCH:?the path of smc_bench}" /tmp/smc_bench || exit 1
bench=/tmp/smc_bench
repeat=$1
shift

smc=
if [ -e "$SMC_KO" ]; then
	modprobe -q udp_tunnel
	if insmod "$SMC_KO"; then
		smc=yes
	fi
fi
[ -n "$smc" ] || echo "# no smc.ko for $KVER, rows of SMC are left out"

# What the boot has put off is done now. In the deterministic mode this takes no time.
[ -z "$SMC_BENCH_SETTLE" ] || sleep "$SMC_BENCH_SETTLE"

# Where a program that does not end is waiting, before it is killed. By the wall clock only:
# when the guest counts instructions and waits for the host's disk, its clock leaps to the next
# timer, which would be this one. There the runner's own timeout has to do.
give_up()
{
	local pid

	sleep "${SMC_BENCH_TIMEOUT:-100}"
	echo "# $1 does not end:"
	for pid in $(pidof smc_bench); do
		echo "# process $pid, $(grep State: "/proc/$pid/status")"
		sed 's/^/#   /' "/proc/$pid/stack"
	done
	kill -KILL $(pidof smc_bench)
}

run_one()
{
	local status watchdog=

	[ -n "$SMC_BENCH_SETTLE" ] || { give_up "$*" & watchdog=$!; }
	"$bench" --json "$@"
	status=$?
	[ -z "$watchdog" ] || { kill $watchdog; wait $watchdog 2> /dev/null; }
	[ $status = 0 ] || echo "# failed: $* (status $status)"
	# Lets the output drain before the next row.
	[ -z "$SMC_BENCH_SETTLE" ] || sleep 1
}

for ((i = 1; i <= repeat; i++)); do
	for row in "$@"; do
		IFS=: read -r work size count transports options <<< "$row"
		for transport in ${transports//,/ }; do
			[[ $transport != smc* || -n $smc ]] || continue
			run_one --transport "$transport" --work "$work" \
				--size "$size" --count "$count" $options
		done
	done
done
