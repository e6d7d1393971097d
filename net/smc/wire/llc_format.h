/* SPDX-License-Identifier: GPL-2.0 */
/*
 * LLC messages byte for byte.
 *
 * RFC 7609 appendix A.3 (version 1) and the appendix of IBM's "Shared Memory Communications Version
 * 2", 4th edition (version 2). All values are big endian, except where the paper and the incumbent
 * contradict each other: those fields are defined as bytes here, see Documentation/wire.md. All
 * structs have alignment 1, so they can be laid over any byte of a message. The specifications
 * count bits from the most significant one; the definitions here are masks.
 */
#ifndef SMC_WIRE_LLC_FORMAT_H
#define SMC_WIRE_LLC_FORMAT_H

#include "wire.h"

/* First byte: version and type. If the type is unknown, the upper two bits tell what to do. */
#define SMC_LLC_W_TYPE_MASK	0x0f
#define SMC_LLC_W_VERSION_MASK	0xf0
#define SMC_LLC_W_V1		0x00
#define SMC_LLC_W_V2		0x20
#define SMC_LLC_W_KIND_MASK	0xc0
#define SMC_LLC_W_OPTIONAL	0x80	/* discard the message if it is not supported */

struct smc_llc_w_hdr {
	u8 type;
	u8 len[2];			/* version 1: one byte, followed by a reserved one */
	u8 flags;
} __packed;
static_assert(sizeof(struct smc_llc_w_hdr) == 4);

/* smc_llc_w_hdr.flags */
#define SMC_LLC_FL_REPLY	0x80
#define SMC_LLC_FL_LINK_NEG	0x40	/* (Request) Add Link: negative reply */
#define SMC_LLC_FL_RKEY_NEG	0x20	/* Confirm, Delete RKey: negative reply */
#define SMC_LLC_FL_RKEY_RETRY	0x10	/* Confirm RKey: try again later */
#define SMC_LLC_FL_ALL		0x40	/* Delete Link: the whole group */
#define SMC_LLC_FL_ORDERLY	0x20	/* Delete Link */
#define SMC_LLC_FL_LOW_MASK	0x0f	/* version 2: reason, or cache size */

/* Add Link of version 1 has the reason in the byte before the flags. */
#define SMC_LLC_V1_REASON_MASK	0x0f

struct smc_llc_w_confirm_link {
	struct smc_llc_w_hdr hdr;
	u8 mac[6];
	u8 gid[16];
	u8 qpn[3];
	u8 link;
	__be32 link_uid;
	u8 max_links;
	u8 max_conns;			/* version 2.1 */
	u8 reserved[8];
} __packed;
static_assert(sizeof(struct smc_llc_w_confirm_link) == SMC_WR_MSG_LEN);
static_assert(offsetof(struct smc_llc_w_confirm_link, gid) == 10);
static_assert(offsetof(struct smc_llc_w_confirm_link, qpn) == 26);
static_assert(offsetof(struct smc_llc_w_confirm_link, link_uid) == 30);
static_assert(offsetof(struct smc_llc_w_confirm_link, max_links) == 34);
static_assert(offsetof(struct smc_llc_w_confirm_link, max_conns) == 35);

struct smc_llc_w_add_link_v1 {
	struct smc_llc_w_hdr hdr;
	u8 mac[6];
	u8 gid[16];
	u8 qpn[3];
	u8 link;
	u8 mtu;				/* lower half */
	u8 psn[3];
	u8 reserved[10];
} __packed;
static_assert(sizeof(struct smc_llc_w_add_link_v1) == SMC_WR_MSG_LEN);
static_assert(offsetof(struct smc_llc_w_add_link_v1, link) == 29);
static_assert(offsetof(struct smc_llc_w_add_link_v1, mtu) == 30);
static_assert(offsetof(struct smc_llc_w_add_link_v1, psn) == 31);

/* The RKey of an RMB on an existing link, and its RToken on the new link. */
struct smc_llc_w_rtoken {
	__be32 ref_rkey;
	__be32 rkey;
	__be64 addr;
} __packed;
static_assert(sizeof(struct smc_llc_w_rtoken) == 16);

/* Compared to version 1, all fields from the GID on are moved by two bytes. */
struct smc_llc_w_add_link_base {
	struct smc_llc_w_hdr hdr;
	u8 mac[6];
	u8 reserved1[2];
	u8 gid[16];
	u8 qpn[3];
	u8 link;
	u8 mtu;				/* lower half */
	u8 psn[3];
	u8 reserved2[8];
} __packed;
static_assert(sizeof(struct smc_llc_w_add_link_base) == SMC_WR_MSG_LEN);
static_assert(offsetof(struct smc_llc_w_add_link_base, gid) == 12);
static_assert(offsetof(struct smc_llc_w_add_link_base, qpn) == 28);
static_assert(offsetof(struct smc_llc_w_add_link_base, mtu) == 32);
static_assert(offsetof(struct smc_llc_w_add_link_base, psn) == 33);

/* The whole message; a negative reply may end after the base. */
struct smc_llc_w_add_link_v2 {
	struct smc_llc_w_add_link_base base;
	u8 flags;
	u8 reserved1;
	u8 client_gid[16];
	u8 reserved2[8];
	u8 n_rtokens[2];
	/* followed by n_rtokens entries */
} __packed;
static_assert(sizeof(struct smc_llc_w_add_link_v2) == 72);
static_assert(offsetof(struct smc_llc_w_add_link_v2, client_gid) == 46);
static_assert(offsetof(struct smc_llc_w_add_link_v2, n_rtokens) == 70);

#define SMC_LLC_ADD_LINK_DIRECT	0x80	/* smc_llc_w_add_link_v2.flags */
#define SMC_LLC_MTU_MASK	0x0f

#define SMC_LLC_MAX_RTOKENS	255	/* the maximum number of RMBs that a message can list */

#define SMC_LLC_CONT_RTOKENS	2

struct smc_llc_w_add_link_cont {
	struct smc_llc_w_hdr hdr;
	u8 link;
	u8 n_left;
	u8 reserved1[2];
	struct smc_llc_w_rtoken rtoken[SMC_LLC_CONT_RTOKENS];
	u8 reserved2[4];
} __packed;
static_assert(sizeof(struct smc_llc_w_add_link_cont) == SMC_WR_MSG_LEN);
static_assert(offsetof(struct smc_llc_w_add_link_cont, rtoken) == 8);

struct smc_llc_w_delete_link {
	struct smc_llc_w_hdr hdr;
	u8 link;
	__be32 reason;
	u8 reserved[35];
} __packed;
static_assert(sizeof(struct smc_llc_w_delete_link) == SMC_WR_MSG_LEN);
static_assert(offsetof(struct smc_llc_w_delete_link, reason) == 5);

#define SMC_LLC_MAX_GIDS	8

/* Version 2 only. A reply has no list, but room for one GID. */
struct smc_llc_w_req_add_link {
	struct smc_llc_w_hdr hdr;
	u8 reserved1[20];
	u8 n_gids;
	u8 reserved2[3];
	/* followed by n_gids GIDs of 16 bytes */
} __packed;
static_assert(sizeof(struct smc_llc_w_req_add_link) == 28);
static_assert(sizeof(struct smc_llc_w_req_add_link) + 16 == SMC_WR_MSG_LEN);

/* The RToken of an RMB on another link. */
struct smc_llc_w_link_rtoken {
	u8 link;
	__be32 rkey;
	__be64 addr;
} __packed;
static_assert(sizeof(struct smc_llc_w_link_rtoken) == 13);

#define SMC_LLC_RKEY_OTHERS	2

struct smc_llc_w_confirm_rkey {
	struct smc_llc_w_hdr hdr;
	u8 n_others;
	__be32 rkey;
	__be64 addr;
	struct smc_llc_w_link_rtoken other[SMC_LLC_RKEY_OTHERS];
	u8 reserved;
} __packed;
static_assert(sizeof(struct smc_llc_w_confirm_rkey) == SMC_WR_MSG_LEN);
static_assert(offsetof(struct smc_llc_w_confirm_rkey, rkey) == 5);
static_assert(offsetof(struct smc_llc_w_confirm_rkey, other) == 17);

#define SMC_LLC_RKEY_CONT_OTHERS	3

struct smc_llc_w_confirm_rkey_cont {
	struct smc_llc_w_hdr hdr;
	u8 n_left;
	struct smc_llc_w_link_rtoken other[SMC_LLC_RKEY_CONT_OTHERS];
} __packed;
static_assert(sizeof(struct smc_llc_w_confirm_rkey_cont) == SMC_WR_MSG_LEN);

struct smc_llc_w_rkey {
	__be32 rkey;
} __packed;
static_assert(sizeof(struct smc_llc_w_rkey) == 4);

struct smc_llc_w_delete_rkey {
	struct smc_llc_w_hdr hdr;
	u8 count;
	u8 failed;			/* version 1: a mask, version 2: a number */
	u8 reserved[2];
	/* followed by RKeys; padded to at least SMC_WR_MSG_LEN */
} __packed;
static_assert(sizeof(struct smc_llc_w_delete_rkey) == 8);

#define SMC_LLC_V1_DELETE_RKEYS	8	/* maximum in a version 1 message */
#define SMC_LLC_V2_FAILED_RKEYS	8	/* maximum listed in a version 2 reply */
#define SMC_LLC_MAX_RKEYS	255	/* maximum in a version 2 request */

struct smc_llc_w_test_link {
	struct smc_llc_w_hdr hdr;
	u8 data[16];
	u8 reserved[24];
} __packed;
static_assert(sizeof(struct smc_llc_w_test_link) == SMC_WR_MSG_LEN);

/* --- Lengths --- */

/* Maximum length that the paper allows. */
#define SMC_LLC_V2_MAX_LEN	8192
/* Maximum length that can occur: Add Link with all RTokens. */
#define SMC_LLC_V2_FULL_LEN						\
	(sizeof(struct smc_llc_w_add_link_v2) +				\
	 SMC_LLC_MAX_RTOKENS * sizeof(struct smc_llc_w_rtoken))
static_assert(SMC_LLC_V2_FULL_LEN == 4152);

#endif /* SMC_WIRE_LLC_FORMAT_H */
