// SPDX-License-Identifier: GPL-2.0
/* All golden CLC messages in one table. */
#include "golden.h"
#include "golden_capture.h"
#include "golden_spec.h"

#define GOLDEN(name, canonical, tight) \
	{ #name, name, sizeof(name), canonical, tight }

const struct golden golden[] = {
	GOLDEN(cap_d21_proposal, true, true),
	GOLDEN(cap_d21_accept_first, true, true),
	GOLDEN(cap_d21_confirm_first, true, true),
	GOLDEN(cap_d21_accept, true, true),
	GOLDEN(cap_d21_confirm, true, true),
	GOLDEN(cap_r21_proposal, true, true),
	GOLDEN(cap_r21_accept_first, true, true),
	GOLDEN(cap_r21_confirm_first, true, true),
	GOLDEN(cap_r21_accept, true, true),
	GOLDEN(cap_r21_confirm, true, true),
	GOLDEN(cap_v1_decline, true, true),

	GOLDEN(spec_r1_proposal_ipv4, true, true),
	GOLDEN(spec_r1_proposal_ipv6, true, true),
	GOLDEN(spec_d1_proposal, true, true),
	GOLDEN(spec_all20_proposal, true, true),
	/* ends with additional bytes, which we skip and would not write */
	GOLDEN(spec_both21_proposal, false, false),
	GOLDEN(spec_r1_accept, true, true),
	GOLDEN(spec_r1_confirm, true, true),
	/* the last 12 bytes are reserved */
	GOLDEN(spec_d1_accept, true, false),
	GOLDEN(spec_d20_accept_first, true, true),
	GOLDEN(spec_d21_confirm_first, true, true),
	GOLDEN(spec_r21_accept_first, true, true),
	GOLDEN(spec_r20_confirm_first, true, true),
	GOLDEN(spec_r20_confirm_first_short, false, true),
	/* the reason codes are optional */
	GOLDEN(spec_v2_decline, true, false),
	GOLDEN(spec_v2_decline_short, true, true),
};

const unsigned int n_golden = sizeof(golden) / sizeof(golden[0]);
