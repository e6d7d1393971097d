/* SPDX-License-Identifier: GPL-2.0 */
/* Output formats for a list of sockets: table, JSON, summary, explanation. */
#ifndef SMC_TOOLS_LISTING_H
#define SMC_TOOLS_LISTING_H

#include "array.h"
#include "sock_record.h"

/* socket_table.c */
struct columns {
	bool debug;
	bool smcd;
	bool smcr;
	bool no_titles;
	const struct array *processes;	/* NULL: not requested */
};
void print_table(FILE *out, const struct records *records, const struct columns *columns);

/* socket_json.c; processes NULL: not requested */
void print_json(FILE *out, const struct records *records, const struct array *processes);

/* summary.c */
void print_summary(FILE *out, const struct records *records, bool titles);
void print_summary_json(FILE *out, const struct records *records);

/* why.c */
struct endpoint {
	int family;		/* 0: any address */
	uint8_t address[16];
	uint16_t port;		/* 0: any port; host byte order */
};
bool parse_endpoint(const char *text, struct endpoint *endpoint);
bool matches_endpoint(const struct record *r, const struct endpoint *endpoint);
int print_why(FILE *out, struct records *records, const struct endpoint *endpoint, bool json);
enum { WHY_ALL_SMC = 0, WHY_SOME_TCP = 3, WHY_NONE = 4 };

#endif /* SMC_TOOLS_LISTING_H */
