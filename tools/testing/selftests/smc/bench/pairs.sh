#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The cost of an operation when many do the same on several processors:
#
#   bench/pairs.sh [PROCESSORS]...     on the host: boots a guest with 1, 4 and 8 processors
#
# 64 pairs of client and server exchange one byte or stream 64 KiB; eight clients call one listener,
# or listeners with SO_REUSEPORT. The guest counts the instructions of all processors together. So
# what shows is work that grows with the number of processors or pairs: spinning and wake-ups across
# processors. Then the same by the clock, if PAIRS_CLOCK is set: only ratios are of use, and only if
# the host has as many processors.
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../../../.." && pwd)

if [ -z "$SMC_KO" ]; then
	make -s -C "$here" OUT="$top/build/bench" || exit 2
	[ $# != 0 ] || set -- 1 4 8
	for processors; do
		mode=(--icount --qemu "-smp $processors")
		[ -z "$PAIRS_CLOCK" ] || mode=(--smp "$processors")
		"$top/tools/testing/vm/run" --kver "${KVER:-6.12}" "${mode[@]}" --mem 2048 \
			--timeout 3000 --name "pairs-$processors" -- "$here/pairs.sh" || exit
	done
	exit
fi

# Run from memory: a page that comes over 9p while the clock runs would distort the result.
cp "${SMC_BENCH:-$top/build/bench/smc_bench}" /tmp/smc_bench || exit 1
modprobe -q udp_tunnel
insmod "$SMC_KO" || exit 1
sleep 10	# lets the boot finish its deferred work

cost()	# cost <transport> <options...>: instructions per operation
{
	/tmp/smc_bench --json --backlog 4096 --transport "$@" | sed -n 's/.*"ns_per_op": *\([0-9]*\).*/\1/p'
}

row()	# row <what> <options...>
{
	local what=$1 tcp smc

	shift
	tcp=$(cost tcp "$@")
	smc=$(cost smc "$@")
	[ -n "$tcp" ] && [ -n "$smc" ] || { echo "# failed: $what"; exit 1; }
	printf '%10d  %-38s %9d %9d %7s\n' "$(nproc)" "$what" "$tcp" "$smc" \
		"$(python3 -c "print(f'{$smc / $tcp:.3f}')")"
}

echo "processors  work                                         TCP       SMC   ratio"
row "ping-pong of 1 B, one pair" --work pingpong --size 1 --count 5000
row "ping-pong of 1 B, 64 pairs" --work pingpong --size 1 --count 500 --warmup 50 --pairs 64
row "stream of 64 KiB, one pair" --work stream --size 65536 --count 1000 --warmup 200
row "stream of 64 KiB, 64 pairs" --work stream --size 65536 --count 50 --warmup 100 --pairs 64
row "connect + close, one pair" --work connect --count 1000 --warmup 500
row "connect + close, 8 to their own" --work connect --count 250 --warmup 100 --pairs 8
row "connect + close, 8 to one listener" --work connect --count 250 --warmup 100 --pairs 8 \
	--listener shared
row "connect + close, 8 with SO_REUSEPORT" --work connect --count 250 --warmup 100 --pairs 8 \
	--listener reuseport
