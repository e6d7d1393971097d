// SPDX-License-Identifier: GPL-2.0
/* smcr auto, smcd auto: what the kernel has learnt about who should not use SMC. */
#include <arpa/inet.h>
#include <string.h>

#include <linux/smc_reason.h>

#include "auto.h"
#include "grid.h"
#include "reason.h"
#include "writer.h"

const struct field destination_fields[] = {
	BYTES(SMC_NLA_AUTOCACHE_ADDR, struct destination, address),
	NUMBER(SMC_NLA_AUTOCACHE_PORT, struct destination, port),
	NUMBER(SMC_NLA_AUTOCACHE_REASON, struct destination, reason),
	NUMBER(SMC_NLA_AUTOCACHE_DIAGNOSIS, struct destination, diagnosis),
	NUMBER(SMC_NLA_AUTOCACHE_LEFT, struct destination, left),
	NUMBER(SMC_NLA_AUTOCACHE_HITS, struct destination, hits),
	{ }
};

int destinations_read(struct genl *genl, struct list *destinations)
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

/* "10.0.0.1:80", "[fe80::1]:80", "*:80" */
static const char *end_text(const struct bytes *address, unsigned int port, char room[END_ROOM])
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

void destinations_print(FILE *out, const struct list *destinations)
{
	struct grid *grid = grid_new();
	char room[END_ROOM], words[REASON_ROOM];
	size_t i;

	grid_column(grid, "Destination", 20, GRID_LEFT, 2);
	grid_column(grid, "Seconds-left", 12, GRID_RIGHT, 2);
	grid_column(grid, "Hits", 6, GRID_RIGHT, 2);
	grid_column(grid, "Why", 3, GRID_LEFT, 0);
	for (i = 0; i < destinations->count; i++) {
		const struct destination *d = list_item(destinations, i);

		grid_cell(grid, "%s", end_text(&d->address, d->port, room));
		grid_cell(grid, "%u", d->left);
		grid_cell(grid, "%u", d->hits);
		grid_cell(grid, "%s%s",
			  d->reason == SMC_REASON_PEER_DECLINED ? "it declined: " : "",
			  reason_words(code_of(d), words));
		grid_row(grid);
	}
	grid_print(grid, out);
	grid_free(grid);
}

void destinations_json(struct json *json, const struct list *destinations)
{
	char text[INET6_ADDRSTRLEN];
	size_t i;

	json_list(json, "destinations");
	for (i = 0; i < destinations->count; i++) {
		const struct destination *d = list_item(destinations, i);

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

int listeners_read(struct genl *genl, struct list *listeners)
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

void listeners_print(FILE *out, const struct list *listeners)
{
	struct grid *grid = grid_new();
	char room[END_ROOM];
	size_t i;

	grid_column(grid, "Listener", 20, GRID_LEFT, 2);
	grid_column(grid, "SMC", 9, GRID_LEFT, 2);
	grid_column(grid, "Worth%", 6, GRID_RIGHT, 2);
	grid_column(grid, "Retry-s", 7, GRID_RIGHT, 2);
	grid_column(grid, "Conns", 8, GRID_RIGHT, 2);
	grid_column(grid, "Messages", 8, GRID_RIGHT, 2);
	grid_column(grid, "Bytes", 10, GRID_RIGHT, 2);
	grid_column(grid, "Life-ms", 8, GRID_RIGHT, 0);
	for (i = 0; i < listeners->count; i++) {
		const struct listener *l = list_item(listeners, i);

		grid_cell(grid, "%s", end_text(&l->address, l->port, room));
		grid_cell(grid, "%s", verdict_words(l));
		grid_cell(grid, "%u", l->worth);
		grid_cell(grid, "%u", l->retry);
		grid_cell(grid, "%llu", (unsigned long long)l->conns);
		grid_cell(grid, "%llu", (unsigned long long)l->messages);
		grid_cell(grid, "%llu", (unsigned long long)l->bytes);
		grid_cell(grid, "%llu", (unsigned long long)l->ms);
		grid_row(grid);
	}
	grid_print(grid, out);
	grid_free(grid);
}

void listeners_json(struct json *json, const struct list *listeners)
{
	char text[INET6_ADDRSTRLEN];
	size_t i;

	json_list(json, "listeners");
	for (i = 0; i < listeners->count; i++) {
		const struct listener *l = list_item(listeners, i);

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
