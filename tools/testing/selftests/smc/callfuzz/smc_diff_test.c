// SPDX-License-Identifier: GPL-2.0
/*
 * Compares SMC with TCP: each random program of system calls is played twice, with TCP sockets and
 * with SMC sockets, each in a network namespace of its own. After each call, its result, what it
 * shows to the program (call_fuzz.h: note()) and what poll() reports for every socket must be the
 * same. A program that shows a difference is made shorter, and printed. Run it like this:
 *
 *   vm/run --kver um --variant=-test --virtual-time -- .../smc/callfuzz/diff_guest -n 5000
 *
 *   -s SEED  -n PROGRAMS
 *   -r FILE  play only the programs of this file
 *   -d N     end after so many differences (1)
 *   -o N     instead of random programs, a sweep over all options with N values (diff_sweep.c)
 *
 * In virtual time the same seed gives the same results, and a nap after each call costs nothing.
 * The calls are those of smc_call_fuzz_test, by one thread. What is left out, because SMC is meant
 * to differ there, has setting.compared in the lists of calls, or a line in left_out[] here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "kselftest.h"
#include "loopback_up.h"
#include "pairing.h"
#include "call_fuzz.h"
#include "diff.h"

#define NAP_MS		500		/* longer than a cork and a delayed acknowledgment */
#define CALL_SECONDS	20		/* then a signal ends a call that waits */
#define PER_NAMESPACE	512		/* programs */
#define FIRST_PORT	1024
#define LAST_PORT	30000		/* below the range of ephemeral ports */

/* Calls that are left out, and why. */
static const struct {
	const char *call, *why;
} left_out[] = {
	{ "echo", "is an option of SMC" },
	{ "namespace", "each world has its own" },
	{ "fill", "how much fits differs" },
	{ "mmap", "data in shared memory cannot be mapped, and is copied instead" },
	{ "uring", "returns before the call has been made" },
	{ "ulp", "kernel TLS over SMC is refused, or makes the connection TCP" },
	{ "sockmap", "is for connections that are TCP" },
	{ "netlink", "is SMC's" },
	{ "diag", "is SMC's" },
	{ "sysctl", "is SMC's" },
	{ "unload", "is SMC's" },
	{ "trace", "is SMC's" },
	{ "fault", "the n-th allocation is not the same one" },
	{ "clc_client", "is SMC's" },
	{ "clc_server", "is SMC's" },
	{ "clc_relay", "is SMC's" },
	{ "clc_between", "is SMC's" },
};

enum { TCP, SMC, WORLDS };

static const char * const world_names[WORLDS] = { "TCP", "SMC" };
static int worlds[WORLDS];		/* network namespaces */

/* What a program sees of one step. */
struct view {
	bool skipped;
	long rc;
	int error;
	struct notes notes;
	short ready[SLOTS];		/* of poll() on each slot afterwards */
};

static struct view views[WORLDS][STEPS];

static struct {
	uint64_t seed;
	uint32_t programs, differences;
	const char *replay;
	bool sweep;
} opt = { .programs = 1000, .differences = 1 };

/* ---- playing ---- */

static void nap(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static void new_worlds(void)
{
	for (int w = 0; w < WORLDS; w++) {
		if (worlds[w])
			close(worlds[w]);
		if (unshare(CLONE_NEWNET) || !loopback_up())
			ksft_exit_fail_msg("no network namespace: %s\n", strerror(errno));
		worlds[w] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	}
}

static void look(short *ready)
{
	struct pollfd p[SLOTS];

	for (int i = 0; i < SLOTS; i++)
		p[i] = (struct pollfd){ slot_fd(i), POLLIN | POLLPRI | POLLOUT | POLLRDHUP, 0 };
	poll(p, SLOTS, 0);
	for (int i = 0; i < SLOTS; i++)
		ready[i] = shown_events(p[i].revents);
}

static void play_step(const struct step *s, struct view *v)
{
	const struct itimerval limit = { { CALL_SECONDS, 0 }, { CALL_SECONDS, 0 } };
	const struct itimerval none = { { 0, 0 }, { 0, 0 } };

	memset(v, 0, sizeof(*v));
	memset(buf, s->arg[0], 8192);	/* some calls send what others have read */
	notes = &v->notes;
	setitimer(ITIMER_REAL, &limit, NULL);
	errno = 0;
	v->rc = call_number(s->call)->run(s);
	v->error = v->rc < 0 ? errno : 0;
	setitimer(ITIMER_REAL, &none, NULL);
	notes = NULL;
	if (s->thread == AT_ONCE && opt.sweep)
		return;
	nap(setting.prompt ? 1 : NAP_MS);
	look(v->ready);
}

static void play_world(const struct program *p, int w)
{
	if (setns(worlds[w], CLONE_NEWNET))
		ksft_exit_fail_msg("setns: %s\n", strerror(errno));
	setting.tcp = w == TCP;
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned int i = 0; i < p->n; i++)
		play_step(&p->step[i], &views[w][i]);
	for (int i = 0; i < SLOTS; i++)
		close(slot_fd(i));
	close(epoll_fd);
	nap(1);
}

static bool same(const struct view *a, const struct view *b)
{
	return a->rc == b->rc && a->error == b->error && a->notes.n == b->notes.n &&
	       !memcmp(a->notes.value, b->notes.value, a->notes.n * sizeof(a->notes.value[0])) &&
	       !memcmp(a->ready, b->ready, sizeof(a->ready));
}

/* Two sockets of this kernel become a pair without CLC, unless pairing is off. */
static void negotiate(bool yes)
{
	if (setns(worlds[SMC], CLONE_NEWNET) || !set_pairing(!yes))
		ksft_exit_fail_msg("loopback_pairing: %s\n", strerror(errno));
}

/* Plays a program in both worlds; returns the number of the first step that differs, or -1. */
static int first_difference(const struct program *p)
{
	static unsigned int played;

	/* Nothing is held back, or everything that is held back is sent before the next call. */
	setting.prompt = p->step[0].thread == PROMPT;
	if (played++ % PER_NAMESPACE == 0)
		new_worlds();
	negotiate(p->step[0].thread == NEGOTIATE);
	setting.first_port += PORTS;
	if (setting.first_port > LAST_PORT)
		setting.first_port = FIRST_PORT;
	for (int w = 0; w < WORLDS; w++)
		play_world(p, w);
	for (unsigned int i = 0; i < p->n; i++)
		if (!same(&views[TCP][i], &views[SMC][i]))
			return i;
	return -1;
}

/* ---- a difference ---- */

static void show_view(const char *name, const struct view *v)
{
	ksft_print_msg("    %s: %ld %s;", name, v->rc, v->rc < 0 ? strerror(v->error) : "");
	for (unsigned int i = 0; i < v->notes.n; i++)
		printf(" %lx", v->notes.value[i]);
	printf("; ready:");
	for (int i = 0; i < SLOTS; i++)
		if (v->ready[i] != POLLNVAL)
			printf(" %d:%x", i, v->ready[i]);
	printf("\n");
}

static void show(const struct program *p, int at)
{
	program_show(p, "");
	ksft_print_msg("differs at step %d:\n", at + 1);
	for (int w = 0; w < WORLDS; w++)
		show_view(world_names[w], &views[w][at]);
}

static bool without(struct program *p, unsigned int at)
{
	uint8_t thread = p->step[0].thread;	/* see first_difference() */
	struct program shorter = *p;

	shorter.n--;
	memmove(&shorter.step[at], &shorter.step[at + 1], (shorter.n - at) * sizeof(p->step[0]));
	shorter.step[0].thread = thread;
	if (!shorter.n || first_difference(&shorter) < 0)
		return false;
	*p = shorter;
	return true;
}

/* Leaves out steps as long as there is a difference, from the last one to the first. */
static void shorten(struct program *p)
{
	int at = first_difference(p);
	bool progress = true;

	if (at < 0)
		return;
	p->n = at + 1;
	while (progress) {
		progress = false;
		for (int i = p->n - 1; i >= 0; i--)
			progress |= without(p, i);
	}
}

static void report(struct program *p, int at)
{
	show(p, at);
	shorten(p);
	at = first_difference(p);
	if (at < 0)
		ksft_print_msg("this does not happen again\n");
	else
		show(p, at);
}

/* ---- */

static void no_hang(int sig)
{
}

static void prepare(void)
{
	struct sigaction sa = { .sa_handler = no_hang };	/* no SA_RESTART */
	struct rlimit files = { 4096, 4096 };

	setrlimit(RLIMIT_NOFILE, &files);
	sigaction(SIGALRM, &sa, NULL);
	signal(SIGIO, SIG_IGN);
	signal(SIGURG, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	setting.file = memfd_create("diff", MFD_CLOEXEC);
	if (board == MAP_FAILED || setting.file < 0 || ftruncate(setting.file, BUF_SIZE))
		ksft_exit_fail_msg("cannot prepare: %s\n", strerror(errno));
	setting.compared = true;
	setting.first_port = FIRST_PORT;
	calls_thread();
	close(epoll_fd);
	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
		if (!leave_out(left_out[i].call))
			ksft_exit_fail_msg("there is no call %s\n", left_out[i].call);
}

static bool next(struct program *p, FILE *f, uint32_t n)
{
	bool bad;

	if (opt.sweep)
		return sweep_program(p, n);
	if (!f && n < opt.programs) {
		program_make(&board->random, p);
		p->step[0].thread = n % WAYS_TO_PLAY;
		return true;
	}
	if (!f)
		return false;
	if (program_read(p, f, &bad))
		return true;
	if (bad)
		ksft_exit_fail_msg("%s has a line that is not a step\n", opt.replay);
	return false;
}

static bool all_the_same(void)
{
	FILE *f = opt.replay ? fopen(opt.replay, "r") : NULL;
	uint32_t n, different = 0, steps = 0;
	struct program p;
	char name[100];
	int at;

	if (opt.replay && !f)
		ksft_exit_fail_msg("cannot read %s\n", opt.replay);
	for (n = 0; different < opt.differences && next(&p, f, n); n++) {
		if (!p.n)
			continue;
		steps += p.n;
		if (n && n % 1000 == 0)
			ksft_print_msg("%u programs\n", n);
		at = first_difference(&p);
		if (at >= 0) {
			if (opt.sweep) {
				sweep_name(n, name, sizeof(name));
				ksft_print_msg("%s:\n", name);
				show(&p, at);
				n = sweep_next(n) - 1;
			} else {
				report(&p, at);
			}
			different++;
		}
	}
	ksft_print_msg("%u programs, %u calls over each of SMC and TCP; %llu times a socket was SMC\n",
		       n, steps, (unsigned long long)board->smc);
	return !different;
}

int main(int argc, char **argv)
{
	int c;

	opt.seed = time(NULL);
	while ((c = getopt(argc, argv, "s:n:r:d:o:")) != -1) {
		switch (c) {
		case 's': opt.seed = strtoull(optarg, NULL, 0); break;
		case 'n': opt.programs = strtoul(optarg, NULL, 0); break;
		case 'r': opt.replay = optarg; break;
		case 'o': opt.sweep = true;
			sweep_values(strtoul(optarg, NULL, 0));
			break;
		case 'd': opt.differences = strtoul(optarg, NULL, 0); break;
		default: ksft_exit_fail_msg("usage: see the head of smc_diff_test.c\n");
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	ksft_print_header();
	ksft_set_plan(2);
	ksft_print_msg("seed %llu: -s repeats it\n", (unsigned long long)opt.seed);
	prepare();
	board->random.state = opt.seed;
	ksft_test_result(all_the_same(), "a program sees no difference between SMC and TCP\n");
	ksft_test_result(board->smc, "connections were SMC\n");
	ksft_finished();
}
