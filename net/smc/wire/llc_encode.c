// SPDX-License-Identifier: GPL-2.0
/*
 * Encoding of LLC messages.
 *
 * The encoder first checks its input, then computes the length, then writes. So nothing is written
 * unless everything is legal and fits.
 */
#include "clc.h"
#include "llc.h"

static void smc_llc_put24(u8 *b, u32 v)
{
	b[0] = v >> 16;
	b[1] = v >> 8;
	b[2] = v;
}

static bool smc_llc_24bit(u32 v)
{
	return !(v >> 24);
}

static bool smc_llc_add_link_legal(const struct smc_llc_msg *m)
{
	const struct smc_llc_add_link *a = &m->add_link;

	if (!smc_llc_24bit(a->qpn) || !smc_llc_24bit(a->psn))
		return false;
	/* A negative reply that refuses an MTU code repeats the code. */
	if (m->negative)
		return a->mtu <= SMC_LLC_MTU_MASK &&
		       a->reason <= SMC_LLC_FL_LOW_MASK;
	return smc_clc_mtu_valid(a->mtu) &&
	       !(m->v2 && a->n_rtokens && !a->rtokens);
}

/* The number of RKeys that a Delete RKey message lists. */
static u8 smc_llc_listed_rkeys(const struct smc_llc_msg *m)
{
	const struct smc_llc_delete_rkey *d = &m->delete_rkey;

	if (!m->v2 || !m->reply)
		return d->count;
	if (!m->negative)
		return 0;
	return d->n_failed < SMC_LLC_V2_FAILED_RKEYS ? d->n_failed :
						       SMC_LLC_V2_FAILED_RKEYS;
}

static bool smc_llc_legal(const struct smc_llc_msg *m)
{
	if (!smc_llc_type_known(m->type, m->v2))
		return false;
	if (m->negative && (!m->reply || !smc_llc_neg_flag(m->type)))
		return false;

	switch (m->type) {
	case SMC_LLC_CONFIRM_LINK:
		return smc_llc_24bit(m->confirm_link.qpn) &&
		       m->confirm_link.cache_size <= SMC_LLC_FL_LOW_MASK;
	case SMC_LLC_ADD_LINK:
		return smc_llc_add_link_legal(m);
	case SMC_LLC_REQ_ADD_LINK:
		if (m->reply)
			return m->req_add_link.reason <= SMC_LLC_FL_LOW_MASK;
		return m->req_add_link.n_gids &&
		       m->req_add_link.n_gids <= SMC_LLC_MAX_GIDS;
	case SMC_LLC_CONFIRM_RKEY:
		return m->confirm_rkey.n_total <= smc_llc_max_others(m->v2);
	case SMC_LLC_CONFIRM_RKEY_CONT:
		return m->confirm_rkey_cont.n_left <= smc_llc_max_others(m->v2);
	case SMC_LLC_DELETE_RKEY:
		if (!m->v2 && m->delete_rkey.count > SMC_LLC_V1_DELETE_RKEYS)
			return false;
		return !smc_llc_listed_rkeys(m) || m->delete_rkey.rkeys;
	default:
		return true;
	}
}

static size_t smc_llc_len(const struct smc_llc_msg *m)
{
	size_t len = SMC_WR_MSG_LEN;

	if (!m->v2)
		return len;
	switch (m->type) {
	case SMC_LLC_ADD_LINK:
		if (!m->negative)
			len = sizeof(struct smc_llc_w_add_link_v2) +
			      m->add_link.n_rtokens *
			      sizeof(struct smc_llc_w_rtoken);
		break;
	case SMC_LLC_REQ_ADD_LINK:
		if (!m->reply)
			len = sizeof(struct smc_llc_w_req_add_link) +
			      m->req_add_link.n_gids *
			      sizeof(m->req_add_link.gids[0]);
		break;
	case SMC_LLC_DELETE_RKEY:
		len = sizeof(struct smc_llc_w_delete_rkey) +
		      smc_llc_listed_rkeys(m) * sizeof(struct smc_llc_w_rkey);
		break;
	}
	return len < SMC_WR_MSG_LEN ? SMC_WR_MSG_LEN : len;
}

/* Encode a length or count of version 2, in the byte order that the caller has chosen. */
static void smc_llc_put16(const struct smc_llc_msg *m, u8 *b, size_t v)
{
	b[m->big_endian] = v;
	b[!m->big_endian] = v >> 8;
}

static void smc_llc_encode_hdr(const struct smc_llc_msg *m, size_t len, u8 *buf)
{
	struct smc_llc_w_hdr *hdr = (struct smc_llc_w_hdr *)buf;

	memset(buf, 0, len);
	hdr->type = m->type | (m->v2 ? SMC_LLC_W_V2 : SMC_LLC_W_V1);
	if (m->v2)
		smc_llc_put16(m, hdr->len, len);
	else
		hdr->len[0] = len;
	if (m->reply)
		hdr->flags |= SMC_LLC_FL_REPLY;
	if (m->negative)
		hdr->flags |= smc_llc_neg_flag(m->type);
}

static void smc_llc_encode_confirm_link(const struct smc_llc_msg *m, u8 *buf)
{
	struct smc_llc_w_confirm_link *w = (void *)buf;
	const struct smc_llc_confirm_link *c = &m->confirm_link;

	memcpy(w->mac, c->mac, sizeof(w->mac));
	memcpy(w->gid, c->gid, sizeof(w->gid));
	smc_llc_put24(w->qpn, c->qpn);
	w->link = c->link;
	w->link_uid = cpu_to_be32(c->link_uid);
	w->max_links = c->max_links;
	if (m->v2) {
		w->max_conns = c->max_conns;
		w->hdr.flags |= c->cache_size;
	}
}

static void smc_llc_encode_add_link_v1(const struct smc_llc_msg *m, u8 *buf)
{
	struct smc_llc_w_add_link_v1 *w = (void *)buf;
	const struct smc_llc_add_link *a = &m->add_link;

	memcpy(w->mac, a->mac, sizeof(w->mac));
	memcpy(w->gid, a->gid, sizeof(w->gid));
	smc_llc_put24(w->qpn, a->qpn);
	w->link = a->link;
	w->mtu = a->mtu;
	smc_llc_put24(w->psn, a->psn);
	if (m->negative)
		w->hdr.len[1] = a->reason;
}

static void smc_llc_encode_add_link_v2(const struct smc_llc_msg *m, u8 *buf)
{
	struct smc_llc_w_add_link_v2 *w = (void *)buf;
	const struct smc_llc_add_link *a = &m->add_link;

	memcpy(w->base.mac, a->mac, sizeof(w->base.mac));
	memcpy(w->base.gid, a->gid, sizeof(w->base.gid));
	smc_llc_put24(w->base.qpn, a->qpn);
	w->base.link = a->link;
	w->base.mtu = a->mtu;
	smc_llc_put24(w->base.psn, a->psn);
	if (m->negative) {
		w->base.hdr.flags |= a->reason;
		return;
	}
	if (a->direct)
		w->flags = SMC_LLC_ADD_LINK_DIRECT;
	if (!m->reply)
		memcpy(w->client_gid, a->client_gid, sizeof(w->client_gid));
	smc_llc_put16(m, w->n_rtokens, a->n_rtokens);
	if (a->n_rtokens)
		memcpy(w + 1, a->rtokens, a->n_rtokens * sizeof(*a->rtokens));
}

static void smc_llc_encode_add_link_cont(const struct smc_llc_msg *m, u8 *buf)
{
	struct smc_llc_w_add_link_cont *w = (void *)buf;
	const struct smc_llc_add_link_cont *a = &m->add_link_cont;
	unsigned int i;

	w->link = a->link;
	w->n_left = a->n_left;
	for (i = 0; i < a->n_left && i < SMC_LLC_CONT_RTOKENS; i++)
		smc_llc_set_rtoken(&w->rtoken[i], &a->rtokens[i]);
}

static void smc_llc_encode_delete_link(const struct smc_llc_msg *m, u8 *buf)
{
	struct smc_llc_w_delete_link *w = (void *)buf;
	const struct smc_llc_delete_link *d = &m->delete_link;

	if (d->all)
		w->hdr.flags |= SMC_LLC_FL_ALL;
	else
		w->link = d->link;
	if (d->orderly)
		w->hdr.flags |= SMC_LLC_FL_ORDERLY;
	w->reason = cpu_to_be32(d->reason);
}

static void smc_llc_encode_req_add_link(const struct smc_llc_msg *m, u8 *buf)
{
	struct smc_llc_w_req_add_link *w = (void *)buf;
	const struct smc_llc_req_add_link *r = &m->req_add_link;

	if (m->negative)
		w->hdr.flags |= r->reason;
	if (m->reply)
		return;
	w->n_gids = r->n_gids;
	memcpy(w + 1, r->gids, r->n_gids * sizeof(r->gids[0]));
}

static void smc_llc_encode_others(struct smc_llc_w_link_rtoken *w, u8 n, u8 max,
				  const struct smc_llc_link_rtoken *others)
{
	unsigned int i;

	for (i = 0; i < n && i < max; i++) {
		w[i].link = others[i].link;
		w[i].rkey = cpu_to_be32(others[i].rkey);
		w[i].addr = cpu_to_be64(others[i].addr);
	}
}

static void smc_llc_encode_confirm_rkey(const struct smc_llc_msg *m, u8 *buf)
{
	struct smc_llc_w_confirm_rkey *w = (void *)buf;
	const struct smc_llc_confirm_rkey *c = &m->confirm_rkey;

	if (m->negative && c->retry)
		w->hdr.flags |= SMC_LLC_FL_RKEY_RETRY;
	w->n_others = c->n_total;
	w->rkey = cpu_to_be32(c->rkey);
	w->addr = cpu_to_be64(c->addr);
	smc_llc_encode_others(w->other, c->n_total, SMC_LLC_RKEY_OTHERS,
			      c->others);
}

static void smc_llc_encode_confirm_rkey_cont(const struct smc_llc_msg *m,
					     u8 *buf)
{
	struct smc_llc_w_confirm_rkey_cont *w = (void *)buf;
	const struct smc_llc_confirm_rkey_cont *c = &m->confirm_rkey_cont;

	w->n_left = c->n_left;
	smc_llc_encode_others(w->other, c->n_left, SMC_LLC_RKEY_CONT_OTHERS,
			      c->others);
}

static void smc_llc_encode_delete_rkey(const struct smc_llc_msg *m, u8 *buf)
{
	struct smc_llc_w_delete_rkey *w = (void *)buf;
	const struct smc_llc_delete_rkey *d = &m->delete_rkey;
	u8 n = smc_llc_listed_rkeys(m);

	w->count = d->count;
	if (m->negative)
		w->failed = m->v2 ? d->n_failed : d->error_mask;
	if (n)
		memcpy(w + 1, d->rkeys, n * sizeof(*d->rkeys));
}

int smc_llc_encode(const struct smc_llc_msg *m, u8 *buf, size_t size)
{
	size_t len;

	if (!smc_llc_legal(m))
		return -EINVAL;
	len = smc_llc_len(m);
	if (len > size)
		return -EMSGSIZE;

	smc_llc_encode_hdr(m, len, buf);
	switch (m->type) {
	case SMC_LLC_CONFIRM_LINK:
		smc_llc_encode_confirm_link(m, buf);
		break;
	case SMC_LLC_ADD_LINK:
		if (m->v2)
			smc_llc_encode_add_link_v2(m, buf);
		else
			smc_llc_encode_add_link_v1(m, buf);
		break;
	case SMC_LLC_ADD_LINK_CONT:
		smc_llc_encode_add_link_cont(m, buf);
		break;
	case SMC_LLC_DELETE_LINK:
		smc_llc_encode_delete_link(m, buf);
		break;
	case SMC_LLC_REQ_ADD_LINK:
		smc_llc_encode_req_add_link(m, buf);
		break;
	case SMC_LLC_CONFIRM_RKEY:
		smc_llc_encode_confirm_rkey(m, buf);
		break;
	case SMC_LLC_TEST_LINK:
		memcpy(((struct smc_llc_w_test_link *)buf)->data,
		       m->test_link.data, sizeof(m->test_link.data));
		break;
	case SMC_LLC_CONFIRM_RKEY_CONT:
		smc_llc_encode_confirm_rkey_cont(m, buf);
		break;
	case SMC_LLC_DELETE_RKEY:
		smc_llc_encode_delete_rkey(m, buf);
		break;
	}
	return len;
}
