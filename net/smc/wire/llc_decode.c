// SPDX-License-Identifier: GPL-2.0
/*
 * Decoding of LLC messages.
 *
 * Every length and count is checked here, once, against the end of the message, so the result
 * cannot contain a bad one. The link group has to check numbers that refer to links, RKeys and
 * queue pairs. Reserved fields are ignored (RFC 7609 A.2), and variable-length messages of version
 * 2 may be longer than their counts require.
 */
#include "clc.h"
#include "llc.h"

static u32 smc_llc_get24(const u8 *b)
{
	return (u32)b[0] << 16 | (u32)b[1] << 8 | b[2];
}

/*
 * Version 1 has a one-byte length followed by a reserved byte. Version 2 has a 16-bit length, which
 * is big endian according to the paper, but in host byte order as sent by the incumbent.
 */
static bool smc_llc_len_ok(const struct smc_llc_w_hdr *hdr, size_t len,
			   struct smc_llc_msg *m)
{
	if (!m->v2)
		return hdr->len[0] == len;
	if ((hdr->len[0] | (size_t)hdr->len[1] << 8) == len)
		return true;
	m->big_endian = true;
	return ((size_t)hdr->len[0] << 8 | hdr->len[1]) == len;
}

static bool smc_llc_mtu_ok(const struct smc_llc_msg *m)
{
	return m->negative || smc_clc_mtu_valid(m->add_link.mtu);
}

static int smc_llc_decode_confirm_link(const u8 *buf, size_t len,
				       struct smc_llc_msg *m)
{
	const struct smc_llc_w_confirm_link *w = (const void *)buf;
	struct smc_llc_confirm_link *c = &m->confirm_link;

	if (len != sizeof(*w))
		return -EPROTO;
	memcpy(c->mac, w->mac, sizeof(c->mac));
	memcpy(c->gid, w->gid, sizeof(c->gid));
	c->qpn = smc_llc_get24(w->qpn);
	c->link = w->link;
	c->link_uid = be32_to_cpu(w->link_uid);
	c->max_links = w->max_links;
	if (m->v2) {
		c->max_conns = w->max_conns;
		c->cache_size = w->hdr.flags & SMC_LLC_FL_LOW_MASK;
	}
	return 0;
}

static int smc_llc_decode_add_link_v1(const u8 *buf, size_t len,
				      struct smc_llc_msg *m)
{
	const struct smc_llc_w_add_link_v1 *w = (const void *)buf;
	struct smc_llc_add_link *a = &m->add_link;

	if (len != sizeof(*w))
		return -EPROTO;
	memcpy(a->mac, w->mac, sizeof(a->mac));
	memcpy(a->gid, w->gid, sizeof(a->gid));
	a->qpn = smc_llc_get24(w->qpn);
	a->link = w->link;
	a->mtu = w->mtu & SMC_LLC_MTU_MASK;
	a->psn = smc_llc_get24(w->psn);
	if (m->negative)
		a->reason = w->hdr.len[1] & SMC_LLC_V1_REASON_MASK;
	return smc_llc_mtu_ok(m) ? 0 : -EOPNOTSUPP;
}

/*
 * Decode the part behind the base: GID and RTokens. The number of RTokens has 16 bits, in the same
 * uncertain byte order as the length, but its value is at most 255.
 */
static int smc_llc_decode_rtokens(const u8 *buf, size_t len,
				  struct smc_llc_msg *m)
{
	const struct smc_llc_w_add_link_v2 *w = (const void *)buf;
	struct smc_llc_add_link *a = &m->add_link;

	if (len < sizeof(*w) || (w->n_rtokens[0] && w->n_rtokens[1]))
		return -EPROTO;
	a->n_rtokens = w->n_rtokens[0] | w->n_rtokens[1];
	if ((len - sizeof(*w)) / sizeof(*a->rtokens) < a->n_rtokens)
		return -EPROTO;
	if (a->n_rtokens)
		a->rtokens = (const struct smc_llc_w_rtoken *)(w + 1);
	a->direct = w->flags & SMC_LLC_ADD_LINK_DIRECT;
	if (!m->reply)
		memcpy(a->client_gid, w->client_gid, sizeof(a->client_gid));
	return 0;
}

static int smc_llc_decode_add_link(const u8 *buf, size_t len,
				   struct smc_llc_msg *m)
{
	const struct smc_llc_w_add_link_base *w = (const void *)buf;
	struct smc_llc_add_link *a = &m->add_link;
	int rc;

	if (!m->v2)
		return smc_llc_decode_add_link_v1(buf, len, m);

	memcpy(a->mac, w->mac, sizeof(a->mac));
	memcpy(a->gid, w->gid, sizeof(a->gid));
	a->qpn = smc_llc_get24(w->qpn);
	a->link = w->link;
	a->mtu = w->mtu & SMC_LLC_MTU_MASK;
	a->psn = smc_llc_get24(w->psn);
	/* A negative reply may end here. */
	if (m->negative) {
		a->reason = w->hdr.flags & SMC_LLC_FL_LOW_MASK;
		return 0;
	}
	rc = smc_llc_decode_rtokens(buf, len, m);
	if (rc)
		return rc;
	return smc_llc_mtu_ok(m) ? 0 : -EOPNOTSUPP;
}

static int smc_llc_decode_add_link_cont(const u8 *buf, size_t len,
					struct smc_llc_msg *m)
{
	const struct smc_llc_w_add_link_cont *w = (const void *)buf;
	struct smc_llc_add_link_cont *a = &m->add_link_cont;
	unsigned int i;

	if (len != sizeof(*w))
		return -EPROTO;
	a->link = w->link;
	a->n_left = w->n_left;
	a->n_rtokens = w->n_left < SMC_LLC_CONT_RTOKENS ? w->n_left :
							  SMC_LLC_CONT_RTOKENS;
	for (i = 0; i < a->n_rtokens; i++)
		a->rtokens[i] = smc_llc_get_rtoken(&w->rtoken[i]);
	return 0;
}

static int smc_llc_decode_delete_link(const u8 *buf, size_t len,
				      struct smc_llc_msg *m)
{
	const struct smc_llc_w_delete_link *w = (const void *)buf;
	struct smc_llc_delete_link *d = &m->delete_link;

	if (len != sizeof(*w))
		return -EPROTO;
	d->all = w->hdr.flags & SMC_LLC_FL_ALL;
	d->orderly = w->hdr.flags & SMC_LLC_FL_ORDERLY;
	if (!d->all)
		d->link = w->link;
	d->reason = be32_to_cpu(w->reason);
	return 0;
}

static int smc_llc_decode_req_add_link(const u8 *buf, size_t len,
				       struct smc_llc_msg *m)
{
	const struct smc_llc_w_req_add_link *w = (const void *)buf;
	struct smc_llc_req_add_link *r = &m->req_add_link;

	if (m->reply) {
		if (m->negative)
			r->reason = w->hdr.flags & SMC_LLC_FL_LOW_MASK;
		return len == SMC_WR_MSG_LEN ? 0 : -EPROTO;
	}
	if (!w->n_gids || w->n_gids > SMC_LLC_MAX_GIDS ||
	    (len - sizeof(*w)) / sizeof(r->gids[0]) < w->n_gids)
		return -EPROTO;
	r->n_gids = w->n_gids;
	memcpy(r->gids, w + 1, w->n_gids * sizeof(r->gids[0]));
	return 0;
}

/* Decode the first @n entries, but at most @max. Returns the number decoded. */
static u8 smc_llc_decode_others(const struct smc_llc_w_link_rtoken *w, u8 n,
				u8 max, struct smc_llc_link_rtoken *others)
{
	unsigned int i;

	if (n > max)
		n = max;
	for (i = 0; i < n; i++) {
		others[i].link = w[i].link;
		others[i].rkey = be32_to_cpu(w[i].rkey);
		others[i].addr = be64_to_cpu(w[i].addr);
	}
	return n;
}

static int smc_llc_decode_confirm_rkey(const u8 *buf, size_t len,
				       struct smc_llc_msg *m)
{
	const struct smc_llc_w_confirm_rkey *w = (const void *)buf;
	struct smc_llc_confirm_rkey *c = &m->confirm_rkey;

	if (len != sizeof(*w) || w->n_others > smc_llc_max_others(m->v2))
		return -EPROTO;
	if (m->negative)
		c->retry = w->hdr.flags & SMC_LLC_FL_RKEY_RETRY;
	c->rkey = be32_to_cpu(w->rkey);
	c->addr = be64_to_cpu(w->addr);
	c->n_total = w->n_others;
	c->n_others = smc_llc_decode_others(w->other, w->n_others,
					    SMC_LLC_RKEY_OTHERS, c->others);
	return 0;
}

static int smc_llc_decode_confirm_rkey_cont(const u8 *buf, size_t len,
					    struct smc_llc_msg *m)
{
	const struct smc_llc_w_confirm_rkey_cont *w = (const void *)buf;
	struct smc_llc_confirm_rkey_cont *c = &m->confirm_rkey_cont;

	if (len != sizeof(*w) || w->n_left > smc_llc_max_others(m->v2))
		return -EPROTO;
	c->n_left = w->n_left;
	c->n_others = smc_llc_decode_others(w->other, w->n_left,
					    SMC_LLC_RKEY_CONT_OTHERS,
					    c->others);
	return 0;
}

static int smc_llc_decode_delete_rkey(const u8 *buf, size_t len,
				      struct smc_llc_msg *m)
{
	const struct smc_llc_w_delete_rkey *w = (const void *)buf;
	struct smc_llc_delete_rkey *d = &m->delete_rkey;

	if (len != SMC_WR_MSG_LEN && (!m->v2 || m->reply))
		return -EPROTO;
	d->count = w->count;
	if (m->v2 && m->reply) {
		/* The peer may report more failures than it lists, or than we asked for. */
		d->n_failed = m->negative ? w->failed : 0;
		d->n_rkeys = d->n_failed < SMC_LLC_V2_FAILED_RKEYS ?
			     d->n_failed : SMC_LLC_V2_FAILED_RKEYS;
	} else {
		if (!m->v2 && w->count > SMC_LLC_V1_DELETE_RKEYS)
			return -EPROTO;
		d->error_mask = m->negative ? w->failed : 0;
		d->n_rkeys = w->count;
	}
	if ((len - sizeof(*w)) / sizeof(*d->rkeys) < d->n_rkeys)
		return -EPROTO;
	if (d->n_rkeys)
		d->rkeys = (const struct smc_llc_w_rkey *)(w + 1);
	return 0;
}

static int smc_llc_decode_test_link(const u8 *buf, size_t len,
				    struct smc_llc_msg *m)
{
	const struct smc_llc_w_test_link *w = (const void *)buf;

	if (len != sizeof(*w))
		return -EPROTO;
	memcpy(m->test_link.data, w->data, sizeof(m->test_link.data));
	return 0;
}

static int smc_llc_decode_body(const u8 *buf, size_t len, struct smc_llc_msg *m)
{
	switch (m->type) {
	case SMC_LLC_CONFIRM_LINK:
		return smc_llc_decode_confirm_link(buf, len, m);
	case SMC_LLC_ADD_LINK:
		return smc_llc_decode_add_link(buf, len, m);
	case SMC_LLC_ADD_LINK_CONT:
		return smc_llc_decode_add_link_cont(buf, len, m);
	case SMC_LLC_DELETE_LINK:
		return smc_llc_decode_delete_link(buf, len, m);
	case SMC_LLC_REQ_ADD_LINK:
		return smc_llc_decode_req_add_link(buf, len, m);
	case SMC_LLC_CONFIRM_RKEY:
		return smc_llc_decode_confirm_rkey(buf, len, m);
	case SMC_LLC_TEST_LINK:
		return smc_llc_decode_test_link(buf, len, m);
	case SMC_LLC_CONFIRM_RKEY_CONT:
		return smc_llc_decode_confirm_rkey_cont(buf, len, m);
	case SMC_LLC_DELETE_RKEY:
		return smc_llc_decode_delete_rkey(buf, len, m);
	}
	return -EPROTO;
}

int smc_llc_decode(const u8 *buf, size_t len, struct smc_llc_msg *m)
{
	const struct smc_llc_w_hdr *hdr = (const void *)buf;
	int rc;

	memset(m, 0, sizeof(*m));
	if (len < SMC_WR_MSG_LEN || len > SMC_LLC_V2_MAX_LEN)
		return -EPROTO;
	if ((hdr->type & SMC_LLC_W_KIND_MASK) == SMC_LLC_W_OPTIONAL)
		return -ENOMSG;

	m->type = hdr->type & SMC_LLC_W_TYPE_MASK;
	m->v2 = (hdr->type & SMC_LLC_W_VERSION_MASK) == SMC_LLC_W_V2;
	m->reply = hdr->flags & SMC_LLC_FL_REPLY;
	m->negative = m->reply && hdr->flags & smc_llc_neg_flag(m->type);

	rc = -EPROTO;
	if ((m->v2 || (hdr->type & SMC_LLC_W_VERSION_MASK) == SMC_LLC_W_V1) &&
	    smc_llc_type_known(m->type, m->v2) &&
	    smc_llc_len_ok(hdr, len, m))
		rc = smc_llc_decode_body(buf, len, m);
	if (rc && rc != -EOPNOTSUPP)
		memset(m, 0, sizeof(*m));
	return rc;
}

const char *smc_llc_type_name(u8 type)
{
	static const char * const names[] = {
		[SMC_LLC_CONFIRM_LINK] = "CONFIRM LINK",
		[SMC_LLC_ADD_LINK] = "ADD LINK",
		[SMC_LLC_ADD_LINK_CONT] = "ADD LINK CONTINUATION",
		[SMC_LLC_DELETE_LINK] = "DELETE LINK",
		[SMC_LLC_REQ_ADD_LINK] = "REQUEST ADD LINK",
		[SMC_LLC_CONFIRM_RKEY] = "CONFIRM RKEY",
		[SMC_LLC_TEST_LINK] = "TEST LINK",
		[SMC_LLC_CONFIRM_RKEY_CONT] = "CONFIRM RKEY CONTINUATION",
		[SMC_LLC_DELETE_RKEY] = "DELETE RKEY",
	};

	if (type < 1 || type > SMC_LLC_TYPE_MAX)
		return "unknown";
	return names[type];
}
