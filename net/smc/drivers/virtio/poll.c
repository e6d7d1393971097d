// SPDX-License-Identifier: GPL-2.0
/*
 * No interrupt says that a peer has written: an unmodified virtio core hands out none for a region.
 * So a timer looks at the word in which peers say so, as long as there are DMBs: often while there
 * is something, and the longer there was nothing, the more seldom.  After a pause of a time T the
 * first message is seen T / 8 late at most.
 */
#include <linux/ktime.h>
#include "vism.h"

#define POLL_MIN_NS	(50 * NSEC_PER_USEC)
#define POLL_MAX_NS	(10 * NSEC_PER_MSEC)
/* Words of the dirty bitmap that are looked at each time. */
#define SIGNALS_BUDGET	16

/* Report the DMBs of one word that peers have marked. */
static void report(struct vism_dev *d, u32 word)
{
	u64 bits = vism_take_dirty(d->home, word);
	struct smc_ism_dmb *dmb;

	spin_lock(&d->dmb_lock);
	for (; bits; bits &= bits - 1) {
		dmb = d->dmbs[word * 64 + __ffs64(bits)];
		if (dmb)
			smc_ism_signaled(dmb);
	}
	spin_unlock(&d->dmb_lock);
}

/* A peer that marks without end gets no more of the processor than the budget. */
static bool look(struct vism_dev *d)
{
	int budget = SIGNALS_BUDGET;

	d->pending |= vism_take_summary(d->home);
	if (!d->pending)
		return false;
	for (; d->pending && budget; budget--) {
		report(d, __ffs64(d->pending));
		d->pending &= d->pending - 1;
	}
	return true;
}

static void poll_in(struct vism_dev *d, u64 ns)
{
	if (READ_ONCE(d->interval) != ns)
		WRITE_ONCE(d->interval, ns);
	hrtimer_start(&d->poll, ns_to_ktime(ns), HRTIMER_MODE_REL_SOFT);
}

/* After how much time to look again.  Another processor may just have said that it is active. */
static u64 next_look(const struct vism_dev *d, u64 now)
{
	s64 quiet = now - READ_ONCE(d->active);

	return clamp_t(s64, quiet / 8, POLL_MIN_NS, POLL_MAX_NS);
}

static enum hrtimer_restart poll(struct hrtimer *timer)
{
	struct vism_dev *d = container_of(timer, struct vism_dev, poll);
	u64 now = ktime_get_ns();

	if (READ_ONCE(d->state) == VISM_STOPPED)
		return HRTIMER_NORESTART;
	if (look(d))
		WRITE_ONCE(d->active, now);
	/* A task that registers the first one counts it, then starts it anew. */
	if (READ_ONCE(d->n_dmbs))
		poll_in(d, next_look(d, now));
	else
		WRITE_ONCE(d->interval, POLL_MAX_NS);
	/* Started above: hrtimer_forward() would not bear that another one starts it meanwhile. */
	return HRTIMER_NORESTART;
}

/**
 * vism_poll_start() - there is a DMB to look for
 * @d: the device
 *
 * Context: any but hard interrupts.
 */
void vism_poll_start(struct vism_dev *d)
{
	if (READ_ONCE(d->state) == VISM_STOPPED)
		return;
	WRITE_ONCE(d->active, ktime_get_ns());
	poll_in(d, POLL_MIN_NS);
}

/**
 * vism_poll_soon() - we have written to a peer, which will answer
 * @d: the device
 *
 * Context: any but hard interrupts.
 */
void vism_poll_soon(struct vism_dev *d)
{
	if (READ_ONCE(d->interval) != POLL_MIN_NS)
		vism_poll_start(d);
}

/**
 * vism_poll_init() - nothing is looked for yet
 * @d: the device
 */
void vism_poll_init(struct vism_dev *d)
{
	hrtimer_setup(&d->poll, poll, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	d->interval = POLL_MAX_NS;
}
