// SPDX-License-Identifier: GPL-2.0
/* Options, the time limit, the list of cases. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "slow.h"
#include "xfer.h"

struct options opt = {
	.local = "10.0.0.1", .peer = "10.0.0.2", .kind = KIND_SMC, .expect = EXPECT_SMCR,
	.seed = 1, .bytes = 1 << 20, .count = 100, .threads = 4, .size = 1, .timeout = 60,
};

static const struct test_case * const tables[] = {
	data_cases, urgent_cases, many_cases, end_cases, bench_cases, duplex_cases,
	disturb_cases, failover_cases, reuse_cases,
};

static const struct option long_options[] = {
	{ "server", no_argument, NULL, 'S' }, { "local", required_argument, NULL, 'l' },
	{ "peer", required_argument, NULL, 'p' }, { "kind", required_argument, NULL, 'k' },
	{ "expect", required_argument, NULL, 'e' }, { "seed", required_argument, NULL, 's' },
	{ "bytes", required_argument, NULL, 'b' }, { "count", required_argument, NULL, 'c' },
	{ "threads", required_argument, NULL, 't' }, { "size", required_argument, NULL, 'z' },
	{ "rcvbuf", required_argument, NULL, 'r' }, { "sndbuf", required_argument, NULL, 'w' },
	{ "timeout", required_argument, NULL, 'T' }, { "strict", no_argument, NULL, 'X' }, { 0 }
};

static void usage(void)
{
	printf("Usage: smc_xfer [--OPTION[=VALUE]]... CASE\n"
	       "The control channel is descriptor 3. Options:");
	for (const struct option *o = long_options; o->name; o++)
		printf(" %s", o->name);
	printf("\nCases:\n");
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct test_case *c = tables[i]; c->name; c++)
			printf("  %-20s %s\n", c->name, c->what);
	exit(2);
}

static int choice(const char *text, const char * const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	usage();
	return 0;
}

static void parse(int argc, char **argv)
{
	static const char * const kinds[] = { "smc", "ipproto", "tcp", NULL };
	static const char * const expects[] = { "smcr", "smcd", "tcp", "any", NULL };
	int c;

	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (c) {
		case 'S': opt.server = true; break;
		case 'l': opt.local = optarg; break;
		case 'p': opt.peer = optarg; break;
		case 'k': opt.kind = choice(optarg, kinds); break;
		case 'e': opt.expect = choice(optarg, expects); break;
		case 's': opt.seed = strtoull(optarg, NULL, 0); break;
		case 'b': opt.bytes = strtol(optarg, NULL, 0); break;
		case 'c': opt.count = strtol(optarg, NULL, 0); break;
		case 't': opt.threads = atoi(optarg); break;
		case 'z': opt.size = atoi(optarg); break;
		case 'r': opt.rcvbuf = atoi(optarg); break;
		case 'w': opt.sndbuf = atoi(optarg); break;
		case 'X': opt.strict = true; break;
		case 'T': opt.timeout = atoi(optarg); break;
		default: usage();
		}
	}
	if (optind + 1 != argc)
		usage();
	opt.timeout = slow(opt.timeout);
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	watch_the_clock();
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (const struct test_case *c = tables[i]; c->name; c++) {
			if (strcmp(c->name, argv[optind]))
				continue;
			(opt.server ? c->server : c->client)();
			return 0;
		}
	}
	usage();
}
