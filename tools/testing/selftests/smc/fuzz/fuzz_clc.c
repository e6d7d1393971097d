// SPDX-License-Identifier: GPL-2.0
/*
 * One source, one target per message, selected by -DTARGET_x. The input is the
 * message. Mutators seldom get the length and the eye catchers right, so most
 * inputs would be rejected at once. The target repairs them, except for the
 * target that tests them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "codec.h"

#if defined(TARGET_proposal)
#define TYPE SMC_CLC_PROPOSAL
#elif defined(TARGET_accept)
#define TYPE SMC_CLC_ACCEPT		/* and Confirm */
#elif defined(TARGET_decline)
#define TYPE SMC_CLC_DECLINE
#elif defined(TARGET_hdr)
#define TYPE 0				/* all decoders, nothing repaired */
#else
#error "no target"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(enum smc_clc_type type, const u8 *buf, size_t len)
{
	const char *complaint = codec_check(type, buf, len, NULL);

	if (!complaint)
		return;
	fprintf(stderr, "%s\n", complaint);
	abort();
}

/* Correct the header and the end of the message. */
static void repair(u8 *buf, size_t len)
{
	const u8 *eye = (const u8 *)SMC_CLC_EYE_SMCR;

	if (len < SMC_CLC_HDR_LEN + SMC_CLC_EYE_LEN)
		return;
	/* the last bit of the eye catcher distinguishes SMCR from SMCD */
	if (TYPE != SMC_CLC_PROPOSAL && !(buf[3] & 1))
		eye = (const u8 *)SMC_CLC_EYE_SMCD;
	if (buf[4] != SMC_CLC_CONFIRM || TYPE != SMC_CLC_ACCEPT)
		buf[4] = TYPE;
	buf[5] = len >> 8;
	buf[6] = len;
	memcpy(buf, eye, SMC_CLC_EYE_LEN);
	memcpy(buf + len - SMC_CLC_EYE_LEN, eye, SMC_CLC_EYE_LEN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u8 *exact;

	if (!TYPE) {
		judge(SMC_CLC_PROPOSAL, data, size);
		judge(SMC_CLC_ACCEPT, data, size);
		judge(SMC_CLC_DECLINE, data, size);
		return 0;
	}

	exact = malloc(size ? size : 1);
	if (size)
		memcpy(exact, data, size);
	repair(exact, size);
	judge(TYPE, exact, size);
	free(exact);
	return 0;
}
