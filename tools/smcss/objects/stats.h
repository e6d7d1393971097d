/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of SMC. The kernel never resets them: "reset" saves the current values, and later
 * output shows the difference.
 */
#ifndef SMC_TOOLS_STATS_H
#define SMC_TOOLS_STATS_H

#include <stdint.h>
#include <stdio.h>

#include "objects.h"

#define STATS_SIZES	9	/* up to 8K, 16K ... 1024K, and larger */

struct rmb_stats {
	uint64_t too_small_peer;
	uint64_t too_small;
	uint64_t full_peer;
	uint64_t full;
	uint64_t reused;
	uint64_t allocated;
	uint64_t downgraded;
};

struct direction {
	uint64_t buffers[STATS_SIZES];
	uint64_t requests[STATS_SIZES];
	struct rmb_stats rmb;
	uint64_t bytes;
	uint64_t count;		/* number of requests */
};

/* all members must be uint64_t: stats_subtract() treats it as an array */
struct counters {
	struct direction rx;
	struct direction tx;
	uint64_t client_v1;
	uint64_t client_v2;
	uint64_t server_v1;
	uint64_t server_v2;
	uint64_t sendpage;
	uint64_t splice;
	uint64_t cork;
	uint64_t nodelay;
	uint64_t urgent;
	uint64_t client_errors;		/* of handshakes, SMC-R and SMC-D together */
	uint64_t server_errors;
	uint64_t client_fallbacks;	/* SMC-R and SMC-D together */
	uint64_t server_fallbacks;
	uint64_t links_up;		/* SMC-R */
	uint64_t links_down;
	uint64_t conns_moved;		/* connections that moved to another link */
	uint64_t bytes_again;		/* bytes that these have written again */
	uint64_t client_paired;		/* SMC-D: connections within one kernel, without CLC */
	uint64_t server_paired;
};
#define COUNTERS	(sizeof(struct counters) / sizeof(uint64_t))

struct fallback_count {
	uint8_t is_server;
	bool narrow;			/* the kernel counts with 16 bits */
	uint32_t reason;
	uint64_t count;
};

struct stats {
	struct counters counters;
	uint64_t rx_usage;		/* current bytes, not subject to reset */
	uint64_t tx_usage;
	bool has_links;			/* this kernel counts links */
	bool has_moves;			/* and moves from one link to another */
	bool has_pairs;			/* and pairs */
	struct array fallbacks;		/* struct fallback_count */
};

/* stats.c */
void stats_init(struct stats *stats);
void stats_free(struct stats *stats);
int stats_read(struct genl *genl, enum smc_kind kind, struct stats *stats);
/* False, with @now unchanged: a counter is below @before, as the module was reloaded. */
bool stats_subtract(struct stats *now, const struct stats *before);

/* stats_show.c */
void stats_print(FILE *out, enum smc_kind kind, const struct stats *stats, int details);
void stats_json(FILE *out, enum smc_kind kind, const struct stats *stats);

/* stats_file.c: one file for each kind and namespace. @source: what has these counters */
int stats_save(enum smc_kind kind, const struct stats *stats);	/* exit code */
bool stats_load(enum smc_kind kind, struct stats *stats);
void stats_write(FILE *out, const struct stats *stats, const char *source);
bool stats_parse(FILE *in, struct stats *stats, const char *source);

#endif /* SMC_TOOLS_STATS_H */
