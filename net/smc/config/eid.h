/* SPDX-License-Identifier: GPL-2.0 */
/* The enterprise IDs of this host. */
#ifndef SMC_CONFIG_EID_H
#define SMC_CONFIG_EID_H

#include "../wire/eid.h"
#include "../wire/clc.h"

/**
 * struct smc_eids - a copy of the configured EIDs
 * @seq:	sequence number, changed by each update, never 0
 * @n:		number of user EIDs
 * @ueid:	the user EIDs
 * @has_seid:	the system EID is in use
 * @seid:	the system EID: of this OS instance, or shared by the machines that an ISM device
 *		reaches
 */
struct smc_eids {
	unsigned int	seq;
	unsigned int	n;
	u8		ueid[SMC_CLC_MAX_EIDS][SMC_EID_LEN];
	bool		has_seid;
	u8		seid[SMC_EID_LEN];
};

void smc_eid_init(void);
unsigned int smc_eids_seq(void);
void smc_eids_copy(struct smc_eids *eids);
bool smc_eids_any(void);
bool smc_eid_ours(const u8 *eid);
bool smc_eids_common(const struct smc_clc_proposal *p, bool system, u8 *eid);
void smc_seid_set(const u8 *seid);
int smc_ueid_add(const u8 *eid);
int smc_ueid_remove(const u8 *eid);
void smc_ueid_flush(void);
void smc_seid_enable(bool on);

#endif
