/* SPDX-License-Identifier: GPL-2.0 */
/* All golden LLC and CDC messages, for tests that use every one of them. */
#ifndef SMC_UNIT_GOLDEN_LLC_H
#define SMC_UNIT_GOLDEN_LLC_H

#include "golden.h"

/* tight: a shortened message is malformed, even with a matching length field */
extern const struct golden golden_llc[];
extern const unsigned int n_golden_llc;

extern const struct golden golden_cdc[];
extern const unsigned int n_golden_cdc;

#endif /* SMC_UNIT_GOLDEN_LLC_H */
