/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CLC messages byte for byte.
 *
 * RFC 7609 appendix A.2 (version 1) and the appendix of IBM's "Shared Memory Communications Version
 * 2", 4th edition (versions 2.0 and 2.1). All values are big endian. All structs have alignment 1,
 * so they can be laid over any byte of a message. The specifications count bits from the most
 * significant one; the definitions here are masks.
 */
#ifndef SMC_WIRE_CLC_FORMAT_H
#define SMC_WIRE_CLC_FORMAT_H

#include "wire.h"

#define SMC_CLC_EYE_LEN		4
#define SMC_CLC_EYE_SMCR	"\xe2\xd4\xc3\xd9"	/* "SMCR" in EBCDIC */
#define SMC_CLC_EYE_SMCD	"\xe2\xd4\xc3\xc4"	/* "SMCD" in EBCDIC */

/* Every message: eye catcher, header, ..., the same eye catcher again. */
struct smc_clc_w_hdr {
	u8 eye[SMC_CLC_EYE_LEN];
	u8 type;
	__be16 len;			/* whole message, including both eye catchers */
	u8 flags;
} __packed;
static_assert(sizeof(struct smc_clc_w_hdr) == 8);
static_assert(offsetof(struct smc_clc_w_hdr, len) == 5);

/* smc_clc_w_hdr.flags; the lower half depends on the type of the message. */
#define SMC_CLC_FL_VERSION_SHIFT	4
#define SMC_CLC_FL_PROP_V2_SHIFT	2	/* Proposal: offer of version 2 types */
#define SMC_CLC_FL_PROP_V1_SHIFT	0	/* Proposal: offer of version 1 types */
#define SMC_CLC_FL_PROP_MASK		0x03
#define SMC_CLC_FL_FIRST_CONTACT	0x08	/* Accept; Confirm from version 2 on */
#define SMC_CLC_FL_RC_SAVED		0x04	/* Accept, SMC-R */
#define SMC_CLC_FL_TYPE_SMCD		0x01	/* Accept, Confirm: informational only */
#define SMC_CLC_FL_OUT_OF_SYNC		0x08	/* Decline */

/* The types that a Proposal offers; one such value for version 1 and one for version 2. */
#define SMC_CLC_OFFER_R		0
#define SMC_CLC_OFFER_D		1
#define SMC_CLC_OFFER_NONE	2
#define SMC_CLC_OFFER_BOTH	3

/* --- Proposal: base, [IP area], [v2 extension, [SMC-Dv2 extension]], eye --- */

/*
 * Version 1 with SMC-R only: the IP area follows at once (iparea_off 0). If the base is longer, the
 * offset tells how much to skip. All offsets count from the end of the offset field.
 */
struct smc_clc_w_prop_v1 {
	struct smc_clc_w_hdr hdr;
	u8 peer_id[8];
	u8 gid[16];
	u8 mac[6];
	__be16 iparea_off;
} __packed;
static_assert(sizeof(struct smc_clc_w_prop_v1) == 40);
static_assert(offsetof(struct smc_clc_w_prop_v1, gid) == 16);
static_assert(offsetof(struct smc_clc_w_prop_v1, mac) == 32);
static_assert(offsetof(struct smc_clc_w_prop_v1, iparea_off) == 38);

/* The base if SMC-Dv1 or any version 2 type is offered. */
struct smc_clc_w_prop {
	struct smc_clc_w_prop_v1 v1;
	__be64 ism_gid;
	__be16 ism_chid;		/* version 2 */
	__be16 v2ext_off;		/* version 2 */
	u8 vendor_oui[3];		/* version 2.1 */
	u8 vendor_opts[5];		/* version 2.1 */
	u8 reserved[20];
} __packed;
static_assert(sizeof(struct smc_clc_w_prop) == 80);
static_assert(offsetof(struct smc_clc_w_prop, ism_gid) == 40);
static_assert(offsetof(struct smc_clc_w_prop, ism_chid) == 48);
static_assert(offsetof(struct smc_clc_w_prop, v2ext_off) == 50);
static_assert(offsetof(struct smc_clc_w_prop, vendor_oui) == 52);
static_assert(offsetof(struct smc_clc_w_prop, vendor_opts) == 55);

struct smc_clc_w_iparea {
	__be32 ipv4_mask;
	u8 ipv4_prefix_len;
	u8 reserved[2];
	u8 n_ipv6;
} __packed;
static_assert(sizeof(struct smc_clc_w_iparea) == 8);
static_assert(offsetof(struct smc_clc_w_iparea, n_ipv6) == 7);

struct smc_clc_w_ipv6_prefix {
	u8 addr[16];
	u8 len;
} __packed;
static_assert(sizeof(struct smc_clc_w_ipv6_prefix) == 17);

#define SMC_CLC_MAX_IPV6_PREFIXES	8

#define SMC_EID_LEN	32

struct smc_clc_w_v2ext {
	u8 n_eids;
	u8 n_gids;			/* entries in the SMC-Dv2 extension */
	u8 reserved1;
	u8 flags;
	u8 reserved2[2];
	__be16 smcdext_off;
	u8 roce_gid[16];
	u8 max_conns;			/* version 2.1, like the next two */
	u8 max_links;
	__be16 features;
	u8 reserved3[12];
	/* followed by n_eids EIDs */
} __packed;
static_assert(sizeof(struct smc_clc_w_v2ext) == 40);
static_assert(offsetof(struct smc_clc_w_v2ext, flags) == 3);
static_assert(offsetof(struct smc_clc_w_v2ext, smcdext_off) == 6);
static_assert(offsetof(struct smc_clc_w_v2ext, roce_gid) == 8);
static_assert(offsetof(struct smc_clc_w_v2ext, max_conns) == 24);
static_assert(offsetof(struct smc_clc_w_v2ext, features) == 26);

#define SMC_CLC_V2EXT_RELEASE_SHIFT	4
#define SMC_CLC_V2EXT_SEID		0x01	/* the SEID field is valid */

#define SMC_CLC_MAX_EIDS		8

struct smc_clc_w_smcdext {
	u8 seid[SMC_EID_LEN];
	u8 reserved[16];
	/* followed by n_gids entries */
} __packed;
static_assert(sizeof(struct smc_clc_w_smcdext) == 48);

/* An extended GID takes two entries with the same CHID, one for each half. */
struct smc_clc_w_gid_chid {
	__be64 gid;
	__be16 chid;
} __packed;
static_assert(sizeof(struct smc_clc_w_gid_chid) == 10);

#define SMC_CLC_MAX_GIDS		8	/* entries, of which an extended GID takes two */

/* CHIDs of emulated ISM devices: 0xff00 to 0xfffe, and loopback */
#define SMC_CHID_EMULATED		0xff00
#define SMC_CHID_LOOPBACK		0xffff

/* Supplemental features of version 2.1. */
#define SMC_CLC_FEAT_EMULATED_ISM	0x0001
#define SMC_CLC_FEAT_KNOWN		SMC_CLC_FEAT_EMULATED_ISM

/* --- Accept and Confirm --- */

struct smc_clc_w_smcd {
	struct smc_clc_w_hdr hdr;
	__be64 gid;
	__be64 token;
	u8 dmbe_idx;
	u8 dmbe_size;			/* upper half: compressed size */
	u8 reserved[2];
	__be32 link_id;
} __packed;
static_assert(sizeof(struct smc_clc_w_smcd) == 32);
static_assert(offsetof(struct smc_clc_w_smcd, token) == 16);
static_assert(offsetof(struct smc_clc_w_smcd, dmbe_size) == 25);
static_assert(offsetof(struct smc_clc_w_smcd, link_id) == 28);

/*
 * Neither specification defines this message in a table. A length of 48 bytes, including the eye
 * catcher, has not been observed on a wire yet, so the decoder accepts any length up to this one
 * that includes the link ID.
 */
struct smc_clc_w_smcd_v1 {
	struct smc_clc_w_smcd base;
	u8 reserved[12];
} __packed;
static_assert(sizeof(struct smc_clc_w_smcd_v1) == 44);

struct smc_clc_w_smcd_v2 {
	struct smc_clc_w_smcd base;
	__be16 chid;
	u8 eid[SMC_EID_LEN];
	__be64 gid_ext;			/* version 2.1, emulated ISM */
	/* followed by a first contact extension */
} __packed;
static_assert(sizeof(struct smc_clc_w_smcd_v2) == 74);
static_assert(offsetof(struct smc_clc_w_smcd_v2, eid) == 34);
static_assert(offsetof(struct smc_clc_w_smcd_v2, gid_ext) == 66);

struct smc_clc_w_smcr {
	struct smc_clc_w_hdr hdr;
	u8 peer_id[8];
	u8 gid[16];
	u8 mac[6];
	u8 qpn[3];
	__be32 rkey;
	u8 rmbe_idx;
	__be32 alert_token;
	u8 size_mtu;			/* upper half: compressed size, lower: MTU */
	u8 reserved1;
	__be64 rmb_addr;
	u8 reserved2;
	u8 psn[3];
} __packed;
static_assert(sizeof(struct smc_clc_w_smcr) == 64);
static_assert(offsetof(struct smc_clc_w_smcr, qpn) == 38);
static_assert(offsetof(struct smc_clc_w_smcr, rkey) == 41);
static_assert(offsetof(struct smc_clc_w_smcr, alert_token) == 46);
static_assert(offsetof(struct smc_clc_w_smcr, rmb_addr) == 52);
static_assert(offsetof(struct smc_clc_w_smcr, psn) == 61);

struct smc_clc_w_smcr_v2 {
	struct smc_clc_w_smcr base;
	u8 eid[SMC_EID_LEN];
	u8 reserved[8];
	/* followed by a first contact extension and, in a Confirm, a GID list */
} __packed;
static_assert(sizeof(struct smc_clc_w_smcr_v2) == 104);
static_assert(offsetof(struct smc_clc_w_smcr_v2, eid) == 64);

#define SMC_CLC_SIZE_SHIFT	4
#define SMC_CLC_MTU_MASK	0x0f
#define SMC_CLC_MTU_256		1
#define SMC_CLC_MTU_4096	5	/* the largest; higher codes are reserved */

#define SMC_CLC_HOSTNAME_LEN	32

/* First contact extension; version 2.0 ends after the host name. */
struct smc_clc_w_fce {
	u8 flags0;
	u8 flags1;
	u8 reserved[2];
	u8 hostname[SMC_CLC_HOSTNAME_LEN];
} __packed;
static_assert(sizeof(struct smc_clc_w_fce) == 36);

struct smc_clc_w_fce_v21 {
	struct smc_clc_w_fce base;
	u8 max_conns;			/* SMC-R, like the next field */
	u8 max_links;
	__be16 features;
	u8 vendor[4];
	u8 reserved[8];
} __packed;
static_assert(sizeof(struct smc_clc_w_fce_v21) == 52);
static_assert(offsetof(struct smc_clc_w_fce_v21, features) == 38);
static_assert(offsetof(struct smc_clc_w_fce_v21, vendor) == 40);

#define SMC_CLC_FCE_V2_DIRECT		0x80	/* flags0, SMC-R */
#define SMC_CLC_FCE_OS_SHIFT		4	/* flags1 */
#define SMC_CLC_FCE_RELEASE_MASK	0x0f	/* flags1 */

#define SMC_CLC_OS_ZOS			1
#define SMC_CLC_OS_LINUX		2
#define SMC_CLC_OS_AIX			3
#define SMC_CLC_OS_UNKNOWN		15

/* Follows the first contact extension of an SMC-R Confirm. */
struct smc_clc_w_gid_list {
	u8 n_gids;
	u8 reserved[3];
	/* followed by n_gids GIDs of 16 bytes */
} __packed;
static_assert(sizeof(struct smc_clc_w_gid_list) == 4);

#define SMC_CLC_MAX_GID_LIST	8

/* Limits of version 2.1, per link group. */
#define SMC_CLC_MIN_CONNS	16
#define SMC_CLC_MAX_LINKS	2

/* --- Decline --- */

struct smc_clc_w_decline {
	struct smc_clc_w_hdr hdr;
	u8 peer_id[8];
	__be32 diagnosis;
	u8 os_type;			/* upper half, version 2 */
	u8 reserved[3];
} __packed;
static_assert(sizeof(struct smc_clc_w_decline) == 24);
static_assert(offsetof(struct smc_clc_w_decline, diagnosis) == 16);

struct smc_clc_w_decline_v2 {
	struct smc_clc_w_decline base;
	__be32 rc_dv2;
	__be32 rc_dv1;
	__be32 rc_rv2;
	__be32 rc_rv1;
} __packed;
static_assert(sizeof(struct smc_clc_w_decline_v2) == 40);

/* --- Lengths --- */

#define SMC_CLC_PROP_V1_MIN_LEN						\
	(sizeof(struct smc_clc_w_prop_v1) +				\
	 sizeof(struct smc_clc_w_iparea) + SMC_CLC_EYE_LEN)
#define SMC_CLC_PROP_V2_MIN_LEN						\
	(sizeof(struct smc_clc_w_prop) + SMC_CLC_EYE_LEN)
#define SMC_CLC_PROP_FULL_LEN						\
	(sizeof(struct smc_clc_w_prop) + sizeof(struct smc_clc_w_iparea) + \
	 SMC_CLC_MAX_IPV6_PREFIXES * sizeof(struct smc_clc_w_ipv6_prefix) + \
	 sizeof(struct smc_clc_w_v2ext) + SMC_CLC_MAX_EIDS * SMC_EID_LEN + \
	 sizeof(struct smc_clc_w_smcdext) +				\
	 SMC_CLC_MAX_GIDS * sizeof(struct smc_clc_w_gid_chid) +		\
	 SMC_CLC_EYE_LEN)
#define SMC_CLC_CONFIRM_R_FULL_LEN					\
	(sizeof(struct smc_clc_w_smcr_v2) +				\
	 sizeof(struct smc_clc_w_fce_v21) +				\
	 sizeof(struct smc_clc_w_gid_list) +				\
	 SMC_CLC_MAX_GID_LIST * 16 + SMC_CLC_EYE_LEN)

static_assert(SMC_CLC_PROP_V1_MIN_LEN == 52);
static_assert(SMC_CLC_PROP_FULL_LEN == 652);
static_assert(SMC_CLC_CONFIRM_R_FULL_LEN == 292);

/*
 * Room beyond what versions up to 2.1 can fill: a later release may extend areas, and the decoder
 * uses offsets and lengths to skip the extensions.
 */
#define SMC_CLC_GROWTH_LEN	256

#endif /* SMC_WIRE_CLC_FORMAT_H */
