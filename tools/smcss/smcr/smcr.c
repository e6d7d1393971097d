// SPDX-License-Identifier: GPL-2.0
/* smcr: show and configure SMC-R. */
#include "commands.h"

static const char usage_text[] =
	"Usage: smcr [OPTIONS] OBJECT [COMMAND]\n"
	"Show and control SMC-R: shared memory communications over RDMA.\n"
	"\n"
	"  info                          what this host can do\n"
	"  linkgroup [show] [WHICH]      link groups\n"
	"  linkgroup link-show [WHICH]   their links\n"
	"            WHICH: all, an LG-ID, netdev NETDEV, ibdev IBDEV\n"
	"  device [show] [netdev NETDEV] [ibdev IBDEV]\n"
	"                                RDMA devices, their ports\n"
	"  stats [show | reset | json]   counters; reset: count from now on\n"
	"  stats --prometheus            all metrics of SMC-R and SMC-D, for Prometheus\n"
	"  ueid [show | add EID | del EID | flush]\n"
	"                                user EIDs: peers need one in common\n"
	"  filter [show | add RULE | del ID | flush]\n"
	"                                which connections may use SMC; the first matching rule decides\n"
	"     RULE: permit|exclude [in|out] [ipv4|ipv6] [local END] [remote END] [before ID]\n"
	"     END:  [any | ADDRESS[/BITS]] [port N[-M]]\n"
	"  auto [show | flush]           destinations that turned out not to speak SMC;\n"
	"                                listeners, and whether SMC pays off for them\n"
	"  convert [show | on [keep-mptcp] | off [all]]\n"
	"                                whether new TCP sockets of all programs are SMC sockets\n"
	"  save [FILE]                   writes EIDs, PNETIDs, filter rules and settings to FILE\n"
	"  restore [FILE]                applies FILE completely, or not at all\n"
	"  monitor [linkgroup] [link] [fallback]\n"
	"                                events as they happen; -c N: N events\n"
	"  report [--html]               everything for a fault report, of SMC-R and SMC-D;\n"
	"                                --html: a page with charts\n"
	"\n"
	"  -d, --details       more details; -dd, --ddetails: still more\n"
	"  -a, --absolute      stats since the namespace was created or the module loaded,\n"
	"                      regardless of resets\n"
	"  -j, --json          as JSON, see smcr(8) for the keys\n"
	"  -w, --watch SECS    repeat every SECS seconds; -c, --count N: N times\n"
	"  -N, --net NETNS     another network namespace, by name, path or process\n"
	"  -h, --help, -v, --version\n"
	"Names may be shortened: smcr dev. Exit code 0: done, 1: refused, 2: wrong usage.\n";

static const struct smc_object objects[] = {
	{ "info", info_commands },
	{ "linkgroup", smcr_linkgroup_commands },
	{ "device", smcr_device_commands },
	{ "stats", stats_commands },
	{ "ueid", ueid_commands },
	{ "filter", filter_commands },
	{ "auto", auto_commands },
	{ "convert", convert_commands },
	{ "save", save_commands },
	{ "restore", restore_commands },
	{ "monitor", monitor_commands },
	{ "report", report_commands },
	{ }
};

static const struct tool tool = { SMC_R, objects, usage_text };

int main(int argc, char **argv)
{
	return tool_main(&tool, argc, argv);
}
