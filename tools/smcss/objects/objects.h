/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The objects of SMC_GEN_NETLINK as structures: read from the kernel, shown as text or JSON.
 * Functions that read return 0 or an errno.
 */
#ifndef SMC_TOOLS_OBJECTS_H
#define SMC_TOOLS_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/smc.h>

#include "array.h"
#include "pnet_table.h"

#define EID_ROOM	(SMC_MAX_EID_LEN + 1)
#define HOST_ROOM	(SMC_MAX_HOSTNAME_LEN + 1)
#define GID_ROOM	40
#define DEVICE_ROOM	64
#define VERSION_ROOM	32

struct genl;

enum smc_kind { SMC_D, SMC_R };

/* info.c */
struct sysinfo {
	uint8_t version;
	uint8_t release;
	bool ism_v2;
	bool smcr_v2;
	uint32_t rdma_devices;
	uint32_t ism_devices;		/* without loopback */
	bool loopback;
	char host[HOST_ROOM];
	char seid[EID_ROOM];		/* "": this host has none */
	bool has_hs_limit;
	bool hs_limit;
	bool has_hs_pending;
	uint32_t hs_pending;
	uint32_t hs_threshold;
	bool has_memory;
	uint64_t memory_used;		/* bytes */
	uint64_t memory_max;
	bool has_host_memory;
	uint64_t host_memory_used;	/* by all namespaces together */
	uint64_t host_memory_max;
	char module_version[VERSION_ROOM];	/* "": the module does not report it */
	bool has_tcp_option;
	uint8_t tcp_option;		/* enum smc_tcp_option_way */
	bool tcp_option_in_place;
};
int sysinfo_read(struct genl *genl, struct sysinfo *info);
/* The version of the module, or words that say which module it is. */
const char *sysinfo_module(const struct sysinfo *info);
void sysinfo_print(FILE *out, const struct sysinfo *info);
void sysinfo_json(FILE *out, const struct sysinfo *info);

/* linkgroup.c */
struct linkgroup {
	uint32_t id;
	uint8_t role;
	uint8_t type;
	char pnetid[PNETID_ROOM];
	uint16_t vlan;
	uint32_t conns;
	bool has_v2;
	uint8_t version;
	uint8_t release;
	uint8_t os;
	char eid[EID_ROOM];
	char peer_host[HOST_ROOM];
	bool has_r_v2;
	uint8_t direct;
	uint8_t max_conns;
	uint8_t max_links;
	uint64_t net_cookie;
	bool has_buf_type;
	uint8_t buf_type;
	bool has_alloc;
	uint64_t sndbuf_alloc;
	uint64_t rcvbuf_alloc;		/* RMBs or DMBs */
	uint64_t gid;			/* this and the rest: SMC-D */
	uint64_t peer_gid;
	uint64_t ext_gid;
	uint64_t peer_ext_gid;
	uint16_t chid;
};

struct link {
	uint32_t group;
	uint8_t role;		/* of the group */
	uint8_t type;
	uint8_t id;
	char dev[DEVICE_ROOM];
	uint8_t port;
	char gid[GID_ROOM];
	char peer_gid[GID_ROOM];
	uint32_t conns;
	uint32_t ifindex;
	uint32_t uid;
	uint32_t peer_uid;
	uint32_t state;
};

/* Selects objects; without any criterion all of them. */
struct filter {
	bool by_id;
	uint32_t id;
	const char *netdev;
	const char *ibdev;
};

int linkgroups_read(struct genl *genl, enum smc_kind kind, struct array *groups);
int links_read(struct genl *genl, struct array *links);
/* Drops objects that do not match. A link group matches if one of its links does. */
void linkgroups_filter(struct array *groups, const struct array *links,
		       const struct filter *filter);
void links_filter(struct array *links, const struct filter *filter);
void linkgroups_print(FILE *out, enum smc_kind kind, const struct array *groups, int details);
void linkgroups_json(FILE *out, enum smc_kind kind, const struct array *groups);
void links_print(FILE *out, const struct array *links, int details);
void links_json(FILE *out, const struct array *links);

/* device.c */
struct port {
	bool present;
	bool valid;
	bool by_user;
	char pnetid[PNETID_ROOM];
	uint32_t ifindex;
	uint8_t state;
	uint32_t links;
};

struct device {
	uint32_t users;
	uint8_t critical;
	bool has_pci;
	uint32_t fid;
	uint16_t chid;
	uint16_t vendor;
	uint16_t device;
	char pci_id[SMC_PCI_ID_STR_LEN + 1];
	char name[DEVICE_ROOM];
	struct port ports[2];
};
int devices_read(struct genl *genl, enum smc_kind kind, struct array *devices);
/* Is it the SMC-D loopback device, which needs no hardware? */
bool device_is_loopback(const struct device *device);
void devices_filter(struct array *devices, const struct filter *filter);
void devices_print(FILE *out, enum smc_kind kind, const struct array *devices, int details);
void devices_json(FILE *out, enum smc_kind kind, const struct array *devices);

/* eid.c */
struct eid {
	char text[EID_ROOM];
};

struct seid {
	char text[EID_ROOM];
	bool enabled;
};
int ueids_read(struct genl *genl, struct array *eids);
int ueid_change(struct genl *genl, uint8_t command, const char *eid);	/* eid NULL: flush */
int seid_read(struct genl *genl, struct seid *seid);
int seid_change(struct genl *genl, uint8_t command);
bool eid_valid(const char *eid);
void ueids_print(FILE *out, const struct array *eids);
void ueids_json(FILE *out, const struct array *eids);
void seid_print(FILE *out, const struct seid *seid);
void seid_json(FILE *out, const struct seid *seid);

/* netdev.c: an unknown netdev is shown as "if7" */
const char *netdev_name(uint32_t ifindex, char room[32]);
bool netdev_is(uint32_t ifindex, const char *name);

#endif /* SMC_TOOLS_OBJECTS_H */
