// SPDX-License-Identifier: GPL-2.0
/*
 * Runs every case over TCP and over SMC and compares what the application saw.
 *
 * Each case gets a fresh network namespace. The TCP variant of each IP version
 * runs first, as the reference; then the variants with SMC at one end or at
 * both ends run. With --play the roles are on two machines, each of which runs
 * this program.
 */
#include <fcntl.h>
#include <getopt.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <dirent.h>

#include "loopback_up.h"
#include "pairing.h"
#include "kselftest.h"
#include "klog.h"
#include "role.h"
#include "machines.h"
#include "slow.h"

#define LOG_SIZE	65536
/*
 * How long a case may take, in seconds. It only serves to find a hang: on a busy host, a case that
 * takes one second of a guest's time took 30, even in virtual time.
 */
#define TIMEOUT		180

#define TCP4		{ AF_INET, IPPROTO_TCP }
#define TCP6		{ AF_INET6, IPPROTO_TCP }
#define SMC4		{ AF_INET, IPPROTO_SMC }
#define SMC6		{ AF_INET6, IPPROTO_SMC }
#define AFSMC4		{ AF_SMC, 0 }
#define AFSMC6		{ AF_SMC, 1 }

/* The first variant of each IP version is the reference for the others. */
static const struct variant variants[] = {
	{ "tcp4",	false, false, TCP4, TCP4, false },
	{ "smc4",	false, true,  SMC4, SMC4, false },
	{ "afsmc4",	false, true,  AFSMC4, AFSMC4, false },
	{ "tcpsrv4",	false, false, TCP4, SMC4, false },
	{ "tcpcli4",	false, false, SMC4, TCP4, false },
	{ "clc4",	false, true,  SMC4, SMC4, true },
	{ "tcp6",	true,  false, TCP6, TCP6, false },
	{ "smc6",	true,  true,  SMC6, SMC6, false },
	{ "afsmc6",	true,  true,  AFSMC6, AFSMC6, false },
	{ "tcpsrv6",	true,  false, TCP6, SMC6, false },
	{ "tcpcli6",	true,  false, SMC6, TCP6, false },
	{ "clc6",	true,  true,  SMC6, SMC6, true },
};

#define N_VARIANTS	(sizeof(variants) / sizeof(variants[0]))
#define MAX_NAMES	100

static struct {
	const char *names[MAX_NAMES], *skips[MAX_NAMES];
	int n_names, n_skips;
	const char *variant;
	int family;		/* 4, 6, or 0 for both */
	bool tcp_only, smc_only, no_reference;
	bool any_mode, rdma, ism;
	bool between, servers;	/* two machines; this is the server's */
	bool verbose;
	bool list;
	int repeat;
	int timeout;
	int shard, shards;	/* run every shards-th case, starting at the one numbered shard */
} opt = { .repeat = 1, .timeout = TIMEOUT };

extern const struct test_case create_cases[], connect_cases[], accept_cases[],
	stream_cases[], message_cases[], sockopt_cases[], ioctl_cases[],
	poll_cases[], epoll_cases[], shutdown_cases[], close_cases[],
	signal_cases[], process_cases[], listen_cases[], namespace_cases[],
	urgent_cases[], zerocopy_cases[], uring_cases[], tls_cases[], sockmap_cases[],
	reader_cases[], policy_cases[], options_cases[], packets_cases[], cgroup_cases[],
	stamp_cases[], user_cases[], calls_cases[], hooks_cases[], user_timeout_cases[],
	multicast_cases[], moment_cases[];

static const struct test_case *const tables[] = {
	create_cases, connect_cases, accept_cases, listen_cases, stream_cases,
	message_cases, urgent_cases, zerocopy_cases, uring_cases, sockopt_cases,
	user_timeout_cases, tls_cases, sockmap_cases, reader_cases, user_cases, ioctl_cases, poll_cases, epoll_cases,
	shutdown_cases, close_cases, multicast_cases, moment_cases, signal_cases, process_cases,
	namespace_cases, policy_cases,
	options_cases, packets_cases, cgroup_cases, stamp_cases, calls_cases, hooks_cases,
};

#define N_TABLES	(sizeof(tables) / sizeof(tables[0]))

/*
 * The result of these cases depends on how a socket was created, so they run with every variant.
 * The other cases run with SMC at both ends and with a TCP server, unless -V asks for more.
 */
static const struct test_case *const birth_tables[] = {
	create_cases, connect_cases, accept_cases, listen_cases, sockopt_cases, user_timeout_cases,
	options_cases, namespace_cases, policy_cases, packets_cases, cgroup_cases, stamp_cases,
};

/* ---- one run: two processes and their transcripts ---- */

struct run {
	pid_t pid;
	char *log;
	bool done;
	int status;
};

static void role_main(const struct test_case *tc, const struct variant *var,
		      bool server, int ctl, char *log)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	me.name = server ? "server" : "client";
	me.is_server = server;
	me.var = var;
	me.kind = server ? var->server : var->client;
	me.any_mode = opt.any_mode;
	me.rdma = opt.rdma;
	me.ism = opt.ism;
	me.between = opt.between;
	me.ctl = ctl;
	me.log = log;
	me.log_size = LOG_SIZE;
	log[0] = 0;
	(server ? tc->server : tc->client)();
	_exit(0);
}

static void start_role(struct run *r, const struct test_case *tc,
		       const struct variant *var, bool server, int ctl[2])
{
	fflush(stdout);
	r->done = false;
	r->pid = fork();
	if (r->pid < 0)
		ksft_exit_fail_msg("fork: %s\n", strerror(errno));
	if (!r->pid) {
		close(ctl[!server]);
		role_main(tc, var, server, ctl[server], r->log);
	}
	setpgid(r->pid, r->pid);
}

/* When a role hangs, print where it hangs. */
static void show_stacks(pid_t pid)
{
	static const char * const files[] = { "syscall", "stack" };
	char path[320], text[4096], *line, *save;
	struct dirent *d;
	DIR *dir;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] == '.')
			continue;
		for (int i = 0; i < 2; i++) {
			snprintf(path, sizeof(path), "/proc/%d/task/%s/%s", pid,
				 d->d_name, files[i]);
			f = fopen(path, "r");
			if (!f)
				continue;
			n = fread(text, 1, sizeof(text) - 1, f);
			fclose(f);
			text[n] = 0;
			for (line = strtok_r(text, "\n", &save); line;
			     line = strtok_r(NULL, "\n", &save))
				ksft_print_msg("    thread %s %s: %s\n",
					       d->d_name, files[i], line);
		}
	}
	if (dir)
		closedir(dir);
}

/* Print what TCP knows of its open sockets, which shows who waits for whom. */
static void show_sockets(void)
{
	fflush(stdout);
	if (system("ss -taniepO exclude time-wait 2> /dev/null | sed 's/^/#     /'"))
		ksft_print_msg("#     ss failed\n");
}

static bool reap(struct run *r)
{
	if (!r->done && waitpid(r->pid, &r->status, WNOHANG) == r->pid) {
		r->done = true;
		kill(-r->pid, SIGKILL);
	}
	return r->done;
}

static bool failed(const struct run *r)
{
	return r->done && r->status;
}

/* Returns false, with the reason, if a role failed or did not finish. */
static bool wait_roles(struct run *r, int n, int timeout, char *why, size_t len)
{
	static const char * const name[] = { "client", "server" };
	double end = clock_seconds() + timeout;
	bool late = false;
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	why[0] = 0;
	for (;;) {
		struct timespec ts = { 0, 100000000 };
		int left = 0;

		for (int i = 0; i < n; i++) {
			if (!r[i].done && reap(&r[i]) && failed(&r[i])) {
				char *bang = strstr(r[i].log, "!! ");

				if (!why[0] || strstr(why, "the peer has ended"))
					snprintf(why, len, "%s: %s", name[i], bang ?
						 bang + 3 : WIFSIGNALED(r[i].status) ?
						 strsignal(WTERMSIG(r[i].status)) :
						 "exited without reporting a result");
				if (end > clock_seconds() + slow(2))
					end = clock_seconds() + slow(2);
			}
			left += !r[i].done;
		}
		if (!left)
			return !why[0];
		if (clock_seconds() > end) {
			for (int i = 0; i < n; i++) {
				if (r[i].done)
					continue;
				if (!why[0])
					snprintf(why, len, "%s timed out", name[i]);
				if (late)
					ksft_exit_fail_msg("%s cannot be killed\n",
							   name[i]);
				ksft_print_msg("  %s hangs:\n", name[i]);
				show_stacks(r[i].pid);
			}
			if (!late)
				show_sockets();
			for (int i = 0; i < n; i++)
				if (!r[i].done)
					kill(-r[i].pid, SIGKILL);
			late = true;
			end = clock_seconds() + slow(15);
		}
		sigtimedwait(&chld, NULL, &ts);
	}
}

static int timeout_of(const struct test_case *tc)
{
	return slow(opt.timeout) * (tc->flags & F_SLOW ? 3 : 1);
}

static bool run_once(const struct test_case *tc, const struct variant *var,
		     struct run *r, char *why, size_t len)
{
	int n = tc->server ? 2 : 1, ctl[2] = { -1, -1 };
	char there[256];
	bool ok;

	if (opt.between)
		ctl[0] = machines_ask(tc->name, var->name);
	else if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ctl) < 0)
		ksft_exit_fail_msg("socketpair: %s\n", strerror(errno));
	r[0].log[0] = r[1].log[0] = 0;
	start_role(&r[0], tc, var, false, ctl);
	r[1].done = opt.between;
	if (n == 2 && !opt.between)
		start_role(&r[1], tc, var, true, ctl);
	close(ctl[0]);
	close(ctl[1]);
	ok = wait_roles(r, n, timeout_of(tc), why, len);
	if (opt.between && !machines_hear(there, sizeof(there), r[1].log, LOG_SIZE)) {
		if (ok || strstr(why, "the peer has ended"))
			snprintf(why, len, "%s", there);
		ok = false;
	}
	return ok;
}

/* ---- comparing ---- */

static void first_difference(const char *a, const char *b, char *why, size_t len)
{
	size_t i = 0, line = 0;

	for (; a[i] && a[i] == b[i]; i++)
		if (a[i] == '\n')
			line = i + 1;
	snprintf(why, len, "TCP saw \"%.*s\", SMC \"%.*s\"",
		 (int)strcspn(a + line, "\n"), a + line,
		 (int)strcspn(b + line, "\n"), b + line);
}

static bool compare(const struct run *r, char *const ref[2], char *why, size_t len)
{
	static const char * const name[] = { "client", "server" };
	size_t n;

	for (int i = 0; i < 2; i++) {
		if (!strcmp(r[i].log, ref[i]))
			continue;
		n = snprintf(why, len, "%s: ", name[i]);
		first_difference(ref[i], r[i].log, why + n, len - n);
		return false;
	}
	return true;
}

static void show_transcript(const struct run *r)
{
	static const char * const name[] = { "client", "server" };
	char *copy, *line, *save;

	for (int i = 0; i < 2; i++) {
		copy = strdup(r[i].log);
		for (line = strtok_r(copy, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			ksft_print_msg("  %s: %s\n", name[i], line);
		free(copy);
	}
}

/* ---- selecting cases and variants ---- */

static bool wanted_case(const struct test_case *tc)
{
	if (opt.rdma && tc->flags & (F_HERE | F_V6))
		return false;
	if (opt.between && (!tc->server || tc->flags & F_ONE))
		return false;
	for (int i = 0; i < opt.n_skips; i++)
		if (!strcmp(opt.skips[i], tc->name))
			return false;
	for (int i = 0; i < opt.n_names; i++)
		if (!strcmp(opt.names[i], tc->name))
			return true;
	return !opt.n_names;
}

static bool is_reference(const struct variant *v)
{
	return v == &variants[0] || !v[-1].ipv6 != !v->ipv6;
}

static bool about_birth(const struct test_case *tc)
{
	for (size_t t = 0; t < sizeof(birth_tables) / sizeof(birth_tables[0]); t++)
		for (const struct test_case *i = birth_tables[t]; i->name; i++)
			if (i == tc)
				return true;
	return false;
}

/* Is this variant in the list given by -V, if any?  "+name" applies only to birth_tables. */
static bool named_variant(const struct test_case *tc, const struct variant *v)
{
	size_t len = strlen(v->name);
	const char *at = opt.variant;

	if (!at)
		return true;
	while ((at = strstr(at, v->name))) {
		if ((at == opt.variant || at[-1] == ',' || (at[-1] == '+' && about_birth(tc))) &&
		    (!at[len] || at[len] == ','))
			return true;
		at += len;
	}
	return false;
}

/* The variants that a case runs with by default. */
static bool usual_variant(const struct test_case *tc, const struct variant *v)
{
	return v->client.protocol == IPPROTO_SMC && (tc->flags & F_V6 || !v->ipv6);
}

/* Is this one of the variants to compare with TCP? */
static bool wanted_compared(const struct test_case *tc, const struct variant *v)
{
	if (opt.tcp_only || (opt.smc_only && !v->smc))
		return false;
	if (!opt.variant)
		return usual_variant(tc, v) || about_birth(tc);
	return named_variant(tc, v);
}

/* Is this the reference for the wanted variants of its IP version, if there are any? */
static bool wanted_reference(const struct test_case *tc, const struct variant *v)
{
	const struct variant *end = variants + N_VARIANTS;

	if (opt.tcp_only || (opt.variant && named_variant(tc, v)))
		return true;
	for (const struct variant *i = v + 1; i < end && i->ipv6 == v->ipv6; i++)
		if (wanted_compared(tc, i))
			return true;
	return false;
}

static bool wanted_variant(const struct test_case *tc, const struct variant *v)
{
	if ((tc->flags & F_V4 && v->ipv6) || (tc->flags & F_V6 && !v->ipv6))
		return false;
	if (v->negotiated && (opt.rdma || geteuid() != 0))
		return false;
	if ((opt.family && opt.family != (v->ipv6 ? 6 : 4)) ||
	    (opt.rdma && !opt.between && v->ipv6))
		return false;
	if (is_reference(v))
		return !opt.no_reference && wanted_reference(tc, v);
	return wanted_compared(tc, v);
}

static bool fresh_netns(void)
{
	if (unshare(CLONE_NEWNET) < 0)
		return false;
	if (!loopback_up())
		ksft_exit_fail_msg("cannot bring lo up: %s\n", strerror(errno));
	return true;
}

/* Switches pairing on or off in the namespace of this case, if SMC is available. */
static void pair_or_negotiate(const struct variant *v)
{
	if (!set_pairing(!v->negotiated) && v->negotiated)
		ksft_exit_fail_msg("loopback_pairing: %s\n", strerror(errno));
}

static void report(bool ok, const struct test_case *tc, const struct variant *v,
		   const struct run *r, double took, char *why)
{
	char bug[512];
	int n = klog_check(bug, sizeof(bug));

	if (n) {
		ksft_print_msg("  kernel log: %d bad lines, first: %s\n", n, bug);
		ok = false;
	}
	why[strcspn(why, "\n")] = 0;
	if (!ok && why[0])
		ksft_print_msg("  %s %s: %s\n", tc->name, v->name, why);
	if (!ok || opt.verbose)
		show_transcript(r);
	ksft_test_result(ok, "%s %s # %d ms\n", tc->name, v->name,
			 (int)(took * 1000));
	fflush(stdout);
}

static void do_case(const struct test_case *tc, struct run *r)
{
	static char refs[2][2][LOG_SIZE];
	bool have_ref[2] = { false, false };
	char why[2048];

	/* With RDMA, the namespaces that have the devices are used. */
	if (geteuid() == 0 && !opt.rdma)
		fresh_netns();
	for (int round = 0; round < opt.repeat; round++) {
		for (size_t i = 0; i < N_VARIANTS; i++) {
			const struct variant *v = &variants[i];
			char *ref[2] = { refs[v->ipv6][0], refs[v->ipv6][1] };
			double start = clock_seconds();
			bool ok;

			if (!wanted_variant(tc, v))
				continue;
			if (tc->flags & F_ROOT && geteuid() != 0) {
				ksft_test_result_skip("%s %s # needs root\n",
						      tc->name, v->name);
				continue;
			}
			if (geteuid() == 0 && !opt.rdma)
				pair_or_negotiate(v);
			ok = run_once(tc, v, r, why, sizeof(why));
			if (ok && !have_ref[v->ipv6] && !is_reference(v) && !opt.no_reference) {
				strcpy(why, "there is no TCP run to compare with");
				ok = false;
			} else if (ok && have_ref[v->ipv6]) {
				ok = compare(r, ref, why, sizeof(why));
			}
			if (ok && is_reference(v) && !have_ref[v->ipv6]) {
				strcpy(ref[0], r[0].log);
				strcpy(ref[1], r[1].log);
				have_ref[v->ipv6] = true;
			}
			report(ok, tc, v, r, clock_seconds() - start, why);
		}
	}
}

static int for_each_case(void (*fn)(const struct test_case *, struct run *),
			 struct run *r)
{
	int lines = 0, number = 0;

	for (size_t t = 0; t < N_TABLES; t++)
		for (const struct test_case *tc = tables[t]; tc->name; tc++) {
			if (!wanted_case(tc) ||
			    (opt.shards && number++ % opt.shards != opt.shard))
				continue;
			for (size_t i = 0; i < N_VARIANTS; i++)
				lines += wanted_variant(tc, &variants[i]);
			if (fn)
				fn(tc, r);
		}
	return lines;
}

static void list_case(const struct test_case *tc, struct run *r)
{
	printf("%-28s %s\n", tc->name, tc->what);
}

/* ---- the server machine, which runs what the other machine asks for ---- */

static const struct test_case *case_named(const char *name)
{
	for (size_t t = 0; t < N_TABLES; t++)
		for (const struct test_case *tc = tables[t]; tc->name; tc++)
			if (!strcmp(tc->name, name))
				return tc;
	ksft_exit_fail_msg("no case %s here\n", name);
}

static const struct variant *variant_named(const char *name)
{
	for (size_t i = 0; i < N_VARIANTS; i++)
		if (!strcmp(variants[i].name, name))
			return &variants[i];
	ksft_exit_fail_msg("no variant %s here\n", name);
}

static void play_servers(struct run *r)
{
	char why[2048], bug[512];
	int ctl[2] = { -1, -1 };
	struct order order;
	bool ok;

	while (machines_next(&order, &ctl[1])) {
		const struct test_case *tc = case_named(order.test);

		r[1].log[0] = 0;
		r[0].done = true;
		start_role(&r[1], tc, variant_named(order.variant), true, ctl);
		close(ctl[1]);
		ok = wait_roles(r, 2, timeout_of(tc), why, sizeof(why));
		/* This also fails the guest (tools/testing/vm/judge-log). */
		if (klog_check(bug, sizeof(bug))) {
			ksft_print_msg("  kernel log, after %s: %s\n", tc->name, bug);
			snprintf(why, sizeof(why), "the server's kernel log: %s", bug);
			ok = false;
		}
		machines_tell(ok, why, r[1].log);
	}
}

static void usage(const char *self)
{
	printf("usage: %s [-t case]... [-l] [-r] [-f 4|6] [-o tcp|smc] [-V variant]\n"
	       "  -t, --test NAME     only this case (may be given again)\n"
	       "  -x, --skip NAME     not this case\n"
	       "  -l, --list          name the cases\n"
	       "  -f, --family 4|6    only this IP version\n"
	       "  -o, --only tcp|smc  TCP alone, or SMC at both ends alone\n"
	       "  -V, --variant A,B   only these variants and their references; +B: B only for the\n"
	       "                      cases that depend on how a socket was created\n"
	       "  -N, --no-reference  run no TCP and compare nothing: only the checks in the cases\n"
	       "                      and the kernel log decide\n"
	       "  -r, --rdma          use the RDMA devices that tools/testing/vm/rxe_pair made, with IPv4\n"
	       "  -p, --play ROLE     server or client: run the cases between two machines, 10.0.0.1 and\n"
	       "                      10.0.0.2, each with an RDMA device; the client prints TAP\n"
	       "  -m, --mode any      do not insist that the connection is SMC\n"
	       "      --mode smcd     with --play: insist on SMC-D, over an ISM device\n"
	       "  -n, --repeat N      run each case N times and compare with the first run\n"
	       "  -T, --timeout SEC   limit for each case, multiplied by SMC_SLOW (180)\n"
	       "  -s, --shard I/N     every N-th case, starting with the I-th: 1/8 to 8/8 are all cases\n"
	       "  -v, --verbose       show the transcripts\n", self);
	exit(0);
}

/* Nobody would notice that a case with a wrong name is not played. */
static const char *a_case(const char *name, int already)
{
	if (already == MAX_NAMES)
		ksft_exit_fail_msg("too many names: %s\n", name);
	for (size_t t = 0; t < N_TABLES; t++)
		for (const struct test_case *tc = tables[t]; tc->name; tc++)
			if (!strcmp(tc->name, name))
				return name;
	ksft_exit_fail_msg("no such case: %s\n", name);
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "test", 1, NULL, 't' }, { "skip", 1, NULL, 'x' }, { "list", 0, NULL, 'l' },
		{ "family", 1, NULL, 'f' }, { "only", 1, NULL, 'o' },
		{ "variant", 1, NULL, 'V' }, { "mode", 1, NULL, 'm' },
		{ "no-reference", 0, NULL, 'N' }, { "rdma", 0, NULL, 'r' },
		{ "play", 1, NULL, 'p' },
		{ "repeat", 1, NULL, 'n' }, { "timeout", 1, NULL, 'T' },
		{ "shard", 1, NULL, 's' },
		{ "verbose", 0, NULL, 'v' }, { "help", 0, NULL, 'h' }, { 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "t:x:lf:o:V:Nrp:m:n:T:s:vh", longs, NULL)) > 0) {
		switch (c) {
		case 't':
			opt.names[opt.n_names] = a_case(optarg, opt.n_names);
			opt.n_names++;
			break;
		case 'x':
			opt.skips[opt.n_skips] = a_case(optarg, opt.n_skips);
			opt.n_skips++;
			break;
		case 'l': opt.list = true; break;
		case 'f': opt.family = atoi(optarg); break;
		case 'o':
			opt.tcp_only = !strcmp(optarg, "tcp");
			opt.smc_only = !strcmp(optarg, "smc");
			break;
		case 'V': opt.variant = optarg; break;
		case 'N': opt.no_reference = true; break;
		case 'r': opt.rdma = true; break;
		case 'p':
			opt.rdma = opt.between = true;
			opt.servers = !strcmp(optarg, "server");
			break;
		case 'm':
			opt.any_mode = !strcmp(optarg, "any");
			opt.ism = !strcmp(optarg, "smcd");
			break;
		case 'n': opt.repeat = atoi(optarg); break;
		case 'T': opt.timeout = atoi(optarg); break;
		case 's':
			if (sscanf(optarg, "%d/%d", &opt.shard, &opt.shards) != 2 ||
			    opt.shard < 1 || opt.shard-- > opt.shards)
				ksft_exit_fail_msg("no shard: %s\n", optarg);
			break;
		case 'v': opt.verbose = true; break;
		default: usage(argv[0]);
		}
	}
}

int main(int argc, char **argv)
{
	struct run r[2];
	sigset_t chld;
	char byte;
	int lines;

	parse(argc, argv);
	if (opt.list) {
		for_each_case(list_case, NULL);
		return 0;
	}
	lines = for_each_case(NULL, NULL) * opt.repeat;
	if (!lines)
		ksft_exit_fail_msg("no such case or variant\n");
	for (int i = 0; i < 2; i++)
		r[i].log = mmap(NULL, LOG_SIZE, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);

	/* Make the table of bytes once, before the processes are forked. */
	fill(&byte, 1, 0);

	if (!opt.servers)
		ksft_print_header();
	if (!klog_open())
		ksft_print_msg("the kernel log cannot be read and is not judged\n");
	if (opt.between)
		machines_meet(opt.servers);
	if (opt.servers) {
		play_servers(r);
		return 0;
	}
	ksft_set_plan(lines);
	for_each_case(do_case, r);
	ksft_finished();
}
