// SPDX-License-Identifier: GPL-2.0
/* Filter rules: which are refused; the compiled table must give the same results as the list. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "rules.h"
#include "tap.h"

#define ANY_SIDE	{ { 0, 0 }, 0, 0, 65535 }
#define ANY_RULE	{ true, SMC_DIR_BOTH, SMC_FAMILY_BOTH, { ANY_SIDE, ANY_SIDE } }

static struct smc_ip ip(const char *text)
{
	u8 b[16];

	if (inet_pton(AF_INET, text, b) == 1)
		return smc_ip_v4(be32toh(*(u32 *)b));
	if (inet_pton(AF_INET6, text, b) != 1)
		abort();
	return smc_ip_v6(b);
}

static void set_prefix(struct smc_rule *r, int end, const char *text, unsigned int bits)
{
	r->ends[end].ip = ip(text);
	r->ends[end].prefix = bits + (strchr(text, ':') ? 0 : SMC_IPV4_BITS);
}

static enum smc_rule_error with_prefix(const char *text, unsigned int bits)
{
	struct smc_rule r = ANY_RULE;

	set_prefix(&r, SMC_REMOTE, text, bits);
	return smc_rule_check(&r);
}

static void checks(void)
{
	struct smc_rule r = ANY_RULE;

	CHECK(smc_rule_check(&r) == SMC_RULE_OK && r.families == SMC_FAMILY_BOTH, "any");
	CHECK(with_prefix("10.0.0.0", 8) == SMC_RULE_OK, "10/8");
	CHECK(with_prefix("0.0.0.0", 0) == SMC_RULE_OK, "0/0");
	CHECK(with_prefix("10.1.2.3", 32) == SMC_RULE_OK, "host");
	CHECK(with_prefix("fd00::", 8) == SMC_RULE_OK, "fd00::/8");
	CHECK(with_prefix("fd00::1", 128) == SMC_RULE_OK, "IPv6 host");
	CHECK(with_prefix("2001:db8:0:0:8000::", 65) == SMC_RULE_OK, "65 bits");
	r.ends[SMC_LOCAL].first = r.ends[SMC_LOCAL].last = 80;
	CHECK(smc_rule_check(&r) == SMC_RULE_OK, "one port");
	tap_case("valid rules are accepted");

	CHECK(with_prefix("10.0.0.1", 8) == SMC_RULE_HOST_BITS, "10.0.0.1/8");
	CHECK(with_prefix("10.0.0.1", 31) == SMC_RULE_HOST_BITS, "10.0.0.1/31");
	CHECK(with_prefix("fd00::1", 127) == SMC_RULE_HOST_BITS, "fd00::1/127");
	CHECK(with_prefix("2001:db8:0:0:8000::", 64) == SMC_RULE_HOST_BITS, "64 bits");
	CHECK(with_prefix("::1", 0) == SMC_RULE_HOST_BITS, "::1/0");
	CHECK(with_prefix("fd00:1::", 8) == SMC_RULE_HOST_BITS, "fd00:1::/8");
	CHECK(with_prefix("::", 129) == SMC_RULE_PREFIX, "129 bits");
	r.ends[SMC_LOCAL].first = 90;
	r.ends[SMC_LOCAL].last = 80;
	CHECK(smc_rule_check(&r) == SMC_RULE_PORTS, "90-80");
	r = (struct smc_rule)ANY_RULE;
	r.dirs = 0;
	CHECK(smc_rule_check(&r) == SMC_RULE_DIRECTION, "none");
	r.dirs = 4;
	CHECK(smc_rule_check(&r) == SMC_RULE_DIRECTION, "a third value");
	r = (struct smc_rule)ANY_RULE;
	r.families = 0;
	CHECK(smc_rule_check(&r) == SMC_RULE_FAMILY, "none");
	r.families = 4;
	CHECK(smc_rule_check(&r) == SMC_RULE_FAMILY, "a third value");
	r = (struct smc_rule)ANY_RULE;
	set_prefix(&r, SMC_LOCAL, "10.0.0.0", 8);
	set_prefix(&r, SMC_REMOTE, "fd00::", 8);
	CHECK(smc_rule_check(&r) == SMC_RULE_FAMILIES_DIFFER, "two families");
	r = (struct smc_rule)ANY_RULE;
	r.families = SMC_FAMILY_V6;
	set_prefix(&r, SMC_LOCAL, "10.0.0.0", 8);
	CHECK(smc_rule_check(&r) == SMC_RULE_FAMILIES_DIFFER, "address of the other family");
	tap_case("invalid rules are refused");

	r = (struct smc_rule)ANY_RULE;
	set_prefix(&r, SMC_REMOTE, "10.0.0.0", 8);
	smc_rule_check(&r);
	CHECK(r.families == SMC_FAMILY_V4, "IPv4 only");
	r = (struct smc_rule)ANY_RULE;
	set_prefix(&r, SMC_LOCAL, "fd00::", 8);
	smc_rule_check(&r);
	CHECK(r.families == SMC_FAMILY_V6, "IPv6 only");
	tap_case("an address determines the family of a rule");
}

/* Each field of a rule makes a difference, including those of each end. */
static void equal(void)
{
	struct smc_rule a = ANY_RULE, b;
	int end;

#define DIFFERS(field, value)							\
	do {									\
		b = a;								\
		b.field = value;						\
		CHECK(!smc_rule_equal(&a, &b), #field);				\
	} while (0)

	b = a;
	CHECK(smc_rule_equal(&a, &b), "a copy");
	DIFFERS(exclude, false);
	DIFFERS(dirs, SMC_DIR_IN);
	DIFFERS(families, SMC_FAMILY_V4);
	for (end = 0; end < SMC_NR_ENDS; end++) {
		DIFFERS(ends[end].ip.hi, 1);
		DIFFERS(ends[end].ip.lo, 1);
		DIFFERS(ends[end].prefix, 1);
		DIFFERS(ends[end].first, 1);
		DIFFERS(ends[end].last, 1);
	}
	tap_case("two rules are equal only if every field is");
}

static struct smc_flow flow(bool in, const char *local, u16 lport, const char *remote, u16 rport)
{
	return (struct smc_flow){ in, false, { ip(local), ip(remote) }, { lport, rport } };
}

/* The result of a table of these rules for a connection. */
static int found(const struct smc_rule *rules, unsigned int n, const struct smc_flow *f)
{
	const struct smc_rule *list[8];
	struct smc_rules *t;
	unsigned int i;
	int result;

	for (i = 0; i < n; i++)
		list[i] = &rules[i];
	t = smc_rules_compile(list, n);
	result = smc_rules_find(t, f);
	smc_rules_free(t);
	return result;
}

static void by_hand(void)
{
	struct smc_rule r[2] = { ANY_RULE, ANY_RULE };
	struct smc_flow f = flow(false, "10.0.0.1", 40000, "10.9.0.1", 80), g;

	CHECK(found(r, 1, &f) == 0, "any");
	CHECK(found(r, 2, &f) == 0, "the first of two rules");
	set_prefix(&r[0], SMC_REMOTE, "10.8.0.0", 16);
	r[0].families = SMC_FAMILY_V4;
	CHECK(found(r, 2, &f) == 1, "the second rule");
	CHECK(found(r, 1, &f) == -1, "none");
	set_prefix(&r[0], SMC_REMOTE, "10.8.0.0", 15);
	CHECK(found(r, 1, &f) == 0, "10.8/15 has 10.9");
	r[0].ends[SMC_REMOTE].first = r[0].ends[SMC_REMOTE].last = 80;
	CHECK(found(r, 1, &f) == 0, "port 80");
	r[0].ends[SMC_REMOTE].first = r[0].ends[SMC_REMOTE].last = 81;
	CHECK(found(r, 1, &f) == -1, "port 81");
	r[0].ends[SMC_REMOTE].first = 0;
	CHECK(found(r, 1, &f) == 0, "ports 0-81");
	r[0].dirs = SMC_DIR_IN;
	CHECK(found(r, 1, &f) == -1, "incoming only");
	f.in = true;
	CHECK(found(r, 1, &f) == 0, "in");
	tap_case("matching by prefix, port, direction and order");

	r[0] = (struct smc_rule)ANY_RULE;
	r[0].families = SMC_FAMILY_V6;
	CHECK(found(r, 1, &f) == -1, "IPv6 only");
	g = flow(true, "::1", 80, "::1", 40000);
	CHECK(found(r, 1, &g) == 0, "::1");
	g = flow(true, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", 65535, "::", 0);
	CHECK(found(r, 1, &g) == 0, "the last and the first address and port");
	/* An IPv6 prefix that contains the mapped addresses does not apply to IPv4. */
	set_prefix(&r[0], SMC_LOCAL, "::", 80);
	CHECK(found(r, 1, &f) == -1, "::/80");
	tap_case("matching by family");

	r[0] = (struct smc_rule)ANY_RULE;
	f = flow(false, "10.0.0.1", 0, "10.9.0.1", 80);
	f.any_port = true;
	r[0].ends[SMC_LOCAL].first = 1000;
	CHECK(found(r, 1, &f) == 0, "exclude might match, so it does");
	r[0].exclude = false;
	CHECK(found(r, 1, &f) == -1, "permit might not match, so it does not");
	r[0].ends[SMC_LOCAL].first = 0;
	CHECK(found(r, 1, &f) == 0, "matches every port");
	tap_case("exclude rules apply before the port is chosen");
}

/* ---- random rules, compared with the list ---- */

static unsigned int rnd(unsigned int below)
{
	return (unsigned int)rand() % below;
}

/* Few different addresses and ports, so that rules overlap and match connections. */
static struct smc_ip random_ip(bool v6)
{
	struct smc_ip a = { v6 ? (u64)rnd(4) << 62 | rnd(4) : 0, (u64)rnd(4) << 62 | rnd(8) };

	return v6 ? a : smc_ip_v4(rnd(4) << 30 | rnd(4) << 14 | rnd(8));
}

static void random_side(struct smc_rule_side *side, bool v6)
{
	unsigned int behind;

	side->prefix = rnd(3) ? (v6 ? rnd(129) : 96 + rnd(33)) : 0;
	side->ip = random_ip(v6);
	behind = 128 - side->prefix;
	if (behind >= 64)
		side->ip.lo = 0;
	else
		side->ip.lo &= ~0ull << behind;
	if (behind == 128)
		side->ip.hi = 0;
	else if (behind > 64)
		side->ip.hi &= ~0ull << (behind - 64);
	side->first = rnd(2) ? 0 : rnd(2) ? rnd(6) : rnd(65536);
	side->last = rnd(2) ? 65535 : side->first + rnd(3);
	if (side->last < side->first)
		side->last = 65535;
}

static void random_rule(struct smc_rule *r)
{
	bool v6 = rnd(2);

	do {
		r->exclude = rnd(2);
		r->dirs = 1 + rnd(3);
		r->families = 1 + rnd(3);
		random_side(&r->ends[SMC_LOCAL], v6);
		random_side(&r->ends[SMC_REMOTE], v6);
	} while (smc_rule_check(r));
}

static void random_flow(struct smc_flow *f)
{
	bool v6 = rnd(2);
	int end;

	f->in = rnd(2);
	f->any_port = !f->in && !rnd(4);
	for (end = 0; end < SMC_NR_ENDS; end++) {
		f->ip[end] = random_ip(v6);
		f->port[end] = rnd(2) ? rnd(6) : rnd(65536);
	}
}

static void against_list(unsigned int n, unsigned int rounds, unsigned int flows)
{
	struct smc_rule *rules = calloc(n, sizeof(*rules));
	const struct smc_rule **list = calloc(n, sizeof(*list));
	unsigned int i, j, hits = 0;
	struct smc_rules *t;
	struct smc_flow f;
	int want;

	while (rounds--) {
		for (i = 0; i < n; i++) {
			random_rule(&rules[i]);
			list[i] = &rules[i];
		}
		t = smc_rules_compile(list, n);
		for (j = 0; j < flows; j++) {
			random_flow(&f);
			want = -1;
			for (i = 0; want < 0 && i < n; i++)
				if (smc_rule_fits(&rules[i], &f))
					want = i;
			CHECK(smc_rules_find(t, &f) == want, "rule %d instead of %d of %u",
			      smc_rules_find(t, &f), want, n);
			hits += want >= 0;
		}
		smc_rules_free(t);
	}
	CHECK(hits, "no connection matches a rule: nothing was tested");
	free(list);
	free(rules);
	tap_case("%u random rules, compiled, give the result of the list", n);
}

int main(void)
{
	checks();
	equal();
	by_hand();
	against_list(1, 2000, 50);
	against_list(3, 2000, 50);
	against_list(64, 50, 500);
	against_list(65, 50, 500);
	against_list(1000, 2, 5000);
	against_list(SMC_RULES_MAX, 1, 2000);
	return tap_done();
}
