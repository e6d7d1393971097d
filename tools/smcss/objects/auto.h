/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel has learnt: destinations without SMC, and whether SMC pays for listeners. */
#ifndef SMC_TOOLS_AUTO_H
#define SMC_TOOLS_AUTO_H

#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/smc.h>

#include "genl.h"
#include "json_writer.h"

#define END_ROOM	(INET6_ADDRSTRLEN + 10)

struct destination {
	struct bytes address;	/* 4 or 16 bytes */
	uint16_t port;
	uint32_t reason;
	uint32_t diagnosis;
	uint32_t left;		/* seconds */
	uint32_t hits;
};

struct listener {
	struct bytes address;	/* no bytes: any address */
	uint16_t port;
	uint8_t verdict;
	uint32_t worth;		/* percent of break-even */
	uint32_t retry;		/* seconds */
	uint64_t conns;
	uint64_t messages;
	uint64_t bytes;
	uint64_t ms;
};

extern const struct field destination_fields[];
extern const struct field listener_fields[];

/* "10.0.0.1:80", "[fe80::1]:80", "*:80" */
const char *end_text(const struct bytes *address, unsigned int port, char room[END_ROOM]);

/* 0 or an errno */
int destinations_read(struct genl *genl, struct array *destinations);
int destinations_flush(struct genl *genl);

int listeners_read(struct genl *genl, struct array *listeners);
int listeners_flush(struct genl *genl);

void destinations_print(FILE *out, const struct array *destinations);
void destinations_json(struct json *json, const struct array *destinations);

void listeners_print(FILE *out, const struct array *listeners);
void listeners_json(struct json *json, const struct array *listeners);

#endif /* SMC_TOOLS_AUTO_H */
