// SPDX-License-Identifier: GPL-2.0
/* Values from the kernel as text. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "sock_record.h"

/* The states of RFC 7609, 4.8, with the names that smcss has always used. */
static const char * const state_names[256] = {
	[SMC_DIAG_STATE_ACTIVE]		= "ACTIVE",
	[SMC_DIAG_STATE_INIT]		= "INIT",
	[SMC_DIAG_STATE_CLOSED]		= "CLOSED",
	[SMC_DIAG_STATE_LISTEN]		= "LISTEN",
	[SMC_DIAG_STATE_PEERCLW1]	= "PEERCLW1",
	[SMC_DIAG_STATE_PEERCLW2]	= "PEERCLW2",
	[SMC_DIAG_STATE_APPLCLW1]	= "APPLCLW1",
	[SMC_DIAG_STATE_APPLCLW2]	= "APPLCLW2",
	[SMC_DIAG_STATE_APPLFINCLW]	= "APPLFINCLW",
	[SMC_DIAG_STATE_PEERFINCLW]	= "PEERFINCLW",
	[SMC_DIAG_STATE_PEERABORTW]	= "PEERABORTW",
	[SMC_DIAG_STATE_PROCESSABORT]	= "PROCESSABORT",
};

const char *state_name(uint8_t state, char room[16])
{
	if (state_names[state])
		return state_names[state];
	snprintf(room, 16, "state %u", state);
	return room;
}

bool state_is_listen(uint8_t state)
{
	return state == SMC_DIAG_STATE_LISTEN;
}

/* Has it been decided whether the socket uses SMC or TCP? */
bool state_is_settled(uint8_t state)
{
	return state != SMC_DIAG_STATE_LISTEN && state != SMC_DIAG_STATE_INIT;
}

bool state_is_closed(uint8_t state)
{
	return state == SMC_DIAG_STATE_CLOSED;
}

const char *mode_name(const struct record *r)
{
	if (is_tcp(r))
		return "TCP";
	if (!state_is_settled(r->msg.diag_state))
		return "-";	/* not decided yet, whatever diag_mode says */
	switch (r->msg.diag_mode) {
	case SMC_DIAG_MODE_SMCD:
		return "SMCD";
	case SMC_DIAG_MODE_SMCR:
		return "SMCR";
	}
	return "?";
}

static bool is_any(int family, const __be32 *address)
{
	return family == AF_INET ? !address[0] :
	       !(address[0] | address[1] | address[2] | address[3]);
}

bool has_peer(const struct record *r)
{
	return r->msg.id.idiag_dport || !is_any(record_family(r), r->msg.id.idiag_dst);
}

/* "10.0.0.1:80", "[fe80::1]:80", "*:80" */
void address_words(const struct record *r, bool peer, char *room, size_t size)
{
	const __be32 *address = peer ? r->msg.id.idiag_dst : r->msg.id.idiag_src;
	unsigned int port = ntohs(peer ? r->msg.id.idiag_dport : r->msg.id.idiag_sport);
	char text[INET6_ADDRSTRLEN];

	if (is_any(record_family(r), address)) {
		if (port)
			snprintf(room, size, "*:%u", port);
		else
			snprintf(room, size, "*:*");
		return;
	}
	if (!inet_ntop(record_family(r), address, text, sizeof(text)))
		strcpy(text, "?");
	snprintf(room, size, record_family(r) == AF_INET6 ? "[%s]:%u" : "%s:%u", text, port);
}
