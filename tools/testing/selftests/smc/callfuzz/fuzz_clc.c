// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that speaks CLC itself and sends invalid messages: changed messages of a real handshake of
 * this host, and changed messages that were recorded or written for the unit tests.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "golden.h"
#include "scene.h"
#include "call_fuzz.h"

#define SOL_SMC			286
#define SMC_TEST_RAW_CLC	0x200
#define PATIENCE		1000	/* ms for a message that may never come */

static int raw_clc, victim;		/* listeners */
static int raw_port, victim_port;

/* a message may never come */

/* With a multiple of 3, the message stays as it is. */
static void draw_message(uint32_t number, struct message *m)
{
	const struct message * const real[] = { &proposal, &accept_, &confirm, &old_confirm };
	const struct golden *g;

	if (number % 3 == 0)
		return;
	if (number % 3 == 1) {
		*m = *ITEM(real, number / 3);
		return;
	}
	g = &golden[number / 3 % n_golden];
	memcpy(m->b, g->bytes, g->len);
	m->len = g->len;
}

static void change_byte(struct random *r, struct message *m)
{
	static const uint8_t bytes[] = { 0, 1, 2, 0x7f, 0x80, 0xff, 0x10, 0x20, 0xe2 };
	/* The header and the offsets in it matter most. */
	size_t at = below(r, one_in(r, 2) && m->len > 60 ? 60 : m->len);

	if (one_in(r, 2))
		m->b[at] ^= 1u << below(r, 8);
	else
		m->b[at] = one_in(r, 2) ? ITEM(bytes, rnd(r)) : rnd(r);
}

static void change_message(uint32_t seed, struct message *m)
{
	struct random r = { .state = seed };
	unsigned int n = seed % 4;

	while (n-- && m->len) {
		switch (below(&r, 8)) {
		case 0:
			m->len = below(&r, m->len + 1);
			break;
		case 1:
			if (m->len + 40 < sizeof(m->b))
				m->len += below(&r, 40);
			break;
		case 2:
			m->b[4] = below(&r, 6);
			break;
		case 3:		/* the length field becomes correct */
			m->b[5] = m->len >> 8;
			m->b[6] = m->len;
			break;
		default:
			change_byte(&r, m);
		}
	}
}

static bool take_bytes(int fd, uint8_t *b, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	while (len) {
		ssize_t n = poll(&p, 1, PATIENCE) > 0 ? recv(fd, b, len, MSG_DONTWAIT) : 0;

		if (n <= 0)
			return false;
		b += n;
		len -= n;
	}
	return true;
}

static bool take_message(int fd, struct message *m)
{
	m->len = 0;
	if (!take_bytes(fd, m->b, 8))
		return false;
	m->len = m->b[5] << 8 | m->b[6];
	if (m->len < 8 || m->len > sizeof(m->b))
		m->len = 8;
	return take_bytes(fd, m->b + 8, m->len - 8);
}

static long say(int fd, const struct step *s, struct message *m)
{
	draw_message(s->arg[0], m);
	change_message(s->arg[1], m);
	return send(fd, m->b, m->len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* ---- scenes ---- */

static int raw_socket(void)
{
	int fd = make_socket(0, SOCK_NONBLOCK), on = 1;

	setsockopt(fd, SOL_SMC, SMC_TEST_RAW_CLC, &on, sizeof(on));
	return fd;
}

static int begin_connect(int fd, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(setting.addr) };

	if (connect(fd, (void *)&a, sizeof(a)) && errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	return fd;
}

static int accept_one(int listener)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };

	poll(&p, 1, PATIENCE);
	return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/* We connect to a victim that is a server; our socket goes to the first slot, the victim to the
 * other.
 */
static long run_client(const struct step *s)
{
	int raw = begin_connect(raw_socket(), victim_port);
	int child = accept_one(victim);
	struct message m = proposal;

	if (raw >= 0 && s->arg[2] & 7)
		say(raw, s, &m);
	into_slot(raw, s->slot);
	return into_slot(child, s->other);
}

/* A victim connects to us. */
static long run_server(const struct step *s)
{
	int client = begin_connect(make_socket(0, SOCK_NONBLOCK), raw_port);
	int raw = accept_one(raw_clc);
	struct message m = accept_;

	if (raw >= 0 && s->arg[2] & 7)
		say(raw, s, &m);
	into_slot(client, s->other);
	return into_slot(raw, s->slot);
}

/* We sit between two victims and forward their messages, up to three; the last one is changed. */
static long run_between(const struct step *s)
{
	int client = begin_connect(make_socket(0, SOCK_NONBLOCK), raw_port);
	int to_client = accept_one(raw_clc);
	int to_server = begin_connect(raw_socket(), victim_port);
	int server = accept_one(victim);
	uint32_t last = s->arg[2] % 4;
	struct message m;

	for (uint32_t i = 0; i < last && i < 3; i++) {
		int from = i & 1 ? to_server : to_client, to = i & 1 ? to_client : to_server;

		if (!take_message(from, &m))
			break;
		if (i + 1 == last)
			say(to, s, &m);
		else
			send(to, m.b, m.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	into_slot(client, s->slot);
	into_slot(to_client, s->slot + 2);
	into_slot(to_server, s->slot + 3);
	return into_slot(server, s->other);
}

/* Forwards what came on one socket, or another message, to the other socket, or sends it back. */
static long run_relay(const struct step *s)
{
	struct message m = accept_;

	if (s->arg[2] & 3)
		take_message(slot_fd(s->slot), &m);
	return say(slot_fd(s->arg[3] & 1 ? s->other : s->slot), s, &m);
}

static long run_say(const struct step *s)
{
	struct message m = confirm;

	return say(slot_fd(s->slot), s, &m);
}

/* Once, while the module has its default settings. */
void clc_record(void)
{
	hostile_open();
}

/* In each namespace. */
void clc_open(void)
{
	raw_clc = raw_listen(&raw_port);
	victim = victim_listen(&victim_port);
}

const struct call clc_calls[] = {
	{ "clc_client", 3, run_client },
	{ "clc_server", 3, run_server },
	{ "clc_between", 5, run_between },
	{ "clc_relay", 4, run_relay },
	{ "clc_say", 4, run_say },
	{ NULL, 0, NULL }
};
