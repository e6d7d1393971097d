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
};

#define REASON_ROW(name, code, words, remedy) { code, #name, words, remedy },
static const struct reason reasons[] = {
	SMC_REASONS(REASON_ROW)
	/* of the kernel's own module, as 6.12 says them in the same situations */
	{ 0x03010000, "KERNEL_NO_OPTION", "the other side did not answer the SMC option",
	  "let the other program use SMC too (smc_run), and look for a middlebox that removes TCP options" },
	{ 0x05000000, "KERNEL_PEER_DECLINED", "the other side declined",
	  "look there, or at the peer's diagnosis" },
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

const char *reason_words(uint32_t code, char room[REASON_ROOM])
{
	const struct reason *reason = find_reason(code);

	if (reason)
		return reason->words;
	snprintf(room, REASON_ROOM, "code 0x%08x, which this program does not know", code);
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
