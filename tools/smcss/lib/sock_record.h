/* SPDX-License-Identifier: GPL-2.0 */
/* An SMC socket as described by sock_diag, and lists of them. */
#ifndef SMC_TOOLS_SOCK_RECORD_H
#define SMC_TOOLS_SOCK_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

#include <linux/smc_diag.h>

#include "reason.h"

struct record {
	struct smc_diag_msg msg;
	uint64_t has;			/* record_bit() of each attribute that was received */
	uint8_t shutdown;
	struct smc_diag_conninfo conn;
	struct smc_diag_lgrinfo lgr;
	uint32_t lgr_id;		/* the kernel's own module does not send it */
	struct smcd_diag_dmbinfo dmb;
	struct smc_diag_fallback fallback;
};

struct records {
	struct record *list;
	size_t count;
	size_t room;
};

/* Attributes that this module has added begin at 64. */
static inline uint64_t record_bit(int attribute)
{
	return 1ull << (attribute < SMC_DIAG_LGRID ? attribute : attribute - SMC_DIAG_LGRID + 32);
}

static inline bool record_has(const struct record *r, int attribute)
{
	return r->has & record_bit(attribute);
}

static inline bool is_tcp(const struct record *r)
{
	return r->msg.diag_mode == SMC_DIAG_MODE_FALLBACK_TCP;
}

/* Linux up to at least 6.12 reports AF_SMC for accepted sockets of both families. */
static inline int record_family(const struct record *r)
{
	const uint32_t *local = r->msg.id.idiag_src, *peer = r->msg.id.idiag_dst;

	if (r->msg.diag_family == AF_INET || r->msg.diag_family == AF_INET6)
		return r->msg.diag_family;
	return local[1] | local[2] | local[3] | peer[1] | peer[2] | peer[3] ? AF_INET6 : AF_INET;
}

/* Bit that requests an attribute. */
#define ASK(attribute)	(1u << ((attribute) - 1))

/* sock_query.c */
int query(uint8_t ask, struct records *records);

/* sock_words.c */
const char *state_name(uint8_t state, char room[16]);
bool state_is_listen(uint8_t state);
bool state_is_settled(uint8_t state);
bool state_is_closed(uint8_t state);
const char *mode_name(const struct record *r);
void address_words(const struct record *r, bool peer, char *room, size_t size);
bool has_peer(const struct record *r);

#define ADDRESS_ROOM	80

#endif /* SMC_TOOLS_SOCK_RECORD_H */
