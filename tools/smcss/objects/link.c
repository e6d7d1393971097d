// SPDX-License-Identifier: GPL-2.0
/* Links of SMC-R link groups. */
#include <string.h>

#include "json_writer.h"
#include "link.h"
#include "text_table.h"

static const struct field link_fields[] = {
	NUMBER(SMC_NLA_LINK_ID, struct link, id),
	TEXT(SMC_NLA_LINK_IB_DEV, struct link, dev),
	NUMBER(SMC_NLA_LINK_IB_PORT, struct link, port),
	TEXT(SMC_NLA_LINK_GID, struct link, gid),
	TEXT(SMC_NLA_LINK_PEER_GID, struct link, peer_gid),
	NUMBER(SMC_NLA_LINK_CONN_CNT, struct link, conns),
	NUMBER(SMC_NLA_LINK_NET_DEV, struct link, ifindex),
	NUMBER(SMC_NLA_LINK_UID, struct link, uid),
	NUMBER(SMC_NLA_LINK_PEER_UID, struct link, peer_uid),
	NUMBER(SMC_NLA_LINK_STATE, struct link, state),
	{ }
};

struct reader {
	struct array *links;
	struct linkgroup group;		/* link group of the links that follow */
};

/* The kernel sends a link group before its links, which do not name their group. */
static void take(struct nlattr *nla, void *arg)
{
	struct reader *reader = arg;
	struct link *link;

	if (nla_type(nla) == SMC_GEN_LGR_SMCR) {
		reader->group = (struct linkgroup){ };
		decode(linkgroup_r_fields, nla_data(nla), nla_len(nla), &reader->group);
	} else if (nla_type(nla) == SMC_GEN_LINK_SMCR) {
		link = array_add(reader->links);
		decode(link_fields, nla_data(nla), nla_len(nla), link);
		link->group = reader->group.id;
		link->role = reader->group.role;
		link->type = reader->group.type;
	}
}

static void restart(void *arg)
{
	((struct reader *)arg)->links->count = 0;
}

int links_read(struct genl *genl, struct array *links)
{
	struct reader state = { .links = links };
	struct genl_reader reader = { .take = take, .restart = restart, .arg = &state };

	return genl_dump(genl, SMC_NETLINK_GET_LINK_SMCR, &reader);
}

bool link_fits(const struct link *link, const struct filter *f)
{
	return (!f->by_id || link->group == f->id) &&
	       (!f->netdev || netdev_is(link->ifindex, f->netdev)) &&
	       (!f->ibdev || !strcmp(link->dev, f->ibdev));
}

void links_filter(struct array *links, const struct filter *filter)
{
	struct link *all = links->items;
	size_t i, count = 0;

	for (i = 0; i < links->count; i++)
		if (link_fits(&all[i], filter))
			all[count++] = all[i];
	links->count = count;
}

/* The kernel's own module uses the same numbers, up to ACTIVE. */
static const char *state_word(uint32_t state, char room[32])
{
	static const char * const words[] = {
		"UNUSED", "INACTIVE", "ACTIVATING", "ACTIVE", "CLOSING"
	};

	if (state < sizeof(words) / sizeof(words[0]))
		return words[state];
	snprintf(room, 32, "state %u", state);
	return room;
}

static void titles(struct text_table *t, int details)
{
	table_column(t, "LG-ID", 8, ALIGN_LEFT, 1);
	table_column(t, "LG-Role", 7, ALIGN_LEFT, 2);
	table_column(t, "LG-Type", 7, ALIGN_LEFT, 2);
	table_column(t, "Link", 4, ALIGN_RIGHT, 2);
	table_column(t, "Link-State", 10, ALIGN_LEFT, 2);
	table_column(t, "Net-Dev", 15, ALIGN_LEFT, 1);
	table_column(t, "IB-Dev", 8, ALIGN_LEFT, 1);
	table_column(t, "IB-P", 4, ALIGN_RIGHT, 2);
	table_column(t, "#Conns", 6, ALIGN_RIGHT, 2);
	if (details) {
		table_column(t, "GID", 39, ALIGN_LEFT, 2);
		table_column(t, "Peer-GID", 39, ALIGN_LEFT, 2);
	}
	if (details > 1) {
		table_column(t, "Link-UID", 8, ALIGN_LEFT, 2);
		table_column(t, "Peer-UID", 8, ALIGN_LEFT, 2);
	}
}

void links_print(FILE *out, const struct array *links, int details)
{
	struct text_table *t = table_new();
	char room[32];
	size_t i;

	titles(t, details);
	for (i = 0; i < links->count; i++) {
		const struct link *l = array_item(links, i);

		table_cell(t, "%08x", l->group);
		table_cell(t, "%s", linkgroup_role(l->role));
		table_cell(t, "%s", linkgroup_type(l->type, room));
		table_cell(t, "%u", l->id);
		table_cell(t, "%s", state_word(l->state, room));
		table_cell(t, "%s", netdev_name(l->ifindex, room));
		table_cell(t, "%s", l->dev);
		table_cell(t, "%u", l->port);
		table_cell(t, "%u", l->conns);
		if (details) {
			table_cell(t, "%s", l->gid);
			table_cell(t, "%s", l->peer_gid);
		}
		if (details > 1) {
			table_cell(t, "%08x", l->uid);
			table_cell(t, "%08x", l->peer_uid);
		}
		table_row(t);
	}
	table_print(t, out, true);
	table_free(t);
}

void links_json(FILE *out, const struct array *links)
{
	struct json json;
	char room[32];
	size_t i;

	json_begin(&json, out);
	json_list(&json, "links");
	for (i = 0; i < links->count; i++) {
		const struct link *l = array_item(links, i);

		json_object(&json, NULL);
		json_hex(&json, "linkgroup", 8, l->group);
		json_text(&json, "role", l->role ? "server" : "client");
		json_text(&json, "type", linkgroup_type(l->type, room));
		json_number(&json, "link", l->id);
		json_text(&json, "state", state_word(l->state, room));
		json_text(&json, "netdev", netdev_name(l->ifindex, room));
		json_text(&json, "device", l->dev);
		json_number(&json, "port", l->port);
		json_number(&json, "connections", l->conns);
		json_text(&json, "gid", l->gid);
		json_text(&json, "peer_gid", l->peer_gid);
		json_hex(&json, "uid", 8, l->uid);
		json_hex(&json, "peer_uid", 8, l->peer_uid);
		json_object_end(&json);
	}
	json_list_end(&json);
	json_end(&json);
}
