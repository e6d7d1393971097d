#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# 64 SMC-R peers at once, simulated by smc_rogue, in a guest with four processors: a link group costs
# the same whether there are few others or many, and the completion queues use all vectors of the
# device. Deterministic: one nanosecond is one instruction, or idle time. Prints TAP.
#
#   peers.sh [KVER]
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../../../.." && pwd)
processors=4
most_growth=110		# per cent
# Each processor keeps free pages and objects for itself, which counts as memory in use.
most_memory=130

# The part that runs inside the guest.
if [ -n "$SMC_KO" ]; then
	modprobe ib_core
	echo 1 > /sys/kernel/tracing/events/rdma_core/cq_alloc/enable || exit 1
	sleep 10	# lets the boot finish its deferred work
	"$here/../rdma/rogue_guest" many
	status=$?
	# The rogue's own queues belong to user space and are not traced.
	sed -n 's/.*comp_vector=\([0-9]*\).*/\1/p' /sys/kernel/tracing/trace | sort -n | uniq -c |
		sed 's/^ *\([0-9]*\) \([0-9]*\)/# vector \2: \1 queues/'
	exit $status
fi

. "$here/measured.sh"
kver=${1:-6.12}
log=$top/build/bench/peers.log
mkdir -p "$top/build/bench"
echo "TAP version 13"
echo "# 64 peers in a guest with $processors processors, Linux $kver; two minutes or more"
"$top/tools/testing/vm/run" --kver "$kver" --variant=-test --icount --qemu "-smp $processors" \
	--mem 2048 --timeout 900 --name "peers-$kver" -- "$here/peers.sh" > "$log"
status=$?
[ $status != 2 ] || exit 2
sed 's/^\([^#]\)/# \1/' "$log"
row=$(grep '^# {' "$log")

# grows FIRST LAST MOST: is LAST at most MOST per cent of FIRST?
grows()
{
	[ -n "$2" ] && [ $(($2 * 100)) -le $(($1 * $3)) ] && echo yes
}

check "$([ $status = 0 ] && echo yes)" "64 peers each have a link group, as clients and as servers"
read -rd '' early server_early <<< "$(member setup_ns_early)"
read -rd '' late server_late <<< "$(member setup_ns_late)"
check "$(grows "$early" "$late" $most_growth)" \
	"accepting a peer takes ${early:-?} ns at both ends among few, ${late:-?} ns among 64"
check "$(grows "$server_early" "$server_late" $most_growth)" \
	"calling a peer takes ${server_early:-?} ns among few, ${server_late:-?} ns among 64"
read -rd '' first _ <<< "$(member kib_first_half)"
read -rd '' second _ <<< "$(member kib_second_half)"
check "$(grows "$first" "$second" $most_memory)" \
	"32 peers take ${first:-?} KiB at both ends, the next 32 ${second:-?} KiB"
check "$([ "$(grep -c '^# vector' "$log")" = $processors ] && echo yes)" \
	"completion queues use the vectors of $processors processors"
echo "1..$tests"
exit $failed
