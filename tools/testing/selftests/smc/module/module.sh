#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Loads and unloads the module 50 times (SMC_MODULE_ROUNDS) under connections. While a socket is
# open, rmmod reports that the module is in use. It succeeds once none is open, even if TIME_WAIT,
# unaccepted children and dying namespaces remain. Requests that arrive while it loads are answered.
#
# Environment: SMC_KO, SMC_DIAG_KO, SMC_PARAMS. Prints TAP.

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

log_lines=$(dmesg | wc -l)

# Has the kernel log been clean since the last check?
log_is_clean()
{
	local new

	new=$(dmesg | tail -n +"$((log_lines + 1))")
	log_lines=$(dmesg | wc -l)
	"$SMC_ROOT/tools/testing/vm/judge-log" <(echo "$new")
}

load()
{
	# shellcheck disable=SC2086
	insmod "$SMC_KO" $SMC_PARAMS || return 1
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

# Loads kernel TLS and the ciphers that it requires, while loading still works.
python3 "$traffic" <<< plain_tls > /dev/null

# Without our module, the kernel would load its own for the protocol.
modprobe=$(< /proc/sys/kernel/modprobe)
trap 'echo "$modprobe" > /proc/sys/kernel/modprobe' EXIT
echo /bin/false > /proc/sys/kernel/modprobe

echo "TAP version 13"
loaded && { unload || { echo "Bail out! the module is in use"; exit 1; }; }


# Send a command to the program with the sockets, and wait until it is done.
tell()
{
	local line

	echo "$*" >&"${TRAFFIC[1]}"
	read -r -t $((120 * ${SMC_SLOW:-1})) line <&"${TRAFFIC[0]}" && [ "$line" = done ] &&
		return 0
	echo "# $*: ${line:-no answer}"
	return 1
}

# Closed sockets end in the background, within a limited time.
unload_soon()
{
	for _ in $(seq $((200 * ${SMC_SLOW:-1}))); do
		unload && return 0
		loaded || return 0
		sleep 0.05
	done
	echo "# rmmod printed: $(cat /tmp/rmmod.err), $(grep '^smc ' /proc/modules)"
	return 1
}

one_kind()	# one_kind <kind of socket>
{
	local rc=0

	load || { echo "# insmod failed"; return 1; }
	tell hold "$1" || rc=1
	if unload; then
		echo "# $1: rmmod worked while a socket was open"
		rc=1
	elif ! grep -qi 'in use\|busy\|temporarily' /tmp/rmmod.err; then
		echo "# $1: rmmod printed: $(cat /tmp/rmmod.err)"
		rc=1
	fi
	tell close || rc=1
	unload_soon || rc=1
	# Kernel TLS still has tables that it created while our sockets used it.
	[ "$1" != upper_layer ] || tell plain_tls || rc=1
	log_is_clean && [ $rc = 0 ]
}

# Without debug information the module loads ten times as fast.
if objcopy --strip-debug "$SMC_KO" /tmp/smc-stripped.ko 2> /dev/null; then
	SMC_KO=/tmp/smc-stripped.ko
fi
coproc TRAFFIC { exec python3 "$traffic"; }

kinds="new bound listening connected accepted unaccepted half_closed unread lingering namespace fallback"
kinds="$kinds upper_layer busy_polled"
echo "1..$(($(echo "$kinds" | wc -w) + 5))"
for kind in $kinds; do
	one_kind "$kind"
	ok $? "rmmod fails with a socket that is: ${kind//_/ }"
done

status=0
for i in $(seq "$rounds"); do
	load || { echo "# round $i: insmod failed"; status=1; break; }
	tell burst || { status=1; break; }
	unload_soon || { echo "# in round $i"; status=1; break; }
done
ok $status "the module is loaded and unloaded $rounds times after traffic, also with TIME_WAIT"
log_is_clean
ok $? "kernel log after that"

status=0
for i in $(seq $((rounds / 5))); do
	load || { echo "# round $i: insmod failed"; status=1; break; }
	echo race >&"${TRAFFIC[1]}"
	# rmmod while sockets are opened and closed: it either fails or works
	line= late=$((SECONDS + 300 * ${SMC_SLOW:-1}))
	until read -r -t 0.01 part <&"${TRAFFIC[0]}"; do
		# On a slow host the read may time out in the middle of the word.
		line+=$part
		if [ $SECONDS -gt $late ]; then
			echo "# round $i: no answer for minutes; stacks of the program:"
			sed 's/^/# /' /proc/"$TRAFFIC_PID"/task/*/stack /proc/net/tcp
			break
		fi
		unload
		loaded || load
	done
	line+=$part
	[ "$line" = done ] || { echo "# round $i: $line"; status=1; }
	unload_soon || { echo "# in round $i"; status=1; break; }
done
ok $status "rmmod races with sockets that are opened and closed"
log_is_clean
ok $? "kernel log after that"

status=0
for i in $(seq $((rounds / 5))); do
	tell ask_early || { status=1; break; }
	load || { echo "# round $i: insmod failed"; status=1; break; }
	tell answered || status=1
	unload_soon || { echo "# in round $i"; status=1; break; }
done
log_is_clean && [ $status = 0 ]
ok $? "requests that arrive while the module loads are answered"

load
exit $failed
