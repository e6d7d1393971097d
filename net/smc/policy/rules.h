/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Filter rules: which connections may use SMC. The first rule of an ordered list that matches a
 * connection decides.
 *
 * Walking a list of a thousand rules for each connection would be slow, so the list is compiled:
 * each of the four dimensions (address and port of both ends) is cut where a rule begins or ends,
 * and each piece has a bit for each rule that covers it. Four binary searches find the pieces of a
 * connection, and the first bit that is set in all four is the matching rule. The cost does not
 * depend on what the rules look like.
 *
 * Independent of the kernel: the same source is built in user space (unit tests).
 */
#ifndef SMC_POLICY_RULES_H
#define SMC_POLICY_RULES_H

#include "../wire/wire.h"

#define SMC_RULES_MAX		2048
#define SMC_IPV4_BITS		96	/* length of the prefix in front of an IPv4 address */

/**
 * struct smc_ip - an address, for IPv4 ::ffff:a.b.c.d, comparable as a number
 * @hi:	first half of the address
 * @lo:	second half of the address
 */
struct smc_ip {
	u64	hi;
	u64	lo;
};

#define SMC_IP_V4_PREFIX	(0xffffull << 32)	/* part of smc_ip.lo */

static inline bool smc_ip_is_v4(const struct smc_ip *ip)
{
	return !ip->hi && ip->lo >> 32 == 0xffff;
}

static inline bool smc_ip_equal(const struct smc_ip *a, const struct smc_ip *b)
{
	return a->lo == b->lo && a->hi == b->hi;
}

struct smc_ip smc_ip_v4(u32 address);
struct smc_ip smc_ip_v6(const u8 *bytes);

enum smc_rule_end { SMC_LOCAL, SMC_REMOTE, SMC_NR_ENDS };

/* Bit masks, because a rule may apply to both. */
enum smc_rule_dir { SMC_DIR_IN = 1, SMC_DIR_OUT = 2, SMC_DIR_BOTH = 3 };
enum smc_rule_family { SMC_FAMILY_V4 = 1, SMC_FAMILY_V6 = 2, SMC_FAMILY_BOTH = 3 };

/**
 * struct smc_rule - one rule
 * @exclude:	matching connections stay TCP; otherwise they may use SMC
 * @dirs:	enum smc_rule_dir: connections made by this host (out), or to a listener here (in)
 * @families:	enum smc_rule_family
 * @ends:	address and port of each end
 * @ends.ip:	address; the bits behind the prefix are 0
 * @ends.prefix: number of significant bits, for IPv4 including the 96 in front; 0 for any address
 * @ends.first:	port, or first port of a range; 0 to 65535 is any port
 * @ends.last:	last port of the range
 */
struct smc_rule {
	bool	exclude;
	u8	dirs;
	u8	families;
	struct smc_rule_side {
		struct smc_ip	ip;
		u8		prefix;
		u16		first;
		u16		last;
	} ends[SMC_NR_ENDS];
};

/**
 * struct smc_flow - an existing or future connection
 * @in:		the connection was made to a listener here
 * @any_port:	the local port has not been chosen yet, so a rule matches if it excludes, or if it
 *		is for any local port
 * @ip:		addresses of both ends
 * @port:	ports of both ends, in host byte order
 */
struct smc_flow {
	bool		in;
	bool		any_port;
	struct smc_ip	ip[SMC_NR_ENDS];
	u16		port[SMC_NR_ENDS];
};

/* Results of smc_rule_check(). */
enum smc_rule_error {
	SMC_RULE_OK,
	SMC_RULE_DIRECTION,
	SMC_RULE_FAMILY,
	SMC_RULE_FAMILIES_DIFFER,
	SMC_RULE_PREFIX,
	SMC_RULE_HOST_BITS,
	SMC_RULE_PORTS,
};

/**
 * smc_rule_check() - check a rule
 * @rule:	the rule, from an untrusted source; narrowed to the family of its addresses
 *
 * Return: SMC_RULE_OK, or what is wrong with the rule.
 */
enum smc_rule_error smc_rule_check(struct smc_rule *rule);

bool smc_rule_equal(const struct smc_rule *a, const struct smc_rule *b);

/**
 * smc_rule_fits() - does a rule match a connection?
 * @rule:	the rule
 * @flow:	the connection
 *
 * The compiled table must give the same result.
 *
 * Return: true if the rule matches.
 */
bool smc_rule_fits(const struct smc_rule *rule, const struct smc_flow *flow);

struct smc_rules;

/**
 * smc_rules_compile() - compile a list of rules for fast lookup
 * @rules:	the rules, in order, already checked
 * @n:		number of rules, 1 to SMC_RULES_MAX
 *
 * Context: may sleep.
 * Return: the table, for smc_rules_free(), or NULL.
 */
struct smc_rules *smc_rules_compile(const struct smc_rule * const *rules, unsigned int n);

void smc_rules_free(struct smc_rules *table);

/**
 * smc_rules_find() - find the first rule that matches a connection
 * @table:	compiled rules
 * @flow:	the connection
 *
 * Context: any.
 * Return: the index of the rule, or -1.
 */
int smc_rules_find(const struct smc_rules *table, const struct smc_flow *flow);

/**
 * struct smc_dimension - addresses or ports of one end, cut into pieces
 * @n:		number of pieces
 * @starts:	start of each piece, in ascending order; the first is 0
 * @bits:	for each piece, the set of rules that cover it
 */
struct smc_dimension {
	unsigned int	n;
	struct smc_ip	*starts;
	u64		*bits;
};

#define SMC_NR_DIMENSIONS	(2 * SMC_NR_ENDS)

/**
 * struct smc_rules - compiled rules, in one allocation
 * @words:	number of 64-bit words in a set of rules
 * @kinds:	sets of rules by direction (1: in) and family (1: IPv6)
 * @any_port:	set of rules that match a connection whose local port is unknown
 * @dims:	local and remote address, local and remote port
 * @data:	memory for the arrays that the pointers refer to
 */
struct smc_rules {
	unsigned int		words;
	u64			*kinds[2][2];
	u64			*any_port;
	struct smc_dimension	dims[SMC_NR_DIMENSIONS];
	u64			data[];
};

#endif
