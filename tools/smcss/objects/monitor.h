/* SPDX-License-Identifier: GPL-2.0 */
/* Events that the kernel sends: link groups, links, fallbacks. */
#ifndef SMC_TOOLS_MONITOR_H
#define SMC_TOOLS_MONITOR_H

#include <stdint.h>
#include <stdio.h>

#include "genl.h"
#include "objects.h"

struct event {
	uint8_t type;		/* SMC_EVENT_*; 0: events were lost */
	uint64_t time;		/* ns since 1970 */
	uint8_t role;
	bool has_lgr;
	uint32_t lgr;
	uint8_t tech;		/* SMC_DIAG_MODE_* */
	uint32_t conns;
	char dev[DEVICE_ROOM];
	bool has_lgr_type;
	uint8_t lgr_type;
	uint8_t link;
	uint8_t port;
	struct bytes local;
	uint16_t local_port;
	struct bytes remote;
	uint16_t remote_port;
	uint32_t reason;
	uint32_t diagnosis;
};

extern const struct field event_fields[];

/* A line of text, or a line of JSON. */
void event_print(FILE *out, const struct event *event);
void event_json(FILE *out, const struct event *event);

#endif /* SMC_TOOLS_MONITOR_H */
