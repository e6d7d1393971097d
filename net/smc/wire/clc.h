/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decoded CLC messages: in host byte order, checked, and as independent of the protocol version as
 * the specifications allow.
 *
 * The functions are pure: no allocation, no I/O, no state. Negative return values are errno values:
 *
 *   -EPROTO      malformed; RFC 7609 C.6: the TCP connection must be reset
 *   -EOPNOTSUPP  well-formed, but an enumeration or limit has an unknown value;
 *                RFC 7609 C.6: answer with a Decline
 */
#ifndef SMC_WIRE_CLC_H
#define SMC_WIRE_CLC_H

#include "clc_format.h"

enum smc_clc_type {
	SMC_CLC_PROPOSAL = 1,
	SMC_CLC_ACCEPT,
	SMC_CLC_CONFIRM,
	SMC_CLC_DECLINE,
};

#define SMC_CLC_V1		1
#define SMC_CLC_V2		2
#define SMC_CLC_RELEASE		1	/* highest known release of version 2 */

/* Number of bytes required before smc_clc_decode_hdr() can be called. */
#define SMC_CLC_HDR_LEN		8
/* Maximum length of a valid message of any type, for receive buffers. */
#define SMC_CLC_MAX_LEN		(SMC_CLC_PROP_FULL_LEN + SMC_CLC_GROWTH_LEN)

/**
 * struct smc_clc_hdr - start of every CLC message
 * @type: enum smc_clc_type
 * @len: length of the whole message in bytes, at most SMC_CLC_MAX_LEN
 * @version: version as sent; may be unknown
 * @flags_raw: the raw byte that contains the version and flags
 * @smcd: the eye catcher is SMCD rather than SMCR
 */
struct smc_clc_hdr {
	u8 type;
	u16 len;
	u8 version;
	u8 flags_raw;
	bool smcd;
};

/**
 * struct smc_clc_ipv6_prefix - IPv6 prefix of a Proposal
 * @addr: the prefix
 * @len: prefix length in bits, 0 to 128
 */
struct smc_clc_ipv6_prefix {
	u8 addr[16];
	u8 len;
};

/**
 * struct smc_clc_ism_gid - an ISM device that a Proposal offers for version 2
 * @gid: the GID, or the first half of an extended one
 * @gid_ext: second half of an extended GID; 0 unless @extended
 * @chid: CHID of the ISM fabric
 * @extended: 128-bit GID of an emulated device; @chid is at least SMC_CHID_EMULATED
 */
struct smc_clc_ism_gid {
	u64 gid;
	u64 gid_ext;
	u16 chid;
	bool extended;
};

/**
 * struct smc_clc_proposal - Proposal
 * @version: SMC_CLC_V1 or SMC_CLC_V2; a later version is treated as SMC_CLC_V2
 * @release: 0 or 1; a later release is treated as SMC_CLC_RELEASE
 * @peer_id: peer ID of the client
 * @smcr_v1: client offers SMC-R version 1
 * @smcd_v1: client offers SMC-D version 1
 * @smcr_v2: client offers SMC-R version 2
 * @smcd_v2: client offers SMC-D version 2
 * @gid: preferred RoCE GID (SMC-Rv1)
 * @mac: MAC address of the preferred RNIC (SMC-R)
 * @ism_gid: GID of the associated ISM device (SMC-Dv1; may also be used for SMC-Dv2)
 * @ism_chid: CHID of the associated ISM device, version 2 only; with smcd_v2 and a nonzero @ism_gid
 *	it is an offer like those in @gids
 * @has_prefix: the IP area is present and the next fields are valid
 * @ipv4_mask: as sent: the RFC defines it as the subnet mask, others send the subnet
 * @ipv4_prefix_len: number of significant bits, 0 to 32
 * @n_ipv6: number of entries in @ipv6
 * @ipv6: IPv6 prefixes of the client's interface
 * @roce_gid: RoCEv2 GID (SMC-Rv2)
 * @eid_count: number of entries in @eids
 * @eids: user EIDs as sent; their characters have not been validated
 * @max_conns: preferred connections per link group: 0 (no preference) or 16 to 255
 * @max_links: preferred links per link group: 0 (no preference), 1 or 2
 * @features: SMC_CLC_FEAT_* the client supports
 * @vendor_oui: version 2.1 vendor options: OUI of the vendor; 0 for no options
 * @vendor_opts: the vendor options
 * @has_seid: @seid is offered
 * @seid: system EID (SMC-Dv2)
 * @n_gids: number of entries in @gids
 * @gids: ISM devices for SMC-Dv2, preferred ones first
 *
 * Fields that belong to types which are not offered are 0.
 */
struct smc_clc_proposal {
	u8 version;
	u8 release;
	u8 peer_id[8];

	bool smcr_v1;
	bool smcd_v1;
	bool smcr_v2;
	bool smcd_v2;

	u8 gid[16];
	u8 mac[6];
	u64 ism_gid;
	u16 ism_chid;

	bool has_prefix;
	__be32 ipv4_mask;
	u8 ipv4_prefix_len;
	u8 n_ipv6;
	struct smc_clc_ipv6_prefix ipv6[SMC_CLC_MAX_IPV6_PREFIXES];

	u8 roce_gid[16];
	u8 eid_count;
	u8 eids[SMC_CLC_MAX_EIDS][SMC_EID_LEN];
	u8 max_conns;
	u8 max_links;
	u16 features;
	u8 vendor_oui[3];
	u8 vendor_opts[5];

	bool has_seid;
	u8 seid[SMC_EID_LEN];
	u8 n_gids;
	struct smc_clc_ism_gid gids[SMC_CLC_MAX_GIDS];
};

/**
 * struct smc_clc_accept - Accept or Confirm
 * @confirm: true for a Confirm, false for an Accept
 * @version: SMC_CLC_V1 or SMC_CLC_V2
 * @release: as sent in the first contact extension, 0 if there is none. The caller must decline a
 *	release that it did not offer
 * @first_contact: for the sender this is a new link group or a new SMC-D peer; always false in a
 *	Confirm of version 1, which has no such flag
 * @smcd: SMC-D rather than SMC-R
 * @eid: version 2: the negotiated EID
 * @gid: SMC-D: GID of the sender's ISM device
 * @gid_ext: SMC-D: second half of @gid, 0 unless @chid is an emulated one
 * @token: SMC-D: token of the DMB
 * @dmbe_idx: SMC-D: index of the element
 * @dmbe_size: SMC-D: size of the element, see smc_clc_size_to_bytes()
 * @link_id: SMC-D: link ID
 * @chid: SMC-Dv2: CHID of the ISM fabric
 * @peer_id: SMC-R: peer ID of the sender
 * @roce_gid: SMC-R: RoCE GID of the sender's RNIC
 * @mac: SMC-R: MAC address of the sender's RNIC
 * @qpn: SMC-R: queue pair number, 24 bits
 * @rkey: SMC-R: RKey of the RMB
 * @rmbe_idx: SMC-R: index of the element
 * @rmbe_size: SMC-R: size of the element, see smc_clc_size_to_bytes()
 * @mtu: SMC-R: MTU code. Checked if @first_contact is set, as the RFC requires; after a first
 *	contact Confirm of version 1, check it with smc_clc_mtu_valid()
 * @alert_token: SMC-R: alert token of the element
 * @rmb_addr: SMC-R: virtual address of the RMB
 * @psn: SMC-R: initial packet sequence number, 24 bits
 * @rc_saved: SMC-R Accept: the server has recorded why SMC-D was not chosen
 * @has_fce: version 2 and @first_contact: the next fields are valid
 * @v2_direct: SMC-R: both ends are in the same subnet
 * @os_type: SMC_CLC_OS_*, or a newer value
 * @hostname: host name of the sender, NUL-terminated; empty if it was not printable
 * @max_conns: SMC-Rv2.1: 16 to 255
 * @max_links: SMC-Rv2.1: 1 or 2
 * @features: version 2.1: SMC_CLC_FEAT_*, possibly with unknown bits
 * @vendor: version 2.1: vendor options
 * @n_gid_list: SMC-Rv2 Confirm with @has_fce: number of entries in @gid_list, 1 to 8
 * @gid_list: RoCEv2 GIDs of the client, that of the active link first
 *
 * Fields that the message does not contain are 0.
 */
struct smc_clc_accept {
	bool confirm;
	u8 version;
	u8 release;
	bool first_contact;
	bool smcd;
	u8 eid[SMC_EID_LEN];

	u64 gid;
	u64 gid_ext;
	u64 token;
	u8 dmbe_idx;
	u8 dmbe_size;
	u32 link_id;
	u16 chid;

	u8 peer_id[8];
	u8 roce_gid[16];
	u8 mac[6];
	u32 qpn;
	u32 rkey;
	u8 rmbe_idx;
	u8 rmbe_size;
	u8 mtu;
	u32 alert_token;
	u64 rmb_addr;
	u32 psn;
	bool rc_saved;

	bool has_fce;
	bool v2_direct;
	u8 os_type;
	char hostname[SMC_CLC_HOSTNAME_LEN + 1];
	u8 max_conns;
	u8 max_links;
	u16 features;
	u8 vendor[4];

	u8 n_gid_list;
	u8 gid_list[SMC_CLC_MAX_GID_LIST][16];
};

/**
 * struct smc_clc_decline - Decline
 * @version: as sent
 * @smcd: the eye catchers are SMCD rather than SMCR; both are legal
 * @out_of_sync: the receiver must clean up its link group
 * @peer_id: peer ID of the sender
 * @diagnosis: reason; its meaning depends on the sender's operating system
 * @os_type: version 2: SMC_CLC_OS_*, or a newer value
 * @has_types: version 2: the next fields are present
 * @rc_dv2: why SMC-Dv2 was not chosen; 0 if it was not offered
 * @rc_dv1: why SMC-Dv1 was not chosen; 0 if it was not offered
 * @rc_rv2: why SMC-Rv2 was not chosen; 0 if it was not offered
 * @rc_rv1: why SMC-Rv1 was not chosen; 0 if it was not offered
 */
struct smc_clc_decline {
	u8 version;
	bool smcd;
	bool out_of_sync;
	u8 peer_id[8];
	u32 diagnosis;
	u8 os_type;
	bool has_types;
	u32 rc_dv2;
	u32 rc_dv1;
	u32 rc_rv2;
	u32 rc_rv1;
};

/**
 * smc_clc_decode_hdr() - check the first bytes of an expected CLC message
 * @buf: received bytes; SMC_CLC_HDR_LEN are enough
 * @len: number of bytes in @buf
 * @hdr: result; zeroed on -EPROTO. It is valid on -EOPNOTSUPP, because the rest of the message (up
 *	to hdr->len) must still be removed from the stream before the connection can continue as TCP
 *
 * Return: 0, -EPROTO or -EOPNOTSUPP.
 */
int smc_clc_decode_hdr(const u8 *buf, size_t len, struct smc_clc_hdr *hdr);

/**
 * smc_clc_decode_proposal() - decode a Proposal of any version
 * @buf: the message
 * @len: number of bytes, which must match the header
 * @p: result, zeroed on error
 *
 * Return: 0, -EPROTO or -EOPNOTSUPP.
 */
int smc_clc_decode_proposal(const u8 *buf, size_t len,
			    struct smc_clc_proposal *p);

/**
 * smc_clc_decode_accept() - decode an Accept or Confirm of any version
 * @buf: the message
 * @len: number of bytes, which must match the header
 * @a: result, zeroed on error
 *
 * Return: 0, -EPROTO or -EOPNOTSUPP.
 */
int smc_clc_decode_accept(const u8 *buf, size_t len, struct smc_clc_accept *a);

/**
 * smc_clc_decode_decline() - decode a Decline of any version
 * @buf: the message
 * @len: number of bytes, which must match the header
 * @d: result, zeroed on error
 *
 * Return: 0 or -EPROTO.
 */
int smc_clc_decode_decline(const u8 *buf, size_t len,
			   struct smc_clc_decline *d);

/**
 * smc_clc_offer_ism() - add an ISM device to the offer of a Proposal
 * @p: the Proposal
 * @gid: the device
 *
 * The message has room for SMC_CLC_MAX_GIDS entries; a device with an extended GID takes two.
 *
 * Return: false, with @p unchanged, if there is not enough room.
 */
bool smc_clc_offer_ism(struct smc_clc_proposal *p, const struct smc_clc_ism_gid *gid);

/**
 * smc_clc_encode_proposal() - encode a Proposal
 * @p: the offer; fields that belong to types which are not offered are ignored
 * @buf: receives the message
 * @size: size of @buf; SMC_CLC_MAX_LEN is always enough
 *
 * Return: length of the message, -EINVAL if @p has no legal encoding, or
 * -EMSGSIZE if @size is too small. @buf is untouched on error.
 */
int smc_clc_encode_proposal(const struct smc_clc_proposal *p, u8 *buf,
			    size_t size);

/**
 * smc_clc_encode_accept() - encode an Accept, or a Confirm if @a->confirm
 * @a: the content; in version 2, @a->has_fce must equal @a->first_contact
 * @buf: receives the message
 * @size: size of @buf; SMC_CLC_MAX_LEN is always enough
 *
 * Return: length of the message, -EINVAL if @a has no legal encoding, or
 * -EMSGSIZE if @size is too small. @buf is untouched on error.
 */
int smc_clc_encode_accept(const struct smc_clc_accept *a, u8 *buf,
			  size_t size);

/* The longest Decline is that of version 2. */
#define SMC_CLC_DECLINE_MAX	44

/**
 * smc_clc_encode_decline() - encode a Decline
 * @d: the content
 * @buf: receives the message
 * @size: size of @buf; SMC_CLC_MAX_LEN is always enough
 *
 * Return: length of the message, -EINVAL if @d has no legal encoding, or
 * -EMSGSIZE if @size is too small. @buf is untouched on error.
 */
int smc_clc_encode_decline(const struct smc_clc_decline *d, u8 *buf,
			   size_t size);

/* Sizes of RMB and DMB elements are encoded in 4 bits: 16 KiB << code. */
#define SMC_CLC_SIZE_CODE_MAX	15
#define SMC_CLC_SIZE_MIN	16384u

/**
 * smc_clc_size_to_bytes() - decode the size of an element
 * @code: 0 to SMC_CLC_SIZE_CODE_MAX; higher bits are ignored
 *
 * Return: size in bytes, 16 KiB to 512 MiB.
 */
static inline u32 smc_clc_size_to_bytes(u8 code)
{
	return SMC_CLC_SIZE_MIN << (code & SMC_CLC_SIZE_CODE_MAX);
}

/**
 * smc_clc_size_from_bytes() - encode the size of an element, rounded up
 * @bytes: requested size; at most 512 MiB can be encoded
 *
 * Return: the code of the smallest size that holds @bytes, see smc_clc_size_to_bytes().
 */
static inline u8 smc_clc_size_from_bytes(u64 bytes)
{
	u8 code = 0;

	while (code < SMC_CLC_SIZE_CODE_MAX &&
	       smc_clc_size_to_bytes(code) < bytes)
		code++;
	return code;
}

/**
 * smc_clc_mtu_valid() - is this one of the MTU codes of RFC 7609 A.2.3?
 * @code: received code
 *
 * Return: true for 1 (256 bytes) to 5 (4096 bytes).
 */
static inline bool smc_clc_mtu_valid(u8 code)
{
	return code >= SMC_CLC_MTU_256 && code <= SMC_CLC_MTU_4096;
}

/**
 * smc_clc_chid_emulated() - does a CHID belong to an emulated ISM device?
 * @chid: CHID
 *
 * Return: true if so; the GIDs of such a device have 128 bits.
 */
static inline bool smc_clc_chid_emulated(u16 chid)
{
	return chid >= SMC_CHID_EMULATED;
}

#endif /* SMC_WIRE_CLC_H */
