// SPDX-License-Identifier: GPL-2.0
/* Write the golden messages to corpus_* in the current directory. */
#include <stdio.h>
#include <stdlib.h>

#include "clc.h"
#include "codec.h"
#include "golden_llc.h"
#include "llc.h"

static void seed(const char *dir, const struct golden *g)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "corpus_%s/%s", dir, g->name);
	f = fopen(path, "w");
	if (!f || fwrite(g->bytes, 1, g->len, f) != g->len || fclose(f)) {
		perror(path);
		exit(1);
	}
}

/* The directories have the names of the messages. */
static void seed_llc(const struct golden *g)
{
	static const char *const dirs[] = {
		[SMC_LLC_CONFIRM_LINK] = "llc_confirm_link",
		[SMC_LLC_ADD_LINK] = "llc_add_link",
		[SMC_LLC_ADD_LINK_CONT] = "llc_add_link_cont",
		[SMC_LLC_DELETE_LINK] = "llc_delete_link",
		[SMC_LLC_REQ_ADD_LINK] = "llc_req_add_link",
		[SMC_LLC_CONFIRM_RKEY] = "llc_confirm_rkey",
		[SMC_LLC_TEST_LINK] = "llc_test_link",
		[SMC_LLC_CONFIRM_RKEY_CONT] = "llc_confirm_rkey_cont",
		[SMC_LLC_DELETE_RKEY] = "llc_delete_rkey",
	};

	seed("llc", g);
	seed(dirs[g->bytes[0] & SMC_LLC_W_TYPE_MASK], g);
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < n_golden_llc; i++)
		seed_llc(&golden_llc[i]);
	for (i = 0; i < n_golden_cdc; i++)
		seed("cdc", &golden_cdc[i]);

	for (i = 0; i < n_golden; i++) {
		seed("hdr", &golden[i]);
		switch (codec_type(golden[i].bytes)) {
		case SMC_CLC_PROPOSAL:
			seed("proposal", &golden[i]);
			break;
		case SMC_CLC_DECLINE:
			seed("decline", &golden[i]);
			break;
		default:
			seed("accept", &golden[i]);
			break;
		}
	}
	return 0;
}
