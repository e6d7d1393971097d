// SPDX-License-Identifier: GPL-2.0
/* smcr auto, smcd auto: destinations and listeners for which the kernel avoids SMC. */
#include <arpa/inet.h>
#include <string.h>

#include <linux/smc_reason.h>

#include "auto.h"
#include "json_writer.h"
#include "reason.h"
#include "text_table.h"

const struct field destination_fields[] = {
	BYTES(SMC_NLA_AUTOCACHE_ADDR, struct destination, address),
	NUMBER(SMC_NLA_AUTOCACHE_PORT, struct destination, port),
	NUMBER(SMC_NLA_AUTOCACHE_REASON, struct destination, reason),
	NUMBER(SMC_NLA_AUTOCACHE_DIAGNOSIS, struct destination, diagnosis),
	NUMBER(SMC_NLA_AUTOCACHE_LEFT, struct destination, left),
	NUMBER(SMC_NLA_AUTOCACHE_HITS, struct destination, hits),
	{ }
};

int destinations_read(struct genl *genl, struct array *destinations)
{
	return genl_list(genl, SMC_NETLINK_GET_AUTOCACHE, SMC_GEN_AUTOCACHE, destination_fields,
			 destinations);
}

int destinations_flush(struct genl *genl)
{
	return genl_do(genl, genl_message(genl, SMC_NETLINK_FLUSH_AUTOCACHE), NULL);
}

static const char *address_text(const struct bytes *address, char room[INET6_ADDRSTRLEN])
{
	inet_ntop(address->len == 4 ? AF_INET : AF_INET6, address->bytes, room, INET6_ADDRSTRLEN);
	return room;
}

const char *end_text(const struct bytes *address, unsigned int port, char room[END_ROOM])
{
	char text[INET6_ADDRSTRLEN];

	if (!address->len)
		snprintf(room, END_ROOM, "*:%u", port);
	else
		snprintf(room, END_ROOM, address->len == 4 ? "%s:%u" : "[%s]:%u",
			 address_text(address, text), port);
	return room;
}

static uint32_t code_of(const struct destination *d)
{
	return d->diagnosis ? d->diagnosis : d->reason;
}

void destinations_print(FILE *out, const struct array *destinations)
{
	struct text_table *table = table_new();
	char room[END_ROOM], words[REASON_ROOM];
	size_t i;

	table_column(table, "Destination", 20, ALIGN_LEFT, 2);
	table_column(table, "Seconds-left", 12, ALIGN_RIGHT, 2);
	table_column(table, "Hits", 6, ALIGN_RIGHT, 2);
	table_column(table, "Why", 3, ALIGN_LEFT, 0);
	for (i = 0; i < destinations->count; i++) {
		const struct destination *d = array_item(destinations, i);

		table_cell(table, "%s", end_text(&d->address, d->port, room));
		table_cell(table, "%u", d->left);
		table_cell(table, "%u", d->hits);
		table_cell(table, "%s%s",
			   d->reason == SMC_REASON_PEER_DECLINED ? "it declined: " : "",
			   reason_words(code_of(d), words));
		table_row(table);
	}
	table_print(table, out, true);
	table_free(table);
}

void destinations_json(struct json *json, const struct array *destinations)
{
	char text[INET6_ADDRSTRLEN];
	size_t i;

	json_list(json, "destinations");
	for (i = 0; i < destinations->count; i++) {
		const struct destination *d = array_item(destinations, i);

		json_object(json, NULL);
		json_text(json, "address", address_text(&d->address, text));
		json_number(json, "port", d->port);
		json_number(json, "seconds_left", d->left);
		json_number(json, "hits", d->hits);
		json_bool(json, "declined", d->reason == SMC_REASON_PEER_DECLINED);
		json_reason(json, "reason", code_of(d));
		json_object_end(json);
	}
	json_list_end(json);
}

/* ---- listeners ----------------------------------------------------------------- */

const struct field listener_fields[] = {
	BYTES(SMC_NLA_AUTOSMC_ADDR, struct listener, address),
	NUMBER(SMC_NLA_AUTOSMC_PORT, struct listener, port),
	NUMBER(SMC_NLA_AUTOSMC_VERDICT, struct listener, verdict),
	NUMBER(SMC_NLA_AUTOSMC_WORTH, struct listener, worth),
	NUMBER(SMC_NLA_AUTOSMC_RETRY, struct listener, retry),
	NUMBER(SMC_NLA_AUTOSMC_CONNS, struct listener, conns),
	NUMBER(SMC_NLA_AUTOSMC_MESSAGES, struct listener, messages),
	NUMBER(SMC_NLA_AUTOSMC_BYTES, struct listener, bytes),
	NUMBER(SMC_NLA_AUTOSMC_MS, struct listener, ms),
	{ }
};

int listeners_read(struct genl *genl, struct array *listeners)
{
	return genl_list(genl, SMC_NETLINK_GET_AUTOSMC, SMC_GEN_AUTOSMC, listener_fields,
			 listeners);
}

int listeners_flush(struct genl *genl)
{
	return genl_do(genl, genl_message(genl, SMC_NETLINK_FLUSH_AUTOSMC), NULL);
}

static const char *verdict_words(const struct listener *l)
{
	switch (l->verdict) {
	case SMC_AUTOSMC_LEARNING:
		return "learning";
	case SMC_AUTOSMC_PAYS:
		return "pays";
	case SMC_AUTOSMC_TOO_SHORT:
		return "too short";
	}
	return "?";
}

void listeners_print(FILE *out, const struct array *listeners)
{
	struct text_table *table = table_new();
	char room[END_ROOM];
	size_t i;

	table_column(table, "Listener", 20, ALIGN_LEFT, 2);
	table_column(table, "SMC", 9, ALIGN_LEFT, 2);
	table_column(table, "Worth%", 6, ALIGN_RIGHT, 2);
	table_column(table, "Retry-s", 7, ALIGN_RIGHT, 2);
	table_column(table, "Conns", 8, ALIGN_RIGHT, 2);
	table_column(table, "Messages", 8, ALIGN_RIGHT, 2);
	table_column(table, "Bytes", 10, ALIGN_RIGHT, 2);
	table_column(table, "Life-ms", 8, ALIGN_RIGHT, 0);
	for (i = 0; i < listeners->count; i++) {
		const struct listener *l = array_item(listeners, i);

		table_cell(table, "%s", end_text(&l->address, l->port, room));
		table_cell(table, "%s", verdict_words(l));
		table_cell(table, "%u", l->worth);
		table_cell(table, "%u", l->retry);
		table_cell(table, "%llu", (unsigned long long)l->conns);
		table_cell(table, "%llu", (unsigned long long)l->messages);
		table_cell(table, "%llu", (unsigned long long)l->bytes);
		table_cell(table, "%llu", (unsigned long long)l->ms);
		table_row(table);
	}
	table_print(table, out, true);
	table_free(table);
}

void listeners_json(struct json *json, const struct array *listeners)
{
	char text[INET6_ADDRSTRLEN];
	size_t i;

	json_list(json, "listeners");
	for (i = 0; i < listeners->count; i++) {
		const struct listener *l = array_item(listeners, i);

		json_object(json, NULL);
		if (l->address.len)
			json_text(json, "address", address_text(&l->address, text));
		json_number(json, "port", l->port);
		json_text(json, "verdict", verdict_words(l));
		json_number(json, "worth_percent", l->worth);
		if (l->verdict == SMC_AUTOSMC_TOO_SHORT)
			json_number(json, "retry_seconds", l->retry);
		json_number(json, "connections", l->conns);
		json_number(json, "messages", l->messages);
		json_number(json, "bytes", l->bytes);
		json_number(json, "life_ms", l->ms);
		json_object_end(json);
	}
	json_list_end(json);
}
