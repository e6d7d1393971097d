// SPDX-License-Identifier: GPL-2.0
/* Link groups of SMC-R and SMC-D. */
#include <string.h>

#include "genl.h"
#include "json_writer.h"
#include "link.h"
#include "objects.h"
#include "text_table.h"

static const struct field v2_fields[] = {
	NUMBER(SMC_NLA_LGR_V2_VER, struct linkgroup, version),
	NUMBER(SMC_NLA_LGR_V2_REL, struct linkgroup, release),
	NUMBER(SMC_NLA_LGR_V2_OS, struct linkgroup, os),
	TEXT(SMC_NLA_LGR_V2_NEG_EID, struct linkgroup, eid),
	TEXT(SMC_NLA_LGR_V2_PEER_HOST, struct linkgroup, peer_host),
	{ }
};

static const struct field r_v2_fields[] = {
	NUMBER(SMC_NLA_LGR_R_V2_DIRECT, struct linkgroup, direct),
	NUMBER(SMC_NLA_LGR_R_V2_MAX_CONNS, struct linkgroup, max_conns),
	NUMBER(SMC_NLA_LGR_R_V2_MAX_LINKS, struct linkgroup, max_links),
	{ }
};

const struct field linkgroup_r_fields[] = {
	NUMBER(SMC_NLA_LGR_R_ID, struct linkgroup, id),
	NUMBER(SMC_NLA_LGR_R_ROLE, struct linkgroup, role),
	NUMBER(SMC_NLA_LGR_R_TYPE, struct linkgroup, type),
	TEXT(SMC_NLA_LGR_R_PNETID, struct linkgroup, pnetid),
	NUMBER(SMC_NLA_LGR_R_VLAN_ID, struct linkgroup, vlan),
	NUMBER(SMC_NLA_LGR_R_CONNS_NUM, struct linkgroup, conns),
	NEST(SMC_NLA_LGR_R_V2_COMMON, v2_fields),
	FLAG(SMC_NLA_LGR_R_V2_COMMON, struct linkgroup, has_v2),
	NEST(SMC_NLA_LGR_R_V2, r_v2_fields),
	FLAG(SMC_NLA_LGR_R_V2, struct linkgroup, has_r_v2),
	NUMBER(SMC_NLA_LGR_R_NET_COOKIE, struct linkgroup, net_cookie),
	NUMBER(SMC_NLA_LGR_R_BUF_TYPE, struct linkgroup, buf_type),
	FLAG(SMC_NLA_LGR_R_BUF_TYPE, struct linkgroup, has_buf_type),
	NUMBER(SMC_NLA_LGR_R_SNDBUF_ALLOC, struct linkgroup, sndbuf_alloc),
	NUMBER(SMC_NLA_LGR_R_RMB_ALLOC, struct linkgroup, rcvbuf_alloc),
	FLAG(SMC_NLA_LGR_R_RMB_ALLOC, struct linkgroup, has_alloc),
	{ }
};

static const struct field linkgroup_d_fields[] = {
	NUMBER(SMC_NLA_LGR_D_ID, struct linkgroup, id),
	NUMBER(SMC_NLA_LGR_D_GID, struct linkgroup, gid),
	NUMBER(SMC_NLA_LGR_D_PEER_GID, struct linkgroup, peer_gid),
	NUMBER(SMC_NLA_LGR_D_EXT_GID, struct linkgroup, ext_gid),
	NUMBER(SMC_NLA_LGR_D_PEER_EXT_GID, struct linkgroup, peer_ext_gid),
	NUMBER(SMC_NLA_LGR_D_VLAN_ID, struct linkgroup, vlan),
	NUMBER(SMC_NLA_LGR_D_CONNS_NUM, struct linkgroup, conns),
	TEXT(SMC_NLA_LGR_D_PNETID, struct linkgroup, pnetid),
	NUMBER(SMC_NLA_LGR_D_CHID, struct linkgroup, chid),
	NEST(SMC_NLA_LGR_D_V2_COMMON, v2_fields),
	FLAG(SMC_NLA_LGR_D_V2_COMMON, struct linkgroup, has_v2),
	NUMBER(SMC_NLA_LGR_D_SNDBUF_ALLOC, struct linkgroup, sndbuf_alloc),
	NUMBER(SMC_NLA_LGR_D_DMB_ALLOC, struct linkgroup, rcvbuf_alloc),
	FLAG(SMC_NLA_LGR_D_DMB_ALLOC, struct linkgroup, has_alloc),
	{ }
};

int linkgroups_read(struct genl *genl, enum smc_kind kind, struct array *groups)
{
	if (kind == SMC_D)
		return genl_list(genl, SMC_NETLINK_GET_LGR_SMCD, SMC_GEN_LGR_SMCD,
				 linkgroup_d_fields, groups);
	return genl_list(genl, SMC_NETLINK_GET_LGR_SMCR, SMC_GEN_LGR_SMCR, linkgroup_r_fields,
			 groups);
}

static bool group_fits(const struct linkgroup *g, const struct array *links, const struct filter *f)
{
	size_t i;

	if (f->by_id && g->id != f->id)
		return false;
	if (!f->netdev && !f->ibdev)
		return true;
	for (i = 0; i < links->count; i++) {
		const struct link *link = array_item(links, i);

		if (link->group == g->id && link_fits(link, f))
			return true;
	}
	return false;
}

void linkgroups_filter(struct array *groups, const struct array *links, const struct filter *filter)
{
	struct linkgroup *all = groups->items;
	size_t i, count = 0;

	for (i = 0; i < groups->count; i++)
		if (group_fits(&all[i], links, filter))
			all[count++] = all[i];
	groups->count = count;
}

/* ---- words --------------------------------------------------------------------- */

/* RFC 7609, 2.2.1; ASYMP and ASYML: the peer or this host uses one port for both links */
const char *linkgroup_type(uint8_t type, char room[16])
{
	static const char * const names[] = { "NONE", "SINGLE", "SYM", "ASYMP", "ASYML" };

	if (type < sizeof(names) / sizeof(names[0]))
		return names[type];
	snprintf(room, 16, "type %u", type);
	return room;
}

const char *linkgroup_role(uint8_t role)
{
	return role ? "SERV" : "CLNT";
}

/* codes of the First Contact Extension of SMC version 2 */
static const char *os_name(uint8_t os, char room[16])
{
	static const char * const names[] = { [1] = "z/OS", [2] = "Linux", [3] = "AIX" };

	if (os < sizeof(names) / sizeof(names[0]) && names[os])
		return names[os];
	snprintf(room, 16, os == 15 ? "unknown" : "OS %u", os);
	return room;
}

/* net.smc.smcr_buf_type */
static const char *buf_type_name(uint8_t type)
{
	static const char * const names[] = { "phys", "virt", "mixed" };

	return type < 3 ? names[type] : "?";
}

/* ---- text ---------------------------------------------------------------------- */

static void negotiated_titles(struct text_table *t)
{
	table_column(t, "Version", 7, ALIGN_RIGHT, 2);
	table_column(t, "Peer-OS", 7, ALIGN_LEFT, 2);
	table_column(t, "Peer-Host", 16, ALIGN_LEFT, 2);
	table_column(t, "EID", 0, ALIGN_LEFT, 2);
}

static void negotiated_cells(struct text_table *t, const struct linkgroup *g)
{
	char room[16];

	if (!g->has_v2 || !g->version) {
		table_cell(t, "1");
		table_cell(t, "n/a");
		table_cell(t, "n/a");
		table_cell(t, "n/a");
		return;
	}
	table_cell(t, "%u.%u", g->version, g->release);
	table_cell(t, "%s", os_name(g->os, room));
	table_cell(t, "%s", g->peer_host);
	table_cell(t, "%s", g->eid);
}

static void alloc_cells(struct text_table *t, const struct linkgroup *g)
{
	if (!g->has_alloc) {
		table_cell(t, "n/a");
		table_cell(t, "n/a");
		return;
	}
	table_cell(t, "%llu", (unsigned long long)g->sndbuf_alloc);
	table_cell(t, "%llu", (unsigned long long)g->rcvbuf_alloc);
}

static void smcr_titles(struct text_table *t, int details)
{
	table_column(t, "LG-ID", 8, ALIGN_LEFT, 1);
	table_column(t, "LG-Role", 7, ALIGN_LEFT, 2);
	table_column(t, "LG-Type", 7, ALIGN_LEFT, 2);
	table_column(t, "VLAN", 4, ALIGN_RIGHT, 2);
	table_column(t, "#Conns", 6, ALIGN_RIGHT, 2);
	table_column(t, "PNET-ID", details ? 16 : 0, ALIGN_LEFT, 2);
	if (details)
		negotiated_titles(t);
	if (details < 2)
		return;
	table_column(t, "Direct", 0, ALIGN_RIGHT, 2);
	table_column(t, "Max-Conns", 0, ALIGN_RIGHT, 2);
	table_column(t, "Max-Links", 0, ALIGN_RIGHT, 2);
	table_column(t, "Net-Cookie", 0, ALIGN_RIGHT, 2);
	table_column(t, "Buf-Type", 0, ALIGN_LEFT, 2);
	table_column(t, "Sndbuf-Bytes", 0, ALIGN_RIGHT, 2);
	table_column(t, "RMB-Bytes", 0, ALIGN_RIGHT, 2);
}

static void smcr_more_cells(struct text_table *t, const struct linkgroup *g)
{
	if (g->has_r_v2) {
		table_cell(t, "%s", g->direct ? "Yes" : "No");
		table_cell(t, "%u", g->max_conns);
		table_cell(t, "%u", g->max_links);
	} else {
		table_cell(t, "n/a");
		table_cell(t, "n/a");
		table_cell(t, "n/a");
	}
	table_cell(t, "%llu", (unsigned long long)g->net_cookie);
	table_cell(t, "%s", g->has_buf_type ? buf_type_name(g->buf_type) : "n/a");
	alloc_cells(t, g);
}

static void smcr_cells(struct text_table *t, const struct linkgroup *g, int details)
{
	char room[16];

	table_cell(t, "%08x", g->id);
	table_cell(t, "%s", linkgroup_role(g->role));
	table_cell(t, "%s", linkgroup_type(g->type, room));
	table_cell(t, "%u", g->vlan);
	table_cell(t, "%u", g->conns);
	table_cell(t, "%s", g->pnetid);
	if (details)
		negotiated_cells(t, g);
	if (details > 1)
		smcr_more_cells(t, g);
}

static void smcd_titles(struct text_table *t, int details)
{
	table_column(t, "LG-ID", 8, ALIGN_LEFT, 1);
	table_column(t, "VLAN", 4, ALIGN_RIGHT, 2);
	table_column(t, "#Conns", 6, ALIGN_RIGHT, 2);
	table_column(t, "PNET-ID", details ? 16 : 0, ALIGN_LEFT, 2);
	if (!details)
		return;
	negotiated_titles(t);
	table_column(t, "CHID", 4, ALIGN_LEFT, 2);
	table_column(t, "GID", 16, ALIGN_LEFT, 2);
	table_column(t, "Peer-GID", 16, ALIGN_LEFT, 2);
	if (details < 2)
		return;
	table_column(t, "Ext-GID", 16, ALIGN_LEFT, 2);
	table_column(t, "Peer-Ext-GID", 16, ALIGN_LEFT, 2);
	table_column(t, "Sndbuf-Bytes", 0, ALIGN_RIGHT, 2);
	table_column(t, "DMB-Bytes", 0, ALIGN_RIGHT, 2);
}

static void smcd_cells(struct text_table *t, const struct linkgroup *g, int details)
{
	table_cell(t, "%08x", g->id);
	table_cell(t, "%u", g->vlan);
	table_cell(t, "%u", g->conns);
	table_cell(t, "%s", g->pnetid);
	if (!details)
		return;
	negotiated_cells(t, g);
	table_cell(t, "%04x", g->chid);
	table_cell(t, "%016llx", (unsigned long long)g->gid);
	table_cell(t, "%016llx", (unsigned long long)g->peer_gid);
	if (details < 2)
		return;
	table_cell(t, "%016llx", (unsigned long long)g->ext_gid);
	table_cell(t, "%016llx", (unsigned long long)g->peer_ext_gid);
	alloc_cells(t, g);
}

void linkgroups_print(FILE *out, enum smc_kind kind, const struct array *groups, int details)
{
	struct text_table *t = table_new();
	size_t i;

	(kind == SMC_D ? smcd_titles : smcr_titles)(t, details);
	for (i = 0; i < groups->count; i++) {
		(kind == SMC_D ? smcd_cells : smcr_cells)(t, array_item(groups, i), details);
		table_row(t);
	}
	table_print(t, out, true);
	table_free(t);
}

/* ---- JSON ---------------------------------------------------------------------- */

static void json_negotiated(struct json *json, const struct linkgroup *g)
{
	char room[16];

	json_number(json, "version", g->has_v2 && g->version ? g->version : 1);
	if (!g->has_v2 || !g->version)
		return;
	json_number(json, "release", g->release);
	json_text(json, "eid", g->eid);
	json_text(json, "peer_host", g->peer_host);
	json_text(json, "peer_os", os_name(g->os, room));
}

static void json_smcr(struct json *json, const struct linkgroup *g)
{
	char room[16];

	json_text(json, "role", g->role ? "server" : "client");
	json_text(json, "type", linkgroup_type(g->type, room));
	json_number(json, "net_cookie", g->net_cookie);
	if (g->has_r_v2) {
		json_bool(json, "direct", g->direct);
		json_number(json, "max_connections", g->max_conns);
		json_number(json, "max_links", g->max_links);
	}
	if (g->has_buf_type)
		json_text(json, "buffer_type", buf_type_name(g->buf_type));
}

static void json_smcd(struct json *json, const struct linkgroup *g)
{
	json_hex(json, "chid", 4, g->chid);
	json_hex(json, "gid", 16, g->gid);
	json_hex(json, "peer_gid", 16, g->peer_gid);
	json_hex(json, "ext_gid", 16, g->ext_gid);
	json_hex(json, "peer_ext_gid", 16, g->peer_ext_gid);
}

void linkgroups_json(FILE *out, enum smc_kind kind, const struct array *groups)
{
	struct json json;
	size_t i;

	json_begin(&json, out);
	json_list(&json, "linkgroups");
	for (i = 0; i < groups->count; i++) {
		const struct linkgroup *g = array_item(groups, i);

		json_object(&json, NULL);
		json_hex(&json, "id", 8, g->id);
		json_number(&json, "vlan", g->vlan);
		json_number(&json, "connections", g->conns);
		json_text(&json, "pnetid", g->pnetid);
		json_negotiated(&json, g);
		(kind == SMC_D ? json_smcd : json_smcr)(&json, g);
		if (g->has_alloc) {
			json_number(&json, "sndbuf_bytes", g->sndbuf_alloc);
			json_number(&json, "rcvbuf_bytes", g->rcvbuf_alloc);
		}
		json_object_end(&json);
	}
	json_list_end(&json);
	json_end(&json);
}
