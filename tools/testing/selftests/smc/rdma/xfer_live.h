/* SPDX-License-Identifier: GPL-2.0 */
/* Connections that survive the loss of links. */
#ifndef SMC_XFER_LIVE_H
#define SMC_XFER_LIVE_H

#include <pthread.h>
#include <stdatomic.h>

#include "xfer.h"

/* The threads of one kind of connection. Both functions get a struct live. */
struct load {
	const char *name;
	void *(*writes)(void *);	/* NULL: one thread does both */
	void *(*reads)(void *);
	unsigned int share;		/* divides the number of bytes to move */
	bool short_lived;		/* opens connections itself, one after the other */
};

/* One connection, or one thread that makes short ones, as seen by this role. */
struct live {
	const struct load *load;
	pthread_t writer, reader;
	int fd, index;
	uint64_t sent, received;
	_Atomic uint64_t moved;		/* bytes received, or sent if none are received */
	_Atomic uint64_t last;		/* time of the last progress, ns */
	_Atomic uint64_t longest;	/* longest stall, ns; reset by each answer */
	atomic_bool ended;		/* the peer has ended its stream */
	atomic_bool reset;		/* a call has failed as expected */
};

extern atomic_bool enough;		/* the driver has said stop */

void progress(struct live *l, size_t bytes);
void start(const struct load *load);
void obey(void);			/* obeys the driver until the end */
void failover_churn(void);

#endif
