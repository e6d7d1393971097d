// SPDX-License-Identifier: GPL-2.0
/*
 * Random legal content has an encoding, which decodes to the same content.
 * SEED=number in the environment repeats a run; without it the seed is fixed.
 */
#include <stdlib.h>

#include "clc.h"
#include "codec.h"
#include "tap.h"

#define ROUNDS	20000

static u64 state;

static u64 rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* 0 to n - 1 */
static unsigned int below(unsigned int n)
{
	return (rnd() >> 11) % n;
}

static bool coin(void)
{
	return below(2);
}

static void bytes(void *p, size_t len)
{
	u8 *b = p;

	while (len--)
		*b++ = rnd() >> 24;
}

#define BYTES(field) bytes(field, sizeof(field))

static void random_prefix(struct smc_clc_proposal *p)
{
	unsigned int i;

	p->has_prefix = p->smcr_v1 || coin();
	if (!p->has_prefix)
		return;
	p->ipv4_mask = cpu_to_be32(rnd());
	p->ipv4_prefix_len = below(33);
	p->n_ipv6 = below(SMC_CLC_MAX_IPV6_PREFIXES + 1);
	for (i = 0; i < p->n_ipv6; i++) {
		BYTES(p->ipv6[i].addr);
		p->ipv6[i].len = below(129);
	}
}

static void random_gids(struct smc_clc_proposal *p)
{
	unsigned int entries = below(SMC_CLC_MAX_GIDS + 1);
	struct smc_clc_ism_gid *gid;

	p->ism_gid = coin() ? rnd() : 0;
	p->ism_chid = p->ism_gid ? below(SMC_CHID_EMULATED) : 0;
	p->has_seid = coin();
	if (p->has_seid)
		BYTES(p->seid);
	while (entries) {
		gid = &p->gids[p->n_gids++];
		gid->gid = rnd();
		gid->extended = entries > 1 && coin();
		gid->chid = gid->extended ? SMC_CHID_EMULATED + below(256) :
					    below(SMC_CHID_EMULATED);
		gid->gid_ext = gid->extended ? rnd() : 0;
		entries -= gid->extended ? 2 : 1;
	}
}

static void random_v2(struct smc_clc_proposal *p)
{
	p->release = below(SMC_CLC_RELEASE + 1);
	p->eid_count = below(SMC_CLC_MAX_EIDS + 1);
	bytes(p->eids, p->eid_count * SMC_EID_LEN);
	if (p->smcr_v2)
		BYTES(p->roce_gid);
	if (p->release) {
		p->features = rnd();
		if (p->smcr_v2) {
			p->max_conns = coin() ? 16 + below(240) : 0;
			p->max_links = below(3);
		}
		if (coin()) {
			BYTES(p->vendor_oui);
			p->vendor_oui[0] |= 1;	/* 0 means none */
			BYTES(p->vendor_opts);
		}
	}
	if (p->smcd_v2)
		random_gids(p);
}

static void random_proposal(struct smc_clc_proposal *p)
{
	memset(p, 0, sizeof(*p));
	p->version = 1 + below(2);
	p->smcr_v1 = coin();
	p->smcd_v1 = coin();
	p->smcr_v2 = p->version == 2 && coin();
	p->smcd_v2 = p->version == 2 && coin();
	BYTES(p->peer_id);
	if (p->smcr_v1)
		BYTES(p->gid);
	if (p->smcr_v1 || p->smcr_v2)
		BYTES(p->mac);
	if (p->smcd_v1)
		p->ism_gid = rnd();
	if (p->smcr_v1 || p->smcd_v1)
		random_prefix(p);
	if (p->smcr_v2 || p->smcd_v2)
		random_v2(p);
}

static void random_fce(struct smc_clc_accept *a)
{
	static const char chars[] = "abcxyzABCXYZ0189-.";
	unsigned int i, n = below(SMC_CLC_HOSTNAME_LEN + 1);

	a->has_fce = true;
	a->release = below(SMC_CLC_RELEASE + 1);
	a->os_type = below(16);
	for (i = 0; i < n; i++)
		a->hostname[i] = chars[below(sizeof(chars) - 1)];
	if (!a->smcd)
		a->v2_direct = coin();
	if (a->release) {
		a->features = rnd();
		BYTES(a->vendor);
		if (!a->smcd) {
			a->max_conns = 16 + below(240);
			a->max_links = 1 + below(2);
		}
	}
	if (!a->smcd && a->confirm) {
		a->n_gid_list = 1 + below(SMC_CLC_MAX_GID_LIST);
		bytes(a->gid_list, a->n_gid_list * sizeof(a->gid_list[0]));
	}
}

static void random_smcd(struct smc_clc_accept *a)
{
	a->gid = rnd();
	a->token = rnd();
	a->dmbe_idx = rnd();
	a->dmbe_size = below(16);
	a->link_id = rnd();
	if (a->version == 1)
		return;
	a->chid = coin() ? rnd() : SMC_CHID_LOOPBACK;
	if (smc_clc_chid_emulated(a->chid))
		a->gid_ext = rnd();
}

static void random_smcr(struct smc_clc_accept *a)
{
	BYTES(a->peer_id);
	BYTES(a->roce_gid);
	BYTES(a->mac);
	a->qpn = below(1 << 24);
	a->rkey = rnd();
	a->rmbe_idx = rnd();
	a->rmbe_size = below(16);
	a->mtu = a->first_contact ? 1 + below(5) : below(16);
	a->alert_token = rnd();
	a->rmb_addr = rnd();
	a->psn = below(1 << 24);
	a->rc_saved = !a->confirm && coin();
}

static void random_accept(struct smc_clc_accept *a)
{
	memset(a, 0, sizeof(*a));
	a->confirm = coin();
	a->version = 1 + below(2);
	a->smcd = coin();
	a->first_contact = (a->version == 2 || !a->confirm) && coin();
	if (a->version == 2)
		BYTES(a->eid);
	if (a->smcd)
		random_smcd(a);
	else
		random_smcr(a);
	if (a->version == 2 && a->first_contact)
		random_fce(a);
}

static void random_decline(struct smc_clc_decline *d)
{
	memset(d, 0, sizeof(*d));
	d->version = 1 + below(2);
	d->smcd = coin();
	d->out_of_sync = coin();
	BYTES(d->peer_id);
	d->diagnosis = rnd();
	d->has_types = coin();
	if (d->version == 2 || d->has_types)
		d->os_type = below(16);
	if (!d->has_types)
		return;
	d->rc_dv2 = rnd();
	d->rc_dv1 = rnd();
	d->rc_rv2 = rnd();
	d->rc_rv1 = rnd();
}

/* For one type: make content, encode it exactly, decode it from a buffer of the exact size,
 * compare.
 */
#define ROUNDTRIP(what)							\
static size_t roundtrip_##what(void)					\
{									\
	struct smc_clc_##what in, out;					\
	u8 buf[SMC_CLC_MAX_LEN], *exact;				\
	int n;								\
									\
	random_##what(&in);						\
	n = smc_clc_encode_##what(&in, buf, sizeof(buf));		\
	CHECK(n > 0, "encode: %d", n);					\
	if (n <= 0)							\
		return 0;						\
	exact = malloc(n);						\
	CHECK(smc_clc_encode_##what(&in, exact, n - 1) == -EMSGSIZE,	\
	      "one byte short");					\
	CHECK(smc_clc_encode_##what(&in, exact, n) == n, "exact");	\
	CHECK(!memcmp(exact, buf, n), "two encodings differ");		\
	memset(&out, 0x5a, sizeof(out));				\
	CHECK(smc_clc_decode_##what(exact, n, &out) == 0, "decode");	\
	CHECK(!memcmp(&in, &out, sizeof(in)), "other content");		\
	CHECK(!codec_check(codec_type(exact), exact, n, NULL), "%s",	\
	      codec_check(codec_type(exact), exact, n, NULL));		\
	free(exact);							\
	return n;							\
}

ROUNDTRIP(proposal)
ROUNDTRIP(accept)
ROUNDTRIP(decline)

static void run(const char *name, size_t (*fn)(void), size_t longest)
{
	size_t n, max = 0, sum = 0;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		n = fn();
		sum += n;
		max = n > max ? n : max;
	}
	CHECK(max <= longest, "a message of %zu bytes", max);
	tap_case("%u random %s, %zu bytes on average, at most %zu", ROUNDS,
		 name, sum / ROUNDS, max);
}

/* The largest Proposal and Confirm have the lengths of the tables. */
static void fullest(void)
{
	struct smc_clc_proposal p = {
		.version = 2, .release = 1, .smcr_v1 = true, .smcd_v1 = true,
		.smcr_v2 = true, .smcd_v2 = true, .has_prefix = true,
		.n_ipv6 = 8, .eid_count = 8, .has_seid = true, .n_gids = 8,
	};
	struct smc_clc_accept a = {
		.version = 2, .confirm = true, .first_contact = true,
		.has_fce = true, .mtu = 5, .n_gid_list = 8,
	};
	u8 buf[SMC_CLC_MAX_LEN];

	/* base, IP area, prefixes, v2, EIDs, SMC-Dv2, entries, eye catcher */
	CHECK(smc_clc_encode_proposal(&p, buf, sizeof(buf)) ==
	      80 + 8 + 8 * 17 + 40 + 8 * 32 + 48 + 8 * 10 + 4, "Proposal");
	CHECK(smc_clc_encode_accept(&a, buf, sizeof(buf)) ==
	      104 + 52 + 132 + 4, "Confirm");
	tap_case("lengths of the longest messages");
}

/* E3: an extended GID takes two of the eight entries, and callers must take that into account. */
static void offered_devices(void)
{
	const struct smc_clc_ism_gid extended = { .gid = 1, .chid = 0xff01, .extended = true };
	const struct smc_clc_ism_gid plain = { .gid = 2, .chid = 1 };
	struct smc_clc_proposal p = { .version = 2, .smcd_v2 = true, .release = 1 };
	u8 buf[SMC_CLC_MAX_LEN];
	int i;

	for (i = 0; i < 4; i++)
		CHECK(smc_clc_offer_ism(&p, &extended), "extended %d", i);
	CHECK(!smc_clc_offer_ism(&p, &extended) && p.n_gids == 4, "a fifth");
	CHECK(!smc_clc_offer_ism(&p, &plain) && p.n_gids == 4, "a plain one after four");
	CHECK(smc_clc_encode_proposal(&p, buf, sizeof(buf)) > 0, "four");
	p.n_gids = 0;
	for (i = 0; i < 7; i++)
		CHECK(smc_clc_offer_ism(&p, &plain), "plain %d", i);
	CHECK(!smc_clc_offer_ism(&p, &extended) && p.n_gids == 7, "two entries when one is left");
	CHECK(smc_clc_offer_ism(&p, &plain) && p.n_gids == 8, "the last one");
	CHECK(!smc_clc_offer_ism(&p, &plain) && p.n_gids == 8, "a ninth");
	CHECK(smc_clc_encode_proposal(&p, buf, sizeof(buf)) > 0, "eight");
	tap_case("devices are offered until the entries are used up");
}

#define REFUSE_P(...)							\
	do {								\
		struct smc_clc_proposal p = { .version = 2,		\
			.smcr_v2 = true, .smcd_v2 = true, .release = 1,	\
			__VA_ARGS__ };					\
		CHECK(smc_clc_encode_proposal(&p, buf, sizeof(buf)) ==	\
		      -EINVAL, #__VA_ARGS__);				\
	} while (0)
#define REFUSE_A(...)							\
	do {								\
		struct smc_clc_accept a = { .version = 2, .mtu = 3,	\
			__VA_ARGS__ };					\
		CHECK(smc_clc_encode_accept(&a, buf, sizeof(buf)) ==	\
		      -EINVAL, #__VA_ARGS__);				\
	} while (0)
#define FIRST	.first_contact = true, .has_fce = true, .release = 1

/* Content without a legal encoding is refused, not adjusted to be legal. */
static void refused(void)
{
	struct smc_clc_decline d = { .version = 3 };
	u8 buf[SMC_CLC_MAX_LEN];

	REFUSE_P(.version = 0);
	REFUSE_P(.version = 3);
	REFUSE_P(.version = 1);
	REFUSE_P(.version = 1, .smcd_v2 = false);
	REFUSE_P(.version = 1, .smcr_v2 = false);
	REFUSE_P(.smcr_v1 = true);
	REFUSE_P(.smcd_v1 = true, .has_prefix = true, .n_ipv6 = 9);
	REFUSE_P(.smcd_v1 = true, .has_prefix = true, .ipv4_prefix_len = 33);
	REFUSE_P(.smcd_v1 = true, .has_prefix = true, .n_ipv6 = 1,
		 .ipv6 = { { .len = 129 } });
	REFUSE_P(.eid_count = 9);
	REFUSE_P(.release = 2);
	REFUSE_P(.max_conns = 15);
	REFUSE_P(.max_links = 3);
	REFUSE_P(.n_gids = 9);
	REFUSE_P(.n_gids = 1, .gids = { { .chid = 0xff00 } });
	REFUSE_P(.n_gids = 1, .gids = { { .chid = 1, .extended = true } });
	REFUSE_P(.ism_gid = 1, .ism_chid = 0xffff);
	REFUSE_P(.n_gids = 5,
		 .gids = { { .chid = 0xffff, .extended = true },
			   { .chid = 0xffff, .extended = true },
			   { .chid = 0xffff, .extended = true },
			   { .chid = 0xffff, .extended = true },
			   { .chid = 1 } });
	tap_case("Proposals without a legal encoding");

	REFUSE_A(.version = 0);
	REFUSE_A(.version = 3);
	REFUSE_A(.first_contact = true);
	REFUSE_A(.has_fce = true);
	REFUSE_A(.version = 1, .first_contact = true, .has_fce = true);
	REFUSE_A(.smcd = true, .dmbe_size = 16);
	REFUSE_A(.rmbe_size = 16);
	REFUSE_A(.mtu = 16);
	REFUSE_A(.qpn = 1 << 24);
	REFUSE_A(.psn = 1 << 24);
	REFUSE_A(FIRST, .max_conns = 16, .max_links = 1, .mtu = 0);
	REFUSE_A(FIRST, .max_conns = 15, .max_links = 1);
	REFUSE_A(FIRST, .max_conns = 16, .max_links = 0);
	REFUSE_A(FIRST, .max_conns = 16, .max_links = 3);
	REFUSE_A(FIRST, .max_conns = 16, .max_links = 1, .os_type = 16);
	REFUSE_A(FIRST, .max_conns = 16, .max_links = 1, .confirm = true);
	REFUSE_A(FIRST, .max_conns = 16, .max_links = 1, .confirm = true,
		 .n_gid_list = 9);
	tap_case("Accepts and Confirms without a legal encoding");

	CHECK(smc_clc_encode_decline(&d, buf, sizeof(buf)) == -EINVAL, "3");
	d.version = 0;
	CHECK(smc_clc_encode_decline(&d, buf, sizeof(buf)) == -EINVAL, "0");
	d.version = 2;
	d.os_type = 16;
	CHECK(smc_clc_encode_decline(&d, buf, sizeof(buf)) == -EINVAL, "OS");
	tap_case("Declines without a legal encoding");
}

/* Fields that are not offered, or beyond a count, are ignored. */
static void ignored(void)
{
	struct smc_clc_proposal p, out;
	u8 buf[SMC_CLC_MAX_LEN];

	memset(&p, 0, sizeof(p));
	p.version = 2;
	p.smcr_v2 = true;
	p.ism_gid = 1;
	p.ism_chid = 0xffff;
	p.has_seid = true;
	p.n_gids = 99;
	p.has_prefix = true;
	p.n_ipv6 = 99;
	CHECK(smc_clc_encode_proposal(&p, buf, sizeof(buf)) == 80 + 40 + 4,
	      "SMC-R alone");
	CHECK(!smc_clc_decode_proposal(buf, 124, &out), "decode");
	CHECK(!out.ism_gid && !out.ism_chid && !out.has_seid && !out.n_gids &&
	      !out.has_prefix && !out.n_ipv6, "something was written");

	memset(&p, 0, sizeof(p));
	p.version = 2;
	p.smcd_v2 = true;
	p.ism_chid = 7;
	CHECK(smc_clc_encode_proposal(&p, buf, sizeof(buf)) == 80 + 40 + 4,
	      "SMC-D with an associated device, or without one");
	CHECK(!buf[48] && !buf[49], "a CHID without a GID");
	p.smcd_v1 = true;
	p.has_prefix = true;
	p.n_ipv6 = 1;
	p.ipv6[1].len = 200;
	CHECK(smc_clc_encode_proposal(&p, buf, sizeof(buf)) ==
	      80 + 8 + 17 + 40 + 4, "a prefix beyond the count");
	tap_case("fields without meaning in a message are ignored");
}

/* A name of 33 characters without terminator is cut, and the next field is unchanged. */
static void long_hostname(void)
{
	struct smc_clc_accept a = {
		.version = 2, .first_contact = true, .has_fce = true,
		.release = 1, .mtu = 5, .max_conns = 16, .max_links = 2,
	};
	u8 buf[SMC_CLC_MAX_LEN];

	memset(a.hostname, 'h', sizeof(a.hostname));
	CHECK(smc_clc_encode_accept(&a, buf, sizeof(buf)) == 160, "length");
	CHECK(buf[108] == 'h' && buf[139] == 'h' && buf[140] == 16, "bytes");
	a.release = 0;
	CHECK(smc_clc_encode_accept(&a, buf, sizeof(buf)) == 160, "length");
	CHECK(buf[139] == 'h' && !buf[140], "bytes");
	tap_case("a host name that is too long is cut");
}

int main(void)
{
	const char *seed = getenv("SEED");

	state = seed ? strtoull(seed, NULL, 0) : 0x5eed5eed5eedull;
	if (!state)
		state = 1;
	printf("# SEED=%llu\n", (unsigned long long)state);
	run("Proposals", roundtrip_proposal, SMC_CLC_PROP_FULL_LEN);
	run("Accepts and Confirms", roundtrip_accept,
	    SMC_CLC_CONFIRM_R_FULL_LEN);
	run("Declines", roundtrip_decline, 44);
	fullest();
	ignored();
	long_hostname();
	offered_devices();
	refused();
	return tap_done();
}
