// SPDX-License-Identifier: GPL-2.0
/*
 * An unmodified virtio core provides no interrupts for regions, so nothing tells us that a peer has
 * written.  While there are DMBs, a timer reads the word that peers set when they write.  It runs
 * often while peers are active, and more rarely the longer they are idle: after a pause of time T,
 * the first message is noticed at most T / 8 late.
 */
#include <linux/ktime.h>
#include "vism.h"

#define POLL_MIN_NS	(50 * NSEC_PER_USEC)
#define POLL_MAX_NS	(10 * NSEC_PER_MSEC)
/* Maximum of dirty bitmap words that one run of the timer processes. */
#define SIGNALS_BUDGET	16

/* Report the DMBs that peers have marked in one word of the bitmap. */
static void report(struct vism_dev *d, u32 word)
{
	u64 bits = vism_take_dirty(d->home, word);

	spin_lock(&d->dmb_lock);
	smc_ism_signaled_bits(&d->dmbs[word * 64], bits);
	spin_unlock(&d->dmb_lock);
}

/* The budget keeps a peer that marks DMBs endlessly from monopolising the processor. */
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

/* Time until the next look.  @quiet is negative if another CPU has just updated @active. */
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
	/* vism_register_dmb() counts the first DMB before it restarts the timer. */
	if (READ_ONCE(d->n_dmbs))
		poll_in(d, next_look(d, now));
	else
		WRITE_ONCE(d->interval, POLL_MAX_NS);
	/* Not hrtimer_forward(): vism_poll_start() may start the timer concurrently. */
	return HRTIMER_NORESTART;
}

/**
 * vism_poll_start() - poll at the shortest interval, as there is a new DMB or an answer to expect
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
 * vism_poll_soon() - we have written to a peer: expect an answer soon
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
 * vism_poll_init() - initialise the timer, without starting it
 * @d: the device
 */
void vism_poll_init(struct vism_dev *d)
{
	hrtimer_setup(&d->poll, poll, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	d->interval = POLL_MAX_NS;
}
