// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile SMC-R peer: plays every exchange of CLC, LLC and CDC correctly, in both roles, and
 * deviates in one place in each case.  Prints TAP.
 *
 *   smc_rogue [PART...]	clc, llc, cdc, link, peer, time, stall, gateway, wait,
 *				device, many, verbs, gone; without one: all of these
 *   smc_rogue links cont verbs2 late exchanges failover	with two devices at each end
 *   smc_rogue --shard N/M ...	each Mth of their cases, from the Nth on
 *
 * After every case: two bystanders, an SMC-R connection with another peer and an SMC-D connection,
 * must still work, the kernel log must be clean, and the victim's RDMA device must hold what it
 * held before.
 */
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "klog.h"
#include "rogue.h"
#include "sock_mode.h"

void bury_links(void);

static struct conn *bystander;
static int smcd[2];
static struct census before;
static int n_tests, n_failed;

/* An ordinary pair over SMC-D: both ends are sockets on the victim's host. */
static void smcd_open(int pair[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 256);

	pair[0] = socket(AF_INET, SOCK_STREAM, 256);
	if (l < 0 || pair[0] < 0 || bind(l, (void *)&a, len) || listen(l, 1) ||
	    getsockname(l, (void *)&a, &len) || connect(pair[0], (void *)&a, len))
		give_up("cannot open an SMC-D connection");
	pair[1] = accept_in_time(l);
	if (mode_of(pair[0]) != MODE_SMCD)
		give_up("a connection within this host is not SMC-D");
	close(l);
}

static bool smcd_echo(const int pair[2])
{
	char c = 0;

	return (send(pair[0], "x", 1, MSG_NOSIGNAL) == 1 && recv(pair[1], &c, 1, 0) == 1 &&
		send(pair[1], "y", 1, MSG_NOSIGNAL) == 1 && recv(pair[0], &c, 1, 0) == 1 &&
		c == 'y') || BAD("the SMC-D bystander is disturbed");
}

static void smcd_close(const int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

bool loopback_goes_on(void)
{
	long old = set_sysctl("loopback_pairing", 0);
	int pair[2];
	bool ok;

	smcd_open(pair);
	set_sysctl("loopback_pairing", old);
	ok = smcd_echo(pair) && victim_says((struct scene) { .victim = pair[0] }, 0);
	smcd_close(pair);
	return ok;
}

long set_sysctl(const char *name, long value)
{
	char path[64];
	long old = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/net/smc/%s", name);
	f = fopen(path, "r+");
	if (!f || fscanf(f, "%ld", &old) != 1)
		give_up("no %s", path);
	rewind(f);
	fprintf(f, "%ld\n", value);
	fclose(f);
	return old;
}

void bystander_turn(void)
{
	if (!conn_echo(bystander))
		give_up("the bystander: %s", why);
}

static bool all_well(void)
{
	char bug[400], inner[sizeof(why)];
	bool ok = conn_echo(bystander);

	snprintf(inner, sizeof(inner), "%s", why);
	if (klog_check(bug, sizeof(bug)))
		return BAD("kernel log: %.250s", bug);
	if (!ok)
		return BAD("the SMC-R bystander: %.200s", inner);
	return smcd_echo(smcd) && census_back_to(&before);
}

void verdict(bool ok, const char *fmt, ...)
{
	char name[200], first[sizeof(why)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	snprintf(first, sizeof(first), "%s", ok ? "" : why);
	if (!ok)
		printf("# %s: %s\n", name, first);
	if (!all_well()) {
		printf("# %s: %s\n", name, why);
		ok = false;
	}
	bury_links();
	why[0] = 0;
	n_failed += !ok;
	printf("%sok %d - %s\n", ok ? "" : "not ", ++n_tests, name);
	fflush(stdout);
}

void verdict_alone(bool ok, const char *name)
{
	char bug[200];

	if (ok && klog_check(bug, sizeof(bug)))
		ok = BAD("kernel log: %s", bug);
	if (!ok)
		printf("# %s: %s\n", name, why);
	n_failed += !ok;
	printf("%sok %d - %s\n", ok ? "" : "not ", ++n_tests, name);
	fflush(stdout);
}

jmp_buf gave_up;
static char words_of_giving_up[300];

static void case_gives_up(const char *words)
{
	snprintf(words_of_giving_up, sizeof(words_of_giving_up), "%s", words);
	longjmp(gave_up, 1);
}

void verdict_gave_up(const char *what, const char *detail)
{
	conns_end(bystander);
	snprintf(why, sizeof(why), "%s", words_of_giving_up);
	/* A case that gives up here could not continue. */
	give_up_to = NULL;
	verdict(false, "%s: %s", what, detail);
	give_up_to = case_gives_up;
}

static const struct {
	const char *name;
	void (*run)(void);
	bool two;		/* devices at each end */
} parts[] = {
	{ "clc", cases_clc }, { "cdc", cases_cdc }, { "link", cases_link },
	{ "peer", cases_peer }, { "time", cases_time }, { "llc", cases_llc },
	{ "stall", cases_stall }, { "gateway", cases_gateway }, { "wait", cases_wait },
	{ "device", cases_device }, { "many", cases_many }, { "verbs", cases_verbs },
	{ "moments", cases_moments },
	{ "links", cases_links, true }, { "cont", cases_cont, true },
	{ "verbs2", cases_verbs2, true }, { "late", cases_late, true },
	{ "exchanges", cases_exchanges, true }, { "failover", cases_failover, true },
};

static unsigned int shard = 1, n_shards = 1;

bool in_shard(void)
{
	static unsigned int n;

	return n++ % n_shards == shard - 1;
}

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc == 1;
}

/* They exist only if the requested parts need them. */
static bool two_devices(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (argc > 1 && parts[i].two && wanted(parts[i].name, argc, argv))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "--shard")) {
		if (sscanf(argv[2], "%u/%u", &shard, &n_shards) != 2 || !shard || shard > n_shards) {
			fprintf(stderr, "smc_rogue: --shard requires N/M, as in 1/3\n");
			return 2;
		}
		argc -= 2;
		argv += 2;
	}
	printf("TAP version 13\n");
	if (!raw_available())
		give_up("the module is not a test build");
	if (!klog_open())
		give_up("cannot read the kernel log");
	raw_hosts(ROGUE, VICTIM);
	dev_open(&dev, "rxe1", "veth1", "10.1.0.2");
	census_open("rxe0");
	if (two_devices(argc, argv)) {
		dev_open(&dev2, "rxe3", "veth3", "10.1.0.4");
		census_open("rxe2");
	}
	clc_open();
	smcd_open(smcd);
	/* Longer than any case: the rogue answers only the link that it is busy with. */
	set_sysctl("smcr_testlink_time", slow(90));
	bystander = conn_begin(CLIENT, V21, AT_UP, NULL);
	census_take(&before);
	verdict(conn_echo(bystander), "a peer that follows the protocol");
	give_up_to = case_gives_up;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		time_t begun = time(NULL);

		if (!wanted(parts[i].name, argc, argv) || (parts[i].two && !dev2.ctx))
			continue;
		printf("# --- %s\n", parts[i].name);
		fflush(stdout);
		parts[i].run();
		printf("# %s took %ld s\n", parts[i].name, (long)(time(NULL) - begun));
	}
	give_up_to = NULL;
	conn_end(bystander);
	bury_links();
	smcd_close(smcd);
	if (wanted("gone", argc, argv))
		cases_gone();
	printf("1..%d\n", n_tests);
	return n_failed != 0;
}
