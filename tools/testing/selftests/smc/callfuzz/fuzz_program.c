// SPDX-License-Identifier: GPL-2.0
/* Programs: generation, mutation, writing and reading. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "kselftest.h"
#include "call_fuzz.h"
#include "random.h"

uint32_t rnd(struct random *r)
{
	return random_next(&r->state);
}

uint32_t below(struct random *r, uint32_t n)
{
	return random_below(&r->state, n);
}

bool one_in(struct random *r, uint32_t n)
{
	return !below(r, n);
}

/* ---- the table of calls, which consists of several lists ---- */

static const struct call * const lists[] = {
	socket_calls, data_calls, uring_calls, outside_calls, clc_calls,
};

const struct call *call_number(unsigned int n)
{
	for (unsigned int i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const struct call *c = lists[i]; c->name; c++)
			if (!n--)
				return c;
	return NULL;
}

int call_named(const char *name)
{
	const struct call *c;

	for (int n = 0; (c = call_number(n)); n++)
		if (!strcmp(c->name, name))
			return n;
	return -1;
}

static uint64_t left_out;		/* one bit for each call */

bool leave_out(const char *name)
{
	int n = call_named(name);

	if (n >= 0)
		left_out |= 1ull << n;
	return n >= 0;
}

static unsigned int weight_of(unsigned int n)
{
	return left_out >> n & 1 ? 0 : call_number(n)->weight;
}

unsigned int draw_call(struct random *r)
{
	unsigned int sum = 0, n, at;

	for (n = 0; call_number(n); n++)
		sum += weight_of(n);
	at = below(r, sum);
	for (n = 0; at >= weight_of(n); n++)
		at -= weight_of(n);
	return n;
}

/* ---- generation ---- */

static uint32_t random_arg(struct random *r)
{
	static const uint32_t edges[] = { 0, 1, 2, 3, 4, 7, 8, 0x7fffffff, 0x80000000, 0xffffffff };

	return one_in(r, 4) ? ITEM(edges, rnd(r)) : one_in(r, 3) ? below(r, 64) : rnd(r);
}

/* Neighbouring steps mostly use the same sockets. */
static uint8_t random_slot(struct random *r)
{
	return one_in(r, 4) ? below(r, SLOTS) : below(r, 2);
}

static void random_step(struct random *r, struct step *s)
{
	s->call = draw_call(r);
	s->thread = one_in(r, 2) ? 0 : below(r, THREADS);
	s->slot = random_slot(r);
	s->other = random_slot(r);
	for (int i = 0; i < ARGS; i++)
		s->arg[i] = random_arg(r);
}

/* Without a complete scene at the beginning, few programs would get through a handshake. */
static void random_scene(struct random *r, struct step *s)
{
	static const char * const scenes[] = {
		"pair", "pair", "pair", "listener", "clc_client", "clc_server", "clc_between",
	};

	random_step(r, s);
	do
		s->call = call_named(ITEM(scenes, rnd(r)));
	while (!weight_of(s->call));
	s->thread = 0;
	s->slot = 0;
	s->other = 1;
}

void program_make(struct random *r, struct program *p)
{
	p->n = 2 + below(r, STEPS / 2);
	for (unsigned int i = 0; i < p->n; i++)
		random_step(r, &p->step[i]);
	if (!one_in(r, 8))
		random_scene(r, &p->step[0]);
}

/* ---- mutation ---- */

static void insert_steps(struct program *p, unsigned int at, const struct step *s, unsigned int n)
{
	if (n > STEPS - p->n)
		n = STEPS - p->n;
	memmove(&p->step[at + n], &p->step[at], (p->n - at) * sizeof(*s));
	memcpy(&p->step[at], s, n * sizeof(*s));
	p->n += n;
}

static void remove_step(struct program *p, unsigned int at)
{
	if (p->n < 2)
		return;
	p->n--;
	memmove(&p->step[at], &p->step[at + 1], (p->n - at) * sizeof(p->step[0]));
}

static void change_arg(struct random *r, uint32_t *arg)
{
	switch (below(r, 4)) {
	case 0:
		*arg = random_arg(r);
		break;
	case 1:
		*arg ^= 1u << below(r, 32);
		break;
	case 2:
		*arg += one_in(r, 2) ? 1 : -1;
		break;
	default:
		*arg = below(r, 16);
	}
}

static void change_step(struct random *r, struct step *s)
{
	switch (below(r, 6)) {
	case 0:
		s->thread = below(r, THREADS);
		break;
	case 1:
		s->slot = random_slot(r);
		break;
	case 2:
		s->other = random_slot(r);
		break;
	default:
		change_arg(r, &s->arg[below(r, ARGS)]);
	}
}

/**
 * program_change() - mutate a program
 * @r:		random numbers
 * @p:		the program
 * @other:	another program, part of which may be inserted
 */
void program_change(struct random *r, struct program *p, const struct program *other)
{
	unsigned int from, at;
	struct step s;

	do {
		at = below(r, p->n);
		switch (below(r, 9)) {
		case 0:
			remove_step(p, at);
			break;
		case 1:
			s = p->step[at];
			insert_steps(p, below(r, p->n + 1), &s, 1);
			break;
		case 2:
			from = below(r, other->n);
			insert_steps(p, at, &other->step[from], 1 + below(r, other->n - from));
			break;
		case 3:
		case 4:
			random_step(r, &s);
			insert_steps(p, below(r, p->n + 1), &s, 1);
			break;
		default:
			change_step(r, &p->step[at]);
		}
	} while (!one_in(r, 3));
}

/* ---- text ---- */

void program_write(const struct program *p, FILE *f)
{
	for (unsigned int i = 0; i < p->n; i++) {
		const struct step *s = &p->step[i];

		fprintf(f, "%u %-14s %u %u  %x %x %x %x\n", s->thread, call_number(s->call)->name,
			s->slot, s->other, s->arg[0], s->arg[1], s->arg[2], s->arg[3]);
	}
	fprintf(f, "end\n");
}

void program_show(const struct program *p, const char *indent)
{
	char *text = NULL, *line, *rest;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	program_write(p, f);
	fclose(f);
	for (rest = text; (line = strsep(&rest, "\n")) && *line;)
		ksft_print_msg("%s%s\n", indent, line);
	free(text);
}

static bool step_read(struct step *s, const char *line)
{
	unsigned int thread, slot, other;
	char name[20];
	int call;

	if (sscanf(line, "%u %19s %u %u %x %x %x %x", &thread, name, &slot, &other, &s->arg[0],
		   &s->arg[1], &s->arg[2], &s->arg[3]) != 8)
		return false;
	call = call_named(name);
	if (call < 0 || thread >= THREADS || slot >= SLOTS || other >= SLOTS)
		return false;
	s->call = call;
	s->thread = thread;
	s->slot = slot;
	s->other = other;
	return true;
}

bool program_read(struct program *p, FILE *f, bool *bad)
{
	char line[200];

	*bad = false;
	memset(p, 0, sizeof(*p));
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#')
			continue;
		if (!strcmp(line, "end\n"))
			return p->n;
		if (p->n == STEPS || !step_read(&p->step[p->n], line)) {
			*bad = true;
			return false;
		}
		p->n++;
	}
	*bad = p->n;
	return false;
}
