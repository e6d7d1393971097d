// SPDX-License-Identifier: GPL-2.0
/* We say something while a system call of the victim is going on. Seeds choose the moment. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>

#include "rogue.h"

#define ROUNDS	10

static void *answer_abort(void *arg)
{
	struct conn *c = arg;

	if (conn_flags(c, SMC_CDC_ABORT))
		conn_say(c, SMC_CDC_ABORT);
	return NULL;
}

/* The victim resets TCP as soon as it has our answer, and not only when its time is over. */
static void answer_in_close(void)
{
	struct conn *other = conn_begin(SERVER, V21, AT_UP, NULL);
	bool ok = conn_echo(other);

	for (unsigned int i = 0; ok && i < ROUNDS; i++) {
		struct conn *c = conn_more(other, AT_UP, NULL);
		pthread_t thread;

		conn_write(c, "unread", 6);
		ok = wait_mask(c->s.victim, POLLIN, WAIT_MS);
		pthread_create(&thread, NULL, answer_abort, c);
		victim_closes(c);
		pthread_join(thread, NULL);
		ok = ok && (wait_mask(c->s.raw, POLLERR, slow(3000)) || BAD("TCP is not reset"));
		conn_end(c);
	}
	conn_end(other);
	verdict(ok, "moments: we answer an abort by the victim during its close()");
}

static void *say_closed(void *arg)
{
	for (unsigned int i = 0; i < 50; i++)
		conn_say(arg, SMC_CDC_SEND_DONE | SMC_CDC_CLOSED);
	return NULL;
}

/* The connection leaves its group once. */
static void closed_again(void)
{
	struct conn *other = conn_begin(CLIENT, V21, AT_UP, NULL);
	bool ok = conn_echo(other);

	for (unsigned int i = 0; ok && i < ROUNDS; i++) {
		struct conn *c = conn_more(other, AT_UP, NULL);
		pthread_t thread;

		ok = conn_echo(c) && !shutdown(c->s.victim, SHUT_RDWR) &&
		     conn_flags(c, SMC_CDC_CLOSED);
		pthread_create(&thread, NULL, say_closed, c);
		sched_yield();
		victim_closes(c);
		pthread_join(thread, NULL);
		ok = ok && link_flush(c->l, WAIT_MS) && conn_echo(other);
		conn_end(c);
	}
	conn_end(other);
	verdict(ok, "moments: the victim closes while we repeat that we have closed");
}

void cases_moments(void)
{
	TRY(answer_in_close(), "");
	TRY(closed_again(), "");
}
