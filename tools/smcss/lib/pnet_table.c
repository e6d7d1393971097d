// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include <linux/smc.h>

#include "complain.h"
#include "json_writer.h"
#include "pnet_table.h"

static const struct field fields[] = {
	TEXT(SMC_PNETID_NAME, struct pnet, id),
	TEXT(SMC_PNETID_ETHNAME, struct pnet, interface),
	TEXT(SMC_PNETID_IBNAME, struct pnet, device),
	NUMBER(SMC_PNETID_IBPORT, struct pnet, port),
	{ }
};

bool pnetid_parse(const char *text, char id[PNETID_ROOM])
{
	size_t i;

	for (i = 0; text[i]; i++) {
		char c = text[i] >= 'a' && text[i] <= 'z' ? text[i] - 'a' + 'A' : text[i];

		if (i == PNETID_ROOM - 1 || !((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')))
			return false;
		id[i] = c;
	}
	id[i] = '\0';
	return i > 0;
}

static void begin(void *pnets)
{
	array_add(pnets);
}

static void take(struct nlattr *nla, void *arg)
{
	struct array *pnets = arg;

	decode(fields, nla, nla_total_size(nla_len(nla)), array_item(pnets, pnets->count - 1));
}

static void restart(void *pnets)
{
	((struct array *)pnets)->count = 0;
}

static void put(struct nl_msg *msg, int attribute, const char *text)
{
	if (*text && nla_put_string(msg, attribute, text))
		no_memory();
}

int pnets_read(struct genl *genl, const char *id, struct array *pnets)
{
	struct genl_reader reader = {
		.take = take, .restart = restart, .arg = pnets, .message = begin
	};
	struct nl_msg *msg;

	if (!id)
		return genl_dump(genl, SMC_PNETID_GET, &reader);
	msg = genl_message(genl, SMC_PNETID_GET);
	put(msg, SMC_PNETID_NAME, id);
	return genl_do(genl, msg, &reader);
}

int pnet_change(struct genl *genl, uint8_t command, const struct pnet *pnet)
{
	struct nl_msg *msg = genl_message(genl, command);

	put(msg, SMC_PNETID_NAME, pnet->id);
	put(msg, SMC_PNETID_ETHNAME, pnet->interface);
	put(msg, SMC_PNETID_IBNAME, pnet->device);
	if (pnet->device[0] && nla_put_u8(msg, SMC_PNETID_IBPORT, pnet->port))
		no_memory();
	return genl_do(genl, msg, NULL);
}

bool pnet_names(const char *text)
{
	return *text && strcmp(text, "n/a");
}

void pnets_print(FILE *out, const struct array *pnets)
{
	size_t i;

	for (i = 0; i < pnets->count; i++) {
		const struct pnet *p = array_item(pnets, i);

		fprintf(out, "%s %s %s %u\n", p->id, pnet_names(p->interface) ? p->interface : "n/a",
			pnet_names(p->device) ? p->device : "n/a", p->port);
	}
}

void pnets_json(FILE *out, const struct array *pnets)
{
	struct json json;
	size_t i;

	json_begin(&json, out);
	json_list(&json, "pnetids");
	for (i = 0; i < pnets->count; i++) {
		const struct pnet *p = array_item(pnets, i);

		json_object(&json, NULL);
		json_text(&json, "pnetid", p->id);
		if (pnet_names(p->interface))
			json_text(&json, "interface", p->interface);
		if (pnet_names(p->device)) {
			json_text(&json, "device", p->device);
			json_number(&json, "port", p->port);
		}
		json_object_end(&json);
	}
	json_list_end(&json);
	json_end(&json);
}
