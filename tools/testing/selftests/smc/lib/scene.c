// SPDX-License-Identifier: GPL-2.0
/* Positions of a hostile peer, and checks of its victim afterwards. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "netlink_client.h"
#include "scene.h"

struct message proposal, accept_, confirm, old_confirm;
const struct message decline_v1 = { .len = 28, .b = {
	0xe2, 0xd4, 0xc3, 0xd9, CLC_DECLINE, 0, 28, 0x10,
	1, 2, 3, 4, 5, 6, 7, 8, 0x03, 0x01, 0, 0, 0, 0, 0, 0,
	0xe2, 0xd4, 0xc3, 0xd9,
} };
char why[300];

static int victim_l, victim_port;	/* a genuine listener */
static int raw_l, raw_port;		/* a listener whose children speak CLC themselves */

/* ---- the two positions of a hostile peer ---- */

/* We are the client: the victim, a server's child socket, waits for a Proposal. */
struct scene as_client(void)
{
	struct scene s = { 0 };

	s.raw = raw_connect(victim_port);
	s.victim = accept_in_time(victim_l);
	return s;
}

/* We are the server: the victim has connected and sent its Proposal. */
struct scene as_server(struct message *p)
{
	struct scene s = { 0 };

	s.victim = victim_connect(raw_port);
	s.raw = accept_in_time(raw_l);
	if (get_message(s.raw, p, WAIT_MS) != GOT_PROPOSAL)
		give_up("the victim sent no Proposal");
	return s;
}

/* We are the client, and have received the victim's Accept. */
struct scene as_client_accepted(struct message *a)
{
	struct scene s = as_client();

	put_bytes(s.raw, proposal.b, proposal.len);
	if (get_message(s.raw, a, WAIT_MS) != GOT_ACCEPT)
		give_up("the victim sent no Accept");
	return s;
}

void end_scene(struct scene s)
{
	close(s.raw);
	close(s.victim);
	if (s.helper)
		close(s.helper);
	if (s.to_helper)
		close(s.to_helper);
}

/* ---- checks afterwards ---- */

bool victim_says(struct scene s, uint32_t reason)
{
	struct diag d;

	if (!diag_of(s.victim, &d))
		return BAD("sock_diag does not know the victim's socket");
	return d.reason == reason ||
	       BAD("the victim's reason is %08x instead of %08x", d.reason, reason);
}

bool talks_tcp(struct scene s)
{
	char buf[32];
	ssize_t n = 0, k;

	put_bytes(s.raw, "from the peer", 13);
	while (n < 13) {
		if (!wait_mask(s.victim, POLLIN, WAIT_MS))
			return BAD("after the Decline nothing arrives at the victim");
		k = recv(s.victim, buf + n, 13 - n, MSG_DONTWAIT);
		if (k <= 0 && errno != EAGAIN)
			return BAD("after the Decline: %s", strerror(errno));
		n += k > 0 ? k : 0;
	}
	if (memcmp(buf, "from the peer", 13))
		return BAD("after the Decline the victim reads other data");
	wait_mask(s.victim, POLLOUT, WAIT_MS);
	if (send(s.victim, "from the victim", 15, MSG_NOSIGNAL) != 15)
		return BAD("the victim cannot send: %s", strerror(errno));
	for (n = 0; n < 15; n += k) {
		if (!wait_mask(s.raw, POLLIN, WAIT_MS))
			return BAD("nothing arrives from the victim");
		k = recv(s.raw, buf + n, 15 - n, 0);
		if (k <= 0)
			return BAD("the victim's data does not arrive");
	}
	return !memcmp(buf, "from the victim", 15) || BAD("the victim's data is wrong");
}

/* The victim's application must learn of the end, and must not hang. */
bool victim_is_told(struct scene s, bool error)
{
	char c[64];
	ssize_t n;
	int m;

	for (;;) {
		m = wait_mask(s.victim, POLLIN, WAIT_MS);
		if (!m)
			return BAD("the victim's application hangs");
		n = recv(s.victim, c, sizeof(c), MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN && !(m & POLLHUP)) {
			usleep(1000);
			continue;
		}
		break;
	}
	if (n > 0)
		return BAD("the victim's application reads %zd bytes of CLC", n);
	if (error && n == 0)
		return BAD("the victim's application reads end of file");
	if (n < 0 && errno != ECONNRESET && errno != ETIMEDOUT && errno != EPIPE)
		return BAD("the victim's application gets %s", strerror(errno));
	return true;
}

/*
 * Checks the reaction to what we have sent; @allowed is a set of reactions. With @eof, the end of
 * the stream is sent first, as the victim would wait for more.
 */
bool judge(struct scene s, unsigned int allowed, bool eof, unsigned int *got)
{
	struct message m;
	enum reaction r;

	if (eof)
		shutdown(s.raw, SHUT_WR);
	r = get_message(s.raw, &m, WAIT_MS);
	if (got)
		*got |= r;
	if (!(r & allowed))
		return BAD("%s instead of %s", reaction_names(r), reaction_names(allowed));
	if (r == GOT_DECLINE) {
		if (m.len < 28 || (m.b[16] | m.b[17] | m.b[18] | m.b[19]) == 0)
			return BAD("the Decline has no diagnosis");
		return eof || talks_tcp(s);
	}
	/* after @eof the application sees the end of the stream first, as with TCP */
	if (r == GOT_RESET)
		return victim_is_told(s, !eof);
	if (r == GOT_END)
		return victim_is_told(s, false);
	/* The handshake goes on: end the connection, which the victim must notice. */
	shutdown(s.raw, SHUT_RDWR);
	return victim_is_told(s, false);
}

bool victim_reads_bytes(struct scene s, const void *bytes, size_t len)
{
	uint8_t buf[sizeof(proposal.b)];
	size_t n = 0;

	while (n < len) {
		ssize_t k;

		if (!wait_mask(s.victim, POLLIN, WAIT_MS))
			return BAD("the data never arrives");
		k = recv(s.victim, buf + n, len - n, MSG_DONTWAIT);
		if (k < 0 && errno == EAGAIN)
			continue;
		if (k <= 0)
			return BAD("%s instead of data", k ? strerror(errno) : "end of file");
		n += k;
	}
	return !memcmp(buf, bytes, len) || BAD("the data is not what was sent");
}

/* Data behind the last CLC message in the same segment must reach the application. */
bool victim_reads(struct scene s, const char *text)
{
	return victim_reads_bytes(s, text, strlen(text));
}

/* Sends a message, checks the reaction, and ends the scene. */
bool answer(struct scene s, const struct message *m, unsigned int allowed, bool eof,
	    unsigned int *got)
{
	bool ok;

	put_bytes(s.raw, m->b, m->len);
	ok = judge(s, allowed, eof, got);
	end_scene(s);
	return ok;
}

bool answer_because(struct scene s, const struct message *m, unsigned int reaction,
		    uint32_t reason)
{
	bool ok;

	put_bytes(s.raw, m->b, m->len);
	ok = judge(s, reaction, false, NULL) && victim_says(s, reason);
	end_scene(s);
	return ok;
}

/* ---- genuine messages ---- */

static void expect(int fd, enum reaction wanted, struct message *m)
{
	enum reaction r = get_message(fd, m, WAIT_MS);

	if (r != wanted)
		give_up("no genuine %s, but %s", reaction_names(wanted), reaction_names(r));
}

/* We are between the victim, a client, and a genuine server, whose Accept we have received. */
struct scene before_accept(struct message *a)
{
	struct message p;
	struct scene s = as_server(&p);

	s.to_helper = raw_connect(victim_port);
	s.helper = accept_in_time(victim_l);
	put_bytes(s.to_helper, p.b, p.len);
	expect(s.to_helper, GOT_ACCEPT, a);
	return s;
}

/* We are between the victim, a server, and a genuine client, whose Confirm we have received. */
struct scene before_confirm(struct message *c)
{
	struct scene s = { 0 };
	struct message m;

	s.helper = victim_connect(raw_port);
	s.to_helper = accept_in_time(raw_l);
	s.raw = raw_connect(victim_port);
	s.victim = accept_in_time(victim_l);
	expect(s.to_helper, GOT_PROPOSAL, &m);
	put_bytes(s.raw, m.b, m.len);
	expect(s.raw, GOT_ACCEPT, &m);
	put_bytes(s.to_helper, m.b, m.len);
	expect(s.to_helper, GOT_CONFIRM, c);
	return s;
}

void hostile_open(void)
{
	victim_l = victim_listen(&victim_port);
	raw_l = raw_listen(&raw_port);
	end_scene(as_server(&proposal));
	end_scene(before_accept(&accept_));
	end_scene(before_confirm(&old_confirm));
	end_scene(before_confirm(&confirm));
}
