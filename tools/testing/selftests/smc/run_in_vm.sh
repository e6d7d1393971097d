#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in a guest: loads the module, runs every test of this directory, judges the kernel log after
# each, unloads the module, and checks that nothing is left.
#
# Environment: SMC_KO, SMC_DIAG_KO, SMC_ROOT, KVER; SMC_DEBUG_KERNEL=1 on the debug kernel;
# SMC_PARAMS are parameters for the module; SMC_TESTS names the parts to run (default: all of them);
# SMC_SOCK_ARGS are further arguments for smc_sock_test; SMC_INPUT_CASES selects the cases of
# smc_input_test (prefixes of their names, separated by commas; default: all of them).
#
# Prints TAP. Fails if any line says "not ok" or a part ends without a plan.

bin=${SMC_SELFTEST_BIN:-$SMC_ROOT/build/selftests/smc}
here=$SMC_ROOT/tools/testing/selftests/smc
parts=${SMC_TESTS:-sock stall owner hostile netlink many bpf budget module fault memory}
# The debug kernel in QEMU leaves these to the debug kernel in UML, which is faster and shows the
# same. It has no TCP_MD5SIG.
[ -n "$SMC_TESTS$SMC_DEBUG_KERNEL" ] || parts+=" signed input"
failed=0
rounds=20
if [ -n "$SMC_DEBUG_KERNEL" ]; then
	rounds=5
	# Here every case takes five times as long.  Other kernels have already compared the results
	# with TCP; this one is for the checks in the kernel.  So IPv6, AF_SMC and fallback run only
	# where they matter.
	: "${SMC_SOCK_ARGS:=-N -V smc4,clc4,+afsmc6,+tcpsrv4}"
fi

say()
{
	echo "# $*"
}

result()	# result <status> <name>
{
	if [ "$1" = 0 ]; then
		echo "ok $2"
	else
		echo "not ok $2"
		failed=1
	fi
}

# Runs a program that prints TAP itself; shows its output and keeps it.
tap()
{
	local name=$1 out=/tmp/$1.tap status began=$SECONDS

	shift
	say "--- $name"
	"$@" 2>&1 | tee "$out"
	status=${PIPESTATUS[0]}
	if [ "$status" != 0 ] || grep -q '^not ok' "$out" || ! grep -q '^1\.\.' "$out"; then
		failed=1
		say "$name failed with status $status"
	fi
	cat "$out" >> "${SMC_RESULTS:-/tmp}/selftests.tap"
	say "$name took $((SECONDS - began)) s"
}

has()
{
	[[ " $parts " = *" $1 "* ]]
}

load()
{
	grep -q '^smc ' /proc/modules && return 0
	modprobe -q inet_diag
	modprobe -q tcp_diag
	# shellcheck disable=SC2086
	insmod "$SMC_KO" $SMC_PARAMS || return 1
	[ ! -e "$SMC_DIAG_KO" ] || insmod "$SMC_DIAG_KO"
}

unload()
{
	if grep -q '^smc_diag ' /proc/modules; then
		rmmod smc_diag || return 1
	fi
	rmmod smc
}

# A handshake whose socket was closed may run until its timeout, and TCP waits a minute for the FIN
# of a peer that sends none.
unload_soon()
{
	local i

	for i in $(seq $((240 * ${SMC_SLOW:-1}))); do
		if unload 2> /tmp/rmmod.err; then
			say "unloaded at attempt $i"
			return 0
		fi
		# Shows whose socket takes so long.  A socket in TIME_WAIT (06) has no owner.
		[ "$i" != 20 ] || grep -hv ' 06 [0-9A-F]*:' /proc/net/tcp /proc/net/tcp6 |
			cut -c1-110 | sed 's/^/# /'
		sleep 0.5
	done
	cat /tmp/rmmod.err
	grep '^smc' /proc/modules
	return 1
}

# Everything is loaded; looking for protocols that do not exist would take modprobe seconds.
[ -z "$SMC_DEBUG_KERNEL" ] || echo > /proc/sys/kernel/modprobe
mount -t debugfs none /sys/kernel/debug 2> /dev/null
modprobe -q veth
modprobe -q unix_diag

load
result $? "load the module"
[ $failed = 0 ] || exit 1

if has sock; then
	# shellcheck disable=SC2086
	tap smc_sock_test "$bin/smc_sock_test" $SMC_SOCK_ARGS
fi
for t in stall owner signed hostile netlink bpf; do
	has $t && tap "smc_${t}_test" "$bin/smc_${t}_test"
done
has many && tap many_sockets.py python3 "$here/netlink/many_sockets.py"
if has input; then
	IFS=, read -ra cases <<< "$SMC_INPUT_CASES"
	tap smc_input_test "$bin/smc_input_test" "${cases[@]}"
fi
has budget && tap memory_budget.py python3 "$here/memory/memory_budget.py"
if has module; then
	# Earlier tests leave handshakes running in the background.
	unload_soon
	result $? "unload the module after the tests"
	SMC_MODULE_ROUNDS=$rounds tap module.sh "$here/module/module.sh"
fi
if has fault && [ -e /sys/kernel/debug/failslab ]; then
	tap smc_fault_test "$bin/smc_fault_test"
fi

if has memory; then
	unload_soon
	result $? "unload the module"
	! grep -i '^smc' /proc/slabinfo
	result $? "no slab of the module is left"
fi
exit $failed
