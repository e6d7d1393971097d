// SPDX-License-Identifier: GPL-2.0
/* smcd: show and configure SMC-D. */
#include "commands.h"

static const char usage_text[] =
	"Usage: smcd [OPTIONS] OBJECT [COMMAND]\n"
	"Show and control SMC-D: shared memory communications with neighbours on one machine.\n"
	"\n"
	"  info                          what this host can do\n"
	"  linkgroup [show] [all | LG-ID]\n"
	"                                link groups\n"
	"  device [show] [all]           ISM devices, and the loopback\n"
	"  stats [show | reset | json]   counters; reset: count from now on\n"
	"  stats --prometheus            all metrics of SMC-R and SMC-D, for Prometheus\n"
	"  ueid [show | add EID | del EID | flush]\n"
	"                                user EIDs: peers need an EID in common\n"
	"  seid [show | enable | disable]\n"
	"                                system EID: common to all systems on one machine\n"
	"  filter [show | add RULE | del ID | flush]\n"
	"                                which connections may use SMC; the first matching rule decides\n"
	"     RULE: permit|exclude [in|out] [ipv4|ipv6] [local END] [remote END] [before ID]\n"
	"     END:  [any | ADDRESS[/BITS]] [port N[-M]]\n"
	"  auto [show | flush]           destinations that turned out not to speak SMC;\n"
	"                                listeners, and whether SMC pays off for them\n"
	"  convert [show | on [keep-mptcp] | off [all]]\n"
	"                                whether new TCP sockets of all programs are SMC sockets\n"
	"  monitor [linkgroup] [link] [fallback]\n"
	"                                events as they happen; -c N: N events\n"
	"\n"
	"  -d, --details       more details; -dd, --ddetails: still more\n"
	"  -a, --absolute      stats since the namespace was created or the module loaded,\n"
	"                      regardless of resets\n"
	"  -j, --json          as JSON, see smcd(8) for the keys\n"
	"  -w, --watch SECS    repeat every SECS seconds; -c, --count N: N times\n"
	"  -N, --net NETNS     another network namespace, by name, path or process\n"
	"  -h, --help, -v, --version\n"
	"Names may be shortened: smcd dev. Exit code 0: done, 1: refused, 2: wrong usage.\n";

static const struct smc_object objects[] = {
	{ "info", info_commands },
	{ "linkgroup", smcd_linkgroup_commands },
	{ "device", smcd_device_commands },
	{ "stats", stats_commands },
	{ "ueid", ueid_commands },
	{ "seid", seid_commands },
	{ "filter", filter_commands },
	{ "auto", auto_commands },
	{ "convert", convert_commands },
	{ "monitor", monitor_commands },
	{ }
};

static const struct tool tool = { SMC_D, objects, usage_text };

int main(int argc, char **argv)
{
	return tool_main(&tool, argc, argv);
}
