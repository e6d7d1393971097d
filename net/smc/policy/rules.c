// SPDX-License-Identifier: GPL-2.0
/* Filter rules: check, compile, look up. See rules.h. */
#include "rules.h"

#ifdef __KERNEL__
#include <linux/sort.h>
#include "../smc.h"

static void *room(size_t size)
{
	return smc_alloc_array(1, size);
}

static void give_back(const void *p)
{
	kvfree(p);
}

#define first_bit(word)			__ffs64(word)
#define sort_keys(keys, n, compare)	sort(keys, n, sizeof(*(keys)), compare, NULL)
#else
#include <stdlib.h>

static void *room(size_t size)
{
	return calloc(1, size);
}

static void give_back(const void *p)
{
	free((void *)p);
}

#define first_bit(word)			__builtin_ctzll(word)
#define sort_keys(keys, n, compare)	qsort(keys, n, sizeof(*(keys)), compare)
#endif

static const struct smc_ip last_ip = { ~0ull, ~0ull };

/* ---- addresses ---- */

struct smc_ip smc_ip_v4(u32 address)
{
	return (struct smc_ip){ 0, SMC_IP_V4_PREFIX | address };
}

static u64 eight_bytes(const u8 *bytes)
{
	__be64 value;

	memcpy(&value, bytes, sizeof(value));
	return be64_to_cpu(value);
}

struct smc_ip smc_ip_v6(const u8 *bytes)
{
	return (struct smc_ip){ eight_bytes(bytes), eight_bytes(bytes + 8) };
}

static int ip_compare(const void *one, const void *other)
{
	const struct smc_ip *a = one, *b = other;

	if (a->hi != b->hi)
		return a->hi < b->hi ? -1 : 1;
	return a->lo == b->lo ? 0 : a->lo < b->lo ? -1 : 1;
}

/* The host part behind a prefix, with all bits set. */
static struct smc_ip behind(unsigned int prefix)
{
	struct smc_ip ip = { 0, 0 };

	if (prefix < 64) {
		ip.hi = prefix ? (1ull << (64 - prefix)) - 1 : ~0ull;
		ip.lo = ~0ull;
	} else if (prefix < 128) {
		ip.lo = prefix > 64 ? (1ull << (128 - prefix)) - 1 : ~0ull;
	}
	return ip;
}

static struct smc_ip prefix_last(const struct smc_rule_side *side)
{
	struct smc_ip rest = behind(side->prefix);

	return (struct smc_ip){ side->ip.hi | rest.hi, side->ip.lo | rest.lo };
}

/* ---- one rule ---- */

static enum smc_rule_error check_side(const struct smc_rule_side *side)
{
	struct smc_ip rest;

	if (side->prefix > 128)
		return SMC_RULE_PREFIX;
	rest = behind(side->prefix);
	if ((side->ip.hi & rest.hi) | (side->ip.lo & rest.lo))
		return SMC_RULE_HOST_BITS;
	if (side->first > side->last)
		return SMC_RULE_PORTS;
	return SMC_RULE_OK;
}

static unsigned int family_of(const struct smc_rule_side *side)
{
	if (!side->prefix)
		return SMC_FAMILY_BOTH;
	return smc_ip_is_v4(&side->ip) ? SMC_FAMILY_V4 : SMC_FAMILY_V6;
}

enum smc_rule_error smc_rule_check(struct smc_rule *rule)
{
	unsigned int end, families = SMC_FAMILY_BOTH;
	enum smc_rule_error error;

	if (!rule->dirs || rule->dirs > SMC_DIR_BOTH)
		return SMC_RULE_DIRECTION;
	if (!rule->families || rule->families > SMC_FAMILY_BOTH)
		return SMC_RULE_FAMILY;
	for (end = 0; end < SMC_NR_ENDS; end++) {
		error = check_side(&rule->ends[end]);
		if (error)
			return error;
		families &= family_of(&rule->ends[end]);
	}
	if (!(families & rule->families))
		return SMC_RULE_FAMILIES_DIFFER;
	rule->families &= families;
	return SMC_RULE_OK;
}

static bool side_equal(const struct smc_rule_side *a, const struct smc_rule_side *b)
{
	return smc_ip_equal(&a->ip, &b->ip) && a->prefix == b->prefix &&
	       a->first == b->first && a->last == b->last;
}

bool smc_rule_equal(const struct smc_rule *a, const struct smc_rule *b)
{
	return a->exclude == b->exclude && a->dirs == b->dirs && a->families == b->families &&
	       side_equal(&a->ends[SMC_LOCAL], &b->ends[SMC_LOCAL]) &&
	       side_equal(&a->ends[SMC_REMOTE], &b->ends[SMC_REMOTE]);
}

static bool any_local_port(const struct smc_rule *rule)
{
	return !rule->ends[SMC_LOCAL].first && rule->ends[SMC_LOCAL].last == 0xffff;
}

static bool port_fits(const struct smc_rule *rule, const struct smc_flow *flow, int end)
{
	if (end == SMC_LOCAL && flow->any_port)
		return rule->exclude || any_local_port(rule);
	return flow->port[end] >= rule->ends[end].first &&
	       flow->port[end] <= rule->ends[end].last;
}

bool smc_rule_fits(const struct smc_rule *rule, const struct smc_flow *flow)
{
	struct smc_ip last;
	int end;

	if (!(rule->dirs & (flow->in ? SMC_DIR_IN : SMC_DIR_OUT)))
		return false;
	if (!(rule->families & (smc_ip_is_v4(&flow->ip[SMC_REMOTE]) ? SMC_FAMILY_V4 :
								       SMC_FAMILY_V6)))
		return false;
	for (end = 0; end < SMC_NR_ENDS; end++) {
		last = prefix_last(&rule->ends[end]);
		if (ip_compare(&flow->ip[end], &rule->ends[end].ip) < 0 ||
		    ip_compare(&flow->ip[end], &last) > 0 || !port_fits(rule, flow, end))
			return false;
	}
	return true;
}

/* ---- all rules ---- */

/* The range that a rule covers in one dimension. */
static void extent(const struct smc_rule *rule, unsigned int dim, struct smc_ip *first,
		   struct smc_ip *last)
{
	const struct smc_rule_side *side = &rule->ends[dim % SMC_NR_ENDS];

	if (dim < SMC_NR_ENDS) {
		*first = side->ip;
		*last = prefix_last(side);
	} else {
		*first = (struct smc_ip){ 0, side->first };
		*last = (struct smc_ip){ 0, side->last };
	}
}

/* Find where a dimension is cut; @keys has room for 2 * n + 1. Returns the number of pieces. */
static unsigned int cut(const struct smc_rule * const *rules, unsigned int n,
			unsigned int dim, struct smc_ip *keys)
{
	struct smc_ip first, last;
	unsigned int i, count = 0, unique = 1;

	keys[count++] = (struct smc_ip){ 0, 0 };
	for (i = 0; i < n; i++) {
		extent(rules[i], dim, &first, &last);
		keys[count++] = first;
		if (smc_ip_equal(&last, &last_ip))
			continue;
		last.hi += !++last.lo;
		keys[count++] = last;
	}
	sort_keys(keys, count, ip_compare);
	for (i = 1; i < count; i++)
		if (!smc_ip_equal(&keys[i], &keys[unique - 1]))
			keys[unique++] = keys[i];
	return unique;
}

/* The piece that contains this key: the last one that starts at or before it. */
static unsigned int piece_of(const struct smc_dimension *d, const struct smc_ip *key)
{
	unsigned int low = 0, high = d->n, middle;

	while (high - low > 1) {
		middle = (low + high) / 2;
		if (d->starts[middle].hi < key->hi ||
		    (d->starts[middle].hi == key->hi && d->starts[middle].lo <= key->lo))
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void set_bit_in(u64 *bits, unsigned int i)
{
	bits[i / 64] |= 1ull << (i % 64);
}

static void enter_rule(struct smc_rules *t, const struct smc_rule *rule, unsigned int i)
{
	struct smc_ip first, last;
	unsigned int dim, piece, end;

	for (dim = 0; dim < SMC_NR_DIMENSIONS; dim++) {
		struct smc_dimension *d = &t->dims[dim];

		extent(rule, dim, &first, &last);
		end = piece_of(d, &last);
		for (piece = piece_of(d, &first); piece <= end; piece++)
			set_bit_in(d->bits + piece * t->words, i);
	}
	for (dim = 0; dim < 4; dim++)
		if (rule->dirs & (dim / 2 ? SMC_DIR_IN : SMC_DIR_OUT) &&
		    rule->families & (dim % 2 ? SMC_FAMILY_V6 : SMC_FAMILY_V4))
			set_bit_in(t->kinds[dim / 2][dim % 2], i);
	if (rule->exclude || any_local_port(rule))
		set_bit_in(t->any_port, i);
}

/* @keys has the keys of all dimensions, one after the other; @counts has their numbers. */
static struct smc_rules *table_new(struct smc_ip *keys, const unsigned int *counts,
				   unsigned int n)
{
	unsigned int words = (n + 63) / 64, dim, most = 2 * n + 1;
	size_t size = 5 * words;
	struct smc_rules *t;
	u64 *data;

	for (dim = 0; dim < SMC_NR_DIMENSIONS; dim++)
		size += (size_t)counts[dim] * (2 + words);
	t = room(sizeof(*t) + size * sizeof(u64));
	if (!t)
		return NULL;
	t->words = words;
	data = t->data;
	for (dim = 0; dim < 4; dim++, data += words)
		t->kinds[dim / 2][dim % 2] = data;
	t->any_port = data;
	data += words;
	for (dim = 0; dim < SMC_NR_DIMENSIONS; dim++) {
		struct smc_dimension *d = &t->dims[dim];

		d->n = counts[dim];
		d->starts = (struct smc_ip *)data;
		data += 2 * d->n;
		d->bits = data;
		data += d->n * words;
		memcpy(d->starts, keys + dim * most, d->n * sizeof(*keys));
	}
	return t;
}

struct smc_rules *smc_rules_compile(const struct smc_rule * const *rules, unsigned int n)
{
	unsigned int counts[SMC_NR_DIMENSIONS], dim, i, most = 2 * n + 1;
	struct smc_ip *keys = room(SMC_NR_DIMENSIONS * most * sizeof(*keys));
	struct smc_rules *t;

	if (!keys)
		return NULL;
	for (dim = 0; dim < SMC_NR_DIMENSIONS; dim++)
		counts[dim] = cut(rules, n, dim, keys + dim * most);
	t = table_new(keys, counts, n);
	for (i = 0; t && i < n; i++)
		enter_rule(t, rules[i], i);
	give_back(keys);
	return t;
}

void smc_rules_free(struct smc_rules *table)
{
	give_back(table);
}

int smc_rules_find(const struct smc_rules *t, const struct smc_flow *flow)
{
	const u64 *kind = t->kinds[flow->in][!smc_ip_is_v4(&flow->ip[SMC_REMOTE])];
	const u64 *bits[SMC_NR_DIMENSIONS];
	const struct smc_dimension *d = t->dims;
	unsigned int dim, word;
	struct smc_ip key;
	u64 all;

	for (dim = 0; dim < SMC_NR_DIMENSIONS; dim++, d++) {
		key = dim < SMC_NR_ENDS ? flow->ip[dim] :
		      (struct smc_ip){ 0, flow->port[dim - SMC_NR_ENDS] };
		bits[dim] = d->bits + piece_of(d, &key) * t->words;
	}
	if (flow->any_port)
		bits[SMC_NR_ENDS + SMC_LOCAL] = t->any_port;
	for (word = 0; word < t->words; word++) {
		all = kind[word] & bits[0][word] & bits[1][word] & bits[2][word] &
		      bits[3][word];
		if (all)
			return word * 64 + first_bit(all);
	}
	return -1;
}
