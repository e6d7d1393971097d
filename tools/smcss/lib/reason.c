// SPDX-License-Identifier: GPL-2.0
/* Reasons why a connection is not SMC, in words. */
#include <stdio.h>

#include <linux/smc_reason.h>

#include "reason.h"

struct reason {
	uint32_t code;
	const char *name;
	const char *words;
	const char *remedy;
	const char *side;	/* NULL: a reason of this module, whose class determines the side */
};

#define REASON_ROW(name, code, words, remedy) { code, #name, words, remedy, NULL },
static const struct reason reasons[] = {
	SMC_REASONS(REASON_ROW)
	/*
	 * Codes of the kernel's own module and of implementations that share them, with the names
	 * that debuggers show. The words are ours.
	 */
	{ 0x01010000, "KERNEL_NO_MEMORY", "there was no memory for the connection",
	  "free some memory",
	  "this host" },
	{ 0x02010000, "KERNEL_TIMEOUT_CONFIRM_LINK", "the other side did not confirm the link of a new link group in time",
	  "check the RDMA path between the two hosts: GIDs, VLAN, MTU, the switch",
	  "both hosts" },
	{ 0x02020000, "KERNEL_TIMEOUT_ADD_LINK", "the other side did not finish the exchange about a second link in time",
	  "check the load of that host, and the RDMA path between the two hosts",
	  "both hosts" },
	{ 0x03000000, "KERNEL_CONFIGURATION", "the configuration does not allow SMC",
	  "compare devices, PNETIDs and EIDs of both hosts: 'smcr device', 'smcd device', 'smcr ueid'",
	  "this host" },
	{ 0x03010000, "KERNEL_NO_OPTION", "the other side did not answer the SMC option",
	  "run the other program over SMC too (smc_run), and look for a middlebox that removes TCP options",
	  "the peer" },
	{ 0x03020000, "KERNEL_IPSEC", "an IPsec policy covers this connection, and SMC would bypass it",
	  "exempt these addresses from the policy, or leave them on TCP",
	  "this host" },
	{ 0x03040000, "KERNEL_NO_COMMON_MODE", "the two hosts have no SMC type (SMC-D, SMC-R) in common",
	  "see 'smcd info' and 'smcr info' on both hosts",
	  "both hosts" },
	{ 0x03050000, "KERNEL_EYECATCHER", "the two hosts disagree about eye catchers in their buffers",
	  "report it to the vendor of the other SMC",
	  "both hosts" },
	{ 0x03060000, "KERNEL_SOCKET_OPTION", "the application set an option that SMC does not support, such as TCP fast open",
	  "do not set it on connections that should use SMC",
	  "this host" },
	{ 0x04000000, "KERNEL_OUT_OF_SYNC", "the two hosts disagree about which link group exists",
	  "nothing to do: the next connection makes a new link group",
	  "both hosts" },
	{ 0x05000000, "KERNEL_PEER_DECLINED", "the other side declined",
	  "check that host, or the peer's diagnosis",
	  "the peer" },
	{ 0x99990000, "KERNEL_INTERNAL", "SMC itself failed in a way that should not happen",
	  "check the kernel log of that host, and report the failure to the vendor of that SMC",
	  "this host" },
	{ 0x99990001, "KERNEL_INTERNAL_RTOKEN", "the RDMA keys of the other side's buffer could not be stored",
	  "check the kernel log of that host, and report the failure to the vendor of that SMC",
	  "this host" },
	{ 0x99990002, "KERNEL_INTERNAL_LINK", "the RDMA link could not be made ready",
	  "check the kernel log of that host, and report the failure to the vendor of that SMC",
	  "this host" },
	{ 0x99990003, "KERNEL_INTERNAL_BUFFER", "the receive buffer could not be registered with the RDMA device",
	  "check the kernel log of that host, and report the failure to the vendor of that SMC",
	  "this host" },
};

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

/* Meaning of the first byte of codes that are not in the table, if the class is known. */
static const struct {
	uint8_t class;
	const char *what;
	const char *side;
} classes[] = {
	{ 0x01, "memory", "this host" },
	{ 0x02, "a timeout", "both hosts" },
	{ 0x03, "the configuration", "this host" },
	{ 0x04, "link groups out of step", "both hosts" },
	{ 0x05, "a decline", "the peer" },
	{ 0x99, "an internal error", "this host" },
};

/* An index of classes[], or -1. */
static int class_of(uint32_t code)
{
	size_t i;

	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i].class == code >> 24)
			return i;
	return -1;
}

const char *reason_words(uint32_t code, char room[REASON_ROOM])
{
	const struct reason *reason = find_reason(code);
	int class = class_of(code);

	if (reason)
		return reason->words;
	if (class >= 0)
		snprintf(room, REASON_ROOM, "code 0x%08x of another SMC, about %s", code,
			 classes[class].what);
	else
		snprintf(room, REASON_ROOM, "code 0x%08x, which this program does not know", code);
	return room;
}

const char *reason_remedy(uint32_t code)
{
	const struct reason *reason = find_reason(code);

	if (reason)
		return reason->remedy;
	return "look up the code in the documentation of the SMC that sent it";
}

static const char *code_side(uint32_t code)
{
	const struct reason *reason = find_reason(code);
	int class = class_of(code);

	if (reason && reason->side)
		return reason->side;
	if (!reason && class >= 0)
		return classes[class].side;
	switch (code >> 16) {
	case 0x5c04:
	case 0x5c06:
		return "the peer";
	case 0x5c05:
		return "both hosts";
	}
	return reason ? "this host" : "unknown";
}

/*
 * The side to look at, see smc_reason.h. If the peer has sent a diagnosis, it declined for its own
 * reason.
 */
const char *reason_side(const struct smc_diag_fallback *fallback)
{
	if (fallback->peer_diagnosis || fallback->reason == SMC_REASON_PEER_DECLINED)
		return "the peer";
	if (fallback->reason == SMC_REASON_NONE)
		return "unknown";
	return code_side(fallback->reason);
}

void json_reason(struct json *json, const char *key, uint32_t code)
{
	const char *name = reason_name(code);
	char room[REASON_ROOM];

	json_object(json, key);
	json_hex(json, "code", 8, code);
	if (name)
		json_text(json, "name", name);
	json_text(json, "words", reason_words(code, room));
	json_text(json, "remedy", reason_remedy(code));
	json_object_end(json);
}
