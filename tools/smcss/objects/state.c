// SPDX-License-Identifier: GPL-2.0
/* smcr save, smcr restore: the configuration, read from the kernel and converted to text. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "complain.h"
#include "filter_rule.h"
#include "genl.h"
#include "number.h"
#include "objects.h"
#include "pnet_table.h"
#include "state.h"

#define MAX_LINE_WORDS	32

void state_init(struct state *s)
{
	*s = (struct state){
		.settings = ARRAY_OF(struct setting), .eids = ARRAY_OF(struct eid),
		.pnets = ARRAY_OF(struct pnet), .rules = ARRAY_OF(struct rule),
	};
}

void state_free(struct state *s)
{
	array_free(&s->settings);
	array_free(&s->eids);
	array_free(&s->pnets);
	array_free(&s->rules);
}

/* ---- reading from the kernel --------------------------------------------------- */

static int by_name(const void *one, const void *other)
{
	return strcmp(((const struct setting *)one)->name, ((const struct setting *)other)->name);
}

/* Only settings that are writable here; the others belong to another namespace. */
static void read_setting(const char *name, struct array *settings)
{
	char path[SETTING_ROOM + 32], value[SETTING_ROOM];
	struct setting *setting;
	struct stat stat_of;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/sys/net/smc/%.63s", name);
	if (strlen(name) >= SETTING_ROOM || stat(path, &stat_of) || !(stat_of.st_mode & 0200))
		return;
	file = fopen(path, "r");
	if (!file)
		return;
	if (fgets(value, sizeof(value), file)) {
		value[strcspn(value, "\n")] = '\0';
		setting = array_add(settings);
		strcpy(setting->name, name);
		strcpy(setting->value, value);
	}
	fclose(file);
}

static void read_settings(struct array *settings)
{
	DIR *dir = opendir("/proc/sys/net/smc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			read_setting(entry->d_name, settings);
	if (dir)
		closedir(dir);
	if (settings->count)
		qsort(settings->items, settings->count, settings->size, by_name);
}

/* The kernel's own module has no filter rules, and on most platforms no system EID. */
static int unless_missing(int error)
{
	return error == EOPNOTSUPP ? 0 : error;
}

int state_read(const struct state_genl *genl, struct state *s)
{
	struct seid seid = { };
	int error;

	read_settings(&s->settings);
	error = ueids_read(genl->smc, &s->eids);
	if (!error)
		error = unless_missing(seid_read(genl->smc, &seid));
	if (!error)
		error = unless_missing(rules_read(genl->smc, &s->rules));
	if (error)
		return complain("cannot read the settings: %s", strerror(error));
	s->has_seid = seid.text[0];
	s->seid = seid.enabled;
	error = pnets_read(genl->pnet, NULL, &s->pnets);
	if (error)
		return complain("cannot read the PNET table: %s", strerror(error));
	return 0;
}

/* ---- writing text -------------------------------------------------------------- */

static void print_pnet(FILE *out, const struct pnet *p)
{
	fprintf(out, "pnetid %s", p->id);
	if (pnet_names(p->interface))
		fprintf(out, " interface %s", p->interface);
	if (pnet_names(p->device))
		fprintf(out, " device %s port %u", p->device, p->port);
	fputc('\n', out);
}

void state_print(FILE *out, const struct state *s)
{
	size_t i;

	fprintf(out, "# Written by smcr save. smcr restore sets what is named here, and removes\n"
		"# EIDs, PNETIDs and filter rules that are not.\n");
	for (i = 0; i < s->settings.count; i++) {
		const struct setting *setting = array_item(&s->settings, i);

		fprintf(out, "set %s %s\n", setting->name, setting->value);
	}
	for (i = 0; i < s->eids.count; i++)
		fprintf(out, "ueid %s\n", ((const struct eid *)array_item(&s->eids, i))->text);
	if (s->has_seid)
		fprintf(out, "seid %s\n", s->seid ? "enabled" : "disabled");
	for (i = 0; i < s->pnets.count; i++)
		print_pnet(out, array_item(&s->pnets, i));
	for (i = 0; i < s->rules.count; i++) {
		fprintf(out, "filter ");
		rule_print(out, array_item(&s->rules, i));
	}
}

/* ---- parsing text -------------------------------------------------------------- */

static void parse_setting(const char *const *words, size_t count, struct array *settings)
{
	struct setting *setting;
	size_t i;

	if (count != 2 || strlen(words[0]) >= SETTING_ROOM || strlen(words[1]) >= SETTING_ROOM)
		usage_error("a setting has a name and a value, as in: set rmem 262144");
	for (i = 0; words[0][i]; i++)
		if (!isalnum((unsigned char)words[0][i]) && words[0][i] != '_')
			usage_error("'%s' is not the name of a setting", words[0]);
	setting = array_add(settings);
	strcpy(setting->name, words[0]);
	strcpy(setting->value, words[1]);
}

static void parse_eid(const char *const *words, size_t count, struct array *eids)
{
	if (count != 1 || !eid_valid(words[0]))
		usage_error("'%s' is not an EID", count ? words[0] : "");
	strcpy(((struct eid *)array_add(eids))->text, words[0]);
}

static void parse_seid(const char *const *words, size_t count, struct state *s)
{
	s->has_seid = true;
	s->seid = count == 1 && !strcmp(words[0], "enabled");
	if (!s->seid && (count != 1 || strcmp(words[0], "disabled")))
		usage_error("the system EID must be enabled or disabled");
}

static void parse_name(char *room, size_t size, const char *text)
{
	if (strlen(text) >= size)
		usage_error("'%s' is too long for a name", text);
	strcpy(room, text);
}

static void parse_pnet(const char *const *words, size_t count, struct array *pnets)
{
	struct pnet *p = array_add(pnets);
	unsigned long port = 1;
	size_t i;

	if (count < 3 || !(count % 2) || !pnetid_parse(words[0], p->id))
		usage_error("an entry looks like: pnetid NET1 interface eth0, or device rxe0 port 1");
	for (i = 1; i < count; i += 2) {
		if (!strcmp(words[i], "interface"))
			parse_name(p->interface, sizeof(p->interface), words[i + 1]);
		else if (!strcmp(words[i], "device"))
			parse_name(p->device, sizeof(p->device), words[i + 1]);
		else if (strcmp(words[i], "port") || !read_number(words[i + 1], 1, 2, &port))
			usage_error("unexpected '%s %s' in an entry for a PNETID", words[i], words[i + 1]);
	}
	if (!p->interface[0] == !p->device[0])
		usage_error("an entry is for an interface or for a device");
	p->port = port;
}

/* The kernel does not show what restricts nothing, but it does show 0.0.0.0/0. */
static void drop_any(struct rule_end *e, uint8_t family)
{
	if (family == AF_INET6 && e->address.len == 16 && !e->prefix &&
	    !memcmp(e->address.bytes, &in6addr_any, sizeof(in6addr_any)))
		e->has_address = false;
	if (!e->port && e->port_last == UINT16_MAX)
		e->has_port = false;
}

static void parse_rule(const char *const *words, size_t count, struct array *rules)
{
	struct rule *rule = array_add(rules);

	rule_parse(words, count, rule);
	if (rule->before)
		usage_error("rules are listed in their order here, without 'before'");
	/* set the values that the kernel would show */
	if (!rule->direction)
		rule->direction = SMC_FILTER_BOTH;
	if (!rule->family && (rule->local.has_address || rule->remote.has_address))
		rule->family = rule->local.address.len == 16 || rule->remote.address.len == 16 ?
			       AF_INET6 : AF_INET;
	drop_any(&rule->local, rule->family);
	drop_any(&rule->remote, rule->family);
}

static void parse_line(const char *const *words, size_t count, struct state *s)
{
	const char *const *rest = words + 1;

	if (!strcmp(words[0], "set"))
		parse_setting(rest, count - 1, &s->settings);
	else if (!strcmp(words[0], "ueid"))
		parse_eid(rest, count - 1, &s->eids);
	else if (!strcmp(words[0], "seid"))
		parse_seid(rest, count - 1, s);
	else if (!strcmp(words[0], "pnetid"))
		parse_pnet(rest, count - 1, &s->pnets);
	else if (!strcmp(words[0], "filter"))
		parse_rule(rest, count - 1, &s->rules);
	else
		usage_error("a line begins with set, ueid, seid, pnetid or filter, not with '%s'",
			    words[0]);
}

static size_t split(char *line, const char *words[MAX_LINE_WORDS])
{
	const char *const blanks = " \t\r\n";
	char *next = NULL, *word;
	size_t count = 0;

	line[strcspn(line, "#")] = '\0';
	for (word = strtok_r(line, blanks, &next); word; word = strtok_r(NULL, blanks, &next)) {
		if (count == MAX_LINE_WORDS)
			usage_error("more than %d words", MAX_LINE_WORDS);
		words[count++] = word;
	}
	return count;
}

int state_parse(FILE *in, const char *name, struct state *s)
{
	const char *words[MAX_LINE_WORDS];
	unsigned int number = 0;
	char *line = NULL;
	size_t room = 0, count;
	int error;

	while (getline(&line, &room, in) >= 0) {
		complain_about(name, ++number);
		count = split(line, words);
		if (count)
			parse_line(words, count, s);
	}
	error = errno;
	complain_about(NULL, 0);
	free(line);
	if (ferror(in))
		return complain("cannot read %s: %s", name, strerror(error));
	if (!number)
		return complain("%s is empty, so nothing has changed; to remove everything, write a comment: #",
				name);
	return 0;
}
