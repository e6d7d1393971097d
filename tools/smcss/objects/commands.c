// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "auto.h"
#include "commands.h"
#include "complain.h"
#include "filter_rule.h"
#include "genl.h"
#include "prometheus.h"
#include "stats.h"
#include "watch.h"

/* Prints a message for the errno of a dump. */
static int refused(struct genl *genl, int error, const char *what)
{
	if (error == EOPNOTSUPP)
		return complain("this SMC module has no %s to show: it is too old", what);
	if (error == EPERM || error == EACCES)
		return complain("only root may see the %s", what);
	return complain("cannot read the %s: %s%s%s", what, strerror(error),
			*genl_words(genl) ? ": " : "", genl_words(genl));
}

/* ---- info ---------------------------------------------------------------------- */

static int show_info(struct genl *genl, const struct request *r)
{
	struct sysinfo info = { };
	int error = sysinfo_read(genl, &info);

	if (error)
		return refused(genl, error, "capabilities of SMC");
	(r->json ? sysinfo_json : sysinfo_print)(stdout, &info);
	return 0;
}

const struct command info_commands[] = {
	{ "show", show_info, TAKES_NOTHING, READS },
	{ }
};

/* ---- link groups --------------------------------------------------------------- */

static int show_linkgroups(struct genl *genl, const struct request *r)
{
	struct array groups = ARRAY_OF(struct linkgroup), links = ARRAY_OF(struct link);
	int error = linkgroups_read(genl, r->kind, &groups);

	if (!error && (r->filter.netdev || r->filter.ibdev))
		error = links_read(genl, &links);
	if (!error) {
		linkgroups_filter(&groups, &links, &r->filter);
		if (r->json)
			linkgroups_json(stdout, r->kind, &groups);
		else
			linkgroups_print(stdout, r->kind, &groups, r->details);
	}
	array_free(&groups);
	array_free(&links);
	return error ? refused(genl, error, "link groups") : 0;
}

static int show_links(struct genl *genl, const struct request *r)
{
	struct array links = ARRAY_OF(struct link);
	int error = links_read(genl, &links);

	if (!error) {
		links_filter(&links, &r->filter);
		if (r->json)
			links_json(stdout, &links);
		else
			links_print(stdout, &links, r->details);
	}
	array_free(&links);
	return error ? refused(genl, error, "links") : 0;
}

const struct command smcr_linkgroup_commands[] = {
	{ "show", show_linkgroups, TAKES_LINKS, READS },
	{ "link-show", show_links, TAKES_LINKS, READS },
	{ "link-details", show_links, TAKES_LINKS, READS },
	{ }
};

const struct command smcd_linkgroup_commands[] = {
	{ "show", show_linkgroups, TAKES_ID, READS },
	{ }
};

/* ---- devices ------------------------------------------------------------------- */

static int show_devices(struct genl *genl, const struct request *r)
{
	struct array devices = ARRAY_OF(struct device);
	int error = devices_read(genl, r->kind, &devices);

	if (!error) {
		devices_filter(&devices, &r->filter);
		if (r->json)
			devices_json(stdout, r->kind, &devices);
		else
			devices_print(stdout, r->kind, &devices, r->details);
	}
	if (!error && !devices.count && r->kind == SMC_R && !r->filter.netdev && !r->filter.ibdev)
		complain("there is no RDMA device; add one for an interface with: rdma link add rxe0 type rxe netdev INTERFACE");
	array_free(&devices);
	return error ? refused(genl, error, "devices") : 0;
}

const struct command smcr_device_commands[] = {
	{ "show", show_devices, TAKES_DEVICES, READS },
	{ }
};

const struct command smcd_device_commands[] = {
	{ "show", show_devices, TAKES_ALL, READS },
	{ }
};

/* ---- statistics ---------------------------------------------------------------- */

static int read_stats(struct genl *genl, const struct request *r, struct stats *stats)
{
	struct stats before;
	int error;

	stats_init(stats);
	error = stats_read(genl, r->kind, stats);
	if (error || r->absolute)
		return error;
	stats_init(&before);
	if (stats_load(r->kind, &before))
		stats_subtract(stats, &before);
	stats_free(&before);
	return 0;
}

static int show_stats_as(struct genl *genl, const struct request *r, bool json)
{
	struct stats stats;
	int error = read_stats(genl, r, &stats);

	if (!error && json)
		stats_json(stdout, r->kind, &stats);
	else if (!error)
		stats_print(stdout, r->kind, &stats, r->details);
	stats_free(&stats);
	return error ? refused(genl, error, "statistics") : 0;
}

static int export_stats(struct genl *genl)
{
	struct exported exported;
	int error = exported_read(genl, &exported);

	if (!error)
		exported_print(stdout, &exported);
	exported_free(&exported);
	return error ? refused(genl, error, "statistics") : 0;
}

static int show_stats(struct genl *genl, const struct request *r)
{
	if (r->prometheus)
		return export_stats(genl);
	return show_stats_as(genl, r, r->json);
}

static int json_stats(struct genl *genl, const struct request *r)
{
	return show_stats_as(genl, r, true);
}

/* Shows the statistics, then saves the current counters as the new base. */
static int reset_stats(struct genl *genl, const struct request *r)
{
	struct stats stats;
	int status = show_stats(genl, r);

	if (status)
		return status;
	stats_init(&stats);
	if (stats_read(genl, r->kind, &stats))
		status = complain("cannot read the statistics");
	else
		status = stats_save(r->kind, &stats);
	stats_free(&stats);
	return status;
}

const struct command stats_commands[] = {
	{ "show", show_stats, TAKES_NOTHING, READS },
	{ "reset", reset_stats, TAKES_NOTHING, CHANGES },
	{ "json", json_stats, TAKES_NOTHING, READS },
	{ }
};

/* ---- EIDs ---------------------------------------------------------------------- */

static int show_ueids(struct genl *genl, const struct request *r)
{
	struct array eids = ARRAY_OF(struct eid);
	int error = ueids_read(genl, &eids);

	if (!error)
		(r->json ? ueids_json : ueids_print)(stdout, &eids);
	array_free(&eids);
	return error ? refused(genl, error, "user EIDs") : 0;
}

static int eid_refused(struct genl *genl, const char *eid, int error)
{
	const char *words = genl_words(genl);
	const char *me = program_invocation_short_name;

	switch (error) {
	case 0:
		return 0;
	case EPERM:
	case EACCES:
		return complain("changing EIDs requires root on the host (CAP_NET_ADMIN), not in a container");
	case EEXIST:
		return complain("the EID %s exists already: '%s ueid show' lists them", eid, me);
	case ENOENT:
		return complain("there is no EID %s: '%s ueid show' lists them", eid, me);
	case ERANGE:
	case ENOSPC:
		return complain("no room for %s: remove an EID with '%s ueid del' first", eid, me);
	}
	return complain("the kernel refused %s: %s", eid, *words ? words : strerror(error));
}

static int add_ueid(struct genl *genl, const struct request *r)
{
	if (!eid_valid(r->eid))
		usage_error("'%s' is not an EID: 1 to %d characters of A-Z, 0-9, '-' and '.', beginning with a letter or digit, without two dots in a row",
			    r->eid, SMC_MAX_EID_LEN);
	return eid_refused(genl, r->eid, ueid_change(genl, SMC_NETLINK_ADD_UEID, r->eid));
}

static int del_ueid(struct genl *genl, const struct request *r)
{
	return eid_refused(genl, r->eid, ueid_change(genl, SMC_NETLINK_REMOVE_UEID, r->eid));
}

static int flush_ueids(struct genl *genl, const struct request *r)
{
	return eid_refused(genl, "the flush", ueid_change(genl, SMC_NETLINK_FLUSH_UEID, NULL));
}

const struct command ueid_commands[] = {
	{ "show", show_ueids, TAKES_NOTHING, READS },
	{ "add", add_ueid, TAKES_EID, CHANGES },
	{ "del", del_ueid, TAKES_EID, CHANGES },
	{ "flush", flush_ueids, TAKES_NOTHING, CHANGES },
	{ }
};

static int show_seid(struct genl *genl, const struct request *r)
{
	struct seid seid = { };
	int error = seid_read(genl, &seid);

	if (error)
		return refused(genl, error, "system EID");
	(r->json ? seid_json : seid_print)(stdout, &seid);
	return 0;
}

static int seid_refused(struct genl *genl, int error)
{
	if (error == EOPNOTSUPP)
		return complain("this SMC module has no system EID on this platform: use '%s ueid add' to add a user EID",
				program_invocation_short_name);
	if (error == ENOENT || error == EINVAL)
		return complain("the system EID cannot be disabled without a user EID: add one with '%s ueid add' first",
				program_invocation_short_name);
	return eid_refused(genl, "the change of the system EID", error);
}

static int enable_seid(struct genl *genl, const struct request *r)
{
	return seid_refused(genl, seid_change(genl, SMC_NETLINK_ENABLE_SEID));
}

static int disable_seid(struct genl *genl, const struct request *r)
{
	return seid_refused(genl, seid_change(genl, SMC_NETLINK_DISABLE_SEID));
}

const struct command seid_commands[] = {
	{ "show", show_seid, TAKES_NOTHING, READS },
	{ "enable", enable_seid, TAKES_NOTHING, CHANGES },
	{ "disable", disable_seid, TAKES_NOTHING, CHANGES },
	{ }
};

/* ---- filter rules -------------------------------------------------------------- */

static int show_rules(struct genl *genl, const struct request *r)
{
	struct array rules = ARRAY_OF(struct rule);
	int error = rules_read(genl, &rules);

	if (!error)
		(r->json ? rules_json : rules_print)(stdout, &rules);
	array_free(&rules);
	return error ? refused(genl, error, "filter rules") : 0;
}

/* Prefers the kernel's message, which is the most specific one. */
static int change_refused(struct genl *genl, int error, const char *what)
{
	const char *words = genl_words(genl);

	if (error == EOPNOTSUPP)
		return complain("this SMC module has no %s", what);
	if (error)
		return complain("the kernel refused: %s", *words ? words : strerror(error));
	return 0;
}

static int add_rule(struct genl *genl, const struct request *r)
{
	struct rule rule;

	rule_parse(r->words, r->word_count, &rule);
	return change_refused(genl, rule_add(genl, &rule), "filter rules");
}

static int del_rule(struct genl *genl, const struct request *r)
{
	return change_refused(genl, rule_del(genl, rule_parse_id(r->words, r->word_count)),
			      "filter rules");
}

static int flush_rules(struct genl *genl, const struct request *r)
{
	return change_refused(genl, rules_flush(genl), "filter rules");
}

const struct command filter_commands[] = {
	{ "show", show_rules, TAKES_NOTHING, READS },
	{ "add", add_rule, TAKES_WORDS, CHANGES },
	{ "del", del_rule, TAKES_WORDS, CHANGES },
	{ "flush", flush_rules, TAKES_NOTHING, CHANGES },
	{ }
};

/* ---- autocache and autosmc ----------------------------------------------------- */

static void print_auto(const struct array *destinations, const struct array *listeners)
{
	destinations_print(stdout, destinations);
	putchar('\n');
	listeners_print(stdout, listeners);
}

static void json_auto(const struct array *destinations, const struct array *listeners)
{
	struct json json;

	json_begin(&json, stdout);
	destinations_json(&json, destinations);
	listeners_json(&json, listeners);
	json_end(&json);
}

static int show_auto(struct genl *genl, const struct request *r)
{
	struct array destinations = ARRAY_OF(struct destination);
	struct array listeners = ARRAY_OF(struct listener);
	int error = destinations_read(genl, &destinations);

	if (!error)
		error = listeners_read(genl, &listeners);
	if (!error)
		(r->json ? json_auto : print_auto)(&destinations, &listeners);
	array_free(&destinations);
	array_free(&listeners);
	return error ? refused(genl, error, "autocache and autosmc") : 0;
}

static int flush_auto(struct genl *genl, const struct request *r)
{
	int error = destinations_flush(genl);

	if (!error)
		error = listeners_flush(genl);
	return change_refused(genl, error, "autocache");
}

const struct command auto_commands[] = {
	{ "show", show_auto, TAKES_NOTHING, READS },
	{ "flush", flush_auto, TAKES_NOTHING, CHANGES },
	{ }
};

/* ---- the program --------------------------------------------------------------- */

struct round {
	struct genl *genl;
	const struct request *request;
};

static int run_round(void *arg)
{
	const struct round *round = arg;

	return round->request->command->run(round->genl, round->request);
}

int tool_main(const struct tool *tool, int argc, char **argv)
{
	struct request request;
	struct round round = { NULL, &request };
	int status;

	need_descriptors();
	parse_request(tool, argc, argv, &request);
	/* The switch is independent of the module, and can be shown and turned off without it. */
	if (request.object->commands != convert_commands) {
		round.genl = genl_open(SMC_GENL_FAMILY_NAME);
		if (!round.genl)
			return EXIT_REFUSED;
	}
	if (request.watch)
		status = watch(request.watch, request.count, request.object->name, run_round,
			       &round);
	else
		status = finish_output(run_round(&round));
	if (round.genl)
		genl_close(round.genl);
	return status;
}
