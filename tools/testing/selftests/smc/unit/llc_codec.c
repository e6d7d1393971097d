// SPDX-License-Identifier: GPL-2.0
/*
 * Decode the bytes. What was decoded must be in range and must have an
 * encoding, which must decode to the same content. After a failure the result
 * must be empty.
 */
#include "clc.h"
#include "llc_codec.h"

static bool is_zero(const void *p, size_t len)
{
	const u8 *b = p;

	while (len && !*b) {
		b++;
		len--;
	}
	return !len;
}

/* Is [p, p + n) within [buf, buf + len)? With NULL, n must be 0. */
static bool inside(const void *p, size_t n, const u8 *buf, size_t len)
{
	const u8 *b = p;

	if (!b || !n)
		return !b && !n;
	return b >= buf && b <= buf + len && n <= (size_t)(buf + len - b);
}

static const char *in_range(const struct smc_llc_msg *m, const u8 *buf,
			    size_t len)
{
	const struct smc_llc_confirm_rkey *c = &m->confirm_rkey;
	const struct smc_llc_delete_rkey *d = &m->delete_rkey;
	const struct smc_llc_add_link *a = &m->add_link;
	bool ok = true;

	switch (m->type) {
	case SMC_LLC_CONFIRM_LINK:
		ok = m->confirm_link.qpn < 1 << 24 &&
		     m->confirm_link.cache_size < 16;
		break;
	case SMC_LLC_ADD_LINK:
		ok = a->qpn < 1 << 24 && a->psn < 1 << 24 && a->reason < 16 &&
		     (m->negative || !a->reason) && (m->v2 || !a->rtokens) &&
		     inside(a->rtokens, 16 * a->n_rtokens, buf, len);
		break;
	case SMC_LLC_ADD_LINK_CONT:
		ok = !m->v2 && m->add_link_cont.n_rtokens <= 2 &&
		     m->add_link_cont.n_rtokens <= m->add_link_cont.n_left;
		break;
	case SMC_LLC_DELETE_LINK:
		ok = !m->delete_link.all || !m->delete_link.link;
		break;
	case SMC_LLC_REQ_ADD_LINK:
		ok = m->v2 && m->req_add_link.n_gids <= 8 &&
		     m->reply == !m->req_add_link.n_gids;
		break;
	case SMC_LLC_CONFIRM_RKEY:
		ok = c->n_others <= 2 && c->n_others <= c->n_total &&
		     c->n_total <= (m->v2 ? 2 : 7) &&
		     (m->negative || !c->retry);
		break;
	case SMC_LLC_TEST_LINK:
		break;
	case SMC_LLC_CONFIRM_RKEY_CONT:
		ok = !m->v2 && m->confirm_rkey_cont.n_others <= 3 &&
		     m->confirm_rkey_cont.n_others <=
		     m->confirm_rkey_cont.n_left &&
		     m->confirm_rkey_cont.n_left <= 7;
		break;
	case SMC_LLC_DELETE_RKEY:
		ok = inside(d->rkeys, 4 * d->n_rkeys, buf, len) &&
		     (m->negative || (!d->error_mask && !d->n_failed)) &&
		     (m->v2 ? !d->error_mask : !d->n_failed) &&
		     (m->v2 || d->count <= 8) &&
		     d->n_rkeys <= (m->v2 && m->reply ? 8 : 255);
		break;
	default:
		return "LLC: unknown type decoded";
	}
	if (m->negative && !m->reply)
		ok = false;
	return ok ? NULL : "LLC: a value is out of range";
}

bool llc_equal(const struct smc_llc_msg *a, const struct smc_llc_msg *b)
{
	struct smc_llc_msg x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	if (x.type == SMC_LLC_ADD_LINK) {
		if (x.add_link.n_rtokens != y.add_link.n_rtokens ||
		    (x.add_link.n_rtokens &&
		     memcmp(x.add_link.rtokens, y.add_link.rtokens,
			    16 * x.add_link.n_rtokens)))
			return false;
		x.add_link.rtokens = NULL;
		y.add_link.rtokens = NULL;
	}
	if (x.type == SMC_LLC_DELETE_RKEY) {
		if (x.delete_rkey.n_rkeys != y.delete_rkey.n_rkeys ||
		    (x.delete_rkey.n_rkeys &&
		     memcmp(x.delete_rkey.rkeys, y.delete_rkey.rkeys,
			    4 * x.delete_rkey.n_rkeys)))
			return false;
		x.delete_rkey.rkeys = NULL;
		y.delete_rkey.rkeys = NULL;
	}
	return !memcmp(&x, &y, sizeof(x));
}

const char *llc_check(const u8 *buf, size_t len, int *rc)
{
	struct smc_llc_msg first, second;
	u8 out[SMC_LLC_V2_FULL_LEN];
	const char *complaint;
	int unused, n;

	if (!rc)
		rc = &unused;
	memset(&first, 0x5a, sizeof(first));
	*rc = smc_llc_decode(buf, len, &first);
	if (*rc && *rc != -EPROTO && *rc != -EOPNOTSUPP && *rc != -ENOMSG)
		return "LLC: return value";
	if (*rc == -EPROTO || *rc == -ENOMSG)
		return is_zero(&first, sizeof(first)) ? NULL :
		       "LLC: error, but result not zeroed";
	complaint = in_range(&first, buf, len);
	if (complaint)
		return complaint;

	n = smc_llc_encode(&first, out, sizeof(out));
	if (*rc == -EOPNOTSUPP) {
		if (first.type != SMC_LLC_ADD_LINK || first.negative)
			return "LLC: unknown MTU in a message without one";
		if (n != -EINVAL)
			return "LLC: unknown MTU, but has an encoding";
		first.add_link.mtu = SMC_CLC_MTU_4096;
		n = smc_llc_encode(&first, out, sizeof(out));
	}
	if (n < 0)
		return "LLC: decoded, but has no encoding";
	if ((size_t)n > len)
		return "LLC: encoding is longer";
	memset(&second, 0xa5, sizeof(second));
	if (smc_llc_decode(out, n, &second))
		return "LLC: encoded, but does not decode";
	return llc_equal(&first, &second) ? NULL :
	       "LLC: decodes to something else";
}

const char *cdc_check(const u8 *buf, size_t len, int *rc)
{
	u8 out[SMC_WR_MSG_LEN + 1];
	struct smc_cdc_msg first, second;
	int unused;

	if (!rc)
		rc = &unused;
	memset(&first, 0, sizeof(first));
	*rc = smc_cdc_decode(buf, len, &first);
	if (*rc != (len != 44 || buf[0] != 0xfe || buf[1] != 44 ? -EPROTO : 0))
		return "CDC: return value";
	if (*rc)
		return NULL;
	if (first.prod_flags & 0x07 || first.conn_flags & 0x1f)
		return "CDC: an unknown flag";
	if (first.prod_flags & SMC_CDC_FAILOVER &&
	    (first.prod_flags != SMC_CDC_FAILOVER || first.conn_flags ||
	     !is_zero(&first.prod, sizeof(first.prod)) ||
	     !is_zero(&first.cons, sizeof(first.cons))))
		return "CDC: failover validation together with other content";

	out[SMC_WR_MSG_LEN] = 0x77;
	smc_cdc_encode(&first, out);
	if (out[SMC_WR_MSG_LEN] != 0x77)
		return "CDC: encoding is too long";
	memset(&second, 0, sizeof(second));
	if (smc_cdc_decode(out, SMC_WR_MSG_LEN, &second))
		return "CDC: encoded, but does not decode";
	return memcmp(&first, &second, sizeof(first)) ?
	       "CDC: decodes to something else" : NULL;
}

static int expect_mtu(u8 mtu)
{
	mtu &= 15;
	return mtu >= 1 && mtu <= 5 ? 0 : -EOPNOTSUPP;
}

static int expect_v1(const u8 *b, size_t len)
{
	if (len != 44 || b[1] != 44)
		return -EPROTO;
	switch (b[0]) {
	case 1:
	case 3:
	case 4:
	case 7:
		return 0;
	case 2:
		return (b[3] & 0xc0) == 0xc0 ? 0 : expect_mtu(b[30]);
	case 6:
	case 8:
		return b[4] <= 7 ? 0 : -EPROTO;
	case 9:
		return b[4] <= 8 ? 0 : -EPROTO;
	}
	return -EPROTO;
}

static int expect_add_link(const u8 *b, size_t len)
{
	if ((b[3] & 0xc0) == 0xc0)
		return 0;
	if (len < 72 || (b[70] && b[71]) ||
	    len < 72u + 16 * (b[70] + b[71]))
		return -EPROTO;
	return expect_mtu(b[32]);
}

static int expect_v2(const u8 *b, size_t len)
{
	bool reply = b[3] & 0x80;

	if (256u * b[1] + b[2] != len && b[1] + 256u * b[2] != len)
		return -EPROTO;
	switch (b[0] & 15) {
	case 1:
	case 4:
	case 7:
		return len == 44 ? 0 : -EPROTO;
	case 2:
		return expect_add_link(b, len);
	case 5:
		if (reply)
			return len == 44 ? 0 : -EPROTO;
		return b[24] >= 1 && b[24] <= 8 && len >= 28u + 16 * b[24] ?
		       0 : -EPROTO;
	case 6:
		return len == 44 && b[4] <= 2 ? 0 : -EPROTO;
	case 9:
		if (reply)
			return len == 44 ? 0 : -EPROTO;
		return len >= 8u + 4 * b[4] ? 0 : -EPROTO;
	}
	return -EPROTO;
}

int llc_expect(const u8 *b, size_t len)
{
	if (len < 44 || len > 8192)
		return -EPROTO;
	switch (b[0] >> 4) {
	case 0x8:
	case 0x9:
	case 0xa:
	case 0xb:
		return -ENOMSG;
	case 0x0:
		return expect_v1(b, len);
	case 0x2:
		return expect_v2(b, len);
	}
	return -EPROTO;
}
