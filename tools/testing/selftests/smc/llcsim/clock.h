/* SPDX-License-Identifier: GPL-2.0 */
/* The simulation's clock, its random numbers, and how it reports a fault. */
#ifndef LLCSIM_CLOCK_H
#define LLCSIM_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of simultaneous connections of an end. */
#define SIM_CONNS	6

/**
 * struct sim_event - something that happens at a certain time
 * @at:		the time
 * @order:	position among events of the same time
 * @pos:	place in the heap, from 1; 0: it is not queued
 * @end:	the host where it happens
 * @running:	it is being processed
 * @device:	a device does it, and somebody may wait for the device
 * @fn:		the function to call
 * @may:	may it happen in the middle of something else?  NULL: it may
 */
struct sim_event {
	unsigned long	at;
	uint64_t	order;
	unsigned int	pos;
	unsigned int	end;
	bool		running;
	bool		device;
	void		(*fn)(struct sim_event *ev);
	bool		(*may)(const struct sim_event *ev);
};

extern unsigned long sim_now;
extern unsigned int sim_here;		/* the host of the current event */
extern unsigned int sim_locks;		/* number of locks that are held */
extern unsigned int sim_depth;		/* number of nested events */
extern bool sim_verbose;

void sim_clock_reset(uint64_t seed);
uint64_t sim_random(void);
unsigned int sim_below(unsigned int n);
bool sim_one_in(unsigned int n);

void sim_event_at(struct sim_event *ev, unsigned long at);
void sim_event_cancel(struct sim_event *ev);
bool sim_event_pending(const struct sim_event *ev);
bool sim_step(unsigned long until);
void sim_preempt(void);
void sim_wait_for_device(void);
void sim_set_processor(unsigned int preempt, unsigned int slow);

void *sim_alloc(size_t size);
void sim_free(void *p);
void sim_free_later(void *p);
unsigned long sim_allocated(void);
bool sim_alloc_fails(void);
bool sim_alloc_failed(void);
void sim_set_alloc_fails(unsigned int one_in);

void sim_fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
void sim_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define SIM_LOG(...) do { if (sim_verbose) sim_log(__VA_ARGS__); } while (0)

#endif
