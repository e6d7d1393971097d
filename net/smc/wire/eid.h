/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Enterprise IDs: 32 characters that tell which hosts belong together.
 */
#ifndef SMC_WIRE_EID_H
#define SMC_WIRE_EID_H

#include "clc_format.h"

/**
 * smc_eid_valid() - may this be configured as a user EID
 * @eid: SMC_EID_LEN bytes, padded with blanks
 *
 * A-Z, 0-9, '-' and '.'; the first is a letter or digit; no two dots in a row.
 *
 * Return: true if it may.
 */
bool smc_eid_valid(const u8 *eid);

/**
 * smc_eid_equal() - compare two EIDs
 * @a: SMC_EID_LEN bytes
 * @b: SMC_EID_LEN bytes
 *
 * Return: true if they are the same.
 */
static inline bool smc_eid_equal(const u8 *a, const u8 *b)
{
	return memcmp(a, b, SMC_EID_LEN) == 0;
}

/**
 * smc_eid_from_string() - pad a string to an EID and validate it
 * @str: up to SMC_EID_LEN characters
 * @len: their number
 * @eid: receives SMC_EID_LEN bytes; untouched on error
 *
 * Return: 0 or -EINVAL.
 */
int smc_eid_from_string(const char *str, size_t len, u8 *eid);

/**
 * smc_eid_first_common() - choose the EID of a connection
 * @offered: the client's EIDs, in its order of preference
 * @n_offered: their number
 * @own: the EIDs that are configured here
 * @n_own: their number
 *
 * Return: index into @offered of the first that is also in @own, or -1.
 */
int smc_eid_first_common(const u8 (*offered)[SMC_EID_LEN],
			 unsigned int n_offered,
			 const u8 (*own)[SMC_EID_LEN], unsigned int n_own);

#endif /* SMC_WIRE_EID_H */
