/* SPDX-License-Identifier: GPL-2.0 */
/* Filter rules: read from the command line and the kernel, shown as text or JSON. */
#ifndef SMC_TOOLS_FILTER_RULE_H
#define SMC_TOOLS_FILTER_RULE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/smc.h>

#include "genl.h"

#define PREFIX_ROOM	(INET6_ADDRSTRLEN + 4)

struct rule_end {
	bool has_address;
	struct bytes address;	/* 4 or 16 bytes */
	uint8_t prefix;
	bool has_port;
	uint16_t port;
	uint16_t port_last;
};

struct rule {
	uint32_t id;
	uint8_t action;
	uint8_t direction;	/* 0: not given */
	uint8_t family;		/* 0: any */
	struct rule_end local;
	struct rule_end remote;
	uint64_t hits;
	uint32_t before;	/* for rule_add(); 0: at the end */
};

extern const struct field rule_fields[];

/*
 * permit|exclude [in|out|both] [ipv4|ipv6] [local END] [remote END] [before ID]
 * Ends the program on a usage error.
 */
void rule_parse(const char *const *words, size_t count, struct rule *rule);
uint32_t rule_parse_id(const char *const *words, size_t count);

/* 0 or an errno */
int rules_read(struct genl *genl, struct array *rules);
int rule_add(struct genl *genl, const struct rule *rule);
int rule_del(struct genl *genl, uint32_t id);
int rules_flush(struct genl *genl);

void rules_print(FILE *out, const struct array *rules);
/* Prints a rule in the syntax of rule_parse(), and a newline. */
void rule_print(FILE *out, const struct rule *rule);
void rules_json(FILE *out, const struct array *rules);

#endif /* SMC_TOOLS_FILTER_RULE_H */
