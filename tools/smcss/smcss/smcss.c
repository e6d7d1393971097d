// SPDX-License-Identifier: GPL-2.0
/* smcss: show the SMC sockets of this network namespace. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "listing.h"
#include "netns.h"
#include "number.h"
#include "process.h"
#include "smc_socket.h"
#include "socket_filter.h"
#include "watch.h"

static const char usage_text[] =
	"Usage: smcss [OPTIONS] [state STATE]... [EXPRESSION]\n"
	"       smcss --why [ADDRESS][:PORT]\n"
	"Show the SMC sockets of this network namespace.\n"
	"\n"
	"  -a, --all        listening sockets too\n"
	"  -l, --listening  listening sockets only\n"
	"  -4, --ipv4       IPv4 only; -6, --ipv6: IPv6 only\n"
	"  -p, --processes  the processes that have them open (as root: of other users, too)\n"
	"  -d, --debug      shutdown state, buffers, cursors\n"
	"  -D, --smcd       SMC-D connections only, with their DMBs\n"
	"  -R, --smcr       SMC-R connections only, with their links\n"
	"  -s, --summary    number of sockets of each kind\n"
	"  -H, --no-header  no header line\n"
	"  -W, --wide       accepted, like -n and -t: addresses are never shortened, ports are numbers\n"
	"  -j, --json       as JSON, see smcss(8) for the keys\n"
	"  -N, --net NETNS  another network namespace, by name, path or process\n"
	"      --why        which connections are TCP, why, and what to do about it;\n"
	"                   exit code 0: all are SMC, 3: some are TCP, 4: there are none\n"
	"      --watch SECS repeat every SECS seconds; --count N: N times\n"
	"  -h, --help       this text\n"
	"  -v, --version    version\n"
	"STATE: established, listening, connected, closing, unconnected, all, or one of smcss(8);\n"
	"       'exclude STATE' leaves it out\n"
	"EXPRESSION: src|dst [=|!=] ADDRESS[/BITS][:PORT], sport|dport [=|!=|<|>|<=|>=] PORT,\n"
	"       mode [=|!=] tcp|smcd|smcr; with and, or, not, ( )\n";

struct options {
	bool all;
	bool listening;
	bool json;
	bool why;
	bool processes;
	bool summary;
	int family;		/* 0: both */
	double watch;		/* seconds; 0: once */
	unsigned int count;	/* number of rounds; 0: until interrupted */
	struct columns columns;
	struct endpoint endpoint;
	struct socket_filter filter;
};

/* Returns false if the option takes an argument or does not exist. */
static bool take_flag(struct options *o, int option)
{
	switch (option) {
	case 'a':
		o->all = true;
		return true;
	case 'l':
		o->listening = true;
		return true;
	case '4':
	case '6':
		o->family = option == '4' ? AF_INET : AF_INET6;
		return true;
	case 'p':
		o->processes = true;
		return true;
	case 'd':
		o->columns.debug = true;
		return true;
	case 'D':
		o->columns.smcd = true;
		return true;
	case 'R':
		o->columns.smcr = true;
		return true;
	case 's':
		o->summary = true;
		return true;
	case 'H':
		o->columns.no_titles = true;
		return true;
	case 'j':
		o->json = true;
		return true;
	case 'W':
	case 'w':
	case 'n':
	case 't':
		return true;
	}
	return false;
}

static void take_option(struct options *o, int option, const char **where)
{
	if (take_flag(o, option))
		return;
	switch (option) {
	case 'N':
		netns_enter(optarg);
		break;
	case 'y':
		o->why = true;
		*where = optarg;
		break;
	case 'e':
		o->watch = parse_seconds(optarg);
		break;
	case 'c':
		o->count = parse_count(optarg, "repetitions");
		break;
	default:
		other_option(option, usage_text);
	}
}

static void check_options(const struct options *o)
{
	if (o->count && !o->watch)
		usage_error("--count requires --watch");
	if (o->summary && (o->why || o->processes))
		usage_error("-s cannot be combined with --why or -p");
	if (o->why && o->processes)
		usage_error("--why and -p cannot be combined");
	if (o->why && o->watch)
		usage_error("--why and --watch cannot be combined");
	if (o->why && (o->columns.smcd || o->columns.smcr || o->listening))
		usage_error("--why looks at all connections: it cannot be combined with -D, -R or -l");
	if (o->columns.debug && (o->summary || (o->why && !o->json)))
		usage_error("-s and --why have no columns: -d cannot be combined with -s, and with --why only as JSON");
	if (o->summary && o->listening)
		usage_error("-s counts listening sockets separately: -s and -l cannot be combined");
	if (o->all && o->listening)
		usage_error("-a and -l cannot be combined");
	if (o->columns.smcd && o->columns.smcr)
		usage_error("-D and -R cannot be combined");
	if (o->listening && (o->columns.smcd || o->columns.smcr))
		usage_error("a listening socket is neither SMC-D nor SMC-R: -l cannot be combined with -D or -R");
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
		{ "ipv4", no_argument, NULL, '4' },
		{ "ipv6", no_argument, NULL, '6' },
		{ "processes", no_argument, NULL, 'p' },
		{ "summary", no_argument, NULL, 's' },
		{ "no-header", no_argument, NULL, 'H' },
		{ "numeric", no_argument, NULL, 'n' },
		{ "tcp", no_argument, NULL, 't' },
		{ "net", required_argument, NULL, 'N' },
		{ "json", no_argument, NULL, 'j' },
		{ "why", optional_argument, NULL, 'y' },
		{ "watch", required_argument, NULL, 'e' },
		{ "count", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ }
	};
	const char *where = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "al46pdDRsHWwntjN:hvV", names, NULL)) != -1)
		take_option(o, option, &where);
	if (o->why && !where && optind < argc)
		where = argv[optind++];
	if (optind < argc && o->why)
		usage_error("--why takes one address; unexpected '%s'", argv[optind]);
	socket_filter_parse(&o->filter, (const char *const *)argv + optind, argc - optind);
	if (where && !parse_endpoint(where, &o->endpoint))
		usage_error("'%s' is not an address; write 10.0.0.1, 10.0.0.1:80, [fd00::1]:80 or :80",
			    where);
	check_options(o);
}

/* Explicit states override -a and -l. */
static bool state_wanted(const struct record *r, const struct options *o)
{
	return o->filter.has_states || o->all || o->why || o->summary ||
	       state_is_listen(r->msg.diag_state) == o->listening;
}

static bool wanted(const struct record *r, const struct options *o)
{
	if (o->columns.smcd && r->msg.diag_mode != SMC_DIAG_MODE_SMCD)
		return false;
	if (o->columns.smcr &&
	    (r->msg.diag_mode != SMC_DIAG_MODE_SMCR || !state_is_settled(r->msg.diag_state)))
		return false;
	if (o->family && o->family != record_family(r))
		return false;
	return state_wanted(r, o) && socket_filter_fits(&o->filter, r);
}

static void drop_unwanted(struct records *records, const struct options *o)
{
	size_t i, count = 0;

	for (i = 0; i < records->count; i++)
		if (wanted(&records->list[i], o))
			records->list[count++] = records->list[i];
	records->count = count;
}

/* Requests only what is shown: the kernel must look into each connection for details. */
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

/* Returns an exit code. */
static int show_records(struct options *o, struct records *records)
{
	struct array processes = ARRAY_OF(struct process);
	int result = 0;

	if (o->processes)
		processes_read(&processes);
	o->columns.processes = o->processes ? &processes : NULL;
	if (o->why)
		result = print_why(stdout, records, &o->endpoint, o->json);
	else if (o->summary && o->json)
		print_summary_json(stdout, records);
	else if (o->summary)
		print_summary(stdout, records, !o->columns.no_titles);
	else if (o->json)
		print_json(stdout, records, o->columns.processes);
	else
		print_table(stdout, records, &o->columns);
	array_free(&processes);
	return result;
}

static int show(void *arg)
{
	struct records records = { };
	struct options *o = arg;
	int result;

	if (query(what_to_ask(o), &records)) {
		free(records.list);
		return EXIT_REFUSED;
	}
	drop_unwanted(&records, o);
	result = show_records(o, &records);
	free(records.list);
	return result;
}

int main(int argc, char **argv)
{
	struct options options = { };
	int status;

	need_descriptors();
	parse_options(argc, argv, &options);
	status = options.watch ?
		 watch(options.watch, options.count, "SMC sockets", show, &options) :
		 finish_output(show(&options));
	socket_filter_free(&options.filter);
	return status;
}
