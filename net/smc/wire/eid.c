// SPDX-License-Identifier: GPL-2.0
/* Enterprise IDs; see the notes on the V2 extension in the SMCv2 paper. */
#include "eid.h"

static bool smc_eid_alnum(u8 c)
{
	return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool smc_eid_valid(const u8 *eid)
{
	unsigned int i;

	if (!smc_eid_alnum(eid[0]))
		return false;
	for (i = 1; i < SMC_EID_LEN && eid[i] != ' '; i++) {
		if (!smc_eid_alnum(eid[i]) && eid[i] != '-' && eid[i] != '.')
			return false;
		if (eid[i] == '.' && eid[i - 1] == '.')
			return false;
	}
	/* Only blanks may follow the first blank. */
	for (; i < SMC_EID_LEN; i++)
		if (eid[i] != ' ')
			return false;
	return true;
}

int smc_eid_from_string(const char *str, size_t len, u8 *eid)
{
	u8 padded[SMC_EID_LEN];

	if (len > sizeof(padded))
		return -EINVAL;
	memset(padded, ' ', sizeof(padded));
	memcpy(padded, str, len);
	if (!smc_eid_valid(padded))
		return -EINVAL;
	memcpy(eid, padded, sizeof(padded));
	return 0;
}

int smc_eid_first_common(const u8 (*offered)[SMC_EID_LEN],
			 unsigned int n_offered,
			 const u8 (*own)[SMC_EID_LEN], unsigned int n_own)
{
	unsigned int i, j;

	for (i = 0; i < n_offered; i++)
		for (j = 0; j < n_own; j++)
			if (smc_eid_equal(offered[i], own[j]))
				return i;
	return -1;
}
