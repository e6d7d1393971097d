// SPDX-License-Identifier: GPL-2.0
/*
 * A fuzzer of system calls, netlink and CLC. It plays random programs, and over and over it changes
 * those that ran code of the module for the first time. Run it like this:
 *
 *   vm/run --kver um --variant=-test --virtual-time -- .../smc/callfuzz/fuzz_guest -n 5000
 *
 * The kernel log is the judge; this program checks that every call returns. Arguments:
 *
 *   -s SEED  -n PROGRAMS  -t SECONDS (ends with whichever comes first)
 *   -c FILE  the corpus: its programs are played first; it is written again with what was found
 *   -r FILE  play only the programs of this file, in order
 *   -a ADDR  instead of 127.0.0.1; with RDMA devices, which are in the initial namespace only
 *   -l SECONDS  after each batch, maximum time until nothing of it is left
 *   -x CALL  never make this call
 *   -b       blindly: no program is made from another one
 *   -B N     number of the first batch, which determines its namespace and pairing
 *
 * A process plays 64 programs in its own network namespace; one batch in four runs in the initial
 * namespace. If SMC_RESULTS is set, that directory has the programs of the last batch.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"
#include "kselftest.h"
#include "loopback_up.h"
#include "klog.h"
#include "modprobe.h"
#include "pairing.h"
#include "raw_peer.h"
#include "slow.h"
#include "call_fuzz.h"

#define BLOCKS		"/sys/kernel/debug/smc/blocks"
#define HANDSHAKE_MS	slow(400)
#define GRACE		slow(120)	/* seconds until a killed process must have ended */

static struct {
	uint64_t seed;
	uint32_t programs;
	long seconds, patience;
	const char *corpus, *replay;
	uint32_t batch;
	bool blind;
} opt = { .programs = 1000000000 };

static long at_rest;			/* references to the module when no program runs */
static FILE *batch_file, *replay_file;
static uint32_t loaded;			/* programs of the corpus that were read from its file */

/* ---- coverage of a program ---- */

static uint32_t blocks_now(void)
{
	int fd = open(BLOCKS, O_RDONLY | O_CLOEXEC);	/* reading clears it */
	char text[20] = "";

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 1)
		ksft_exit_fail_msg("cannot read " BLOCKS "\n");
	close(fd);
	return strtoul(text, NULL, 0);
}

static bool remember(const struct program *p)
{
	uint32_t now = blocks_now();
	bool new = now > board->blocks;

	board->blocks = now;
	if (new && board->corpus_n < CORPUS)
		board->corpus[board->corpus_n++] = *p;
	return new;
}

/* ---- calls that do not return ---- */

static void show_file(int tid, const char *name)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		ksft_print_msg("%d %s: %s\n", tid, name, line);
	}
	if (f)
		fclose(f);
}

static void show_places(void)
{
	for (int i = 0; i < THREADS; i++) {
		const struct place *p = &board->places[i];

		if (!p->call)
			continue;
		ksft_print_msg("thread %d executes %s\n", i, p->call);
		show_file(p->tid, "wchan");
		show_file(p->tid, "stack");
	}
}

/* ---- one batch ---- */

/* Prefers later programs, which reached code that the earlier ones had not. */
static const struct program *draw_program(struct random *r)
{
	uint32_t a = below(r, board->corpus_n), b = below(r, board->corpus_n);

	return &board->corpus[a > b ? a : b];
}

static bool next_program(struct program *p, bool *changed)
{
	struct random *r = &board->random;
	bool bad;

	*changed = false;
	if (replay_file) {
		if (program_read(p, replay_file, &bad))
			return true;
		if (bad)
			ksft_exit_fail_msg("%s has a line that is not a step\n", opt.replay);
		return false;
	}
	if (board->played < loaded) {
		*p = board->corpus[board->played];
		return true;
	}
	if (opt.blind || !board->corpus_n || one_in(r, 5)) {
		program_make(r, p);
		return true;
	}
	*p = *draw_program(r);
	program_change(r, p, draw_program(r));
	*changed = true;
	return true;
}

/* Called before the program is played: afterwards it may be impossible to write anything. */
static void record(const struct program *p)
{
	if (!batch_file)
		return;
	program_write(p, batch_file);
	fflush(batch_file);
}

static bool play_one(void)
{
	const struct timespec moment = { 0, 1000000 };
	struct program p;
	bool changed;

	if (!next_program(&p, &changed))
		return false;
	record(&p);
	if (!play(&p)) {
		board->hung = true;
		ksft_print_msg("a call of this program does not end:\n");
		program_show(&p, "    ");
		show_places();
		return false;
	}
	nanosleep(&moment, NULL);	/* works and timers still belong to this program */
	board->played++;
	board->changed += changed;
	if (remember(&p))
		board->found_changed += changed;
	if (klog_check(board->complaint, sizeof(board->complaint))) {
		board->complained = true;
		ksft_print_msg("the kernel complained: %s\n", board->complaint);
		program_show(&p, "    ");
		return false;
	}
	return true;
}

static void open_batch_file(uint32_t number)
{
	const char *dir = getenv("SMC_RESULTS");
	char path[300];

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/call_fuzz.batch", dir);
	batch_file = fopen(path, "we");
	if (batch_file)
		fprintf(batch_file, "# seed %llu, -B %u\n", (unsigned long long)opt.seed, number);
}

static void open_calls(void)
{
	calls_open();
	if (setting.devices)
		settings_for_devices();
}

/* Ends with the process, without waiting until sockets and namespace have ended. */
static void play_batch(uint32_t number)
{
	bool at_home = setting.devices || number % 4 == 3;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	klog_open();
	if (!at_home) {
		if (unshare(CLONE_NEWNET))
			ksft_exit_fail_msg("unshare: %s\n", strerror(errno));
		if (!loopback_up())
			ksft_exit_fail_msg("cannot bring up lo: %s\n", strerror(errno));
	}
	if (number % 3 == 1 && !set_pairing(false))
		ksft_exit_fail_msg("loopback_pairing: %s\n", strerror(errno));
	setting.home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	open_batch_file(number);
	open_calls();
	clc_open();
	players_start();
	for (int i = 0; (i < BATCH || replay_file) && board->left; i++) {
		if (!play_one())
			_exit(board->hung || board->complained);
		board->left--;
	}
	trace_off();
	if (at_home)
		settings_restore();
	_exit(0);
}

/* ---- the process of a batch, seen from outside ---- */

static void nap(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/* Does it make progress, or end? A program takes a few seconds at most. */
static bool await_batch(pid_t pid, int *status)
{
	uint64_t seen = board->played;

	for (long ms = 0; ms < GRACE * 1000; ms += 20) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		if (seen != board->played)
			ms = 0;
		seen = board->played;
		nap(20);
	}
	return false;
}

static long references(void)
{
	FILE *f = fopen("/sys/module/smc/refcnt", "r");
	long n = -1;

	if (!f || fscanf(f, "%ld", &n) != 1)
		ksft_exit_fail_msg("cannot read the module's reference count\n");
	fclose(f);
	/* smc_diag is loaded and unloaded. */
	return n - !access("/sys/module/smc/holders/smc_diag", F_OK);
}

/* TCP waits a minute for the FIN of a peer that is gone, and SMC-R does so for its close. */
static bool is_let_go(void)
{
	for (long ms = 0; ms < slow(opt.patience) * 1000; ms += 20) {
		long n = references();

		if (n <= at_rest) {
			at_rest = n;	/* something older than the first batch may linger */
			return true;
		}
		nap(20);
	}
	ksft_print_msg("this batch left %ld references to the module instead of %ld\n",
		       references(), at_rest);
	board->left_over = true;
	return false;
}

/* Returns false if no further batch can run. */
static bool one_batch(uint32_t number)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		play_batch(number);
	if (pid < 0 || !await_batch(pid, &status)) {
		ksft_print_msg("the process of a batch makes no progress\n");
		show_places();
		show_file(pid, "stack");
		board->hung = true;
		kill(pid, SIGKILL);
		return false;
	}
	if (status)
		ksft_print_msg("the process of a batch ended with status %x\n", status);
	return !status && (!opt.patience || is_let_go());
}

static bool time_is_up(const struct timespec *end)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return opt.seconds && now.tv_sec >= end->tv_sec;
}

/* Prints the coverage of the module over time. */
static void show_progress(void)
{
	static uint64_t next = 256;

	if (board->played < next)
		return;
	next *= 2;
	ksft_print_msg("%llu programs: %u blocks, %u in the corpus\n",
		       (unsigned long long)board->played, board->blocks, board->corpus_n);
}

static bool all_batches(void)
{
	struct timespec end;
	bool ok = true;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += opt.seconds;
	for (uint32_t n = opt.batch; ok && board->left && !time_is_up(&end); n++) {
		ok = one_batch(n);
		show_progress();
		if (replay_file)	/* all programs are one batch */
			break;
	}
	return ok;
}

/* ---- the corpus in a file ---- */

static void load_corpus(void)
{
	FILE *f = fopen(opt.corpus, "r");
	bool bad = false;

	while (f && board->corpus_n < CORPUS &&
	       program_read(&board->corpus[board->corpus_n], f, &bad))
		board->corpus_n++;
	if (bad)
		ksft_exit_fail_msg("%s has a line that is not a step\n", opt.corpus);
	if (f)
		fclose(f);
	loaded = board->corpus_n;
}

static void save_corpus(void)
{
	FILE *f = fopen(opt.corpus, "w");

	if (!f) {
		ksft_print_msg("cannot write %s: %s\n", opt.corpus, strerror(errno));
		return;
	}
	for (uint32_t i = 0; i < board->corpus_n; i++)
		program_write(&board->corpus[i], f);
	fclose(f);
}

/* ---- cases ---- */

static void listen_once(void)
{
	int fd = make_socket(0, 0);

	if (listen(fd, 1))
		ksft_exit_fail_msg("listen: %s\n", strerror(errno));
	close(fd);
}

/* The counter counts blocks of the module, and only those that run for the first time. */
static bool counts_what_is_new(void)
{
	uint32_t before = blocks_now(), idle, first, again;

	nap(50);
	idle = blocks_now();
	listen_once();
	first = blocks_now();
	for (int i = 0; i < 4; i++)
		listen_once();
	again = blocks_now();
	ksft_print_msg("blocks: %u, %u without a call, %u after listen(), %u after four more\n",
		       before, idle, first, again);
	/* What a close leaves to a work, or to RCU, may run later. */
	return before == idle && first > idle + 20 && again < first + 20;
}

static bool text_is_complete(void)
{
	for (uint32_t i = 0; i < board->corpus_n; i++) {
		FILE *f = tmpfile();
		struct program p;
		bool bad, same;

		program_write(&board->corpus[i], f);
		rewind(f);
		same = program_read(&p, f, &bad) && p.n == board->corpus[i].n &&
		       !memcmp(p.step, board->corpus[i].step, p.n * sizeof(p.step[0]));
		fclose(f);
		if (!same)
			return false;
	}
	return board->corpus_n;
}

static bool seed_decides(void)
{
	struct random a = { opt.seed }, b = { opt.seed }, c = { opt.seed + 1 };
	struct program p = { 0 }, q = { 0 }, other = { 0 };
	bool same = true, differs = false;

	for (int i = 0; i < 500; i++) {
		program_make(&a, &p);
		program_make(&b, &q);
		program_make(&c, &other);
		program_change(&a, &p, &other);
		program_change(&b, &q, &other);
		same = same && p.n == q.n && !memcmp(p.step, q.step, p.n * sizeof(p.step[0]));
		differs = differs || memcmp(p.step, other.step, sizeof(p.step[0]));
	}
	return same && differs;
}

static bool corpus_grows(void)
{
	ksft_print_msg("%llu programs: %u blocks, %u in the corpus, %u of them new\n",
		       (unsigned long long)board->played, board->blocks, board->corpus_n,
		       board->corpus_n - loaded);
	ksft_print_msg("%llu were derived from others, %llu of these reached new code\n",
		       (unsigned long long)board->changed,
		       (unsigned long long)board->found_changed);
	return board->corpus_n > loaded && (opt.blind || board->found_changed);
}

static void parse(int argc, char **argv)
{
	struct in_addr a;
	int c;

	opt.seed = time(NULL) ^ getpid() << 16;
	while ((c = getopt(argc, argv, "s:n:t:c:r:a:x:B:l:b")) > 0) {
		switch (c) {
		case 's': opt.seed = strtoull(optarg, NULL, 0); break;
		case 'n': opt.programs = strtoul(optarg, NULL, 0); break;
		case 't': opt.seconds = atol(optarg); break;
		case 'c': opt.corpus = optarg; break;
		case 'r': opt.replay = optarg; break;
		case 'a': setting.devices = true;
			setting.addr = inet_aton(optarg, &a) ? ntohl(a.s_addr) : 0;
			break;
		case 'x':
			if (!leave_out(optarg))
				ksft_exit_fail_msg("unknown call %s\n", optarg);
			break;
		case 'B': opt.batch = atoi(optarg); break;
		case 'l': opt.patience = atol(optarg); break;
		case 'b': opt.blind = true; break;
		default: ksft_exit_fail_msg("usage: see the head of smc_call_fuzz_test.c\n");
		}
	}
}

static void prepare(void)
{
	struct rlimit files = { 4096, 4096 };

	setrlimit(RLIMIT_NOFILE, &files);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	setting.file = memfd_create("fuzz", MFD_CLOEXEC);
	if (board == MAP_FAILED || setting.file < 0 || ftruncate(setting.file, BUF_SIZE))
		ksft_exit_fail_msg("cannot prepare: %s\n", strerror(errno));
	board->random.state = opt.seed;
	board->left = opt.programs;
	if (opt.corpus)
		load_corpus();
	replay_file = opt.replay ? fopen(opt.replay, "r") : NULL;
	if (opt.replay && !replay_file)
		ksft_exit_fail_msg("cannot read %s\n", opt.replay);
	settings_save();
	if (fault_available() && (!fault_open() || !fault_only_ours()))
		ksft_exit_fail_msg("cannot find the functions that may fail in /proc/kallsyms\n");
	raw_hosts(setting.addr, setting.addr);
}

int main(int argc, char **argv)
{
	struct modprobe modprobe;
	bool ok;

	setvbuf(stdout, NULL, _IOLBF, 0);
	parse(argc, argv);
	ksft_print_header();
	if (access(BLOCKS, R_OK) || !raw_available())
		ksft_exit_skip("no test build of smc.ko for a kernel with KCOV is loaded\n");
	ksft_set_plan(opt.replay ? 3 : 8);
	ksft_print_msg("seed %llu: -s repeats it\n", (unsigned long long)opt.seed);
	prepare();
	modprobe = without_modprobe();
	if (!opt.replay)
		ksft_test_result(counts_what_is_new(),
				 "code that runs for the first time is counted\n");
	open_calls();
	clc_record();
	set_timeout_ms(HANDSHAKE_MS);
	nap(1000);
	at_rest = references();
	ok = all_batches();
	ksft_test_result(ok || board->complained || board->left_over, "every call ends\n");
	ksft_test_result(!board->left_over, "a batch releases everything that it used\n");
	ksft_test_result(!board->complained, "the kernel does not complain\n");
	ksft_print_msg("%llu calls succeeded, %llu failed; %llu times a socket was SMC\n",
		       (unsigned long long)board->succeeded, (unsigned long long)board->failed,
		       (unsigned long long)board->smc);
	if (!opt.replay) {
		/* One batch may only have met raw CLC, or have switched SMC off. */
		ksft_test_result(board->smc || opt.programs <= BATCH, "connections were made\n");
		ksft_test_result(corpus_grows(),
				 "programs that reach new code are kept and mutated\n");
		ksft_test_result(text_is_complete(), "a program can be written and read\n");
		ksft_test_result(seed_decides(), "the same seed gives the same programs\n");
	}
	if (opt.corpus)
		save_corpus();
	with_modprobe(&modprobe);
	ksft_finished();
}
