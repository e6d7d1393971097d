#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# In the guest: real programs over TCP and, under smc_run, over SMC; one line of JSON for each
# measurement.
#
#   programs.sh REPEAT SECONDS ROW...
#
# The two transports of a row take turns, so a drift of the machine affects both. The servers for
# both run all the time; an idle server costs nothing.
tools=$SMC_ROOT/build/tools
repeat=$1 seconds=$2
shift 2
cd /tmp || exit 1

modprobe -q udp_tunnel
if [ -n "$SMC_KERNEL_MODULES" ]; then
	modprobe -q ib_core
	SMC_KO=$SMC_KERNEL_MODULES/smc.ko SMC_DIAG_KO=$SMC_KERNEL_MODULES/smc_diag.ko
fi
insmod "$SMC_KO" || exit 1
insmod "$SMC_DIAG_KO" || exit 1
# The kernel's own loopback has no SEID.
[ -z "$SMC_KERNEL_MODULES" ] || "$tools/smcd" ueid add SMC.BENCH.EID || exit 1

# Each transport has its own ports: with 1 in the hundreds it is SMC.
declare -A prefix=([tcp]="" [smc]=$tools/smc_run) hundred=([tcp]=0 [smc]=1)

port()	# port TRANSPORT WHAT
{
	echo $((7000 + 100 * hundred[$1] + $2))
}

# Load the binaries into memory, so that no page comes over 9p while the clock runs.
readonly programs="nginx wrk curl redis-server redis-benchmark sockperf iperf3"
for program in $programs; do
	cat "$(command -v "$program")" > /dev/null || exit 1
done

fail()
{
	echo "# failed: $*"
	echo "FAILED" > /tmp/failed
}

# A server is ready when a connection to it succeeds.
await_port()	# await_port TRANSPORT PORT
{
	local i

	for i in $(seq 100); do
		ss -Hltn "sport = :$2" 2> /dev/null | grep -q . && return 0
		sleep 0.1
	done
	fail "$1 port $2: no listener"
	return 1
}

# For the servers of both transports. Only curl needs the large file.
make_pages()	# make_pages ROW...
{
	mkdir -p /tmp/pages
	head -c 1024 /dev/zero | tr '\0' x > /tmp/pages/index.html
	[[ " $* " != *" curl "* ]] || head -c 64M /dev/zero | tr '\0' x > /tmp/pages/file
}

start_nginx()
{
	local dir=/tmp/nginx-$1

	mkdir -p "$dir"
	cat > "$dir/nginx.conf" <<-CONF
		user root;
		worker_processes 1;
		pid $dir/pid;
		error_log $dir/error.log;
		events { worker_connections 1024; }
		http {
			access_log off;
			sendfile on;
			keepalive_requests 1000000;
			open_file_cache max=10;
			server { listen 127.0.0.1:$(port "$1" 80); root /tmp/pages; }
		}
	CONF
	${prefix[$1]} nginx -p "$dir" -e "$dir/error.log" -c "$dir/nginx.conf" ||
		fail "nginx over $1"
}

start()	# start TRANSPORT
{
	start_nginx "$1"
	${prefix[$1]} redis-server --bind 127.0.0.1 --port "$(port "$1" 63)" --save '' \
		--appendonly no --daemonize no --hz 1 > "/tmp/redis-$1.log" 2>&1 &
	${prefix[$1]} sockperf server --tcp -i 127.0.0.1 -p "$(port "$1" 11)" \
		> "/tmp/sockperf-$1.log" 2>&1 &
	${prefix[$1]} iperf3 -s -B 127.0.0.1 -p "$(port "$1" 52)" > "/tmp/iperf3-$1.log" 2>&1 &
	for what in 80 63 11 52; do
		await_port "$1" "$(port "$1" $what)"
	done
}

wrk_rate()	# wrk_rate TRANSPORT ARGUMENT...: requests per second
{
	local to

	to=http://127.0.0.1:$(port "$1" 80)/
	${prefix[$1]} wrk -t 1 -c 50 -d "${seconds}s" --timeout 60s "${@:2}" "$to" > /tmp/out 2>&1
	! grep -E 'Socket errors|Non-2xx' /tmp/out &&
		sed -n 's/^Requests\/sec: *\([0-9.]*\).*/\1/p' /tmp/out
}

redis_rate()	# redis_rate TRANSPORT COMMAND: requests per second
{
	# It has no option for a duration: the number of requests is chosen to last that long.
	${prefix[$1]} redis-benchmark -p "$(port "$1" 63)" -t "$2" -d 1024 -c 50 \
		-n $((seconds * ${SMC_REDIS_RATE:-8000})) --csv > /tmp/out 2>&1
	sed -n "s/^\"${2^^}\",\"\([0-9.]*\)\".*/\1/p" /tmp/out
}

# The time is curl's own, which starts when the process has started.
curl_rate()	# curl_rate TRANSPORT: megabytes per second
{
	local until=$((SECONDS + seconds))

	: > /tmp/out
	while ((SECONDS < until)); do
		${prefix[$1]} curl -sS -f -o /dev/null -w '%{size_download} %{time_total}\n' \
			"http://127.0.0.1:$(port "$1" 80)/file" >> /tmp/out 2>&1 || return
	done
	awk '{ bytes += $1; time += $2 } END { printf "%.1f\n", bytes / time / 1e6 }' /tmp/out
}

measure()	# measure ROW TRANSPORT: one number
{
	case $1 in
	curl)
		curl_rate "$2" ;;
	nginx-keepalive)
		wrk_rate "$2" ;;
	nginx-close)
		wrk_rate "$2" -H "Connection: close" ;;
	redis-get)
		redis_rate "$2" get ;;
	redis-set)
		redis_rate "$2" set ;;
	sockperf-stream)
		${prefix[$2]} sockperf throughput --tcp -i 127.0.0.1 -p "$(port "$2" 11)" -m 64000 \
			-t "$seconds" > /tmp/out 2>&1
		sed -n 's/.*BandWidth is \([0-9.]*\) MBps.*/\1/p' /tmp/out ;;
	sockperf-latency)
		${prefix[$2]} sockperf ping-pong --tcp -i 127.0.0.1 -p "$(port "$2" 11)" -m 14 \
			-t "$seconds" > /tmp/out 2>&1
		sed -n 's/.*Latency is \([0-9.]*\) usec.*/\1/p' /tmp/out ;;
	iperf3)
		${prefix[$2]} iperf3 -c 127.0.0.1 -p "$(port "$2" 52)" -t "$seconds" -f m \
			> /tmp/out 2>&1
		sed -n 's/.* \([0-9.]*\) Mbits\/sec.*receiver.*/\1/p' /tmp/out ;;
	*)
		echo "no such row: $1" > /tmp/out ;;
	esac
}

# In the deterministic mode: let the boot finish its deferred work, which takes no real time. Keep
# the rehearsal as short as possible, since each second is 10^9 instructions.
[ -z "$SMC_BENCH_SETTLE" ] || sleep "$SMC_BENCH_SETTLE"
rehearsal=${SMC_BENCH_SETTLE:+1}

make_pages "$@"
for transport in tcp smc; do
	start $transport
done

# Prints the modes of a client's connections while it runs, each once: SMCD, TCP, or an empty line
# for a socket that was TCP from the start.
modes_of()	# modes_of PORT
{
	"$tools/smcss" | awk -v port=":$1" '
		$1 == "ACTIVE" && substr($5, length($5) - length(port) + 1) == port { print $7 }' |
		sort -u
}

# Run each row once beforehand and check its mode: a row labelled SMC must not have run over TCP.
# This also brings everything into memory.
rehearse()	# rehearse ROW TRANSPORT PORT
{
	local client seen=

	seconds=${rehearsal:-2} measure "$1" "$2" > /dev/null &
	client=$!
	while [ -e "/proc/$client" ]; do
		seen+=$(modes_of "$(port "$2" "$3")")$'\n'
	done
	seen=$(echo "$seen" | sort -u | xargs)
	case $2:$seen in
	tcp:|smc:SMCD) ;;
	*)	fail "$1 over $2 had connections of these modes: ${seen:-none seen}" ;;
	esac
}

declare -A server=([nginx-keepalive]=80 [nginx-close]=80 [curl]=80 [redis-get]=63
		   [redis-set]=63 [sockperf-stream]=11 [sockperf-latency]=11 [iperf3]=52)
for row in "$@"; do
	for transport in tcp smc; do
		rehearse "$row" $transport "${server[$row]}"
	done
done

for ((i = 1; i <= repeat; i++)); do
	for row in "$@"; do
		for transport in tcp smc; do
			value=$(measure "$row" "$transport")
			if [ -z "$value" ]; then
				fail "$row over $transport:"
				sed 's/^/# /' /tmp/out
				continue
			fi
			echo "{\"program\": \"$row\", \"transport\": \"$transport\", \"value\": $value}"
		done
	done
done
[ ! -e /tmp/failed ]
