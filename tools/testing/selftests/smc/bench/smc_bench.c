// SPDX-License-Identifier: GPL-2.0
/*
 * smc_bench: cost of one operation over TCP, AF_UNIX, a pipe and SMC.
 *
 * One client, one server (a fork of it), blocking calls, read() and write() for every transport;
 * or many such pairs at the same time. In
 * the deterministic mode of bench/run_bench one nanosecond of the guest's clock is one guest
 * instruction, so the result is the number of instructions that both processes and the kernel
 * execute for one operation.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

struct result *result;

static int to_server[2];	/* pipes for meet() */
static int to_client[2];
static pid_t server_pid;
static long n_pairs;

void die(const char *fmt, ...)
{
	va_list ap;

	fputs("smc_bench: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	_exit(1);
}

void die_errno(const char *fmt, ...)
{
	const char *why = strerror(errno);
	va_list ap;

	fputs("smc_bench: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, ": %s\n", why);
	_exit(1);
}

void read_all(int fd, void *buf, size_t len)
{
	ssize_t got;

	while (len) {
		got = read(fd, buf, len);
		if (got < 0)
			die_errno("read");
		if (!got)
			die("read: the other end closed the connection");
		buf = (char *)buf + got;
		len -= got;
	}
}

void write_all(int fd, const void *buf, size_t len)
{
	ssize_t put;

	while (len) {
		put = write(fd, buf, len);
		if (put < 0)
			die_errno("write");
		buf = (const char *)buf + put;
		len -= put;
	}
}

/* Touch the buffer here, so that the timed loop has no page faults. */
void *buffer(size_t len)
{
	void *buf;

	if (posix_memalign(&buf, 4096, len ? len : 1))
		die("no memory for a buffer of %zu bytes", len);
	memset(buf, 'x', len);
	return buf;
}

void meet(enum role role)
{
	char c = 0;

	if (role == CLIENT) {
		write_all(to_server[1], &c, 1);
		read_all(to_client[0], &c, 1);
	} else {
		read_all(to_server[0], &c, 1);
		write_all(to_client[1], &c, 1);
	}
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void keep_latest(uint64_t *at)
{
	uint64_t now = now_ns(), old = __atomic_load_n(at, __ATOMIC_RELAXED);

	while (old < now && !__atomic_compare_exchange_n(at, &old, now, false, __ATOMIC_RELAXED,
							 __ATOMIC_RELAXED))
		;
}

/*
 * The nops are markers for bench/profile: its QEMU plugin counts instructions from the first marker
 * to the second, and recognizes them by the displacement. With many pairs the clock runs from the
 * moment when the last one is ready until the last one is done.
 */
void mark_begin(void)
{
	if (n_pairs > 1) {
		keep_latest(&result->begun);
		pthread_barrier_wait(&result->all);
		return;
	}
#ifdef __x86_64__
	asm volatile("nopl 0x534d4301(%%rax)" ::: "memory");
#endif
	result->begun = now_ns();
}

void mark_end(void)
{
	if (n_pairs > 1) {
		keep_latest(&result->ended);
		pthread_barrier_wait(&result->all);
		return;
	}
	result->ended = now_ns();
#ifdef __x86_64__
	asm volatile("nopl 0x534d4302(%%rax)" ::: "memory");
#endif
}

static void usage(void)
{
	printf("usage: smc_bench --transport T --work W [options]\n\ntransports:\n");
	transport_list();
	printf("works:\n");
	work_list();
	printf("options:\n"
	       "  --size N       bytes per message or write (64)\n"
	       "  --read-size N  receiver's buffer in stream (SIZE)\n"
	       "  --count N      operations measured\n"
	       "  --warmup N     operations before those that are measured\n"
	       "  --sndbuf N     SO_SNDBUF of client and listener (default of the transport)\n"
	       "  --rcvbuf N     SO_RCVBUF of client and listener (default of the transport)\n"
	       "  --exchanges N  ping-pongs of each connection of connect-echo (1)\n"
	       "  --nodelay      TCP_NODELAY on both ends\n"
	       "  --busy-poll N  microseconds of busy polling at both ends (0)\n"
	       "  --address A    of the listener (127.0.0.1)\n"
	       "  --addresses N  calls go to N addresses in turn, of which A is the first (1)\n"
	       "  --backlog N    connections that the listener may keep before accept() (128)\n"
	       "  --pairs N      of client and server, at the same time (1)\n"
	       "  --listener L   of each pair: own, shared by all, or with reuseport (own)\n"
	       "  --json         one line of JSON instead of text\n");
}

static long number(const char *arg, const char *name, long min)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(arg, &end, 0);
	if (errno || end == arg || *end || n < min)
		die("--%s requires a number of at least %ld, not \"%s\"", name, min, arg);
	return n;
}

static const struct option long_options[] = {
	{ "transport", required_argument, NULL, 't' },
	{ "work", required_argument, NULL, 'w' },
	{ "size", required_argument, NULL, 's' },
	{ "read-size", required_argument, NULL, 'R' },
	{ "count", required_argument, NULL, 'n' },
	{ "warmup", required_argument, NULL, 'u' },
	{ "sndbuf", required_argument, NULL, 'S' },
	{ "rcvbuf", required_argument, NULL, 'r' },
	{ "exchanges", required_argument, NULL, 'x' },
	{ "nodelay", no_argument, NULL, 'd' },
	{ "busy-poll", required_argument, NULL, 'b' },
	{ "address", required_argument, NULL, 'A' },
	{ "addresses", required_argument, NULL, 'a' },
	{ "backlog", required_argument, NULL, 'q' },
	{ "pairs", required_argument, NULL, 'p' },
	{ "listener", required_argument, NULL, 'l' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static uint32_t address_of(const char *word)
{
	struct in_addr in;

	if (!inet_aton(word, &in))
		die("--address requires an IPv4 address, not \"%s\"", word);
	return ntohl(in.s_addr);
}

static enum listeners listeners_of(const char *word)
{
	static const char *const words[] = { [OWN] = "own", [SHARED] = "shared",
					     [REUSEPORT] = "reuseport" };
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i]))
			return i;
	die("--listener is own, shared or reuseport, not \"%s\"", word);
}

static void parse(int argc, char **argv, struct options *opt)
{
	int c;

	while ((c = getopt_long(argc, argv, "t:w:s:R:n:u:S:r:b:djh", long_options,
				NULL)) != -1) {
		switch (c) {
		case 't': opt->transport = optarg; break;
		case 'w': opt->work = optarg; break;
		case 's': opt->size = number(optarg, "size", 1); break;
		case 'R': opt->read_size = number(optarg, "read-size", 1); break;
		case 'n': opt->count = number(optarg, "count", 1); break;
		case 'u': opt->warmup = number(optarg, "warmup", 0); break;
		case 'S': opt->sndbuf = number(optarg, "sndbuf", 1); break;
		case 'r': opt->rcvbuf = number(optarg, "rcvbuf", 1); break;
		case 'x': opt->exchanges = number(optarg, "exchanges", 1); break;
		case 'd': opt->nodelay = true; break;
		case 'b': opt->busy_poll = number(optarg, "busy-poll", 0); break;
		case 'A': opt->address = address_of(optarg); break;
		case 'a': opt->addresses = number(optarg, "addresses", 1); break;
		case 'q': opt->backlog = number(optarg, "backlog", 1); break;
		case 'p': opt->pairs = number(optarg, "pairs", 1); break;
		case 'l': opt->listeners = listeners_of(optarg); break;
		case 'j': opt->json = true; break;
		case 'h': usage(); exit(0);
		default: usage(); exit(1);
		}
	}
	if (!opt->transport || !opt->work) {
		usage();
		exit(1);
	}
	if (!opt->exchanges)
		opt->exchanges = 1;
	if (!opt->read_size)
		opt->read_size = opt->size;
}

/* With two CPUs, the number of sleeps tells more than the clock of a busy host. */
static void count_sleeps(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	__atomic_add_fetch(&result->sleeps, usage.ru_nvcsw, __ATOMIC_RELAXED);
}

static void report(const struct options *opt)
{
	double per_op = (double)(result->ended - result->begun) / (opt->count * opt->pairs);
	double sleeps = (double)result->sleeps / ((opt->count + opt->warmup) * opt->pairs);

	if (opt->json) {
		printf("{\"transport\": \"%s\", \"work\": \"%s\", \"size\": %zu, "
		       "\"count\": %ld, \"nodelay\": %s, \"busy_poll\": %d, "
		       "\"ns_per_op\": %.1f, "
		       "\"sleeps_per_op\": %.3f%s}\n",
		       opt->transport, opt->work, opt->size, opt->count,
		       opt->nodelay ? "true" : "false", opt->busy_poll, per_op, sleeps, result->json);
		return;
	}
	printf("%-12s %-12s %7zu B %8ld times %12.1f ns each, %.3f sleeps\n%s", opt->transport,
	       opt->work, opt->size, opt->count, per_op, sleeps,
	       result->text);
}

/* Without this, the client would wait for ever after the server has died. */
static void server_ended(int sig)
{
	static const char msg[] = "smc_bench: the server process failed\n";
	int status;

	if (waitpid(server_pid, &status, 0) != server_pid ||
	    (WIFEXITED(status) && !WEXITSTATUS(status)))
		return;
	if (write(STDERR_FILENO, msg, sizeof(msg) - 1))
		_exit(1);
	_exit(1);
}

static void prepare(const struct options *opt)
{
	pthread_barrierattr_t attr;

	signal(SIGPIPE, SIG_IGN);
	n_pairs = opt->pairs;
	result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (result == MAP_FAILED)
		die_errno("mmap");
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&result->all, &attr, n_pairs);
}

static void choose(struct options *opt, const struct transport **t, const struct work **w)
{
	*t = transport_find(opt->transport);
	if (!*t)
		die("unknown transport \"%s\", see --help", opt->transport);
	*w = work_find(opt->work);
	if (!*w)
		die("unknown work \"%s\", see --help", opt->work);
	if ((*w)->needs_connect && !(*t)->can_connect)
		die("%s cannot connect, which the work \"%s\" requires", (*t)->name,
		    (*w)->name);
	if (opt->listeners != OWN && !(*w)->any_server)
		die("only connect and connect-echo can have another --listener");
	if (!opt->count)
		opt->count = (*w)->count;
	if (opt->warmup < 0)
		opt->warmup = (*w)->warmup;
}

/* Runs the server in a fork of this process, and the client here. */
static void run_pair(const struct options *opt, const struct transport *t, const struct work *w)
{
	struct sigaction sa = {
		.sa_handler = server_ended,
		.sa_flags = SA_RESTART | SA_NOCLDSTOP,
	};
	sigset_t chld, old;

	sigaction(SIGCHLD, &sa, NULL);
	if (pipe(to_server) || pipe(to_client))
		die_errno("pipe");
	if (opt->listeners != SHARED)
		t->open(opt);
	/* The handler needs server_pid, so block the signal until it is set. */
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, &old);
	server_pid = fork();
	if (server_pid < 0)
		die_errno("fork");
	if (!server_pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGCHLD, SIG_DFL);
		sigprocmask(SIG_SETMASK, &old, NULL);
		w->run(t, opt, SERVER);
		count_sleeps();
		meet(SERVER);
		_exit(0);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	w->run(t, opt, CLIENT);
	count_sleeps();
	/* If any server may accept a call, none of them knows which is the last one. */
	if (opt->listeners == OWN)
		meet(CLIENT);
}

static void run_pairs(const struct options *opt, const struct transport *t, const struct work *w)
{
	int status;
	pid_t pid;
	long i;

	for (i = 0; i < n_pairs; i++) {
		pid = fork();
		if (pid < 0)
			die_errno("fork");
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			run_pair(opt, t, w);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		if (status)
			die("a pair failed");
}

int main(int argc, char **argv)
{
	struct options opt = { .size = 64, .warmup = -1, .address = INADDR_LOOPBACK,
			       .addresses = 1, .backlog = 128, .pairs = 1 };
	const struct transport *t;
	const struct work *w;

	parse(argc, argv, &opt);
	choose(&opt, &t, &w);
	prepare(&opt);
	if (opt.listeners == SHARED)
		t->open(&opt);
	if (opt.pairs > 1)
		run_pairs(&opt, t, w);
	else
		run_pair(&opt, t, w);
	report(&opt);
	return 0;
}
