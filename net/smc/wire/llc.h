/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decoded LLC messages: in host byte order, checked, and with the same numbers for version 1 and
 * version 2.
 *
 * The functions are pure: no allocation, no I/O, no state.
 *
 * The messages (each has a request and, with SMC_LLC_FL_REPLY, a reply of the same type):
 *
 *   message             v1  v2  length v1, v2
 *   Confirm Link        01  21  44, 44
 *   Add Link            02  22  44, 72 + 16 * RTokens; negative reply 44
 *   Add Link Cont.      03  -   44
 *   Delete Link         04  24  44, 44
 *   Request Add Link    -   25  28 + 16 * GIDs; reply 44
 *   Confirm RKey        06  26  44, 44
 *   Test Link           07  27  44, 44
 *   Confirm RKey Cont.  08  -   44
 *   Delete RKey         09  29  44, 8 + 4 * RKeys, 44 at least; reply 44
 *
 * In version 1, an Add Link request from the client has the role of version 2's Request Add Link.
 */
#ifndef SMC_WIRE_LLC_H
#define SMC_WIRE_LLC_H

#include "llc_format.h"

enum smc_llc_type {
	SMC_LLC_CONFIRM_LINK = 1,
	SMC_LLC_ADD_LINK,
	SMC_LLC_ADD_LINK_CONT,		/* version 1 only */
	SMC_LLC_DELETE_LINK,
	SMC_LLC_REQ_ADD_LINK,		/* version 2 only, from the client */
	SMC_LLC_CONFIRM_RKEY,
	SMC_LLC_TEST_LINK,
	SMC_LLC_CONFIRM_RKEY_CONT,	/* version 1 only */
	SMC_LLC_DELETE_RKEY,
};

#define SMC_LLC_TYPE_MAX	SMC_LLC_DELETE_RKEY

/* Maximum number of links in a link group; in version 2 it is two. */
#define SMC_LLC_MAX_LINKS	8

/* smc_llc_add_link.reason */
#define SMC_LLC_REJ_NO_ALT_PATH	1
#define SMC_LLC_REJ_MTU		2

/* smc_llc_delete_link.reason in requests. */
#define SMC_LLC_DEL_LOST_PATH	0x00010000
#define SMC_LLC_DEL_OPERATOR	0x00020000
#define SMC_LLC_DEL_PROGRAM	0x00030000	/* the link is unused */
#define SMC_LLC_DEL_PROTOCOL	0x00040000	/* LLC protocol violation */
#define SMC_LLC_DEL_ASYMMETRIC	0x00050000	/* no longer needed */
/* smc_llc_delete_link.reason in replies. */
#define SMC_LLC_DEL_NO_LINK	0x00100000	/* unknown link number */

/**
 * struct smc_llc_confirm_link - Confirm Link
 * @mac: MAC address of the sender's RNIC
 * @gid: GID of the sender's RNIC
 * @qpn: number of the sender's queue pair, 24 bits
 * @link: number of the link, chosen by the server
 * @link_uid: the sender's own name for the link, for display
 * @max_links: links per group that the sender supports (version 2.1: the number agreed on in the
 *	first contact)
 * @max_conns: version 2.1: the agreed number of connections per group. Reserved in version 2.0, so
 *	it must not be used there. 0 in version 1
 * @cache_size: version 2: code of the sender's cache size, 4 bits; the incumbent sends 3. 0 in
 *	version 1
 */
struct smc_llc_confirm_link {
	u8 mac[6];
	u8 gid[16];
	u32 qpn;
	u8 link;
	u32 link_uid;
	u8 max_links;
	u8 max_conns;
	u8 cache_size;
};

/**
 * struct smc_llc_add_link - Add Link
 * @mac: MAC address of the sender's RNIC for the new link
 * @gid: GID of the sender's RNIC
 * @qpn: number of the sender's queue pair, 24 bits
 * @link: number of the new link, chosen by the server
 * @mtu: MTU code, see smc_clc_mtu_valid(). Valid if smc_llc_decode() returned 0 and the message is
 *	not a negative reply
 * @psn: initial packet sequence number, 24 bits
 * @reason: negative reply: SMC_LLC_REJ_*, or a newer value; the incumbent sends 0 for "no alternate
 *	path". Otherwise 0
 * @direct: version 2: both ends are in the same subnet; the specification defines it for replies
 *	only, but the incumbent also sets it in requests
 * @client_gid: version 2 request: the client's GID that the server prefers, or all 0. Ignored in
 *	replies
 * @n_rtokens: version 2: number of entries in @rtokens
 * @rtokens: version 2: RTokens of the sender's RMBs on the new link, in wire format, unaligned, and
 *	*inside the decoded buffer*: read them with smc_llc_get_rtoken(), and prepare those to be
 *	encoded with smc_llc_set_rtoken()
 *
 * In version 1, the RTokens follow in Add Link Continuation messages.
 */
struct smc_llc_add_link {
	u8 mac[6];
	u8 gid[16];
	u32 qpn;
	u8 link;
	u8 mtu;
	u32 psn;
	u8 reason;
	bool direct;
	u8 client_gid[16];
	u8 n_rtokens;
	const struct smc_llc_w_rtoken *rtokens;
};

/**
 * struct smc_llc_rtoken - an RMB's RToken on a new link
 * @ref_rkey: RKey of the RMB on the link over which the message is sent
 * @rkey: RKey of the RMB on the new link
 * @addr: address of the RMB on the new link
 */
struct smc_llc_rtoken {
	u32 ref_rkey;
	u32 rkey;
	u64 addr;
};

/**
 * struct smc_llc_add_link_cont - Add Link Continuation, version 1 only
 * @link: number of the new link
 * @n_left: RTokens that remain to be sent, including those in this message; 0 to 255
 * @n_rtokens: number of entries in @rtokens: 2, or @n_left if that is less. The encoder computes it
 *	from @n_left and ignores this field
 * @rtokens: the RTokens
 */
struct smc_llc_add_link_cont {
	u8 link;
	u8 n_left;
	u8 n_rtokens;
	struct smc_llc_rtoken rtokens[SMC_LLC_CONT_RTOKENS];
};

/**
 * struct smc_llc_delete_link - Delete Link
 * @all: applies to all links, which ends the group
 * @orderly: a request rather than a failure; the server may take its time
 * @link: number of the link; 0 if @all
 * @reason: SMC_LLC_DEL_*, or a newer value
 */
struct smc_llc_delete_link {
	bool all;
	bool orderly;
	u8 link;
	u32 reason;
};

/**
 * struct smc_llc_req_add_link - Request Add Link, version 2 only
 * @reason: negative reply: reason code, otherwise 0. Servers should never send a negative reply
 * @n_gids: request: number of entries in @gids, 1 to 8; reply: 0
 * @gids: all RoCEv2 GIDs of the client, that of the active link first
 */
struct smc_llc_req_add_link {
	u8 reason;
	u8 n_gids;
	u8 gids[SMC_LLC_MAX_GIDS][16];
};

/**
 * struct smc_llc_link_rtoken - an RMB's RToken on another link
 * @link: number of that link
 * @rkey: RKey on that link
 * @addr: address on that link
 */
struct smc_llc_link_rtoken {
	u8 link;
	u32 rkey;
	u64 addr;
};

/**
 * struct smc_llc_confirm_rkey - Confirm RKey
 * @retry: negative reply: try again as soon as the group's configuration has changed; otherwise,
 *	try again with the next connection that needs an RMB
 * @rkey: RKey of the new RMB on the link over which the message is sent
 * @addr: address of the new RMB on that link
 * @n_total: number of other links whose RTokens are sent, in this message and, in version 1, in
 *	Continuation messages: 0 to 2 in version 2, 0 to 7 in version 1
 * @n_others: number of entries in @others: 2, or @n_total if that is less. The encoder computes it
 *	from @n_total and ignores this field
 * @others: RTokens on other links
 *
 * A reply repeats the request.
 */
struct smc_llc_confirm_rkey {
	bool retry;
	u32 rkey;
	u64 addr;
	u8 n_total;
	u8 n_others;
	struct smc_llc_link_rtoken others[SMC_LLC_RKEY_OTHERS];
};

/**
 * struct smc_llc_confirm_rkey_cont - Confirm RKey Continuation, version 1 only
 * @n_left: RTokens that remain to be sent, including those in this message; 0 to 7
 * @n_others: number of entries in @others: 3, or @n_left if that is less. The encoder computes it
 *	from @n_left and ignores this field
 * @others: RTokens on other links
 */
struct smc_llc_confirm_rkey_cont {
	u8 n_left;
	u8 n_others;
	struct smc_llc_link_rtoken others[SMC_LLC_RKEY_CONT_OTHERS];
};

/**
 * struct smc_llc_delete_rkey - Delete RKey
 * @count: number of RMBs that the request deletes: 0 to 8 in version 1, 0 to 255 in version 2. A
 *	reply repeats the number of the request
 * @error_mask: version 1 negative reply: mask of the RMBs that were not deleted, with the first one
 *	in the highest bit. Otherwise 0
 * @n_failed: version 2 negative reply: number of RMBs that were not deleted, according to the peer;
 *	may exceed the number listed. Otherwise 0
 * @n_rkeys: number of entries in @rkeys: @count, but in a version 2 reply the lesser of @n_failed
 *	and 8. The encoder computes it and ignores this field
 * @rkeys: RKeys, on the link over which the message is sent, of the deleted RMBs or, in a version 2
 *	reply, of those not deleted. In wire format, *inside the decoded buffer*: see
 *	smc_llc_get_rkey() and smc_llc_set_rkey()
 */
struct smc_llc_delete_rkey {
	u8 count;
	u8 error_mask;
	u8 n_failed;
	u8 n_rkeys;
	const struct smc_llc_w_rkey *rkeys;
};

/**
 * struct smc_llc_test_link - Test Link
 * @data: data that the reply must repeat
 */
struct smc_llc_test_link {
	u8 data[16];
};

/**
 * struct smc_llc_msg - any LLC message
 * @type: enum smc_llc_type; tells which member of the union is valid
 * @v2: format and number are those of version 2. The decoder does not compare this with the version
 *	of the link group
 * @reply: the message is a reply
 * @negative: a negative reply: Add Link, Request Add Link, Confirm RKey
 *	(with its Continuation), Delete RKey. Never in requests
 * @big_endian: version 2: the length of the message and the number of RTokens are big endian, as in
 *	the paper; otherwise little endian, as sent by the incumbent on x86. Both are decoded. A
 *	sender should use the byte order that its peer uses
 * @confirm_link: CONFIRM LINK
 * @add_link: ADD LINK
 * @add_link_cont: ADD LINK CONTINUATION
 * @delete_link: DELETE LINK
 * @req_add_link: REQUEST ADD LINK
 * @confirm_rkey: CONFIRM RKEY
 * @confirm_rkey_cont: CONFIRM RKEY CONTINUATION
 * @delete_rkey: DELETE RKEY
 * @test_link: TEST LINK
 *
 * Small enough for the stack, because long arrays remain in the decoded buffer.
 */
struct smc_llc_msg {
	u8 type;
	bool v2;
	bool reply;
	bool negative;
	bool big_endian;
	union {
		struct smc_llc_confirm_link confirm_link;
		struct smc_llc_add_link add_link;
		struct smc_llc_add_link_cont add_link_cont;
		struct smc_llc_delete_link delete_link;
		struct smc_llc_req_add_link req_add_link;
		struct smc_llc_confirm_rkey confirm_rkey;
		struct smc_llc_confirm_rkey_cont confirm_rkey_cont;
		struct smc_llc_delete_rkey delete_rkey;
		struct smc_llc_test_link test_link;
	};
};

/**
 * smc_llc_decode() - decode an LLC message of any version and type
 * @buf: the message; need not be aligned. smc_is_cdc() must have returned false for it
 * @len: number of bytes received, at most SMC_LLC_V2_MAX_LEN
 * @m: result; zeroed on error, except as described below. May point into @buf: to queue a message,
 *	keep its bytes and decode them later
 *
 * Return: 0, or
 *
 *   -EPROTO      malformed, or an unknown type that is not optional: the link must
 *                be brought down (RFC 7609 C.7.1)
 *   -EOPNOTSUPP  Add Link with an unknown MTU code; @m is valid. A request must be
 *                answered with a negative reply with SMC_LLC_REJ_MTU
 *   -ENOMSG      an unknown optional message, which must be discarded silently
 */
int smc_llc_decode(const u8 *buf, size_t len, struct smc_llc_msg *m);

/**
 * smc_llc_encode() - encode an LLC message
 * @m: the content. An Add Link with @m->negative is encoded in its short form, without RTokens
 * @buf: receives the message; must not overlap any data that @m points to
 * @size: size of @buf. SMC_WR_MSG_LEN is enough for all messages except, in version 2, Add Link,
 *	Request Add Link and Delete RKey requests. SMC_LLC_V2_FULL_LEN is always enough
 *
 * Return: length of the message, -EINVAL if @m has no legal encoding, or
 * -EMSGSIZE if @size is too small. @buf is untouched on error.
 */
int smc_llc_encode(const struct smc_llc_msg *m, u8 *buf, size_t size);

/**
 * smc_llc_type_name() - the name of a message type, for tracepoints and logs
 * @type: enum smc_llc_type, or any other value
 *
 * Return: a constant string.
 */
const char *smc_llc_type_name(u8 type);

/* Does this version have this type of message? */
static inline bool smc_llc_type_known(u8 type, bool v2)
{
	switch (type) {
	case SMC_LLC_ADD_LINK_CONT:
	case SMC_LLC_CONFIRM_RKEY_CONT:
		return !v2;
	case SMC_LLC_REQ_ADD_LINK:
		return v2;
	default:
		return type >= SMC_LLC_CONFIRM_LINK && type <= SMC_LLC_TYPE_MAX;
	}
}

/* The flag that marks a negative reply; 0 if this type has no negative replies. */
static inline u8 smc_llc_neg_flag(u8 type)
{
	switch (type) {
	case SMC_LLC_ADD_LINK:
	case SMC_LLC_REQ_ADD_LINK:
		return SMC_LLC_FL_LINK_NEG;
	case SMC_LLC_CONFIRM_RKEY:
	case SMC_LLC_CONFIRM_RKEY_CONT:
	case SMC_LLC_DELETE_RKEY:
		return SMC_LLC_FL_RKEY_NEG;
	default:
		return 0;
	}
}

/* Maximum number of other links in one Confirm RKey exchange. */
static inline u8 smc_llc_max_others(bool v2)
{
	return v2 ? SMC_LLC_RKEY_OTHERS : SMC_LLC_MAX_LINKS - 1;
}

/* Convert an RToken of a version 2 Add Link from and to wire format. */
static inline struct smc_llc_rtoken
smc_llc_get_rtoken(const struct smc_llc_w_rtoken *w)
{
	return (struct smc_llc_rtoken) {
		.ref_rkey = be32_to_cpu(w->ref_rkey),
		.rkey = be32_to_cpu(w->rkey),
		.addr = be64_to_cpu(w->addr),
	};
}

static inline void smc_llc_set_rtoken(struct smc_llc_w_rtoken *w,
				      const struct smc_llc_rtoken *r)
{
	w->ref_rkey = cpu_to_be32(r->ref_rkey);
	w->rkey = cpu_to_be32(r->rkey);
	w->addr = cpu_to_be64(r->addr);
}

/* Convert an RKey of a Delete RKey from and to wire format. */
static inline u32 smc_llc_get_rkey(const struct smc_llc_w_rkey *w)
{
	return be32_to_cpu(w->rkey);
}

static inline void smc_llc_set_rkey(struct smc_llc_w_rkey *w, u32 rkey)
{
	w->rkey = cpu_to_be32(rkey);
}

#endif /* SMC_WIRE_LLC_H */
