// SPDX-License-Identifier: GPL-2.0
/* The end of the TCP connection, or unexpected bytes on it, in every state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rogue.h"

static const char * const stage_name[] = {
	"before CLC", "in CLC", "before CONFIRM LINK", "before ADD LINK", "in an active group",
};

enum event { FIN, RST, DECLINE, GARBAGE, BREAK };

static const char * const event_name[] = {
	"the TCP connection ends", "the TCP connection is reset", "a Decline",
	"bytes that are not a CLC message", "the queue pair is gone, then the TCP connection ends",
};

static void reset_tcp(struct conn *c)
{
	struct linger l = { .l_onoff = 1 };

	setsockopt(c->s.raw, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	close(c->s.raw);
	c->s.raw = -1;
}

/*
 * A Decline is accepted until the point of no return (RFC 7609, C.3). A server has reached that
 * once its ADD LINK has arrived.
 */
static bool declined(struct conn *c, enum role role, enum stage stage)
{
	clc_decline(c);
	if (stage == AT_ADD_LINK && role == CLIENT)
		return judge(c->s, GOT_RESET, false, NULL);
	return talks_tcp(c->s);
}

static bool happens(struct conn *c, enum role role, enum stage stage, enum event event)
{
	switch (event) {
	case FIN:
		shutdown(c->s.raw, SHUT_WR);
		return victim_is_told(c->s, false);
	case RST:
		reset_tcp(c);
		return victim_is_told(c->s, true);
	case DECLINE:
		return declined(c, role, stage);
	case GARBAGE:
		put_bytes(c->s.raw, "GET / HTTP/1.0\r\n\r\n", 18);
		return judge(c->s, GOT_RESET, false, NULL);
	case BREAK:
		link_break(c->l);
		shutdown(c->s.raw, SHUT_WR);
		return victim_is_told(c->s, false);
	}
	return false;
}

/* Once the group is active, the TCP connection is ignored, except for a reset. */
static bool happens_up(struct conn *c, enum event event)
{
	/* The victim must know that the group is active, too. */
	if (!conn_echo(c))
		return false;
	switch (event) {
	case RST:
		reset_tcp(c);
		return victim_is_told(c->s, true);
	case FIN:
		shutdown(c->s.raw, SHUT_WR);
		break;
	case DECLINE:
		clc_decline(c);
		break;
	default:
		put_bytes(c->s.raw, "GET / HTTP/1.0\r\n\r\n", 18);
	}
	return conn_echo(c);
}

static void one(enum role role, enum stage stage, enum event event)
{
	struct conn *c = conn_begin(role, stage == AT_ADD_LINK ? V20 : V21, stage, NULL);
	bool ok;

	ok = stage == AT_UP ? happens_up(c, event) : happens(c, role, stage, event);
	conn_end(c);
	verdict(ok, "link, %s, %s: %s", role_name[role], stage_name[stage], event_name[event]);
}

/* The victim has already sent its Confirm, which we would read first. */
static bool possible(enum role role, enum stage stage, enum event event)
{
	if (role == SERVER && stage == AT_CLC)
		return event == FIN || event == RST;
	return event != BREAK || stage == AT_LINK || stage == AT_ADD_LINK;
}

/* The client can decline a further contact until its Confirm; the connection then is TCP. */
static void further(enum event event)
{
	struct conn *first = conn_begin(CLIENT, V21, AT_UP, NULL), *c;
	bool ok = conn_echo(first);

	c = conn_more(first, AT_CLC, NULL);
	ok = ok && happens(c, CLIENT, AT_CLC, event) && conn_echo(first);
	conn_end(c);
	conn_end(first);
	verdict(ok, "link, further contact: %s", event_name[event]);
}

void cases_link(void)
{
	for (enum stage stage = AT_TCP; stage <= AT_UP; stage++)
		for (enum event event = FIN; event <= BREAK; event++)
			for (enum role role = CLIENT; role <= SERVER; role++)
				if (possible(role, stage, event))
					TRY(one(role, stage, event), event_name[event]);
	TRY(further(FIN), "");
	TRY(further(RST), "");
	TRY(further(DECLINE), "");
	TRY(further(GARBAGE), "");
}
