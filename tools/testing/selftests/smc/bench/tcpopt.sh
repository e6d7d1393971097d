#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The cost of the netfilter hook for the TCP option for programs without SMC in its namespace:
#
#   bench/tcpopt.sh     on the host: boots a guest that counts instructions
#
# Runs the same plain TCP operations in one boot: without the hook, while an SMC socket keeps it
# registered, and without it again. A packet is half of a round trip. Status 1 if a target is
# missed.
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../../../.." && pwd)
most_packet=120		# more instructions for a packet, 60 each way; receiving costs none
most_connect=1.02	# ratio for connect + close

if [ -z "$SMC_KO" ]; then
	make -s -C "$here" OUT="$top/build/bench" && make -s -C "$top" tools || exit 2
	exec "$top/tools/testing/vm/run" --kver 6.12 --icount --timeout 900 --name tcpopt-bench -- \
		"$here/tcpopt.sh"
fi

# Run from memory: a page that comes over 9p while the clock runs would distort the result.
cp "${SMC_BENCH:-$top/build/bench/smc_bench}" /tmp/smc_bench || exit 1
modprobe -q udp_tunnel
insmod "$SMC_KO" tcp_option=netfilter || exit 1
sleep 20	# lets the boot finish its deferred work, which takes no real time

cost()	# cost <work> <options...>: instructions per operation of TCP
{
	local work=$1

	shift
	/tmp/smc_bench --json --transport tcp --work "$work" "$@" |
		sed -n 's/.*"ns_per_op": *\([0-9.]*\).*/\1/p'
}

measure()
{
	echo "$(cost pingpong --size 1 --count 10000) $(cost connect --size 64 --count 2000)"
}

in_place()
{
	"$top/build/tools/smcr" info | grep '^TCP Option'
}

without=$(measure)
python3 -c 'import socket, time
one = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 256)
print(flush=True)
time.sleep(100000)' > /tmp/ready &
holder=$!
until [ -s /tmp/ready ]; do sleep 0.1; done
during=$(in_place)
with=$(measure)
kill $holder
wait $holder 2> /dev/null
sleep 20
after=$(in_place)
again=$(measure)
echo "hook       round trip of 1 B, connect + close, instructions"
echo "none       $without"
echo "in place   $with    ($during)"
echo "gone       $again    ($after)"
# shellcheck disable=SC2086
set -- $without $with
python3 - "$@" "$most_packet" "$most_connect" <<-'END'
	import sys
	trip, connect, trip_with, connect_with, most_packet, most_connect = map(float, sys.argv[1:])
	packet, ratio = (trip_with - trip) / 2, connect_with / connect
	print(f"a packet {packet:+.1f} (at most {most_packet:.0f}), connect + close {ratio:.4f} (at most {most_connect})")
	sys.exit(packet > most_packet or ratio > most_connect)
END
