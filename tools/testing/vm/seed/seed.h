/* SPDX-License-Identifier: GPL-2.0 */
/* A run that follows from a number, see kernel/seed.c. */
#ifndef __ASM_UM_SEED_H
#define __ASM_UM_SEED_H

#include <linux/types.h>

extern bool seed_given, seed_running;
u32 seed_random(void);
void seed_random_bytes(void *to, size_t len);
void __seed_point(unsigned long ip);
void seed_syscall(void);
bool seed_softirqs_later(unsigned long ip);

/* seed_cable.c */
bool seed_cable_reach(u64 time);
bool seed_cable_ring(void);
void seed_cable_on_ring(void (*fn)(void *arg), void *arg);

/* time.c */
struct time_travel_event;
unsigned long long time_travel_now(void);
void time_travel_jump(unsigned long ns);
void time_travel_expect(struct time_travel_event *e, u64 time);

/* random.c */
void random_forget(void);

static inline void seed_point(unsigned long ip)
{
	if (unlikely(seed_running))
		__seed_point(ip);
}

#endif
