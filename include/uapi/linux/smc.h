/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Shared Memory Communications: the netlink interfaces and socket options.
 *
 * Two generic netlink families: SMC_PNETID edits the table of devices that share a physical
 * network. SMC_GEN_NETLINK shows everything except sockets (for sockets, see smc_diag.h) and edits
 * EIDs and handshake limitation.
 *
 * Numbers and names are those of every Linux with SMC, so that programs work with either module.
 * Additions of this module always have new numbers.
 */
#ifndef _UAPI_LINUX_SMC_H
#define _UAPI_LINUX_SMC_H

#include <linux/types.h>

/* SMC_PNETID: attributes of a table entry. */
enum {
	SMC_PNETID_UNSPEC,
	SMC_PNETID_NAME,
	SMC_PNETID_ETHNAME,
	SMC_PNETID_IBNAME,
	SMC_PNETID_IBPORT,
	__SMC_PNETID_MAX,
	SMC_PNETID_MAX = __SMC_PNETID_MAX - 1,
};

/* SMC_PNETID: commands. */
enum {
	SMC_PNETID_GET = 1,
	SMC_PNETID_ADD,
	SMC_PNETID_DEL,
	SMC_PNETID_FLUSH,
};

#define SMCR_GENL_FAMILY_NAME		"SMC_PNETID"
#define SMCR_GENL_FAMILY_VERSION	1

#define SMC_GENL_FAMILY_NAME		"SMC_GEN_NETLINK"
#define SMC_GENL_EVENTS_NAME		"events"	/* multicast group of that family */
#define SMC_GENL_FAMILY_VERSION		1

/* Sizes of strings (without the terminating 0) and tables. */
#define SMC_PCI_ID_STR_LEN		16
#define SMC_MAX_HOSTNAME_LEN		32
#define SMC_MAX_EID_LEN			32
#define SMC_MAX_UEID			4	/* limit of the kernel's own module; here it is 8 */

/* SMC_GEN_NETLINK: commands. */
enum {
	SMC_NETLINK_GET_SYS_INFO = 1,
	SMC_NETLINK_GET_LGR_SMCR,
	SMC_NETLINK_GET_LINK_SMCR,
	SMC_NETLINK_GET_LGR_SMCD,
	SMC_NETLINK_GET_DEV_SMCD,
	SMC_NETLINK_GET_DEV_SMCR,
	SMC_NETLINK_GET_STATS,
	SMC_NETLINK_GET_FBACK_STATS,
	SMC_NETLINK_DUMP_UEID,
	SMC_NETLINK_ADD_UEID,
	SMC_NETLINK_REMOVE_UEID,
	SMC_NETLINK_FLUSH_UEID,
	SMC_NETLINK_DUMP_SEID,
	SMC_NETLINK_ENABLE_SEID,
	SMC_NETLINK_DISABLE_SEID,
	SMC_NETLINK_DUMP_HS_LIMITATION,
	SMC_NETLINK_ENABLE_HS_LIMITATION,
	SMC_NETLINK_DISABLE_HS_LIMITATION,

	/* Commands added by this module start at 128. */
	SMC_NETLINK_GET_FILTER = 128,
	SMC_NETLINK_ADD_FILTER,
	SMC_NETLINK_DEL_FILTER,
	SMC_NETLINK_FLUSH_FILTER,
	SMC_NETLINK_GET_AUTOCACHE = 136,
	SMC_NETLINK_FLUSH_AUTOCACHE,
	SMC_NETLINK_GET_AUTOSMC = 144,
	SMC_NETLINK_FLUSH_AUTOSMC,
	SMC_NETLINK_EVENT = 152,
};

/* SMC_GEN_NETLINK: top level attributes, all of them nests. */
enum {
	SMC_GEN_UNSPEC,
	SMC_GEN_SYS_INFO,
	SMC_GEN_LGR_SMCR,
	SMC_GEN_LINK_SMCR,
	SMC_GEN_LGR_SMCD,
	SMC_GEN_DEV_SMCD,
	SMC_GEN_DEV_SMCR,
	SMC_GEN_STATS,
	SMC_GEN_FBACK_STATS,
	__SMC_GEN_MAX,
	SMC_GEN_MAX = __SMC_GEN_MAX - 1,

	/* Added by this module. */
	SMC_GEN_FILTER = 64,
	SMC_GEN_AUTOCACHE,
	SMC_GEN_AUTOSMC,
	SMC_GEN_EVENT,
};

/* In SMC_GEN_SYS_INFO: capabilities of this host. */
enum {
	SMC_NLA_SYS_UNSPEC,
	SMC_NLA_SYS_VER,		/* u8 */
	SMC_NLA_SYS_REL,		/* u8 */
	SMC_NLA_SYS_IS_ISM_V2,		/* u8 */
	SMC_NLA_SYS_LOCAL_HOST,		/* string */
	SMC_NLA_SYS_SEID,		/* string */
	SMC_NLA_SYS_IS_SMCR_V2,		/* u8 */
	__SMC_NLA_SYS_MAX,
	SMC_NLA_SYS_MAX = __SMC_NLA_SYS_MAX - 1,

	/* Added by this module; values of the requester's namespace. */
	SMC_NLA_SYS_MEM_USED = 64,	/* u64: bytes of all buffers */
	SMC_NLA_SYS_MEM_LIMIT,		/* u64: limit of MEM_USED, net.smc.mem_max */
	SMC_NLA_SYS_PAD,
	SMC_NLA_SYS_HOST_MEM_USED,	/* u64: bytes of all buffers of the host */
	SMC_NLA_SYS_HOST_MEM_LIMIT,	/* u64: limit of HOST_MEM_USED, net.smc.mem_max_host */
	SMC_NLA_SYS_MODULE_VERSION,	/* string: version of this module, as in modinfo */
	SMC_NLA_SYS_TCP_OPTION,		/* u8: enum smc_tcp_option_way */
	SMC_NLA_SYS_TCP_OPTION_IN_PLACE, /* u8: 1 if it is set up in this namespace */
};

/* How TCP option 254 gets into SYN and SYN-ACK. */
enum smc_tcp_option_way {
	SMC_TCP_OPTION_BY_NONE,		/* not at all: only local connections are SMC */
	SMC_TCP_OPTION_BY_HOOKS,	/* by TCP's own hooks, CONFIG_SMC */
	SMC_TCP_OPTION_BY_NETFILTER,	/* by this module, in a netfilter hook */
};

/* In SMC_NLA_LGR_{R,D}_V2_COMMON: the result of an SMCv2 link group's negotiation. */
enum {
	SMC_NLA_LGR_V2_VER,		/* u8 */
	SMC_NLA_LGR_V2_REL,		/* u8 */
	SMC_NLA_LGR_V2_OS,		/* u8 */
	SMC_NLA_LGR_V2_NEG_EID,		/* string */
	SMC_NLA_LGR_V2_PEER_HOST,	/* string */
	__SMC_NLA_LGR_V2_MAX,
	SMC_NLA_LGR_V2_MAX = __SMC_NLA_LGR_V2_MAX - 1,
};

/* In SMC_NLA_LGR_R_V2: SMC-Rv2 only. */
enum {
	SMC_NLA_LGR_R_V2_UNSPEC,
	SMC_NLA_LGR_R_V2_DIRECT,	/* u8 */
	SMC_NLA_LGR_R_V2_MAX_CONNS,	/* u8 */
	SMC_NLA_LGR_R_V2_MAX_LINKS,	/* u8 */
	__SMC_NLA_LGR_R_V2_MAX,
	SMC_NLA_LGR_R_V2_MAX = __SMC_NLA_LGR_R_V2_MAX - 1,
};

/* In SMC_GEN_LGR_SMCR: a link group over RDMA. */
enum {
	SMC_NLA_LGR_R_UNSPEC,
	SMC_NLA_LGR_R_ID,		/* u32 */
	SMC_NLA_LGR_R_ROLE,		/* u8 */
	SMC_NLA_LGR_R_TYPE,		/* u8 */
	SMC_NLA_LGR_R_PNETID,		/* string */
	SMC_NLA_LGR_R_VLAN_ID,		/* u8 */
	SMC_NLA_LGR_R_CONNS_NUM,	/* u32 */
	SMC_NLA_LGR_R_V2_COMMON,	/* nest */
	SMC_NLA_LGR_R_V2,		/* nest */
	SMC_NLA_LGR_R_NET_COOKIE,	/* u64 */
	SMC_NLA_LGR_R_PAD,		/* flag */
	SMC_NLA_LGR_R_BUF_TYPE,		/* u8 */
	SMC_NLA_LGR_R_SNDBUF_ALLOC,	/* uint: bytes */
	SMC_NLA_LGR_R_RMB_ALLOC,	/* uint: bytes */
	__SMC_NLA_LGR_R_MAX,
	SMC_NLA_LGR_R_MAX = __SMC_NLA_LGR_R_MAX - 1,
};

/* In SMC_GEN_LINK_SMCR: a link of the link group. */
enum {
	SMC_NLA_LINK_UNSPEC,
	SMC_NLA_LINK_ID,		/* u8 */
	SMC_NLA_LINK_IB_DEV,		/* string */
	SMC_NLA_LINK_IB_PORT,		/* u8 */
	SMC_NLA_LINK_GID,		/* string */
	SMC_NLA_LINK_PEER_GID,		/* string */
	SMC_NLA_LINK_CONN_CNT,		/* u32 */
	SMC_NLA_LINK_NET_DEV,		/* u32 */
	SMC_NLA_LINK_UID,		/* u32 */
	SMC_NLA_LINK_PEER_UID,		/* u32 */
	SMC_NLA_LINK_STATE,		/* u32 */
	__SMC_NLA_LINK_MAX,
	SMC_NLA_LINK_MAX = __SMC_NLA_LINK_MAX - 1,
};

/* In SMC_GEN_LGR_SMCD: a link group of SMC-D. */
enum {
	SMC_NLA_LGR_D_UNSPEC,
	SMC_NLA_LGR_D_ID,		/* u32 */
	SMC_NLA_LGR_D_GID,		/* u64 */
	SMC_NLA_LGR_D_PEER_GID,		/* u64 */
	SMC_NLA_LGR_D_VLAN_ID,		/* u8 */
	SMC_NLA_LGR_D_CONNS_NUM,	/* u32 */
	SMC_NLA_LGR_D_PNETID,		/* string */
	SMC_NLA_LGR_D_CHID,		/* u16 */
	SMC_NLA_LGR_D_PAD,		/* flag */
	SMC_NLA_LGR_D_V2_COMMON,	/* nest */
	SMC_NLA_LGR_D_EXT_GID,		/* u64 */
	SMC_NLA_LGR_D_PEER_EXT_GID,	/* u64 */
	SMC_NLA_LGR_D_SNDBUF_ALLOC,	/* uint: bytes */
	SMC_NLA_LGR_D_DMB_ALLOC,	/* uint: bytes */
	__SMC_NLA_LGR_D_MAX,
	SMC_NLA_LGR_D_MAX = __SMC_NLA_LGR_D_MAX - 1,
};

/* In SMC_NLA_DEV_PORT and SMC_NLA_DEV_PORT2: a port of a device. */
enum {
	SMC_NLA_DEV_PORT_UNSPEC,
	SMC_NLA_DEV_PORT_PNET_USR,	/* u8 */
	SMC_NLA_DEV_PORT_PNETID,	/* string */
	SMC_NLA_DEV_PORT_NETDEV,	/* u32 */
	SMC_NLA_DEV_PORT_STATE,		/* u8 */
	SMC_NLA_DEV_PORT_VALID,		/* u8 */
	SMC_NLA_DEV_PORT_LNK_CNT,	/* u32 */
	__SMC_NLA_DEV_PORT_MAX,
	SMC_NLA_DEV_PORT_MAX = __SMC_NLA_DEV_PORT_MAX - 1,
};

/* In SMC_GEN_DEV_SMCD and SMC_GEN_DEV_SMCR: a device. */
enum {
	SMC_NLA_DEV_UNSPEC,
	SMC_NLA_DEV_USE_CNT,		/* u32 */
	SMC_NLA_DEV_IS_CRIT,		/* u8 */
	SMC_NLA_DEV_PCI_FID,		/* u32 */
	SMC_NLA_DEV_PCI_CHID,		/* u16 */
	SMC_NLA_DEV_PCI_VENDOR,		/* u16 */
	SMC_NLA_DEV_PCI_DEVICE,		/* u16 */
	SMC_NLA_DEV_PCI_ID,		/* string */
	SMC_NLA_DEV_PORT,		/* nest */
	SMC_NLA_DEV_PORT2,		/* nest */
	SMC_NLA_DEV_IB_NAME,		/* string */
	__SMC_NLA_DEV_MAX,
	SMC_NLA_DEV_MAX = __SMC_NLA_DEV_MAX - 1,
};

/* In SMC_NLA_STATS_T_*_SIZE: histogram of sizes, by upper bound. */
enum {
	SMC_NLA_STATS_PLOAD_PAD,
	SMC_NLA_STATS_PLOAD_8K,		/* u64 */
	SMC_NLA_STATS_PLOAD_16K,	/* u64 */
	SMC_NLA_STATS_PLOAD_32K,	/* u64 */
	SMC_NLA_STATS_PLOAD_64K,	/* u64 */
	SMC_NLA_STATS_PLOAD_128K,	/* u64 */
	SMC_NLA_STATS_PLOAD_256K,	/* u64 */
	SMC_NLA_STATS_PLOAD_512K,	/* u64 */
	SMC_NLA_STATS_PLOAD_1024K,	/* u64 */
	SMC_NLA_STATS_PLOAD_G_1024K,	/* u64 */
	__SMC_NLA_STATS_PLOAD_MAX,
	SMC_NLA_STATS_PLOAD_MAX = __SMC_NLA_STATS_PLOAD_MAX - 1,
};

/*
 * In SMC_NLA_STATS_T_*_RMB_STATS: how buffers were obtained, and how often they were too small or
 * full.
 */
enum {
	SMC_NLA_STATS_RMB_PAD,
	SMC_NLA_STATS_RMB_SIZE_SM_PEER_CNT,	/* u64 */
	SMC_NLA_STATS_RMB_SIZE_SM_CNT,	/* u64 */
	SMC_NLA_STATS_RMB_FULL_PEER_CNT,	/* u64 */
	SMC_NLA_STATS_RMB_FULL_CNT,	/* u64 */
	SMC_NLA_STATS_RMB_REUSE_CNT,	/* u64 */
	SMC_NLA_STATS_RMB_ALLOC_CNT,	/* u64 */
	SMC_NLA_STATS_RMB_DGRADE_CNT,	/* u64 */
	__SMC_NLA_STATS_RMB_MAX,
	SMC_NLA_STATS_RMB_MAX = __SMC_NLA_STATS_RMB_MAX - 1,
};

/* In SMC_NLA_STATS_SMC{D,R}_TECH: counters of one SMC type. */
enum {
	SMC_NLA_STATS_T_PAD,
	SMC_NLA_STATS_T_TX_RMB_SIZE,	/* nest */
	SMC_NLA_STATS_T_RX_RMB_SIZE,	/* nest */
	SMC_NLA_STATS_T_TXPLOAD_SIZE,	/* nest */
	SMC_NLA_STATS_T_RXPLOAD_SIZE,	/* nest */
	SMC_NLA_STATS_T_TX_RMB_STATS,	/* nest */
	SMC_NLA_STATS_T_RX_RMB_STATS,	/* nest */
	SMC_NLA_STATS_T_CLNT_V1_SUCC,	/* u64 */
	SMC_NLA_STATS_T_CLNT_V2_SUCC,	/* u64 */
	SMC_NLA_STATS_T_SRV_V1_SUCC,	/* u64 */
	SMC_NLA_STATS_T_SRV_V2_SUCC,	/* u64 */
	SMC_NLA_STATS_T_SENDPAGE_CNT,	/* u64 */
	SMC_NLA_STATS_T_SPLICE_CNT,	/* u64 */
	SMC_NLA_STATS_T_CORK_CNT,	/* u64 */
	SMC_NLA_STATS_T_NDLY_CNT,	/* u64 */
	SMC_NLA_STATS_T_URG_DATA_CNT,	/* u64 */
	SMC_NLA_STATS_T_RX_BYTES,	/* u64 */
	SMC_NLA_STATS_T_TX_BYTES,	/* u64 */
	SMC_NLA_STATS_T_RX_CNT,		/* u64 */
	SMC_NLA_STATS_T_TX_CNT,		/* u64 */
	SMC_NLA_STATS_T_RX_RMB_USAGE,	/* uint: bytes */
	SMC_NLA_STATS_T_TX_RMB_USAGE,	/* uint: bytes */
	__SMC_NLA_STATS_T_MAX,
	SMC_NLA_STATS_T_MAX = __SMC_NLA_STATS_T_MAX - 1,
};

/* In SMC_GEN_STATS. */
enum {
	SMC_NLA_STATS_PAD,
	SMC_NLA_STATS_SMCD_TECH,	/* nest */
	SMC_NLA_STATS_SMCR_TECH,	/* nest */
	SMC_NLA_STATS_CLNT_HS_ERR_CNT,	/* u64 */
	SMC_NLA_STATS_SRV_HS_ERR_CNT,	/* u64 */
	__SMC_NLA_STATS_MAX,
	SMC_NLA_STATS_MAX = __SMC_NLA_STATS_MAX - 1,

	/* Added by this module. */
	SMC_NLA_STATS_LINKS_UP = 64,	/* u64: links of SMC-R that came up */
	SMC_NLA_STATS_LINKS_DOWN,	/* u64: links of SMC-R that failed */
	SMC_NLA_STATS_CLNT_PAIRED,	/* u64: local clients that were paired, without CLC */
	SMC_NLA_STATS_SRV_PAIRED,	/* u64: local servers that were paired, without CLC */
	SMC_NLA_STATS_CONNS_MOVED,	/* u64: connections moved from a failed link */
	SMC_NLA_STATS_BYTES_AGAIN,	/* u64: bytes that these connections wrote again */
};

/* In SMC_GEN_FBACK_STATS: how often each reason occurred (see smc_reason.h). */
enum {
	SMC_NLA_FBACK_STATS_PAD,
	SMC_NLA_FBACK_STATS_TYPE,	/* u8 */
	SMC_NLA_FBACK_STATS_SRV_CNT,	/* u64 */
	SMC_NLA_FBACK_STATS_CLNT_CNT,	/* u64 */
	SMC_NLA_FBACK_STATS_RSN_CODE,	/* u32 */
	SMC_NLA_FBACK_STATS_RSN_CNT,	/* u16 */
	__SMC_NLA_FBACK_STATS_MAX,
	SMC_NLA_FBACK_STATS_MAX = __SMC_NLA_FBACK_STATS_MAX - 1,

	/* Added by this module, because RSN_CNT is too small. */
	SMC_NLA_FBACK_STATS_RSN_CNT64 = 64,	/* u64 */
	SMC_NLA_FBACK_STATS_RSN_TEXT,	/* string: the reason in words */
};

/* In replies to SMC_NETLINK_DUMP_UEID, and in requests ADD and REMOVE. */
enum {
	SMC_NLA_EID_TABLE_UNSPEC,
	SMC_NLA_EID_TABLE_ENTRY,	/* string */
	__SMC_NLA_EID_TABLE_MAX,
	SMC_NLA_EID_TABLE_MAX = __SMC_NLA_EID_TABLE_MAX - 1,
};

/* In replies to SMC_NETLINK_DUMP_SEID. */
enum {
	SMC_NLA_SEID_UNSPEC,
	SMC_NLA_SEID_ENTRY,		/* string */
	SMC_NLA_SEID_ENABLED,		/* u8 */
	__SMC_NLA_SEID_TABLE_MAX,
	SMC_NLA_SEID_TABLE_MAX = __SMC_NLA_SEID_TABLE_MAX - 1,
};

/* In replies to SMC_NETLINK_DUMP_HS_LIMITATION. */
enum {
	SMC_NLA_HS_LIMITATION_UNSPEC,
	SMC_NLA_HS_LIMITATION_ENABLED,	/* u8 */
	__SMC_NLA_HS_LIMITATION_MAX,
	SMC_NLA_HS_LIMITATION_MAX = __SMC_NLA_HS_LIMITATION_MAX - 1,

	/* Attributes added by this module always start at 64. */
	SMC_NLA_HS_LIMITATION_PENDING = 64,	/* u32: handshakes in progress */
	SMC_NLA_HS_LIMITATION_THRESHOLD,	/* u32: above it, connections fall back to TCP */
};

/*
 * In SMC_GEN_FILTER: a rule that permits SMC for connections or excludes it; the first matching
 * rule decides. Addresses have 4 or 16 bytes, in network byte order; ports are in host byte order.
 * An attribute that is missing in a request matches every connection.
 */
enum {
	SMC_NLA_FILTER_PAD,
	SMC_NLA_FILTER_ID,		/* u32: assigned by the kernel; in DEL, selects the rule */
	SMC_NLA_FILTER_ACTION,		/* u8: enum smc_filter_action */
	SMC_NLA_FILTER_DIRECTION,	/* u8: enum smc_filter_direction */
	SMC_NLA_FILTER_FAMILY,		/* u8: AF_INET or AF_INET6; default: both */
	SMC_NLA_FILTER_LOCAL_ADDR,	/* binary */
	SMC_NLA_FILTER_LOCAL_PREFIX,	/* u8: number of significant bits; default: all */
	SMC_NLA_FILTER_LOCAL_PORT,	/* u16 */
	SMC_NLA_FILTER_LOCAL_PORT_LAST,	/* u16: end of a range; default: one port */
	SMC_NLA_FILTER_REMOTE_ADDR,	/* binary */
	SMC_NLA_FILTER_REMOTE_PREFIX,	/* u8 */
	SMC_NLA_FILTER_REMOTE_PORT,	/* u16 */
	SMC_NLA_FILTER_REMOTE_PORT_LAST, /* u16 */
	SMC_NLA_FILTER_HITS,		/* u64: connections it has decided; not in requests */
	SMC_NLA_FILTER_BEFORE,		/* u32: in ADD, insert before the rule with this ID */
	__SMC_NLA_FILTER_MAX,
	SMC_NLA_FILTER_MAX = __SMC_NLA_FILTER_MAX - 1,
};

enum smc_filter_action {
	SMC_FILTER_PERMIT = 1,
	SMC_FILTER_EXCLUDE,
};

enum smc_filter_direction {
	SMC_FILTER_IN = 1,		/* connections to listeners of this host */
	SMC_FILTER_OUT,			/* connections made by this host */
	SMC_FILTER_BOTH,
};

/* In SMC_GEN_AUTOCACHE: a destination that does not speak SMC. */
enum {
	SMC_NLA_AUTOCACHE_PAD,
	SMC_NLA_AUTOCACHE_ADDR,		/* binary: 4 or 16 bytes, in network byte order */
	SMC_NLA_AUTOCACHE_PORT,		/* u16 */
	SMC_NLA_AUTOCACHE_REASON,	/* u32: enum smc_reason */
	SMC_NLA_AUTOCACHE_DIAGNOSIS,	/* u32: from the peer's Decline, 0 if there was none */
	SMC_NLA_AUTOCACHE_LEFT,		/* u32: seconds until the entry expires */
	SMC_NLA_AUTOCACHE_HITS,		/* u32: connections that became TCP because of it */
};

/* In SMC_GEN_AUTOSMC: a listener, and whether SMC pays for its connections. */
enum {
	SMC_NLA_AUTOSMC_PAD,
	SMC_NLA_AUTOSMC_ADDR,		/* binary: as AUTOCACHE_ADDR; default: any */
	SMC_NLA_AUTOSMC_PORT,		/* u16 */
	SMC_NLA_AUTOSMC_VERDICT,	/* u8: enum smc_autosmc_verdict */
	SMC_NLA_AUTOSMC_WORTH,		/* u32: percent of break-even */
	SMC_NLA_AUTOSMC_RETRY,		/* u32: TOO_SHORT: seconds until the next attempt of SMC */
	SMC_NLA_AUTOSMC_CONNS,		/* u64: number of connections seen */
	SMC_NLA_AUTOSMC_MESSAGES,	/* u64: average of the latest connections */
	SMC_NLA_AUTOSMC_BYTES,		/* u64: average */
	SMC_NLA_AUTOSMC_MS,		/* u64: average lifetime in ms */
};

enum smc_autosmc_verdict {
	SMC_AUTOSMC_LEARNING = 1,	/* too few connections so far: SMC is offered */
	SMC_AUTOSMC_PAYS,
	SMC_AUTOSMC_TOO_SHORT,		/* not offered, unless net.smc.autosmc only advises */
};

/* In SMC_GEN_EVENT: an event; attributes that do not apply are left out. */
enum {
	SMC_NLA_EVENT_PAD,
	SMC_NLA_EVENT_TYPE,		/* u8: SMC_EVENT_* */
	SMC_NLA_EVENT_TIME,		/* u64: ns since 1970 */
	SMC_NLA_EVENT_ROLE,		/* u8: 1 for server, 0 for client */
	SMC_NLA_EVENT_LGR,		/* u32: number of the link group */
	SMC_NLA_EVENT_TECH,		/* u8: SMC_DIAG_MODE_SMCR or SMC_DIAG_MODE_SMCD */
	SMC_NLA_EVENT_CONNS,		/* u32: connections of the link group */
	SMC_NLA_EVENT_DEV,		/* string: name of the device */
	SMC_NLA_EVENT_LGR_TYPE,		/* u8: as SMC_NLA_LGR_R_TYPE */
	SMC_NLA_EVENT_LINK,		/* u8: number of the link */
	SMC_NLA_EVENT_PORT,		/* u8: port of its device */
	SMC_NLA_EVENT_LOCAL_ADDR,	/* binary: 4 or 16 bytes, in network byte order */
	SMC_NLA_EVENT_LOCAL_PORT,	/* u16 */
	SMC_NLA_EVENT_REMOTE_ADDR,	/* binary: as LOCAL_ADDR */
	SMC_NLA_EVENT_REMOTE_PORT,	/* u16 */
	SMC_NLA_EVENT_REASON,		/* u32: see smc_reason.h */
	SMC_NLA_EVENT_REASON_TEXT,	/* string: the reason in words */
	SMC_NLA_EVENT_DIAGNOSIS,	/* u32: the diagnosis in the peer's Decline */
};

/* SMC_NLA_EVENT_TYPE. */
enum {
	SMC_EVENT_LGR_NEW = 1,		/* a new link group can carry connections */
	SMC_EVENT_LGR_END,		/* a link group ends */
	SMC_EVENT_LINK_UP,		/* a link of a group can carry connections */
	SMC_EVENT_LINK_DOWN,		/* a link has failed */
	SMC_EVENT_FALLBACK,		/* a socket has fallen back to TCP */
};

/* Socket options, level SOL_SMC (286). */
#define SMC_LIMIT_HS	1	/* int: fall back to TCP if too many handshakes are in progress */

/* Added by this module. */
#define SMC_SOCK_INFO	0x100	/* get: struct smc_sockopt_info */

#define SMC_MODE_UNDECIDED	0	/* no connection, or a handshake is in progress */
#define SMC_MODE_SMCR		1
#define SMC_MODE_TCP		2	/* the socket has fallen back to TCP */
#define SMC_MODE_SMCD		3

/**
 * struct smc_sockopt_info - the state of a socket
 * @mode:	SMC_MODE_*
 * @reason:	SMC_MODE_TCP: why the socket is TCP, see smc_reason.h
 * @peer_diagnosis: the reason in the peer's Decline, or 0 if there was none
 * @state:	number of the connection's state, for display, or 0 without a connection; its
 *		meaning may change
 */
struct smc_sockopt_info {
	__u32	mode;
	__u32	reason;
	__u32	peer_diagnosis;
	__u32	state;
};

#endif /* _UAPI_LINUX_SMC_H */
