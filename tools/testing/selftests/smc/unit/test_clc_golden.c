// SPDX-License-Identifier: GPL-2.0
/* The content of golden messages, field by field; our encoder must write the same bytes. */
#include "clc.h"
#include "codec.h"
#include "golden.h"
#include "golden_capture.h"
#include "golden_spec.h"
#include "tap.h"

#define EQ(a, b) \
	CHECK((a) == (b), "%llx, not %llx", (unsigned long long)(a), \
	      (unsigned long long)(b))
#define MEM(field, ...)							\
	do {								\
		static const u8 want[] = { __VA_ARGS__ };		\
									\
		CHECK(sizeof(want) == sizeof(field) &&			\
		      !memcmp(field, want, sizeof(want)), "other bytes"); \
	} while (0)

/* All other fields must be zero: compare the whole struct. */
static void proposal(const u8 *buf, size_t len,
		     const struct smc_clc_proposal *want)
{
	struct smc_clc_proposal p;

	EQ(smc_clc_decode_proposal(buf, len, &p), 0);
	EQ(p.version, want->version);
	EQ(p.release, want->release);
	EQ(p.smcr_v1, want->smcr_v1);
	EQ(p.smcd_v1, want->smcd_v1);
	EQ(p.smcr_v2, want->smcr_v2);
	EQ(p.smcd_v2, want->smcd_v2);
	EQ(p.ism_gid, want->ism_gid);
	EQ(p.ism_chid, want->ism_chid);
	EQ(p.has_prefix, want->has_prefix);
	EQ(p.n_ipv6, want->n_ipv6);
	EQ(p.eid_count, want->eid_count);
	EQ(p.features, want->features);
	EQ(p.n_gids, want->n_gids);
	CHECK(!memcmp(&p, want, sizeof(p)), "a field differs");
}

static void accept(const u8 *buf, size_t len, const struct smc_clc_accept *want)
{
	struct smc_clc_accept a;

	EQ(smc_clc_decode_accept(buf, len, &a), 0);
	EQ(a.confirm, want->confirm);
	EQ(a.version, want->version);
	EQ(a.release, want->release);
	EQ(a.first_contact, want->first_contact);
	EQ(a.smcd, want->smcd);
	EQ(a.gid, want->gid);
	EQ(a.token, want->token);
	EQ(a.dmbe_size, want->dmbe_size);
	EQ(a.qpn, want->qpn);
	EQ(a.rkey, want->rkey);
	EQ(a.mtu, want->mtu);
	EQ(a.has_fce, want->has_fce);
	EQ(a.features, want->features);
	EQ(a.n_gid_list, want->n_gid_list);
	CHECK(!strcmp(a.hostname, want->hostname), "'%s'", a.hostname);
	CHECK(!memcmp(&a, want, sizeof(a)), "a field differs");
}

static void decline(const u8 *buf, size_t len,
		    const struct smc_clc_decline *want)
{
	struct smc_clc_decline d;

	EQ(smc_clc_decode_decline(buf, len, &d), 0);
	EQ(d.diagnosis, want->diagnosis);
	EQ(d.has_types, want->has_types);
	CHECK(!memcmp(&d, want, sizeof(d)), "a field differs");
}

/* Static, so the padding is zero and memcmp() is valid. */
#define PROPOSAL(bytes, ...)						\
	do {								\
		static const struct smc_clc_proposal want = { __VA_ARGS__ }; \
									\
		proposal(bytes, sizeof(bytes), &want);			\
		tap_case("decode " #bytes);				\
	} while (0)
#define ACCEPT(bytes, ...)						\
	do {								\
		static const struct smc_clc_accept want = { __VA_ARGS__ }; \
									\
		accept(bytes, sizeof(bytes), &want);			\
		tap_case("decode " #bytes);				\
	} while (0)
#define DECLINE(bytes, ...)						\
	do {								\
		static const struct smc_clc_decline want = { __VA_ARGS__ }; \
									\
		decline(bytes, sizeof(bytes), &want);			\
		tap_case("decode " #bytes);				\
	} while (0)

#define EID_CAPTURE	{ 'C', 'A', 'P', 'T', 'U', 'R', 'E', ' ', B24 }
#define CAP_GID		0x6a4b61c806b971f3, .gid_ext = 0x4231ac6901dbffb0
#define NO_NAME		"(none)"

static void captured_smcd(void)
{
	PROPOSAL(cap_d21_proposal, .version = 2, .release = 1, .smcd_v2 = true,
		 .eid_count = 1, .eids = { EID_CAPTURE },
		 .features = SMC_CLC_FEAT_EMULATED_ISM, .n_gids = 1,
		 .gids = { { .gid = CAP_GID, .chid = SMC_CHID_LOOPBACK,
			     .extended = true } });
	ACCEPT(cap_d21_accept_first, .version = 2, .release = 1,
	       .first_contact = true, .smcd = true, .eid = EID_CAPTURE,
	       .gid = CAP_GID, .token = 0x3239f1da35fd48e6, .dmbe_size = 2,
	       .link_id = 0x00010000, .chid = 0xffff, .has_fce = true,
	       .os_type = SMC_CLC_OS_LINUX, .hostname = NO_NAME,
	       .features = SMC_CLC_FEAT_EMULATED_ISM);
	ACCEPT(cap_d21_confirm_first, .confirm = true, .version = 2,
	       .release = 1, .first_contact = true, .smcd = true,
	       .eid = EID_CAPTURE, .gid = CAP_GID,
	       .token = 0x9459c8c5363f9dbc, .dmbe_size = 2,
	       .link_id = 0x00020000, .chid = 0xffff, .has_fce = true,
	       .os_type = SMC_CLC_OS_LINUX, .hostname = NO_NAME,
	       .features = SMC_CLC_FEAT_EMULATED_ISM);
	ACCEPT(cap_d21_accept, .version = 2, .smcd = true, .eid = EID_CAPTURE,
	       .gid = CAP_GID, .token = 0x3239f1da35fd48e6, .dmbe_size = 2,
	       .link_id = 0x00010000, .chid = 0xffff);
	ACCEPT(cap_d21_confirm, .confirm = true, .version = 2, .smcd = true,
	       .eid = EID_CAPTURE, .gid = CAP_GID,
	       .token = 0x923dd9ca15ce9dc1, .dmbe_size = 2,
	       .link_id = 0x00010000, .chid = 0xffff);
}

#define CAP_R_SERVER							\
	.version = 2, .eid = EID_CAPTURE,				\
	.peer_id = { 0x6a, 0x28, 0x52, 0x54, 0, 0, 0, 1 },		\
	.roce_gid = { Z8, Z2, 0xff, 0xff, 10, 0, 0, 1 },		\
	.mac = { 0x52, 0x54, 0, 0, 0, 1 }, .qpn = 0x11, .rkey = 0x38e,	\
	.rmbe_idx = 1, .rmbe_size = 2, .mtu = 3,			\
	.rmb_addr = 0xff11000007070000, .psn = 0x7aa923
#define CAP_R_CLIENT							\
	.confirm = true, .version = 2, .eid = EID_CAPTURE,		\
	.peer_id = { 0x55, 0x51, 0x52, 0x54, 0, 0, 0, 2 },		\
	.roce_gid = { Z8, Z2, 0xff, 0xff, 10, 0, 0, 2 },		\
	.mac = { 0x52, 0x54, 0, 0, 0, 2 }, .qpn = 0x11, .rkey = 0x324,	\
	.rmbe_idx = 1, .rmbe_size = 2, .mtu = 3,			\
	.rmb_addr = 0xff11000007070000, .psn = 0xe2d1c0
#define CAP_R_FCE							\
	.release = 1, .first_contact = true, .has_fce = true,		\
	.v2_direct = true, .os_type = SMC_CLC_OS_LINUX,			\
	.hostname = NO_NAME, .max_conns = 255, .max_links = 2,		\
	.features = SMC_CLC_FEAT_EMULATED_ISM

static void captured_smcr(void)
{
	PROPOSAL(cap_r21_proposal, .version = 2, .release = 1, .smcr_v2 = true,
		 .roce_gid = { Z8, Z2, 0xff, 0xff, 10, 0, 0, 2 },
		 .eid_count = 1, .eids = { EID_CAPTURE }, .max_conns = 255,
		 .max_links = 2, .features = SMC_CLC_FEAT_EMULATED_ISM);
	ACCEPT(cap_r21_accept_first, CAP_R_SERVER, .alert_token = 1, CAP_R_FCE);
	ACCEPT(cap_r21_confirm_first, CAP_R_CLIENT, .alert_token = 1, CAP_R_FCE,
	       .n_gid_list = 1,
	       .gid_list = { { Z8, Z2, 0xff, 0xff, 10, 0, 0, 2 } });
	ACCEPT(cap_r21_accept, CAP_R_SERVER, .alert_token = 2);
	ACCEPT(cap_r21_confirm, CAP_R_CLIENT, .alert_token = 2);
	DECLINE(cap_v1_decline, .version = 1, .diagnosis = 0x03030000,
		.peer_id = { 0x0b, 0xb9, 0x52, 0x54, 0, 0, 0, 2 });
}

static void spec_proposals(void)
{
	struct smc_clc_proposal p;

	EQ(smc_clc_decode_proposal(spec_r1_proposal_ipv4,
				   sizeof(spec_r1_proposal_ipv4), &p), 0);
	EQ(be32_to_cpu(p.ipv4_mask), 0xfffffc00);
	EQ(p.ipv4_prefix_len, 22);
	EQ(p.n_ipv6, 0);
	EQ(p.has_prefix && p.smcr_v1 && !p.smcd_v1, 1);
	EQ(p.version, 1);
	MEM(p.peer_id, PEER_C);
	MEM(p.gid, GID_C);
	MEM(p.mac, MAC_C);
	tap_case("decode spec_r1_proposal_ipv4");

	PROPOSAL(spec_r1_proposal_ipv6, .version = 1, .smcr_v1 = true,
		 .peer_id = { PEER_C }, .gid = { GID_C }, .mac = { MAC_C },
		 .has_prefix = true, .n_ipv6 = 2,
		 .ipv6 = { { { 0x20, 0x01, 0x0d, 0xb8, 0, 1 }, 64 },
			   { { 0xfd, 0x00, 0x00, 0x42 }, 48 } });

	EQ(smc_clc_decode_proposal(spec_d1_proposal, sizeof(spec_d1_proposal),
				   &p), 0);
	EQ(!p.smcr_v1 && p.smcd_v1 && !p.smcr_v2 && !p.smcd_v2, 1);
	EQ(p.ism_gid, 0x1122334455667788);
	EQ(be32_to_cpu(p.ipv4_mask), 0x0a010200);
	EQ(p.ipv4_prefix_len, 24);
	tap_case("decode spec_d1_proposal");

	PROPOSAL(spec_all20_proposal, .version = 2, .smcr_v1 = true,
		 .smcd_v1 = true, .smcr_v2 = true, .smcd_v2 = true,
		 .peer_id = { PEER_C }, .gid = { GID_C }, .mac = { MAC_C },
		 .ism_gid = 0x1122334455667788, .ism_chid = 0x03e8,
		 .has_prefix = true, .n_ipv6 = 1,
		 .ipv6 = { { { 0x20, 0x01, 0x0d, 0xb8 }, 64 } },
		 .roce_gid = { GID_C }, .eid_count = 2,
		 .eids = { { EID_A }, { EID_B } }, .has_seid = true,
		 .seid = { SEID }, .n_gids = 2,
		 .gids = { { .gid = 0xa100000000000001, .chid = 0x0401 },
			   { .gid = 0xa200000000000002, .chid = 0x0402 } });
	PROPOSAL(spec_both21_proposal, .version = 2, .release = 1,
		 .smcr_v2 = true, .smcd_v2 = true, .peer_id = { PEER_C },
		 .mac = { MAC_C }, .ism_gid = 0x1122334455667788,
		 .ism_chid = 7, .roce_gid = { GID4_C }, .eid_count = 1,
		 .eids = { { EID_B } }, .max_conns = 16, .max_links = 1,
		 .features = 1, .vendor_oui = { 0x00, 0x60, 0x94 },
		 .vendor_opts = { 1, 2, 3, 4, 5 }, .n_gids = 3,
		 .gids = { { .gid = 0xc001020304054607,
			     .gid_ext = 0x88090a0b0c0d0e0f, .chid = 0xffff,
			     .extended = true },
			   { .gid = 0xb000000000000001, .chid = 0xfeff },
			   { .gid = 0xd001020304054607,
			     .gid_ext = 0x98090a0b0c0d0e0f, .chid = 0xff00,
			     .extended = true } });
}

static void spec_accepts(void)
{
	ACCEPT(spec_r1_accept, .version = 1, .first_contact = true,
	       .peer_id = { PEER_S }, .roce_gid = { GID_S }, .mac = { MAC_S },
	       .qpn = 0x123456, .rkey = 0xdeadbeef, .rmbe_idx = 7,
	       .alert_token = 0xcafebabe, .rmbe_size = 5, .mtu = 4,
	       .rmb_addr = 0x00007fff12345000, .psn = 0xabcdef);
	ACCEPT(spec_r1_confirm, .confirm = true, .version = 1,
	       .peer_id = { PEER_C }, .roce_gid = { GID_C }, .mac = { MAC_C },
	       .qpn = 42, .rkey = 0x1001, .rmbe_idx = 255, .alert_token = 9,
	       .rmbe_size = 0, .mtu = 1, .rmb_addr = 0xffff888000000000,
	       .psn = 1);
	ACCEPT(spec_d1_accept, .version = 1, .first_contact = true,
	       .smcd = true, .gid = 0x1122334455667799,
	       .token = 0xf1f2f3f4f5f6f7f8, .dmbe_idx = 3, .link_id = 1);
	ACCEPT(spec_d20_accept_first, .version = 2, .first_contact = true,
	       .smcd = true, .eid = { SEID }, .gid = 0xa100000000000001,
	       .token = 0x0102030405060708, .dmbe_idx = 9, .dmbe_size = 6,
	       .link_id = 0x102, .chid = 0x0401, .has_fce = true,
	       .os_type = SMC_CLC_OS_ZOS, .hostname = "server-2");
	ACCEPT(spec_d21_confirm_first, .confirm = true, .version = 2,
	       .release = 1, .first_contact = true, .smcd = true,
	       .eid = { EID_B }, .gid = 0xd001020304054607,
	       .gid_ext = 0x98090a0b0c0d0e0f, .token = 0x8002030405060708,
	       .dmbe_idx = 254, .dmbe_size = 15, .link_id = 0x80000000,
	       .chid = 0xff00, .has_fce = true, .os_type = SMC_CLC_OS_AIX,
	       .hostname = "client-1", .features = 1,
	       .vendor = { 4, 3, 2, 1 });
	ACCEPT(spec_r21_accept_first, .version = 2, .release = 1,
	       .first_contact = true, .eid = { EID_A }, .peer_id = { PEER_S },
	       .roce_gid = { GID4_S }, .mac = { MAC_S }, .qpn = 0xffffff,
	       .rkey = 0x80000001, .rmbe_idx = 1, .alert_token = 0xfffffffe,
	       .rmbe_size = 3, .mtu = 5, .rmb_addr = 0x8000000000001000,
	       .psn = 0x800001, .rc_saved = true, .has_fce = true,
	       .os_type = SMC_CLC_OS_UNKNOWN, .hostname = "server-2",
	       .max_conns = 255, .max_links = 2, .vendor = { 9, 8, 7, 6 });
}

#define SPEC_R20_CONFIRM						\
	.confirm = true, .version = 2, .first_contact = true,		\
	.eid = { EID_A }, .peer_id = { PEER_C }, .roce_gid = { GID_C },	\
	.mac = { MAC_C }, .qpn = 0x11, .rkey = 0x324, .rmbe_idx = 2,	\
	.alert_token = 5, .rmbe_size = 2, .mtu = 3,			\
	.rmb_addr = 0x100000000, .psn = 0x1234, .has_fce = true,	\
	.v2_direct = true, .os_type = SMC_CLC_OS_LINUX,			\
	.hostname = "client-1", .n_gid_list = 3,			\
	.gid_list = { { GID_C }, { GID4_C }, { GID_S } }

static void spec_others(void)
{
	ACCEPT(spec_r20_confirm_first, SPEC_R20_CONFIRM);
	ACCEPT(spec_r20_confirm_first_short, SPEC_R20_CONFIRM);
	DECLINE(spec_v2_decline, .version = 2, .smcd = true,
		.out_of_sync = true, .peer_id = { PEER_S },
		.diagnosis = 0x03030002, .os_type = SMC_CLC_OS_LINUX,
		.has_types = true, .rc_dv2 = 1, .rc_dv1 = 2,
		.rc_rv2 = 0x03030002, .rc_rv1 = 0x80000004);
	DECLINE(spec_v2_decline_short, .version = 2, .peer_id = { PEER_S },
		.diagnosis = 0x01020304, .os_type = SMC_CLC_OS_ZOS);
}

/* Decode and encode again: exactly the same bytes, and none behind them. */
static int again(const struct golden *g, u8 *out, size_t size)
{
	struct smc_clc_proposal p;
	struct smc_clc_decline d;
	struct smc_clc_accept a;

	switch (codec_type(g->bytes)) {
	case SMC_CLC_PROPOSAL:
		EQ(smc_clc_decode_proposal(g->bytes, g->len, &p), 0);
		return smc_clc_encode_proposal(&p, out, size);
	case SMC_CLC_DECLINE:
		EQ(smc_clc_decode_decline(g->bytes, g->len, &d), 0);
		return smc_clc_encode_decline(&d, out, size);
	default:
		EQ(smc_clc_decode_accept(g->bytes, g->len, &a), 0);
		return smc_clc_encode_accept(&a, out, size);
	}
}

static void encode(const struct golden *g)
{
	u8 out[SMC_CLC_MAX_LEN + 1];
	size_t i;

	memset(out, 0x77, sizeof(out));
	EQ(again(g, out, g->len - 1), -EMSGSIZE);
	for (i = 0; i < sizeof(out); i++)
		CHECK(out[i] == 0x77, "byte %zu written on error", i);

	EQ(again(g, out, g->len), (int)g->len);
	for (i = 0; i < g->len; i++)
		CHECK(out[i] == g->bytes[i], "byte %zu: %02x, not %02x", i,
		      out[i], g->bytes[i]);
	EQ(out[g->len], 0x77);
	tap_case("encode %s", g->name);
}

int main(void)
{
	unsigned int i;

	captured_smcd();
	captured_smcr();
	spec_proposals();
	spec_accepts();
	spec_others();
	for (i = 0; i < n_golden; i++)
		if (golden[i].canonical)
			encode(&golden[i]);
	return tap_done();
}
