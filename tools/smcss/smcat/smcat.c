// SPDX-License-Identifier: GPL-2.0
/* smcat: watches TCP connections and estimates what SMC would have gained. */
#include <getopt.h>
#include <stdlib.h>

#include "complain.h"
#include "netns.h"
#include "number.h"
#include "share.h"
#include "smc_socket.h"

static const char usage_text[] =
	"Usage: smcat [-n NETWORK]... [-b BYTES] [-g SEGMENTS] [-t ROWS] [-j] SECONDS\n"
	"Watches the TCP connections of this network namespace for SECONDS, and says what share\n"
	"of them and of their bytes could use SMC, and what share would profit from it. Changes\n"
	"nothing, and needs no SMC. Connections that end meanwhile are counted too.\n"
	"\n"
	"  -n, --network NETWORK    peers that have SMC, or could get it: 10.0.0.0/8, fd00::1;\n"
	"                           default: all in the networks of this host's interfaces\n"
	"  -b, --min-bytes BYTES    a connection profits if it moved this much (64k)\n"
	"  -g, --min-segments N     or exchanged this many segments with data (200)\n"
	"  -t, --top ROWS           peers and ports that are listed (10)\n"
	"  -j, --json               as JSON, all peers and ports; see smcat(8) for the keys\n"
	"  -N, --net NETNS          another network namespace, by name, path or process\n"
	"  -h, --help, -v, --version\n"
	"Exit code 0: done, 1: refused, 2: wrong usage. Ctrl-C reports early.\n";

struct options {
	struct rules rules;
	double seconds;
	size_t top;
	bool json;
};

static void take_network(struct options *o, const char *text)
{
	struct network network;

	if (!parse_network(text, &network))
		usage_error("'%s' is not a network; write 10.0.0.0/8 or fd00::/8", text);
	*(struct network *)array_add(&o->rules.networks) = network;
}

static void take_option(struct options *o, int option)
{
	switch (option) {
	case 'n':
		take_network(o, optarg);
		break;
	case 'b':
		if (smc_parse_size(optarg) < 0)
			usage_error("'%s' is not a number of bytes, as in 64k or 1M", optarg);
		o->rules.min_bytes = smc_parse_size(optarg);
		break;
	case 'g':
		o->rules.min_segments = parse_count(optarg, "segments");
		break;
	case 't':
		o->top = parse_count(optarg, "rows");
		break;
	case 'j':
		o->json = true;
		break;
	case 'N':
		netns_enter(optarg);
		break;
	default:
		other_option(option, usage_text);
	}
}

static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option names[] = {
		{ "network", required_argument, NULL, 'n' },
		{ "min-bytes", required_argument, NULL, 'b' },
		{ "min-segments", required_argument, NULL, 'g' },
		{ "top", required_argument, NULL, 't' },
		{ "json", no_argument, NULL, 'j' },
		{ "net", required_argument, NULL, 'N' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ }
	};
	int option;

	*o = (struct options){ .top = 10 };
	o->rules = (struct rules){ ARRAY_OF(struct network), 64 << 10, 200 };
	while ((option = getopt_long(argc, argv, "n:b:g:t:jN:hvV", names, NULL)) != -1)
		take_option(o, option);
	if (optind == argc)
		usage_error("the number of SECONDS is missing");
	if (optind + 1 < argc)
		usage_error("unexpected argument '%s'", argv[optind + 1]);
	o->seconds = parse_seconds(argv[optind]);
	if (!o->rules.networks.count)
		add_local_networks(&o->rules);
}

int main(int argc, char **argv)
{
	struct tcp_watch watch = { };
	struct options options;
	struct report report;
	int status;

	need_descriptors();
	parse_options(argc, argv, &options);
	status = tcp_watch_run(&watch, options.seconds);
	if (!status) {
		if (watch.no_ends)
			complain("note: the kernel does not report the end of connections to this user, so those that ended meanwhile are missing; try as root");
		else if (watch.lost)
			complain("note: more connections ended than could be read, some are missing");
		report_make(&report, &watch, &options.rules);
		if (options.json)
			report_json(stdout, &report, &options.rules);
		else
			report_print(stdout, &report, &options.rules, options.top);
		report_free(&report);
	}
	tcp_watch_free(&watch);
	array_free(&options.rules.networks);
	return finish_output(status);
}
