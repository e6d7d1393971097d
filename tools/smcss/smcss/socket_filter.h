/* SPDX-License-Identifier: GPL-2.0 */
/* Which sockets to list, in the syntax of ss(8). */
#ifndef SMC_TOOLS_SOCKET_FILTER_H
#define SMC_TOOLS_SOCKET_FILTER_H

#include "sock_record.h"

struct socket_filter {
	bool states[256];	/* only these, if has_states */
	bool has_states;
	struct term *terms;	/* NULL: no condition */
};

/*
 * [state STATE]... [exclude STATE]... [EXPRESSION]. Ends the program on a usage error. Does not
 * modify the words.
 */
void socket_filter_parse(struct socket_filter *filter, const char *const *words, size_t count);
void socket_filter_free(struct socket_filter *filter);
bool socket_filter_fits(const struct socket_filter *filter, const struct record *r);

#endif /* SMC_TOOLS_SOCKET_FILTER_H */
