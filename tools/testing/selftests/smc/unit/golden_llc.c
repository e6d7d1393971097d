// SPDX-License-Identifier: GPL-2.0
/* All golden LLC and CDC messages in two tables. */
#include "golden_llc.h"
#include "golden_llc_capture.h"
#include "golden_llc_spec.h"

#define GOLDEN(name, canonical) \
	{ #name, name, sizeof(name), canonical, true }

const struct golden golden_llc[] = {
	GOLDEN(cap_llc_confirm_link, true),
	GOLDEN(cap_llc_confirm_link_reply, true),
	GOLDEN(cap_llc_add_link, true),
	GOLDEN(cap_llc_add_link_reject, true),
	GOLDEN(cap_llc_confirm_rkey, true),
	GOLDEN(cap_llc_confirm_rkey_reply, true),
	GOLDEN(cap_llc_delete_rkey, true),
	GOLDEN(cap_llc_delete_rkey_reply, true),
	GOLDEN(cap_llc_delete_link, true),
	GOLDEN(cap_llc_delete_link_server, true),
	/* has the client's own GID in a field that only requests have */
	GOLDEN(cap_llc_add_link_reply, false),
	GOLDEN(cap_llc_add_link_20, true),
	GOLDEN(cap_llc_confirm_rkey_2, true),
	GOLDEN(cap_llc_req_add_link, true),
	GOLDEN(cap_llc_test_link, true),
	GOLDEN(cap_llc_test_link_reply, true),
	GOLDEN(cap_llc_delete_link_1, true),
	GOLDEN(cap_llc_delete_link_unknown, true),

	GOLDEN(spec_llc_v1_confirm_link, true),
	GOLDEN(spec_llc_v1_add_link, true),
	GOLDEN(spec_llc_v1_add_link_reject, true),
	GOLDEN(spec_llc_v1_add_link_cont, true),
	GOLDEN(spec_llc_v1_add_link_cont_empty, true),
	GOLDEN(spec_llc_v1_delete_link, true),
	GOLDEN(spec_llc_v1_delete_link_reply, true),
	GOLDEN(spec_llc_v1_confirm_rkey, true),
	GOLDEN(spec_llc_v1_confirm_rkey_retry, true),
	GOLDEN(spec_llc_v1_test_link, true),
	GOLDEN(spec_llc_v1_confirm_rkey_cont, true),
	GOLDEN(spec_llc_v1_delete_rkey, true),
	GOLDEN(spec_llc_v1_delete_rkey_reply, true),
	GOLDEN(spec_llc_v2_confirm_link, true),
	GOLDEN(spec_llc_v2_add_link_reply, true),
	GOLDEN(spec_llc_v2_req_add_link, true),
	GOLDEN(spec_llc_v2_req_add_link_reply, true),
	GOLDEN(spec_llc_v2_confirm_rkey, true),
	GOLDEN(spec_llc_v2_delete_rkey, true),
	GOLDEN(spec_llc_v2_delete_rkey_reply, true),
	GOLDEN(spec_llc_v2_test_link_reply, true),
};
const unsigned int n_golden_llc = sizeof(golden_llc) / sizeof(golden_llc[0]);

const struct golden golden_cdc[] = {
	GOLDEN(cap_cdc_data, true),
	GOLDEN(cap_cdc_done, true),
	GOLDEN(cap_cdc_done_closed, true),
	GOLDEN(cap_cdc_pingpong, true),
	GOLDEN(cap_cdc_closed, true),
	GOLDEN(spec_cdc, true),
	GOLDEN(spec_cdc_failover, true),
};
const unsigned int n_golden_cdc = sizeof(golden_cdc) / sizeof(golden_cdc[0]);
