/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Enterprise IDs: 32 characters that tell which hosts belong together.
 */
#ifndef SMC_WIRE_EID_H
#define SMC_WIRE_EID_H

#include "clc_format.h"

/**
 * smc_eid_valid() - is this a valid user EID?
 * @eid: SMC_EID_LEN bytes, padded with blanks
 *
 * A-Z, 0-9, '-' and '.'; must start with a letter or digit; no two dots in a row.
 *
 * Return: true if it is.
 */
bool smc_eid_valid(const u8 *eid);

/**
 * smc_eid_equal() - compare two EIDs
 * @a: SMC_EID_LEN bytes
 * @b: SMC_EID_LEN bytes
 *
 * Return: true if they are equal.
 */
static inline bool smc_eid_equal(const u8 *a, const u8 *b)
{
	return memcmp(a, b, SMC_EID_LEN) == 0;
}

/**
 * smc_eid_from_string() - pad a string to an EID and validate it
 * @str: up to SMC_EID_LEN characters
 * @len: length of @str
 * @eid: receives SMC_EID_LEN bytes; untouched on error
 *
 * Return: 0 or -EINVAL.
 */
int smc_eid_from_string(const char *str, size_t len, u8 *eid);

/**
 * smc_eid_first_common() - find the first common EID
 * @offered: the client's EIDs, in its order of preference
 * @n_offered: number of offered EIDs
 * @own: the EIDs configured here
 * @n_own: number of EIDs in @own
 *
 * Return: index into @offered of the first EID that is also in @own, or -1.
 */
int smc_eid_first_common(const u8 (*offered)[SMC_EID_LEN],
			 unsigned int n_offered,
			 const u8 (*own)[SMC_EID_LEN], unsigned int n_own);

#endif /* SMC_WIRE_EID_H */
