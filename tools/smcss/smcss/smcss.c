// SPDX-License-Identifier: GPL-2.0
/* smcss: show the SMC sockets of this network namespace. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "listing.h"
#include "number.h"
#include "smc_socket.h"
#include "watch.h"

static const char usage_text[] =
	"Usage: smcss [-a | -l] [-d] [-D | -R] [-j] [--watch SECS]\n"
	"       smcss --why [ADDRESS][:PORT]\n"
	"Show the SMC sockets of this network namespace.\n"
	"\n"
	"  -a, --all        listening sockets too\n"
	"  -l, --listening  listening sockets only\n"
	"  -d, --debug      shutdown state, buffers, cursors\n"
	"  -D, --smcd       SMC-D connections only, with their DMBs\n"
	"  -R, --smcr       SMC-R connections only, with their links\n"
	"  -W, --wide       accepted; addresses are never shortened\n"
	"  -j, --json       as JSON, see smcss(8) for the keys\n"
	"      --why        which connections are TCP, why, and what to do about it;\n"
	"                   exit code 0: all are SMC, 3: some are TCP, 4: there are none\n"
	"      --watch SECS repeat every SECS seconds; --count N: N times\n"
	"  -h, --help       this text\n"
	"  -v, --version    version\n";

struct options {
	bool all;
	bool listening;
	bool json;
	bool why;
	double watch;		/* seconds; 0: once */
	unsigned int count;	/* how often; 0: until it is interrupted */
	struct columns columns;
	struct endpoint endpoint;
};

static void take_option(struct options *o, int option, const char **where)
{
	switch (option) {
	case 'a':
		o->all = true;
		break;
	case 'l':
		o->listening = true;
		break;
	case 'd':
		o->columns.debug = true;
		break;
	case 'D':
		o->columns.smcd = true;
		break;
	case 'R':
		o->columns.smcr = true;
		break;
	case 'W':
	case 'w':
		break;
	case 'j':
		o->json = true;
		break;
	case 'y':
		o->why = true;
		*where = optarg;
		break;
	case 't':
		o->watch = parse_seconds(optarg);
		break;
	case 'c':
		o->count = parse_count(optarg);
		break;
	default:
		other_option(option, usage_text);
	}
}

static void check_options(const struct options *o)
{
	if (o->count && !o->watch)
		usage_error("--count requires --watch");
	if (o->why && o->watch)
		usage_error("--why and --watch exclude each other");
	if (o->all && o->listening)
		usage_error("-a and -l exclude each other");
	if (o->columns.smcd && o->columns.smcr)
		usage_error("-D and -R exclude each other");
	if (o->listening && (o->columns.smcd || o->columns.smcr))
		usage_error("a listening socket is neither SMC-D nor SMC-R: not -l with -D or -R");
}

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option names[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "listening", no_argument, NULL, 'l' },
		{ "debug", no_argument, NULL, 'd' },
		{ "smcd", no_argument, NULL, 'D' },
		{ "smcr", no_argument, NULL, 'R' },
		{ "wide", no_argument, NULL, 'W' },
		{ "json", no_argument, NULL, 'j' },
		{ "why", optional_argument, NULL, 'y' },
		{ "watch", required_argument, NULL, 't' },
		{ "count", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ }
	};
	const char *where = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "aldDRWwjhvV", names, NULL)) != -1)
		take_option(o, option, &where);
	if (o->why && !where && optind < argc)
		where = argv[optind++];
	if (optind < argc)
		usage_error("too many arguments");
	if (where && !parse_endpoint(where, &o->endpoint))
		usage_error("that is not an address; write 10.0.0.1, 10.0.0.1:80, [fd00::1]:80 or :80");
	check_options(o);
}

static bool wanted(const struct record *r, const struct options *o)
{
	bool listen = state_is_listen(r->msg.diag_state);

	if (o->columns.smcd && r->msg.diag_mode != SMC_DIAG_MODE_SMCD)
		return false;
	if (o->columns.smcr &&
	    (r->msg.diag_mode != SMC_DIAG_MODE_SMCR || !state_is_settled(r->msg.diag_state)))
		return false;
	return o->all || o->why || listen == o->listening;
}

static void drop_unwanted(struct records *records, const struct options *o)
{
	size_t i, count = 0;

	for (i = 0; i < records->count; i++)
		if (wanted(&records->list[i], o))
			records->list[count++] = records->list[i];
	records->count = count;
}

/* Only what is shown: details cost the kernel a look into each connection. */
static uint8_t what_to_ask(const struct options *o)
{
	uint8_t ask = ASK(SMC_DIAG_FALLBACK);

	if (o->columns.debug)
		ask |= ASK(SMC_DIAG_CONNINFO) | ASK(SMC_DIAG_SHUTDOWN);
	if (o->columns.smcd || (o->json && o->columns.debug))
		ask |= ASK(SMC_DIAG_DMBINFO);
	if (o->columns.smcr || (o->json && o->columns.debug))
		ask |= ASK(SMC_DIAG_LGRINFO);
	return ask;
}

static int show(void *arg)
{
	const struct options *options = arg;
	struct records records = { };
	int result = 0;

	if (query(what_to_ask(options), &records)) {
		free(records.list);
		return EXIT_REFUSED;
	}
	drop_unwanted(&records, options);
	if (options->why)
		result = print_why(stdout, &records, &options->endpoint);
	else if (options->json)
		print_json(stdout, &records);
	else
		print_table(stdout, &records, &options->columns);
	free(records.list);
	return result;
}

int main(int argc, char **argv)
{
	struct options options = { };

	parse_options(argc, argv, &options);
	if (options.watch)
		return watch(options.watch, options.count, "SMC sockets", show, &options);
	return finish_output(show(&options));
}
