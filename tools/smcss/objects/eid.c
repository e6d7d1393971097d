// SPDX-License-Identifier: GPL-2.0
/* EIDs: user EIDs (UEID) and the system EID (SEID). */
#include <errno.h>
#include <string.h>

#include "complain.h"
#include "genl.h"
#include "json_writer.h"
#include "objects.h"

static const struct field ueid_fields[] = {
	TEXT(SMC_NLA_EID_TABLE_ENTRY, struct eid, text),
	{ }
};

static const struct field seid_fields[] = {
	TEXT(SMC_NLA_SEID_ENTRY, struct seid, text),
	NUMBER(SMC_NLA_SEID_ENABLED, struct seid, enabled),
	{ }
};

static void take_ueid(struct nlattr *nla, void *list)
{
	decode(ueid_fields, nla, nla_total_size(nla_len(nla)), array_add(list));
}

static void restart_ueids(void *list)
{
	((struct array *)list)->count = 0;
}

int ueids_read(struct genl *genl, struct array *eids)
{
	struct genl_reader reader = { .take = take_ueid, .restart = restart_ueids, .arg = eids };

	return genl_dump(genl, SMC_NETLINK_DUMP_UEID, &reader);
}

static bool is_letter_or_digit(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* The rules of the SMCv2 paper, some of which the kernel may not check. */
bool eid_valid(const char *eid)
{
	size_t i, len = strlen(eid);

	if (!len || len > SMC_MAX_EID_LEN || !is_letter_or_digit(eid[0]))
		return false;
	for (i = 1; i < len; i++) {
		if (!is_letter_or_digit(eid[i]) && eid[i] != '.' && eid[i] != '-')
			return false;
		if (eid[i] == '.' && eid[i - 1] == '.')
			return false;
	}
	return true;
}

int ueid_change(struct genl *genl, uint8_t command, const char *eid)
{
	struct nl_msg *msg = genl_message(genl, command);
	char padded[EID_ROOM];

	if (eid) {
		/* the kernel's own module requires an EID padded with blanks */
		snprintf(padded, sizeof(padded), "%-*s", SMC_MAX_EID_LEN, eid);
		if (nla_put_string(msg, SMC_NLA_EID_TABLE_ENTRY, padded))
			no_memory();
	}
	return genl_do(genl, msg, NULL);
}

static void take_seid(struct nlattr *nla, void *seid)
{
	decode(seid_fields, nla, nla_total_size(nla_len(nla)), seid);
}

int seid_read(struct genl *genl, struct seid *seid)
{
	struct genl_reader reader = { .take = take_seid, .arg = seid };

	return genl_dump(genl, SMC_NETLINK_DUMP_SEID, &reader);
}

int seid_change(struct genl *genl, uint8_t command)
{
	return genl_do(genl, genl_message(genl, command), NULL);
}

void ueids_print(FILE *out, const struct array *eids)
{
	size_t i;

	for (i = 0; i < eids->count; i++)
		fprintf(out, "%s\n", ((struct eid *)array_item(eids, i))->text);
}

void ueids_json(FILE *out, const struct array *eids)
{
	struct json json;
	size_t i;

	json_begin(&json, out);
	json_list(&json, "ueids");
	for (i = 0; i < eids->count; i++)
		json_text(&json, NULL, ((struct eid *)array_item(eids, i))->text);
	json_list_end(&json);
	json_end(&json);
}

void seid_print(FILE *out, const struct seid *seid)
{
	if (seid->text[0])
		fprintf(out, "%s [%s]\n", seid->text, seid->enabled ? "enabled" : "disabled");
	else
		fprintf(out, "n/a\n");
}

void seid_json(FILE *out, const struct seid *seid)
{
	struct json json;

	json_begin(&json, out);
	if (seid->text[0])
		json_text(&json, "seid", seid->text);
	json_bool(&json, "enabled", seid->enabled);
	json_end(&json);
}
