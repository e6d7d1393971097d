// SPDX-License-Identifier: GPL-2.0
/*
 * Random, colliding socket calls; their only results may be errors and data. Run it like this:
 *
 *   vm/run --kver 6.12 --variant=-test -- .../selftests/smc/stress/stress_guest loopback:60
 *
 * The kernel log is the judge; this program only checks that every call returns. Arguments:
 *
 *   -s SEED  -t SECONDS  -p PROCESSES  -n THREADS
 *   -a ADDR  instead of 127.0.0.1: the address for bind and connect
 *   -T       plain TCP instead of SMC, for comparison
 *   -N       additional processes start and exit, each with a network namespace of its own
 *   -f       net.smc.enable is switched off and on
 *   -x       buffers and option values are sometimes in memory that is supplied late
 *   -U       as user nobody
 *   -g       the device is gone most of the time: connections may all be TCP
 *   -C       sockets negotiate (CLC): none of them become a pair
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest.h"
#include "loopback_up.h"
#include "pairing.h"
#include "put_file.h"
#include "slow.h"
#include "stress_stall.h"
#include "stress.h"

#define LATE		slow(20)	/* seconds after which remaining waiters are shown */
#define GRACE		slow(120)	/* seconds until every thread must have ended, with KASAN */
#define ENABLE		"/proc/sys/net/smc/enable"

struct options opt = {
	.seconds = 60, .processes = 2, .threads = 6, .addr = INADDR_LOOPBACK,
};
struct board *board;
struct shared shared;

static void nap(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

/* ---- one thread ---- */

static void *play(void *arg)
{
	struct player *p = arg;

	p->place->tid = syscall(SYS_gettid);
	while (!board->over && !p->stopped)
		stress_one(p);
	p->place->call = "the end";
	p->place->tid = 0;
	return NULL;
}

static void open_player(struct player *p, int process, int thread, uint64_t seed)
{
	p->place = &board->places[process][thread];
	p->random = seed ^ (((uint64_t)process << 32 | thread) + 1) * 0xd6e8feb86659fd93;
	p->buf = mmap(NULL, BUF_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	p->diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (p->buf == MAP_FAILED || p->epoll < 0 || p->diag < 0 ||
	    pipe2(p->pipe, O_NONBLOCK | O_CLOEXEC))
		ksft_exit_fail_msg("cannot prepare a thread: %s\n", strerror(errno));
	p->stall = opt.stall ? stall_map() : NULL;
	if (opt.stall && !p->stall)
		ksft_exit_fail_msg("no memory that arrives late: %s\n", strerror(errno));
}

/* Sends signals to calls that wait, over and over. */
static void keep_moving(int process)
{
	uint64_t seen[MAX_THREADS] = { 0 };

	for (int i = 0; i < opt.threads; i++)
		seen[i] = board->places[process][i].calls;
	nap(20000);
	for (int i = 0; i < opt.threads; i++) {
		pid_t tid = board->places[process][i].tid;

		if (tid && seen[i] == board->places[process][i].calls)
			syscall(SYS_tgkill, getpid(), tid, SIGUSR1);
	}
}

static bool anybody(int process)
{
	for (int i = 0; i < opt.threads; i++)
		if (board->places[process][i].tid)
			return true;
	return false;
}

static void nothing(int sig)
{
}

static int make_sockmap(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_SOCKMAP, .key_size = 4, .value_size = 4,
		.max_entries = SLOTS,
	};

	return syscall(__NR_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
}

/* Runs all threads of a process, until the end or for this time. */
static void play_process(int process, uint64_t seed, int milliseconds)
{
	static struct player players[MAX_THREADS];
	struct sigaction sa = { .sa_handler = nothing };	/* no SA_RESTART */
	pthread_t thread;

	sigaction(SIGUSR1, &sa, NULL);
	shared.sockmap = make_sockmap();
	for (int i = 0; i < opt.threads; i++)
		open_player(&players[i], process, i, seed);
	for (int i = 0; i < opt.threads; i++)
		if (pthread_create(&thread, NULL, play, &players[i]))
			ksft_exit_fail_msg("cannot start a thread\n");
	for (int ms = 0; !board->over && (!milliseconds || ms < milliseconds); ms += 20)
		keep_moving(process);
	for (int i = 0; i < opt.threads; i++)
		players[i].stopped = true;
	while (anybody(process))
		keep_moving(process);
}

/* ---- processes that are special ---- */

static void negotiate(bool yes)
{
	if (!opt.tcp && !set_pairing(!yes))
		ksft_exit_fail_msg("loopback_pairing: %s\n", strerror(errno));
}

/* Each child has its own namespace; sockets from others are passed in, and its own are passed
 * out.
 */
static void play_namespaces(int process)
{
	for (int round = 0; !board->over; round++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			if (unshare(CLONE_NEWNET))
				ksft_exit_fail_msg("unshare: %s\n", strerror(errno));
			if (!loopback_up())
				ksft_exit_fail_msg("cannot bring up lo: %s\n", strerror(errno));
			negotiate(opt.negotiate);
			opt.addr = INADDR_LOOPBACK;
			opt.threads = 2;
			play_process(process, opt.seed + 1000003 * (round + 1), 500);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) == pid && status)
			_exit(1);	/* all_end() reports it */
	}
}

static void play_switch(int process)
{
	struct player p = { .random = opt.seed + process };

	while (!board->over) {
		if (!put_file(ENABLE, one_in(&p, 2) ? "0" : "1"))
			ksft_exit_fail_msg(ENABLE ": %s\n", strerror(errno));
		nap(below(&p, 30000));
	}
	put_file(ENABLE, "1");
}

static void stall_for_a_while(struct player *p)
{
	stall_hold();
	nap(below(p, 200000));
	stall_release();
}

static pid_t start(int process, void (*run)(int))
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	stall_child();
	if (opt.nobody && run != play_switch && (setgid(65534) || setuid(65534)))
		ksft_exit_fail_msg("cannot become nobody\n");
	run(process);
	_exit(0);
}

static void play_to_the_end(int process)
{
	play_process(process, opt.seed, 0);
}

/* ---- the end ---- */

static void show_file(const char *what, int pid, const char *tid, const char *name)
{
	char path[300], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/%s", pid, tid, name);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		ksft_print_msg("%s %s: %s\n", what, tid, line);
	}
	if (f)
		fclose(f);
}

static void show_hung(int pid)
{
	char path[64];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		show_file("wchan", pid, d->d_name, "wchan");
		show_file("stack", pid, d->d_name, "stack");
	}
	if (dir)
		closedir(dir);
}

static void show_places(void)
{
	for (int i = 0; i < MAX_PROCESSES; i++)
		for (int j = 0; j < MAX_THREADS; j++)
			if (board->places[i][j].tid)
				ksft_print_msg("thread %d, %d of process %d: %s\n",
					       board->places[i][j].tid, j, i,
					       board->places[i][j].call);
}

static void show_left(const pid_t *pids, int n)
{
	show_places();
	for (int i = 0; i < n; i++)
		if (pids[i])
			show_hung(pids[i]);
}

/* Do all of them end in time, without further signals? */
static bool all_end(pid_t *pids, int n)
{
	bool ok = true;
	int left = n, status;

	for (int ms = 0; left && ms < GRACE * 1000; ms += 100) {
		for (int i = 0; i < n; i++) {
			if (!pids[i] || waitpid(pids[i], &status, WNOHANG) != pids[i])
				continue;
			if (status) {
				ksft_print_msg("process %d ended with status %x\n", i, status);
				ok = false;
			}
			pids[i] = 0;
			left--;
		}
		/* Not a failure yet, but worth a report. */
		if (left && ms == LATE * 1000)
			show_left(pids, n);
		nap(100000);
	}
	if (!left)
		return ok;
	show_left(pids, n);
	for (int i = 0; i < n; i++)
		if (pids[i])
			kill(pids[i], SIGKILL);
	return false;
}

static void parse(int argc, char **argv)
{
	struct in_addr a;
	int c;

	opt.seed = time(NULL) ^ getpid() << 16;
	while ((c = getopt(argc, argv, "s:t:p:n:a:TNfxUgC")) > 0) {
		switch (c) {
		case 's': opt.seed = strtoull(optarg, NULL, 0); break;
		case 't': opt.seconds = atoi(optarg); break;
		case 'p': opt.processes = atoi(optarg); break;
		case 'n': opt.threads = atoi(optarg); break;
		case 'a': opt.addr = inet_aton(optarg, &a) ? ntohl(a.s_addr) : 0; break;
		case 'T': opt.tcp = true; break;
		case 'N': opt.namespaces = true; break;
		case 'f': opt.fallback = true; break;
		case 'x': opt.stall = true; break;
		case 'U': opt.nobody = true; break;
		case 'g': opt.gone = true; break;
		case 'C': opt.negotiate = true; break;
		default: ksft_exit_fail_msg("usage: see the head of smc_stress_test.c\n");
		}
	}
	if (opt.processes < 1 || opt.processes > MAX_PROCESSES - 2 || opt.threads < 1 ||
	    opt.threads > MAX_THREADS || opt.seconds < 1)
		ksft_exit_fail_msg("too many processes, threads or seconds\n");
}

static void prepare(void)
{
	struct rlimit files = { 4096, 4096 };
	int pair[2];

	setrlimit(RLIMIT_NOFILE, &files);
	signal(SIGPIPE, SIG_IGN);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	shared.file = memfd_create("stress", MFD_CLOEXEC);
	if (board == MAP_FAILED || shared.file < 0 || ftruncate(shared.file, BUF_SIZE) ||
	    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair))
		ksft_exit_fail_msg("cannot prepare: %s\n", strerror(errno));
	shared.pass = pair[0];
	shared.take = pair[1];
	if (opt.stall && !stall_open())
		ksft_exit_fail_msg("cannot use FUSE for memory that arrives late: %s\n",
				   strerror(errno));
}

static char *name(void)
{
	static char text[100];

	snprintf(text, sizeof(text), "%s%s%s%s%s%s", opt.tcp ? "TCP" : "SMC",
		 opt.addr == INADDR_LOOPBACK ? "" : " between devices",
		 opt.namespaces ? ", namespaces" : "", opt.fallback ? ", fallback" : "",
		 opt.stall ? ", stalls" : "", opt.negotiate ? ", negotiated" : "");
	return text;
}

int main(int argc, char **argv)
{
	struct player random = { 0 };
	pid_t pids[MAX_PROCESSES];
	struct timespec now, end;
	bool ok;
	int n = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	parse(argc, argv);
	ksft_print_header();
	ksft_set_plan(2);
	ksft_print_msg("seed %llu: -s repeats it\n", (unsigned long long)opt.seed);
	prepare();
	negotiate(opt.negotiate);
	for (; n < opt.processes; n++)
		pids[n] = start(n, play_to_the_end);
	if (opt.namespaces) {
		pids[n] = start(n, play_namespaces);
		n++;
	}
	if (opt.fallback) {
		pids[n] = start(n, play_switch);
		n++;
	}
	random.random = opt.seed;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += opt.seconds;
	do {
		if (opt.stall)
			stall_for_a_while(&random);
		nap(opt.stall ? 20000 : 200000);
		clock_gettime(CLOCK_MONOTONIC, &now);
		/* A run from a seed may sleep for a second before anything happens. */
	} while (now.tv_sec < end.tv_sec ||
		 (!opt.tcp && !opt.gone && !board->smc && now.tv_sec < end.tv_sec + GRACE));
	board->over = true;
	ok = all_end(pids, n);
	negotiate(false);
	ksft_print_msg("%llu calls succeeded, %llu failed; %llu times a socket was SMC\n",
		       (unsigned long long)board->succeeded, (unsigned long long)board->failed,
		       (unsigned long long)board->smc);
	ksft_test_result(ok, "%s: every call ends\n", name());
	ksft_test_result(opt.gone || opt.tcp == !board->smc, "%s: connections were made\n", name());
	ksft_finished();
}
