#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The cost of steering for a connection set-up, and from which size on SMC pays:
#
#   bench/steer.sh [filter|auto]     on the host: boots a guest that counts instructions
#
# filter: connect + close without a rule, with 1 000 rules of which none matches, with 1 000 of
# which only the last one matches. auto: connections that exchange a given number of messages or
# bytes before they close, over TCP and over SMC. Documentation/steering.md has the results.
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../../../.." && pwd)
what=${1:-filter}

if [ -z "$SMC_KO" ]; then
	make -s -C "$here" OUT="$top/build/bench" && make -s -C "$top" tools || exit 2
	exec "$top/tools/testing/vm/run" --kver 6.12 --icount --timeout 900 --name "steer-$what" -- \
		"$here/steer.sh" "$what"
fi

# Run from memory: a page that comes over 9p while the clock runs would distort the result.
cp "${SMC_BENCH:-$top/build/bench/smc_bench}" /tmp/smc_bench || exit 1
modprobe -q udp_tunnel
insmod "$SMC_KO" || exit 1
sleep 20	# lets the boot finish its deferred work, which takes no real time

cost()	# cost <transport> <work> <options...>: instructions per operation
{
	local transport=$1 work=$2

	shift 2
	/tmp/smc_bench --json --transport "$transport" --work "$work" "$@" |
		sed -n 's/.*"ns_per_op": *\([0-9.]*\).*/\1/p'
}

rules()	# rules <first> <last>: none of them matches; one address, network or port range each
{
	PYTHONPATH=$top/tools/smcss/tests python3 -B - "$@" <<-'END'
	import struct, sys, genl
	link = genl.Genl()
	for i in range(int(sys.argv[1]), int(sys.argv[2])):
	    a = genl.attr
	    rule = a(2, b"\2") + a(9, bytes((10, i >> 8, i & 255, 0)))
	    if i % 3 == 0:
	        rule += a(10, b"\x18")
	    if i % 3 == 1:
	        rule += a(11, struct.pack("=H", i)) + a(12, struct.pack("=H", i + 100))
	    if i % 5 == 0:
	        rule += a(5, bytes((192, 168, i & 255, i >> 8)))
	    link.ask(129, a(64 | 0x8000, rule))
	END
}

permit()
{
	PYTHONPATH=$top/tools/smcss/tests python3 -B -c 'import genl
genl.Genl().ask(129, genl.attr(64 | 0x8000, genl.attr(2, b"\1")))'
}

case $what in
filter)
	echo "rules                cost of connect + close"
	echo "none                 $(cost smc connect --size 64 --count 2000)"
	rules 0 1000
	echo "1000, none fits      $(cost smc connect --size 64 --count 2000)"
	permit
	echo "1001, the last fits  $(cost smc connect --size 64 --count 2000)"
	echo "over TCP             $(cost tcp connect --size 64 --count 2000)"
	;;
auto)
	echo "a connection               TCP      SMC"
	echo "no message                 $(cost tcp connect --size 1 --count 1000) $(cost smc connect --size 1 --count 1000)"
	for n in 1 2 3 4 6 8 16; do
		echo "$n x 64 B each way         $(cost tcp connect-echo --size 64 --count 1000 --exchanges $n)" \
			"$(cost smc connect-echo --size 64 --count 1000 --exchanges $n)"
	done
	for size in 4096 16384 65536 131072; do
		echo "1 x $size B each way      $(cost tcp connect-echo --size $size --count 500)" \
			"$(cost smc connect-echo --size $size --count 500)"
	done
	;;
esac
