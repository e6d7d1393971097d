// SPDX-License-Identifier: GPL-2.0
/* Events in the order of their times, work items, memory: everything that depends on the seed. */
#include "kernel.h"

#define MAX_EVENTS	1024
/* How deeply events may be nested, one running in the middle of another. */
#define MAX_DEPTH	3
/* An event due this soon may run a little earlier, in the middle of another one. */
#define SOON		3

unsigned long sim_now;
unsigned int sim_here, sim_locks, sim_depth;
bool sim_verbose;
struct workqueue_struct *smc_link_wq, *smc_end_wq;

static struct sim_event *heap[MAX_EVENTS + 1];
static unsigned int n_events;
static uint64_t random_state, order;
static unsigned int preempt_one_in, fail_one_in, slowness;
static unsigned long n_allocated;
static void *garbage[16];
static unsigned int n_garbage;
static bool failed;

void sim_clock_reset(uint64_t seed)
{
	random_state = seed * 0x9e3779b97f4a7c15 + 1;
	order = 0;
	n_events = 0;
	n_allocated = 0;
	n_garbage = 0;
	failed = false;
	sim_locks = 0;
	sim_depth = 0;
	sim_now = 1000000;
	preempt_one_in = 0;
	slowness = 1;
	fail_one_in = 0;
}

/* splitmix64 */
uint64_t sim_random(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* 0 to n - 1 */
unsigned int sim_below(unsigned int n)
{
	return (sim_random() >> 32) * n >> 32;
}

/* Never if @n is 0. */
bool sim_one_in(unsigned int n)
{
	return n && !sim_below(n);
}

/* ---- the heap ---- */

static bool before(const struct sim_event *a, const struct sim_event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void put(struct sim_event *ev, unsigned int pos)
{
	heap[pos] = ev;
	ev->pos = pos;
}

static void sift_up(struct sim_event *ev, unsigned int pos)
{
	for (; pos > 1 && before(ev, heap[pos / 2]); pos /= 2)
		put(heap[pos / 2], pos);
	put(ev, pos);
}

static void sift_down(struct sim_event *ev, unsigned int pos)
{
	unsigned int child;

	while ((child = 2 * pos) <= n_events) {
		if (child < n_events && before(heap[child + 1], heap[child]))
			child++;
		if (!before(heap[child], ev))
			break;
		put(heap[child], pos);
		pos = child;
	}
	put(ev, pos);
}

void sim_event_cancel(struct sim_event *ev)
{
	unsigned int pos = ev->pos;
	struct sim_event *last;

	if (!pos)
		return;
	ev->pos = 0;
	last = heap[n_events--];
	if (last == ev)
		return;
	if (pos > 1 && before(last, heap[pos / 2]))
		sift_up(last, pos);
	else
		sift_down(last, pos);
}

/* Schedules the event on the current host. */
void sim_event_at(struct sim_event *ev, unsigned long at)
{
	sim_event_cancel(ev);
	if (n_events == MAX_EVENTS)
		sim_fail("too many events");
	ev->at = at;
	ev->order = order++;
	sift_up(ev, ++n_events);
}

bool sim_event_pending(const struct sim_event *ev)
{
	return ev->pos;
}

static void run(struct sim_event *ev)
{
	unsigned int here = sim_here;

	sim_event_cancel(ev);
	if (time_before(sim_now, ev->at))
		sim_now = ev->at;
	sim_here = ev->end;
	sim_depth++;
	ev->fn(ev);
	sim_depth--;
	sim_here = here;
}

/* Runs the next event, if it is not later than @until. */
bool sim_step(unsigned long until)
{
	if (!n_events || time_before(until, heap[1]->at))
		return false;
	run(heap[1]);
	if (sim_locks)
		sim_fail("an event ends with a lock held");
	while (n_garbage)
		sim_free(garbage[--n_garbage]);
	return true;
}

/* Possibly runs the next event in the middle of the current one. */
void sim_preempt(void)
{
	struct sim_event *ev = heap[1];

	if (!preempt_one_in || sim_locks || !sim_depth || sim_depth >= MAX_DEPTH ||
	    !n_events || sim_below(preempt_one_in))
		return;
	if (ev->at > sim_now + SOON || ev->running || (ev->may && !ev->may(ev)))
		return;
	run(ev);
}

/* A task that waits for a device lets it continue. */
void sim_wait_for_device(void)
{
	unsigned int i;

	for (i = 1; i <= n_events; i++) {
		if (!heap[i]->device)
			continue;
		run(heap[i]);
		return;
	}
	sim_fail("waits for a device without pending work");
}

void sim_set_processor(unsigned int preempt, unsigned int slow)
{
	preempt_one_in = preempt;
	slowness = slow;
}

/* ---- work ---- */

static void run_work(struct sim_event *ev)
{
	struct work_struct *work = container_of(ev, struct work_struct, ev);
	/* A device's one-time work may free its work item. */
	bool once = ev->device;

	ev->running = true;
	work->func(work);
	if (!once)
		ev->running = false;
}

static bool may_work(const struct sim_event *ev)
{
	return !container_of(ev, const struct work_struct, ev)->waits;
}

void sim_init_work(struct work_struct *work, void (*func)(struct work_struct *work))
{
	*work = (struct work_struct) {
		.func = func, .ev = { .fn = run_work, .may = may_work }
	};
}

/* Returns false if it was queued before. */
bool sim_queue_work(struct work_struct *work, unsigned long delay, bool modify)
{
	bool queued = sim_event_pending(&work->ev);

	if (queued && !modify)
		return false;
	work->ev.end = sim_here;
	/* A timer is never early, but the processor may be busy. */
	sim_event_at(&work->ev, sim_now + delay + sim_below(slowness));
	return !queued;
}

bool sim_cancel_work(struct work_struct *work)
{
	bool queued = sim_event_pending(&work->ev);

	if (work->ev.running)
		sim_fail("waits for a work item that waits for its canceller");
	sim_event_cancel(&work->ev);
	return queued;
}

/* ---- memory ---- */

void *sim_alloc(size_t size)
{
	void *p = malloc(size);

	if (!p)
		abort();
	n_allocated++;
	return p;
}

void sim_free(void *p)
{
	n_allocated -= !!p;
	free(p);
}

/* Frees @p after the current event, because @p may contain the event's work item. */
void sim_free_later(void *p)
{
	if (n_garbage == ARRAY_SIZE(garbage))
		sim_fail("too many objects to free later");
	garbage[n_garbage++] = p;
}

unsigned long sim_allocated(void)
{
	return n_allocated;
}

bool sim_alloc_fails(void)
{
	bool fails = sim_one_in(fail_one_in);

	failed |= fails;
	return fails;
}

/* Has an allocation failed, so that a message was lost? */
bool sim_alloc_failed(void)
{
	return failed;
}

void sim_set_alloc_fails(unsigned int one_in)
{
	fail_one_in = one_in;
}
