// SPDX-License-Identifier: GPL-2.0
/*
 * Decode the bytes. What was decoded must be legal and must have an encoding,
 * which must decode to the same content. After a failure the result must be
 * empty.
 */
#include "codec.h"

static bool is_zero(const void *p, size_t len)
{
	const u8 *b = p;

	while (len && !*b) {
		b++;
		len--;
	}
	return !len;
}

static bool rc_known(int rc)
{
	return rc == 0 || rc == -EPROTO || rc == -EOPNOTSUPP;
}

static const char *check_proposal(const u8 *buf, size_t len, int *rc)
{
	struct smc_clc_proposal first, second;
	u8 out[SMC_CLC_MAX_LEN];
	unsigned int i;
	int n;

	memset(&first, 0x5a, sizeof(first));
	*rc = smc_clc_decode_proposal(buf, len, &first);
	if (!rc_known(*rc))
		return "proposal: return value";
	if (*rc)
		return is_zero(&first, sizeof(first)) ? NULL :
		       "proposal: error, but result not zeroed";
	if (first.n_ipv6 > SMC_CLC_MAX_IPV6_PREFIXES ||
	    first.eid_count > SMC_CLC_MAX_EIDS ||
	    first.n_gids > SMC_CLC_MAX_GIDS || first.release > 1 ||
	    first.ipv4_prefix_len > 32 || first.max_links > 2 ||
	    (first.max_conns && first.max_conns < 16))
		return "proposal: a value is out of range";
	for (i = 0; i < first.n_gids; i++)
		if (first.gids[i].extended != (first.gids[i].chid >= 0xff00))
			return "proposal: extended GID without emulated CHID";

	n = smc_clc_encode_proposal(&first, out, sizeof(out));
	if (n < 0)
		return "proposal: decoded, but has no encoding";
	memset(&second, 0xa5, sizeof(second));
	if (smc_clc_decode_proposal(out, n, &second))
		return "proposal: encoded, but does not decode";
	return memcmp(&first, &second, sizeof(first)) ?
	       "proposal: decodes to something else" : NULL;
}

static const char *check_accept(const u8 *buf, size_t len, int *rc)
{
	struct smc_clc_accept first, second;
	u8 out[SMC_CLC_MAX_LEN];
	int n;

	memset(&first, 0x5a, sizeof(first));
	*rc = smc_clc_decode_accept(buf, len, &first);
	if (!rc_known(*rc))
		return "accept: return value";
	if (*rc)
		return is_zero(&first, sizeof(first)) ? NULL :
		       "accept: error, but result not zeroed";
	if (first.version < 1 || first.version > 2 || first.qpn >> 24 ||
	    first.psn >> 24 || first.dmbe_size > 15 || first.rmbe_size > 15 ||
	    first.os_type > 15 || first.n_gid_list > SMC_CLC_MAX_GID_LIST ||
	    memchr(first.hostname, 0, sizeof(first.hostname)) == NULL)
		return "accept: a value is out of range";
	if (first.has_fce != (first.version == 2 && first.first_contact))
		return "accept: extension and first contact disagree";

	/* later releases are decoded, but we encode only those we support */
	if (first.release > SMC_CLC_RELEASE)
		first.release = SMC_CLC_RELEASE;
	n = smc_clc_encode_accept(&first, out, sizeof(out));
	if (n < 0)
		return "accept: decoded, but has no encoding";
	memset(&second, 0xa5, sizeof(second));
	if (smc_clc_decode_accept(out, n, &second))
		return "accept: encoded, but does not decode";
	return memcmp(&first, &second, sizeof(first)) ?
	       "accept: decodes to something else" : NULL;
}

static const char *check_decline(const u8 *buf, size_t len, int *rc)
{
	struct smc_clc_decline first, second;
	u8 out[SMC_CLC_MAX_LEN];
	int n;

	memset(&first, 0x5a, sizeof(first));
	*rc = smc_clc_decode_decline(buf, len, &first);
	if (*rc != 0 && *rc != -EPROTO)
		return "decline: return value";
	if (*rc)
		return is_zero(&first, sizeof(first)) ? NULL :
		       "decline: error, but result not zeroed";
	if (first.os_type > 15)
		return "decline: a value is out of range";

	/* the same for versions */
	if (first.version > SMC_CLC_V2)
		first.version = SMC_CLC_V2;
	if (first.version < SMC_CLC_V1)
		first.version = SMC_CLC_V1;
	n = smc_clc_encode_decline(&first, out, sizeof(out));
	if (n < 0)
		return "decline: decoded, but has no encoding";
	memset(&second, 0xa5, sizeof(second));
	if (smc_clc_decode_decline(out, n, &second))
		return "decline: encoded, but does not decode";
	return memcmp(&first, &second, sizeof(first)) ?
	       "decline: decodes to something else" : NULL;
}

/* Decoding only the header must return the same result, or no error where the whole message has
 * one.
 */
static const char *check_hdr(const u8 *buf, size_t len, int rc)
{
	struct smc_clc_hdr hdr, again;
	int first, second;

	memset(&hdr, 0x5a, sizeof(hdr));
	first = smc_clc_decode_hdr(buf, len, &hdr);
	if (!rc_known(first))
		return "header: return value";
	if (first == -EPROTO)
		return rc != -EPROTO ? "header: malformed, but decodes" :
		       is_zero(&hdr, sizeof(hdr)) ? NULL :
		       "header: error, but result not zeroed";
	if (hdr.len < 28 || hdr.len > SMC_CLC_MAX_LEN)
		return "header: length is out of range";
	if (first == -EOPNOTSUPP && rc == 0)
		return "header: unknown, but decodes";
	if (rc == 0 && hdr.len != len)
		return "header: decodes with the wrong length";
	second = smc_clc_decode_hdr(buf, SMC_CLC_HDR_LEN, &again);
	return first != second || memcmp(&hdr, &again, sizeof(hdr)) ?
	       "header: 8 bytes do not suffice to decode it" : NULL;
}

const char *codec_check(enum smc_clc_type type, const u8 *buf, size_t len,
			int *rc)
{
	const char *complaint;
	int unused;

	if (!rc)
		rc = &unused;
	switch (type) {
	case SMC_CLC_PROPOSAL:
		complaint = check_proposal(buf, len, rc);
		break;
	case SMC_CLC_ACCEPT:
	case SMC_CLC_CONFIRM:
		complaint = check_accept(buf, len, rc);
		break;
	default:
		complaint = check_decline(buf, len, rc);
		break;
	}
	return complaint ? complaint : check_hdr(buf, len, *rc);
}
