// SPDX-License-Identifier: GPL-2.0
/* Write the golden messages to corpus_* in the current directory. */
#include <stdio.h>
#include <stdlib.h>

#include "clc.h"
#include "codec.h"
#include "golden.h"

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

int main(void)
{
	unsigned int i;

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
