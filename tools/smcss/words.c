// SPDX-License-Identifier: GPL-2.0
/* Numbers of the kernel in words. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include <linux/smc_reason.h>

#include "record.h"

/* The states of RFC 7609, 4.8, named as smcss has always named them. */
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

/* Is it known whether the socket uses SMC or TCP? */
bool state_is_settled(uint8_t state)
{
	return state != SMC_DIAG_STATE_LISTEN && state != SMC_DIAG_STATE_INIT;
}

const char *mode_name(const struct record *r)
{
	if (is_tcp(r))
		return "TCP";
	if (!state_is_settled(r->msg.diag_state))
		return "-";	/* whatever the number: it is nothing yet */
	switch (r->msg.diag_mode) {
	case SMC_DIAG_MODE_SMCD:
		return "SMCD";
	case SMC_DIAG_MODE_SMCR:
		return "SMCR";
	}
	return "?";
}

struct reason {
	uint32_t code;
	const char *name;
	const char *words;
	const char *remedy;
};

#define REASON_ROW(name, code, words, remedy) { code, #name, words, remedy },
static const struct reason reasons[] = { SMC_REASONS(REASON_ROW) };

static const struct reason *find_reason(uint32_t code)
{
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].code == code)
			return &reasons[i];
	return NULL;
}

const char *reason_name(uint32_t code)
{
	const struct reason *reason = find_reason(code);

	return reason ? reason->name : NULL;
}

const char *reason_words(uint32_t code, char room[64])
{
	const struct reason *reason = find_reason(code);

	if (reason)
		return reason->words;
	snprintf(room, 64, "code 0x%08x, which this smcss does not know", code);
	return room;
}

const char *reason_remedy(uint32_t code)
{
	const struct reason *reason = find_reason(code);

	if (reason)
		return reason->remedy;
	return "look the code up in the documentation of the SMC that gave it";
}

/*
 * Which side to look at. Our codes tell by their class (smc_reason.h); of others
 * we know only whether the peer sent a diagnosis.
 */
const char *reason_side(const struct smc_diag_fallback *fallback)
{
	if (fallback->peer_diagnosis || fallback->reason == SMC_REASON_PEER_DECLINED)
		return "the peer";
	if (fallback->reason == SMC_REASON_NONE)
		return "unknown";
	switch (fallback->reason >> 16) {
	case 0x5c04:
	case 0x5c06:
		return "the peer";
	case 0x5c05:
		return "both hosts";
	}
	return "this host";
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
