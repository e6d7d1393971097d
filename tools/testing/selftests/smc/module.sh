#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Loads and unloads the module 50 times under connections: while a socket is
# open rmmod says that the module is in use, and works when none is - with
# TIME_WAIT, un-accepted children and dying namespaces behind it.
#
# Environment: SMC_KO, SMC_DIAG_KO. Prints TAP.

rounds=${SMC_MODULE_ROUNDS:-50}
n=0
failed=0
traffic=$(dirname "$(readlink -f "$0")")/module_traffic.py

ok()	# ok <status> <name>
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n $2"
	else
		echo "not ok $n $2"
		failed=1
	fi
}

bad='WARNING:|BUG|Oops|KASAN|UBSAN|ODEBUG|general protection|circular locking'
bad="$bad|inconsistent lock|Call Trace|refcount_t:|unregister_netdevice: waiting"
bad="$bad|list_(add|del) corruption|suspicious RCU|still has objects|scheduling while atomic"

log_lines=$(dmesg | wc -l)

# Nothing bad since the last look.
log_is_clean()
{
	local new

	new=$(dmesg | tail -n +"$((log_lines + 1))" | grep -E "$bad")
	log_lines=$(dmesg | wc -l)
	[ -z "$new" ] && return 0
	echo "$new" | head -3 | sed 's/^/# kernel log: /'
	return 1
}

load()
{
	insmod "$SMC_KO" || return 1
	[ ! -e "$SMC_DIAG_KO" ] || insmod "$SMC_DIAG_KO"
}

unload()
{
	if grep -q '^smc_diag ' /proc/modules; then
		rmmod smc_diag || return 1
	fi
	rmmod smc 2> /tmp/rmmod.err
}

loaded()
{
	grep -q '^smc ' /proc/modules
}

# Without the module the kernel would load its own for the protocol.
modprobe=$(< /proc/sys/kernel/modprobe)
trap 'echo "$modprobe" > /proc/sys/kernel/modprobe' EXIT
echo /bin/false > /proc/sys/kernel/modprobe

echo "TAP version 13"
loaded && { unload || { echo "Bail out! the module is in use"; exit 1; }; }


one_kind()	# one_kind <what the socket does>
{
	local pid line rc=0

	load || { echo "# insmod failed"; return 1; }
	coproc HOLD { exec python3 "$traffic" "$1"; }
	pid=$HOLD_PID
	read -r -t 60 line <&"${HOLD[0]}"
	if [ "$line" != ready ]; then
		echo "# $1: no socket: $line"
		rc=1
	fi
	rmmod smc_diag 2> /dev/null
	if rmmod smc 2> /tmp/rmmod.err; then
		echo "# $1: rmmod worked while a socket was open"
		rc=1
	elif ! grep -qi 'in use\|busy\|temporarily' /tmp/rmmod.err; then
		echo "# $1: rmmod said: $(cat /tmp/rmmod.err)"
		rc=1
	fi
	echo close >&"${HOLD[1]}"
	wait "$pid" || { echo "# $1: the program failed"; rc=1; }
	# Closing goes on in the background, but not without end.
	for _ in $(seq 100); do
		loaded && ! unload || break
		sleep 0.1
	done
	if loaded; then
		echo "# $1: still in use: $(grep '^smc ' /proc/modules)"
		return 1
	fi
	log_is_clean && [ $rc = 0 ]
}

kinds="new bound listening connected accepted unaccepted half_closed unread lingering namespace fallback"
echo "1..$(($(echo "$kinds" | wc -w) + 4))"
for kind in $kinds; do
	one_kind "$kind"
	ok $? "in use with a socket that is: ${kind//_/ }"
done

status=0
for i in $(seq "$rounds"); do
	load || { echo "# round $i: insmod failed"; status=1; break; }
	python3 "$traffic" burst > /tmp/traffic.out 2>&1 ||
		{ echo "# round $i: $(tail -1 /tmp/traffic.out)"; status=1; }
	for _ in $(seq 100); do
		unload && break
		sleep 0.1
	done
	if loaded; then
		echo "# round $i: $(cat /tmp/rmmod.err)"
		status=1
		break
	fi
done
ok $status "loaded and unloaded $rounds times after traffic, TIME_WAIT included"
log_is_clean
ok $? "kernel log after that"

status=0
for i in $(seq 10); do
	load || { status=1; break; }
	python3 "$traffic" race > /tmp/traffic.out 2>&1 &
	pid=$!
	# rmmod while sockets come and go: it fails or works, and nothing else
	while kill -0 $pid 2> /dev/null; do
		unload
		loaded || load 2> /dev/null
	done
	wait $pid || { echo "# round $i: $(tail -1 /tmp/traffic.out)"; status=1; }
	for _ in $(seq 100); do
		loaded && ! unload || break
		sleep 0.1
	done
	loaded && { echo "# round $i: $(cat /tmp/rmmod.err)"; status=1; break; }
done
ok $status "rmmod races with sockets that come and go"
log_is_clean
ok $? "kernel log after that"

load
exit $failed
