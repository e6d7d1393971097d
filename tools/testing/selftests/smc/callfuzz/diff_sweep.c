// SPDX-License-Identifier: GPL-2.0
/*
 * smc_diff_test: a program for each option of a socket, each stage of a connection in which it can
 * be set, and several values. After the option has been set, the program exchanges data of each
 * kind and closes the connection, so that an option which is accepted, but has no effect, shows as
 * a difference.
 */
#include <netinet/in.h>
#include <string.h>

#include "call_fuzz.h"
#include "diff.h"
#include "surface.h"

/* Slots of these programs. */
enum { CLIENT, CHILD, LISTENER };

static const char * const stages[] = {
	"client", "listener", "handshake", "connected", "child", "reset",
};

static const uint32_t values[] = { 1, 0, 7, 100, 70000, -1 };

static unsigned int n_values = ARRAY_SIZE(values);

void sweep_values(unsigned int n)
{
	if (n && n < n_values)
		n_values = n;
}

#define CALL(name, ...)	add(p, (struct step){ .call = call_named(name), __VA_ARGS__ })

static void add(struct program *p, struct step s)
{
	if (p->n < STEPS)
		p->step[p->n++] = s;
}

static void set(struct program *p, unsigned int slot, unsigned int option, uint32_t value)
{
	CALL("set", .slot = slot, .arg = { option, value, 0, 0x50 });
	CALL("get", .slot = slot, .arg = { option, 1, 0, 0xff });
}

static void exchange(struct program *p, unsigned int from, unsigned int to)
{
	CALL("sendmsg", .slot = from, .arg = { 0x2, 8, 1, 1 });
	CALL("ioctl", .slot = to, .arg = { 0, 0, 1 });
	CALL("recvmsg", .slot = to, .arg = { 0x1, 2, 1, 1 });
	CALL("recvmsg", .slot = to, .arg = { 0x2, 1, 1, 3 });
	CALL("recvmsg", .slot = from, .arg = { 0x2, 7, 1, 1 });
	CALL("send", .slot = from, .arg = { 0, 3 });
	CALL("recv", .slot = to, .arg = { 0, 5 });
	CALL("drain", .slot = to);
}

static void connect_them(struct program *p, const char *stage, unsigned int option, uint32_t value)
{
	unsigned int family = surface_options[option].level == IPPROTO_IPV6;
	bool handshake = !strcmp(stage, "handshake");

	/* A pair has no handshake that a program could see. */
	CALL("listener", .slot = LISTENER, .arg = { family },
	     .thread = handshake || (option + value) % 2 ? NEGOTIATE : 0);
	if (!strcmp(stage, "listener"))
		set(p, LISTENER, option, value);
	CALL("socket", .slot = CLIENT, .arg = { family, handshake });
	if (!strcmp(stage, "client"))
		set(p, CLIENT, option, value);
	CALL("connect_to", .slot = CLIENT, .other = LISTENER, .thread = handshake ? AT_ONCE : 0);
	if (handshake)
		set(p, CLIENT, option, value);
	CALL("accept", .slot = LISTENER, .other = CHILD, .arg = { 0, 1, 1 });
	if (!strcmp(stage, "connected"))
		set(p, CLIENT, option, value);
	if (!strcmp(stage, "reset")) {
		CALL("close", .slot = CLIENT);
		CALL("send", .slot = CHILD);
	}
	if (!strcmp(stage, "child") || !strcmp(stage, "reset"))
		set(p, CHILD, option, value);
}

/**
 * sweep_program() - make the n-th program of the sweep
 * @p:	receives the program; it is empty if a program may not set this option
 * @n:	its number
 *
 * Return: false if there are no more.
 */
bool sweep_program(struct program *p, unsigned int n)
{
	unsigned int value = n % n_values, stage = n / n_values % ARRAY_SIZE(stages);
	unsigned int option = n / n_values / ARRAY_SIZE(stages);

	if (option >= surface_n_options)
		return false;
	memset(p, 0, sizeof(*p));
	if (!option_fits(&surface_options[option]))
		return true;
	connect_them(p, stages[stage], option, values[value]);
	exchange(p, CLIENT, CHILD);
	exchange(p, CHILD, CLIENT);
	CALL("shutdown", .slot = CLIENT, .arg = { 1 });
	CALL("recv", .slot = CHILD, .arg = { 2 });
	CALL("close", .slot = CHILD);
	CALL("recv", .slot = CLIENT, .arg = { 2 });
	return true;
}

unsigned int sweep_next(unsigned int n)
{
	const unsigned int each = n_values * ARRAY_SIZE(stages);

	return (n / each + 1) * each;
}

/* The option and the stage of a program of the sweep, in words. */
void sweep_name(unsigned int n, char *text, size_t size)
{
	unsigned int option = n / n_values / ARRAY_SIZE(stages);

	snprintf(text, size, "%s %d, %s", surface_options[option].name,
		 (int)values[n % n_values],
		 stages[n / n_values % ARRAY_SIZE(stages)]);
}
