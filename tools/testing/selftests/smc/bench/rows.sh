#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In the guest: runs every row that bench/run_bench asks for, one line of JSON each.
#
#   rows.sh REPEAT ROW...      a row is "work:size:count:transport,transport,...:options"
#
# The transports of a row take turns, so a drift of the machine affects all of them. The program is
# run from memory, so that no page of it comes over 9p while the clock is running.
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
[ -n "$smc" ] || echo "# no smc.ko for $KVER, so the rows of SMC are skipped"

# Let the boot finish its deferred work. In the deterministic mode this takes no real time.
[ -z "$SMC_BENCH_SETTLE" ] || sleep "$SMC_BENCH_SETTLE"

# Before a program that hangs is killed, show where it waits. Only by the wall clock: when the guest
# counts instructions and waits for the host's disk, its clock leaps to the next timer, which would
# be this one. In that mode only the runner's own timeout applies.
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
	# Let the output drain before the next row.
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
