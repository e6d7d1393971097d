/* SPDX-License-Identifier: GPL-2.0 */
/* Connections that live through the loss of links. */
#ifndef SMC_XFER_LIVE_H
#define SMC_XFER_LIVE_H

#include <pthread.h>
#include <stdatomic.h>

#include "xfer.h"

/* What the connections of one kind do. Both functions get a struct live. */
struct load {
	const char *name;
	void *(*writes)(void *);	/* NULL: one thread does both */
	void *(*reads)(void *);
	unsigned int share;		/* of the bytes to move */
	bool short_lived;		/* makes connections of its own, one after the other */
};

/* One connection, or one thread that makes short ones, as this role sees it. */
struct live {
	const struct load *load;
	pthread_t writer, reader;
	int fd, index;
	uint64_t sent, received;
	_Atomic uint64_t moved;		/* progress: received, or sent if nothing comes */
	_Atomic uint64_t last;		/* when it moved, ns */
	_Atomic uint64_t longest;	/* that it stood still, ns; reset by each answer */
	atomic_bool reset;		/* a call has failed as it had to */
};

extern atomic_bool enough;		/* the driver wants nothing more to begin */

void progress(struct live *l, size_t bytes);
void start(const struct load *load);
void obey(void);			/* the driver, to the end */
void failover_churn(void);

#endif
