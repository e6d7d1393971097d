// SPDX-License-Identifier: GPL-2.0
/* Unit test of smcr save and restore: output can be parsed again, wrong input is refused. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "complain.h"
#include "filter_rule.h"
#include "objects.h"
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

static int parse(const char *text, struct state *state)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	int status;

	state_init(state);
	status = state_parse(in, "file", state);
	fclose(in);
	return status;
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

static void ends(const char *what, const char *text, int expected, const char *wanted)
{
	char said[512] = "";
	int pipes[2], status;
	ssize_t len;
	pid_t child;

	if (pipe(pipes))
		abort();
	fflush(stdout);		/* the child would print it again */
	child = fork();
	if (!child) {
		struct state state;

		dup2(pipes[1], STDERR_FILENO);
		_exit(parse(text, &state));
	}
	close(pipes[1]);
	waitpid(child, &status, 0);
	len = read(pipes[0], said, sizeof(said) - 1);
	close(pipes[0]);
	said[len < 0 ? 0 : len] = '\0';
	yes(what, WIFEXITED(status) && WEXITSTATUS(status) == expected && strstr(said, wanted));
}

/* Wrong input must end the program with a message that names the line. */
static void refused(const char *what, const char *text, const char *wanted)
{
	ends(what, text, EXIT_USAGE, wanted);
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
	refused("two directions", "filter exclude in out\n", "unexpected 'out'");
	refused("two families", "filter exclude ipv4 ipv6\n", "unexpected 'ipv6'");
	refused("two remote ends", "filter exclude remote any remote 10.0.0.1\n", "one remote end");
	refused("two local ends", "filter exclude local port 1 local port 2\n", "one local end");
	refused("two places", "filter exclude before 1 before 2\n", "one place");
	refused("a long line", "filter 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 "
		"25 26 27 28 29 30 31 32\n", "more than 32 words");
	ends("nothing at all", "", EXIT_REFUSED, "is empty, so nothing has changed");
	ends("only a remark", "#\n", 0, "");
}

/* ---- a kernel that keeps a state, and a record of what is changed ---------------- */

static struct state kernel;
static char record[512];

static void note(const char *what, const char *text)
{
	size_t len = strlen(record);

	snprintf(record + len, sizeof(record) - len, "%s%s%s", len ? " " : "", what, text);
}

static void copy(struct array *to, const struct array *from)
{
	size_t i;

	for (i = 0; i < from->count; i++)
		memcpy(array_add(to), array_item(from, i), from->size);
}

static void take_away(struct array *list, size_t i)
{
	memmove(array_item(list, i), (char *)array_item(list, i) + list->size,
		(list->count - i - 1) * list->size);
	list->count--;
}

/* The linker puts these in place of those without the prefix. */
typeof(ueids_read) __wrap_ueids_read;
typeof(seid_read) __wrap_seid_read;
typeof(rules_read) __wrap_rules_read;
typeof(pnets_read) __wrap_pnets_read;
typeof(ueid_change) __wrap_ueid_change;
typeof(seid_change) __wrap_seid_change;
typeof(pnet_change) __wrap_pnet_change;

int __wrap_ueids_read(struct genl *genl, struct array *eids)
{
	copy(eids, &kernel.eids);
	return 0;
}

int __wrap_seid_read(struct genl *genl, struct seid *seid)
{
	strcpy(seid->text, "SYSTEM");
	seid->enabled = kernel.seid;
	return 0;
}

int __wrap_rules_read(struct genl *genl, struct array *rules)
{
	return 0;
}

int __wrap_pnets_read(struct genl *genl, const char *id, struct array *pnets)
{
	copy(pnets, &kernel.pnets);
	return 0;
}

int __wrap_ueid_change(struct genl *genl, uint8_t command, const char *eid)
{
	struct array *eids = &kernel.eids;
	int error = 0;
	size_t i = 0;

	note(command == SMC_NETLINK_ADD_UEID ? "+" : "-", eid);
	while (i < eids->count && strcmp(((struct eid *)array_item(eids, i))->text, eid))
		i++;
	if (command == SMC_NETLINK_ADD_UEID && eids->count == 8)
		error = ENOSPC;
	else if (command == SMC_NETLINK_ADD_UEID)
		strcpy(((struct eid *)array_add(eids))->text, eid);
	else if (i == eids->count)
		error = ENOENT;
	else
		take_away(eids, i);
	if (!eids->count && !kernel.seid)
		note("none", "");
	return error;
}

int __wrap_seid_change(struct genl *genl, uint8_t command)
{
	kernel.seid = command == SMC_NETLINK_ENABLE_SEID;
	note(kernel.seid ? "on" : "off", "");
	return 0;
}

int __wrap_pnet_change(struct genl *genl, uint8_t command, const struct pnet *pnet)
{
	note(command == SMC_PNETID_ADD ? "+" : "-", pnet->id);
	return 0;
}

/* Restores a file on a kernel that has another state. */
static void restores(const char *what, const char *now, const char *file, const char *wanted)
{
	const struct state_genl genl = { };
	struct state state;

	parse(now, &kernel);
	parse(file, &state);
	*record = '\0';
	yes(what, !state_apply(&genl, &state));
	same(what, record, wanted);
	state_free(&state);
	state_free(&kernel);
}

#define EIGHT(letter) "ueid " letter "1\nueid " letter "2\nueid " letter "3\nueid " letter "4\n" \
		      "ueid " letter "5\nueid " letter "6\nueid " letter "7\nueid " letter "8\n"

/* The system EID is not opened for a moment, and what matches is left alone. */
static void test_apply(void)
{
	restores("the same", "ueid A\nseid disabled\npnetid N interface lo\n",
		 "ueid A\nseid disabled\npnetid n interface lo\n", "");
	restores("no word about the system EID", "ueid A\nseid disabled\n", "ueid A\n", "");
	restores("another EID", "ueid A\nseid disabled\n", "ueid B\nseid disabled\n", "+B -A");
	restores("one stays", "ueid A\nueid B\nseid disabled\n", "ueid C\nueid A\nseid disabled\n",
		 "-B +C");
	restores("all eight", EIGHT("A") "seid disabled\n", EIGHT("B") "seid disabled\n",
		 "-A1 -A2 -A3 -A4 -A5 -A6 -A7 +B1 -A8 +B2 +B3 +B4 +B5 +B6 +B7 +B8");
	restores("the system EID instead", "ueid A\nseid disabled\n", "seid enabled\n", "on -A");
	restores("instead of the system EID", "seid enabled\n", "ueid A\nseid disabled\n", "+A off");
	restores("no EID at all", "ueid A\nseid disabled\n", "seid disabled\n", "-A none off");
	restores("another PNETID", "seid enabled\npnetid N interface lo\n",
		 "seid enabled\npnetid M interface lo\n", "-N +M");
}

int main(void)
{
	test_round_trip();
	test_remarks();
	test_refused();
	test_anything();
	test_apply();
	return test_result();
}
