/* SPDX-License-Identifier: GPL-2.0 */
/* All golden LLC and CDC messages, for tests that go through every one. */
#ifndef SMC_UNIT_GOLDEN_LLC_H
#define SMC_UNIT_GOLDEN_LLC_H

#include "golden.h"

/* tight: shortened, with the length field made to agree, it is malformed */
extern const struct golden golden_llc[];
extern const unsigned int n_golden_llc;

extern const struct golden golden_cdc[];
extern const unsigned int n_golden_cdc;

#endif /* SMC_UNIT_GOLDEN_LLC_H */
