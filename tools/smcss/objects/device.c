// SPDX-License-Identifier: GPL-2.0
/* Devices of SMC-D (ISM, loopback) and SMC-R (RDMA). */
#include <string.h>

#include "genl.h"
#include "json_writer.h"
#include "objects.h"
#include "text_table.h"

#define PORT_FIELDS(number) \
static const struct field port##number##_fields[] = { \
	NUMBER(SMC_NLA_DEV_PORT_PNET_USR, struct device, ports[number].by_user), \
	TEXT(SMC_NLA_DEV_PORT_PNETID, struct device, ports[number].pnetid), \
	NUMBER(SMC_NLA_DEV_PORT_NETDEV, struct device, ports[number].ifindex), \
	NUMBER(SMC_NLA_DEV_PORT_STATE, struct device, ports[number].state), \
	NUMBER(SMC_NLA_DEV_PORT_VALID, struct device, ports[number].valid), \
	NUMBER(SMC_NLA_DEV_PORT_LNK_CNT, struct device, ports[number].links), \
	{ } \
}

PORT_FIELDS(0);
PORT_FIELDS(1);

static const struct field device_fields[] = {
	NUMBER(SMC_NLA_DEV_USE_CNT, struct device, users),
	NUMBER(SMC_NLA_DEV_IS_CRIT, struct device, critical),
	NUMBER(SMC_NLA_DEV_PCI_FID, struct device, fid),
	NUMBER(SMC_NLA_DEV_PCI_CHID, struct device, chid),
	NUMBER(SMC_NLA_DEV_PCI_VENDOR, struct device, vendor),
	NUMBER(SMC_NLA_DEV_PCI_DEVICE, struct device, device),
	FLAG(SMC_NLA_DEV_PCI_DEVICE, struct device, has_pci),
	TEXT(SMC_NLA_DEV_PCI_ID, struct device, pci_id),
	TEXT(SMC_NLA_DEV_IB_NAME, struct device, name),
	NEST(SMC_NLA_DEV_PORT, port0_fields),
	FLAG(SMC_NLA_DEV_PORT, struct device, ports[0].present),
	NEST(SMC_NLA_DEV_PORT2, port1_fields),
	FLAG(SMC_NLA_DEV_PORT2, struct device, ports[1].present),
	{ }
};

int devices_read(struct genl *genl, enum smc_kind kind, struct array *devices)
{
	if (kind == SMC_D)
		return genl_list(genl, SMC_NETLINK_GET_DEV_SMCD, SMC_GEN_DEV_SMCD, device_fields,
				 devices);
	return genl_list(genl, SMC_NETLINK_GET_DEV_SMCR, SMC_GEN_DEV_SMCR, device_fields, devices);
}

/* Only SMC-R reports whether a port is valid; the port of an SMC-D device always is. */
static bool port_shown(const struct port *port, enum smc_kind kind)
{
	return port->present && (kind == SMC_D || port->valid);
}

/* Drops ports that do not match, then devices without ports. */
void devices_filter(struct array *devices, const struct filter *f)
{
	struct device *all = devices->items;
	size_t i, p, count = 0;

	if (!f->netdev && !f->ibdev)
		return;
	for (i = 0; i < devices->count; i++) {
		struct device *d = &all[i];

		for (p = 0; p < 2; p++)
			if (f->netdev && !netdev_is(d->ports[p].ifindex, f->netdev))
				d->ports[p].valid = false;
		if ((!f->ibdev || !strcmp(d->name, f->ibdev)) &&
		    (d->ports[0].valid || d->ports[1].valid))
			all[count++] = *d;
	}
	devices->count = count;
}

#define CHID_LOOPBACK	0xffff

bool device_is_loopback(const struct device *d)
{
	return !d->vendor && !d->device && d->chid == CHID_LOOPBACK;
}

/* Names for the PCI IDs that smc-tools names, and for ours; others are shown as numbers. */
static const char *type_name(const struct device *d, enum smc_kind kind, char room[16])
{
	static const struct {
		uint16_t vendor, device;
		const char *name;
	} types[] = {
		{ 0x15b3, 0x1003, "RoCE_Express" },
		{ 0x15b3, 0x1004, "RoCE_Express" },
		{ 0x15b3, 0x1016, "RoCE_Express2" },
		{ 0x15b3, 0x101e, "RoCE_Express3" },
		{ 0x1014, 0x04ed, "ISM" },
		{ 0x1af4, 0x1110, "ivshmem" },
		{ 0x1af4, 0x106b, "virtio-ism" },
		{ 0x1af4, 0x106c, "virtio-ism" },
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].vendor == d->vendor && types[i].device == d->device)
			return types[i].name;
	if (!d->vendor && !d->device && kind == SMC_D)
		return device_is_loopback(d) ? "loopback" : "ISM";
	if (!d->vendor && !d->device)
		return "software";
	snprintf(room, 16, "0x%04x", d->device);
	return room;
}

static const char *state_name(uint8_t state)
{
	return state == 1 ? "ACTIVE" : "INACTIVE";
}

/* An asterisk marks a PNETID that was set by the user. */
static void pnetid_cell(struct text_table *t, const struct port *port)
{
	table_cell(t, "%s%s", port->by_user && port->pnetid[0] ? "*" : "", port->pnetid);
}

/* ---- SMC-R: one line for each port --------------------------------------------- */

static void smcr_titles(struct text_table *t, int details)
{
	table_column(t, "Net-Dev", 15, ALIGN_LEFT, 1);
	table_column(t, "IB-Dev", 8, ALIGN_LEFT, 1);
	table_column(t, "IB-P", 4, ALIGN_RIGHT, 2);
	table_column(t, "IB-State", 8, ALIGN_RIGHT, 2);
	table_column(t, "Type", 13, ALIGN_LEFT, 1);
	table_column(t, "Crit", 4, ALIGN_RIGHT, 2);
	table_column(t, "#Links", 6, ALIGN_RIGHT, 2);
	table_column(t, "PNET-ID", details ? 16 : 0, ALIGN_LEFT, 2);
	if (details) {
		table_column(t, "FID", 4, ALIGN_LEFT, 2);
		table_column(t, "PCI-ID", 12, ALIGN_LEFT, 2);
		table_column(t, "PCHID", 5, ALIGN_LEFT, 2);
	}
}

static void smcr_rows(struct text_table *t, const struct device *d, int details)
{
	char room[32];
	int i;

	for (i = 0; i < 2; i++) {
		const struct port *port = &d->ports[i];

		if (!port_shown(port, SMC_R))
			continue;
		table_cell(t, "%s", netdev_name(port->ifindex, room));
		table_cell(t, "%s", d->name);
		table_cell(t, "%d", i + 1);
		table_cell(t, "%s", state_name(port->state));
		table_cell(t, "%s", type_name(d, SMC_R, room));
		table_cell(t, "%s", d->critical ? "Yes" : "No");
		table_cell(t, "%u", port->links);
		pnetid_cell(t, port);
		if (details) {
			table_cell(t, d->has_pci ? "%04x" : "n/a", d->fid);
			table_cell(t, "%s", d->pci_id[0] ? d->pci_id : "n/a");
			table_cell(t, d->has_pci ? "%04x" : "n/a", d->chid);
		}
		table_row(t);
	}
}

/* ---- SMC-D --------------------------------------------------------------------- */

static void smcd_titles(struct text_table *t)
{
	table_column(t, "FID", 4, ALIGN_LEFT, 2);
	table_column(t, "Type", 8, ALIGN_LEFT, 2);
	table_column(t, "PCI-ID", 12, ALIGN_LEFT, 2);
	table_column(t, "PCHID", 5, ALIGN_LEFT, 2);
	table_column(t, "InUse", 5, ALIGN_RIGHT, 2);
	table_column(t, "#LGs", 4, ALIGN_RIGHT, 2);
	table_column(t, "PNET-ID", 0, ALIGN_LEFT, 0);
}

static void smcd_row(struct text_table *t, const struct device *d)
{
	char room[16];

	table_cell(t, "%04x", d->fid);
	table_cell(t, "%s", type_name(d, SMC_D, room));
	table_cell(t, "%s", d->pci_id[0] ? d->pci_id : "n/a");
	table_cell(t, "%04x", d->chid);
	table_cell(t, "%s", d->critical ? "Yes" : "No");
	table_cell(t, "%u", d->users);
	pnetid_cell(t, &d->ports[0]);
	table_row(t);
}

void devices_print(FILE *out, enum smc_kind kind, const struct array *devices, int details)
{
	struct text_table *t = table_new();
	size_t i;

	if (kind == SMC_D)
		smcd_titles(t);
	else
		smcr_titles(t, details);
	for (i = 0; i < devices->count; i++) {
		if (kind == SMC_D)
			smcd_row(t, array_item(devices, i));
		else
			smcr_rows(t, array_item(devices, i), details);
	}
	table_print(t, out, true);
	table_free(t);
}

static void json_ports(struct json *json, const struct device *d, enum smc_kind kind)
{
	char room[32];
	int i;

	json_list(json, "ports");
	for (i = 0; i < 2; i++) {
		const struct port *port = &d->ports[i];

		if (!port_shown(port, kind))
			continue;
		json_object(json, NULL);
		json_number(json, "port", i + 1);
		json_text(json, "pnetid", port->pnetid);
		json_bool(json, "pnetid_by_user", port->by_user);
		if (kind == SMC_R) {
			json_text(json, "netdev", netdev_name(port->ifindex, room));
			json_text(json, "state", state_name(port->state));
			json_number(json, "links", port->links);
		}
		json_object_end(json);
	}
	json_list_end(json);
}

void devices_json(FILE *out, enum smc_kind kind, const struct array *devices)
{
	struct json json;
	char room[16];
	size_t i;

	json_begin(&json, out);
	json_list(&json, "devices");
	for (i = 0; i < devices->count; i++) {
		const struct device *d = array_item(devices, i);

		json_object(&json, NULL);
		if (kind == SMC_R)
			json_text(&json, "device", d->name);
		json_text(&json, "type", type_name(d, kind, room));
		json_bool(&json, kind == SMC_R ? "critical" : "in_use", d->critical);
		if (kind == SMC_D)
			json_number(&json, "linkgroups", d->users);
		if (d->has_pci) {
			json_hex(&json, "fid", 8, d->fid);
			json_hex(&json, "chid", 4, d->chid);
			json_hex(&json, "pci_vendor", 4, d->vendor);
			json_hex(&json, "pci_device", 4, d->device);
		}
		if (d->pci_id[0])
			json_text(&json, "pci_id", d->pci_id);
		json_ports(&json, d, kind);
		json_object_end(&json);
	}
	json_list_end(&json);
	json_end(&json);
}
