// SPDX-License-Identifier: GPL-2.0
/* Unit test of smcr save and restore: output can be parsed again, wrong input is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "complain.h"
#include "filter_rule.h"
#include "pnet_table.h"
#include "state.h"
#include "tap.h"

/* %s: "ipv6 " or nothing */
static const char pattern[] =
	"set rmem 65536\n"
	"set wmem 131072\n"
	"ueid LOCATION-WEST\n"
	"ueid A.1\n"
	"seid disabled\n"
	"pnetid NET1 interface eth0\n"
	"pnetid NET2 device rxe0 port 2\n"
	"filter permit in ipv4 local 10.0.0.0/8 port 80 remote 192.168.1.1\n"
	"filter exclude out remote any port 8000-8999\n"
	"filter exclude %sremote fd00::/8 port 443\n"
	"filter permit\n";

static void parse(const char *text, struct state *state)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");

	state_init(state);
	state_parse(in, "file", state);
	fclose(in);
}

static char *printed(const struct state *state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	state_print(out, state);
	fclose(out);
	return text;
}

/* Skips the comment at the beginning. */
static const char *body(const char *text)
{
	while (*text == '#')
		text = strchr(text, '\n') + 1;
	return text;
}

static void test_round_trip(void)
{
	struct state state, again;
	char *text, *second, full[1024], less[1024];

	snprintf(full, sizeof(full), pattern, "ipv6 ");
	snprintf(less, sizeof(less), pattern, "");
	parse(less, &state);
	text = printed(&state);
	/* a port with any address: the address is optional */
	yes("settings", state.settings.count == 2);
	yes("EIDs", state.eids.count == 2 && state.has_seid && !state.seid);
	yes("PNETIDs", state.pnets.count == 2 &&
	    ((struct pnet *)array_item(&state.pnets, 1))->port == 2);
	yes("rules", state.rules.count == 4 &&
	    ((struct rule *)array_item(&state.rules, 3))->direction == SMC_FILTER_BOTH);
	yes("a rule without a family has that of its address",
	    ((struct rule *)array_item(&state.rules, 2))->family == AF_INET6);
	yes("what was read is written", !strcmp(body(text), full));
	parse(text, &again);
	second = printed(&again);
	yes("what was written is read", !strcmp(text, second));
	state_free(&state);
	state_free(&again);
	free(text);
	free(second);
}

/* What restricts nothing is as the kernel shows it. */
static void test_anything(void)
{
	struct state state;
	char *text;

	parse("filter exclude remote ::/0\n"
	      "filter exclude remote 0.0.0.0/0\n"
	      "filter exclude ipv4 remote ::/0\n"
	      "filter exclude remote fd00::/0\n"
	      "filter exclude local ::/0 port 0-65535 remote ::/0 port 1-65535\n", &state);
	text = printed(&state);
	yes("any address and any port", !strcmp(body(text),
		"filter exclude ipv6\n"
		"filter exclude ipv4 remote 0.0.0.0/0\n"
		"filter exclude ipv4 remote ::/0\n"
		"filter exclude ipv6 remote fd00::/0\n"
		"filter exclude ipv6 remote any port 1-65535\n"));
	state_free(&state);
	free(text);
}

static void test_remarks(void)
{
	struct state state;

	parse("\n# a remark\n  set rmem 16384 # another one\n\t\n", &state);
	yes("remarks and blanks", state.settings.count == 1 && !state.eids.count);
	state_free(&state);
}

/* Wrong input must end the program with a message that names the line. */
static void refused(const char *what, const char *text, const char *wanted)
{
	char said[512] = "";
	int pipes[2], status;
	ssize_t len;
	pid_t child;

	if (pipe(pipes))
		abort();
	child = fork();
	if (!child) {
		struct state state;

		dup2(pipes[1], STDERR_FILENO);
		parse(text, &state);
		_exit(0);
	}
	close(pipes[1]);
	waitpid(child, &status, 0);
	len = read(pipes[0], said, sizeof(said) - 1);
	close(pipes[0]);
	said[len < 0 ? 0 : len] = '\0';
	yes(what, WIFEXITED(status) && WEXITSTATUS(status) == EXIT_USAGE && strstr(said, wanted));
}

static void test_refused(void)
{
	refused("an unknown word", "set rmem 1\nmake it so\n", "file:2: ");
	refused("a setting without a value", "set rmem\n", "file:1: ");
	refused("a setting with a path", "set ../ipv4/ip_forward 1\n", "not the name of a setting");
	refused("an EID in small letters", "ueid west\n", "not an EID");
	refused("half a system EID", "seid\n", "enabled or disabled");
	refused("a PNETID for nothing", "pnetid NET1\n", "file:1: ");
	refused("a PNETID for two", "pnetid NET1 interface eth0 device rxe0\n", "for an interface or");
	refused("a port of its own", "pnetid NET1 device rxe0 port 3\n", "'port 3'");
	refused("a rule that is none", "filter maybe\n", "permit or exclude");
	refused("a rule before another", "filter permit before 3\n", "without 'before'");
	refused("a long line", "filter 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 "
		"25 26 27 28 29 30 31 32\n", "more than 32 words");
}

int main(void)
{
	test_round_trip();
	test_remarks();
	test_refused();
	test_anything();
	return test_result();
}
