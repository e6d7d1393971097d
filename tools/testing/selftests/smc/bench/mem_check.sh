#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# 10 000 connections open at once in a guest with 4 GiB: measures the kernel memory of each, and the
# cost of setting one up among few and among many. Deterministic: one nanosecond is one instruction.
# Prints TAP.
#
#   mem_check.sh [KVER [COUNT [rdma]]]	a guest with 12 GiB has room for 100 000
#
# With "rdma" the connections are SMC-R, between two devices of the guest.
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../../../.." && pwd)

element=16384
# One address of the listener for each 10 000 connections leaves enough ports free, so that looking
# for one costs the same for the last connection as for the first.
each=10000
most_growth=110		# per cent

# Raises what would make TCP of some of these connections. Over SMC-R both ends are link groups of
# this namespace.
raise_limits()
{
	echo $((count * 8 * element)) | tee /proc/sys/net/smc/mem_max{,_host} > /dev/null
}

use_rdma()
{
	"$SMC_ROOT/tools/testing/vm/rxe_pair" && echo N > /sys/module/smc/parameters/loopback &&
		"$SMC_ROOT/build/tools/smcd" ueid add SMC-BENCH
}

# The part that runs inside the guest.
if [ "$1" = --guest ]; then
	count=$2 where=--addresses=$((($2 + each - 1) / each))
	modprobe -q udp_tunnel
	insmod "$SMC_KO" || exit 1
	raise_limits
	if [ "$3" = rdma ]; then
		use_rdma || exit 1
		where=--address=10.1.0.2
	fi
	cp "$SMC_BENCH" /tmp/smc_bench || exit 1
	sleep 10
	exec /tmp/smc_bench --transport smc --work mem --count "$count" --json --sndbuf $element \
		--rcvbuf $element $where
fi

. "$here/measured.sh"
kver=${1:-6.12}
count=${2:-10000}
fabric=${3:-loopback}
elements=2
[ "$fabric" != rdma ] || elements=4	# and send rings
most_bytes=$((elements * element * 3 / 2))
mem=$((count > 10000 ? 12288 : 4096))
make -s -C "$here" OUT="$top/build/bench" || exit 2
echo "TAP version 13"
echo "1..3"
echo "# $count connections in a guest with $mem MiB, Linux $kver; a minute or more"
export SMC_BENCH=$top/build/bench/smc_bench
"$top/tools/testing/vm/run" --kver "$kver" --icount --mem $mem --name "mem_check-$kver" \
	--timeout $((600 + count / 30)) -- "$here/mem_check.sh" --guest "$count" "$fabric" > "$top/build/bench/mem_check.log"
status=$?
[ $status != 2 ] || exit 2
row=$(grep '^{' "$top/build/bench/mem_check.log")
grep -v '^{' "$top/build/bench/mem_check.log" | sed 's/^/# /'

check "$([ $status = 0 ] && [ -n "$row" ] && echo yes)" \
	"$count SMC connections are open at once, over $fabric"
# If it were less than the elements, the connection would be TCP.
bytes=$(member kernel_bytes_each)
check "$([ -n "$bytes" ] && [ $bytes -gt $((elements * element)) ] && [ $bytes -le $most_bytes ] &&
	 echo yes)" "kernel memory of a connection, both ends: ${bytes:-?} bytes, at most $most_bytes"
early=$(member setup_ns_early)
late=$(member setup_ns_late)
check "$([ -n "$late" ] && [ $((late * 100)) -le $((early * most_growth)) ] && echo yes)" \
	"set-up costs ${early:-?} instructions up to the 100th, ${late:-?} up to the ${count}th"
exit $failed
