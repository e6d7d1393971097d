// SPDX-License-Identifier: GPL-2.0
/*
 * smcr restore: change the current state to the wanted one. Each step applies only the difference,
 * so what is right already is not touched. After a failure the same steps lead back.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "filter_rule.h"
#include "genl.h"
#include "objects.h"
#include "pnet_table.h"
#include "state.h"

struct change {
	const struct state_genl *genl;
	const struct state *now;
	const struct state *wanted;
};

static int failed(struct genl *genl, int error, const char *what, const char *name)
{
	const char *words = genl ? genl_words(genl) : "";

	if (!error)
		return 0;
	return complain("%s %s: %s", what, name, *words ? words : strerror(error));
}

/* ---- settings ------------------------------------------------------------------ */

static const struct setting *find_setting(const struct array *settings, const char *name)
{
	size_t i;

	for (i = 0; i < settings->count; i++) {
		const struct setting *setting = array_item(settings, i);

		if (!strcmp(setting->name, name))
			return setting;
	}
	return NULL;
}

static int write_setting(const struct setting *setting)
{
	char path[SETTING_ROOM + 32];
	FILE *file;
	int error;

	snprintf(path, sizeof(path), "/proc/sys/net/smc/%s", setting->name);
	file = fopen(path, "w");
	if (!file)
		return errno;
	error = fputs(setting->value, file) < 0 ? errno : 0;
	if (fclose(file) && !error)
		error = errno;
	return error;
}

static int change_settings(const struct change *c)
{
	int error = 0;
	size_t i;

	for (i = 0; !error && i < c->wanted->settings.count; i++) {
		const struct setting *wanted = array_item(&c->wanted->settings, i);
		const struct setting *now = find_setting(&c->now->settings, wanted->name);
		char what[2 * SETTING_ROOM + 16];

		if (now && !strcmp(now->value, wanted->value))
			continue;
		snprintf(what, sizeof(what), "net.smc.%s = %s", wanted->name, wanted->value);
		error = failed(NULL, write_setting(wanted), "cannot set", what);
	}
	return error;
}

/* ---- EIDs ---------------------------------------------------------------------- */

static bool has_eid(const struct array *eids, const char *text)
{
	size_t i;

	for (i = 0; i < eids->count; i++)
		if (!strcmp(((const struct eid *)array_item(eids, i))->text, text))
			return true;
	return false;
}

static int add_eid(const struct change *c, const char *eid)
{
	return failed(c->genl->smc, ueid_change(c->genl->smc, SMC_NETLINK_ADD_UEID, eid),
		      "cannot add EID", eid);
}

static int remove_eid(const struct change *c, const char *eid)
{
	return failed(c->genl->smc, ueid_change(c->genl->smc, SMC_NETLINK_REMOVE_UEID, eid),
		      "cannot remove EID", eid);
}

/* EID number @i of the first list if the second one lacks it, otherwise NULL. */
static const char *lacks(const struct array *eids, size_t i, const struct array *others)
{
	const char *text = ((const struct eid *)array_item(eids, i))->text;

	return has_eid(others, text) ? NULL : text;
}

/* An old EID that has to stay until a new one is there; NULL if there is none. */
static const char *last_eid(const struct array *now, const struct array *wanted)
{
	const char *last = NULL;
	size_t i;

	for (i = 0; wanted->count && i < now->count; i++) {
		last = lacks(now, i, wanted);
		if (!last)
			return NULL;
	}
	return last;
}

/*
 * Without an EID, connections would be TCP: an old one stays until the first new one is there. They
 * are removed before others are added, because there may be no room.
 */
static int change_ueids(const struct change *c)
{
	const struct array *now = &c->now->eids, *wanted = &c->wanted->eids;
	const char *last = last_eid(now, wanted), *eid;
	int error = 0;
	size_t i;

	for (i = 0; !error && i < now->count; i++) {
		eid = lacks(now, i, wanted);
		if (eid && eid != last)
			error = remove_eid(c, eid);
	}
	for (i = 0; !error && i < wanted->count; i++) {
		eid = lacks(wanted, i, now);
		if (eid)
			error = add_eid(c, eid);
		if (!error && last)
			error = remove_eid(c, last);
		last = NULL;
	}
	return error;
}

static int set_seid(const struct change *c, bool enabled)
{
	return failed(c->genl->smc, seid_change(c->genl->smc, enabled ? SMC_NETLINK_ENABLE_SEID :
						SMC_NETLINK_DISABLE_SEID),
		      "cannot switch the system EID to", enabled ? "enabled" : "disabled");
}

/*
 * The system EID is enabled only if it is wanted: otherwise connections across namespaces would be
 * SMC meanwhile. The kernel's own module may enable it when the last user EID is removed.
 */
static int change_all_eids(const struct change *c)
{
	bool wanted = c->wanted->has_seid ? c->wanted->seid : c->now->seid;
	bool maybe = c->now->seid || (c->now->eids.count && !c->wanted->eids.count);
	int error = 0;

	if (c->now->has_seid && wanted && !c->now->seid)
		error = set_seid(c, true);
	if (!error)
		error = change_ueids(c);
	if (!error && c->now->has_seid && !wanted && maybe)
		error = set_seid(c, false);
	return error;
}

/* ---- PNETIDs ------------------------------------------------------------------- */

static const char *named(const char *text)
{
	return pnet_names(text) ? text : "";
}

static bool same_pnet(const struct pnet *one, const struct pnet *other)
{
	return !strcmp(one->id, other->id) &&
	       !strcmp(named(one->interface), named(other->interface)) &&
	       !strcmp(named(one->device), named(other->device)) &&
	       (!pnet_names(one->device) || one->port == other->port);
}

static bool has_pnet(const struct array *pnets, const struct pnet *pnet)
{
	size_t i;

	for (i = 0; i < pnets->count; i++)
		if (same_pnet(array_item(pnets, i), pnet))
			return true;
	return false;
}

/* The kernel removes all entries of a PNETID at once. */
static int remove_pnets(const struct change *c)
{
	int error = 0;
	size_t i;

	for (i = 0; !error && i < c->now->pnets.count; i++) {
		const struct pnet *pnet = array_item(&c->now->pnets, i);
		struct pnet name = { };

		if (has_pnet(&c->wanted->pnets, pnet))
			continue;
		strcpy(name.id, pnet->id);
		error = pnet_change(c->genl->pnet, SMC_PNETID_DEL, &name);
		error = failed(c->genl->pnet, error == ENOENT ? 0 : error, "cannot remove PNETID",
			       pnet->id);
	}
	return error;
}

static int add_pnets(const struct change *c, const struct array *there)
{
	int error = 0;
	size_t i;

	for (i = 0; !error && i < c->wanted->pnets.count; i++) {
		struct pnet pnet = *(const struct pnet *)array_item(&c->wanted->pnets, i);

		if (has_pnet(there, &pnet))
			continue;
		if (!pnet_names(pnet.interface))
			pnet.interface[0] = '\0';
		if (!pnet_names(pnet.device))
			pnet.device[0] = '\0';
		error = failed(c->genl->pnet, pnet_change(c->genl->pnet, SMC_PNETID_ADD, &pnet),
			       "cannot add PNETID", pnet.id);
	}
	return error;
}

static int change_pnets(const struct change *c)
{
	struct array there = ARRAY_OF(struct pnet);
	int error = remove_pnets(c);

	if (!error)
		error = failed(c->genl->pnet, pnets_read(c->genl->pnet, NULL, &there),
			       "cannot read", "the PNET table");
	if (!error)
		error = add_pnets(c, &there);
	array_free(&there);
	return error;
}

/* ---- filter rules -------------------------------------------------------------- */

static bool same_end(const struct rule_end *one, const struct rule_end *other)
{
	if (one->has_address != other->has_address || one->has_port != other->has_port)
		return false;
	if (one->has_port && (one->port != other->port || one->port_last != other->port_last))
		return false;
	return !one->has_address ||
	       (one->prefix == other->prefix && one->address.len == other->address.len &&
		!memcmp(one->address.bytes, other->address.bytes, one->address.len));
}

static bool same_rule(const struct rule *one, const struct rule *other)
{
	return one->action == other->action && one->direction == other->direction &&
	       one->family == other->family && same_end(&one->local, &other->local) &&
	       same_end(&one->remote, &other->remote);
}

/* Index of the same rule in a list, or the length of the list. */
static size_t place_of(const struct array *rules, const struct rule *rule)
{
	size_t i;

	for (i = 0; i < rules->count; i++)
		if (same_rule(array_item(rules, i), rule))
			break;
	return i;
}

static int remove_rule(const struct change *c, const struct rule *rule)
{
	int error = rule_del(c->genl->smc, rule->id);

	return failed(c->genl->smc, error == ENOENT ? 0 : error, "cannot remove",
		      "an old filter rule");
}

/*
 * Keeps rules that are in both lists in the same order. ids[] receives the kernel's ids of these
 * rules, and 0 for rules that are to be added.
 */
static void keep_rules(const struct change *c, uint32_t *ids)
{
	size_t i, place, next = 0;

	for (i = 0; i < c->now->rules.count; i++) {
		const struct rule *old = array_item(&c->now->rules, i);

		place = place_of(&c->wanted->rules, old);
		if (place < c->wanted->rules.count && place >= next) {
			ids[place] = old->id;
			next = place + 1;
		}
	}
}

/* Adds a rule before another one. A rule that moves is removed first: duplicates are refused. */
static int put_rule(const struct change *c, size_t number, uint32_t before)
{
	struct rule rule = *(const struct rule *)array_item(&c->wanted->rules, number);
	size_t place = place_of(&c->now->rules, &rule);
	int error = 0;
	char text[32];

	rule.before = before;
	if (place < c->now->rules.count &&
	    place_of(&c->wanted->rules, &rule) == number)
		error = remove_rule(c, array_item(&c->now->rules, place));
	snprintf(text, sizeof(text), "%zu", number + 1);
	return error ? error : failed(c->genl->smc, rule_add(c->genl->smc, &rule),
				      "cannot add filter rule number", text);
}

/* Adds new rules before removing old ones, to leave no time without rules. */
static int change_rules(const struct change *c)
{
	size_t i, k, count = c->wanted->rules.count;
	uint32_t *ids = calloc(count + 1, sizeof(*ids));
	int error = 0;

	if (!ids)
		no_memory();
	keep_rules(c, ids);
	for (i = 0; !error && i < count; i++) {
		if (ids[i])
			continue;
		for (k = i; k < count && !ids[k]; k++)
			;
		error = put_rule(c, i, ids[k]);
	}
	for (i = 0; !error && i < c->now->rules.count; i++) {
		const struct rule *old = array_item(&c->now->rules, i);

		if (place_of(&c->wanted->rules, old) == count)
			error = remove_rule(c, old);
	}
	free(ids);
	return error;
}

/* ---- everything ---------------------------------------------------------------- */

static int change_all(const struct state_genl *genl, const struct state *now,
		      const struct state *wanted)
{
	const struct change change = { genl, now, wanted };
	int error = change_settings(&change);

	if (!error)
		error = change_all_eids(&change);
	if (!error)
		error = change_pnets(&change);
	if (!error)
		error = change_rules(&change);
	return error;
}

/* A signal that would end the program between two steps waits until all are done, or undone. */
static void hold_signals(sigset_t *before)
{
	static const int held[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP };
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		sigaddset(&set, held[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

int state_apply(const struct state_genl *genl, const struct state *wanted)
{
	struct state before, between;
	sigset_t mask;
	int error;

	state_init(&before);
	state_init(&between);
	hold_signals(&mask);
	error = state_read(genl, &before);
	if (!error) {
		error = change_all(genl, &before, wanted);
		if (error && (state_read(genl, &between) || change_all(genl, &between, &before)))
			complain("restored only in part: 'smcr save' shows the current settings");
		else if (error)
			complain("nothing was restored, and nothing has changed");
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	state_free(&before);
	state_free(&between);
	return error;
}
