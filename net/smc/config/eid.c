// SPDX-License-Identifier: GPL-2.0
/*
 * The enterprise IDs of this host. The system EID identifies this OS instance: it is drawn at
 * random when the module is loaded, so that loopback works without configuration and no other host
 * has the same one. An ISM device that reaches other OS instances provides a system EID that all of
 * them share; it replaces the random one.
 */
#include <linux/lockdep.h>
#include <linux/random.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "../smc.h"
#include "eid.h"

static DEFINE_RWLOCK(smc_eids_lock);	/* protects smc_eids */
static struct smc_eids smc_eids;
static u8 smc_own_seid[SMC_EID_LEN] __ro_after_init;

/**
 * smc_eid_init() - draw the system EID at random
 */
void __init smc_eid_init(void)
{
	char text[SMC_EID_LEN + 1];

	snprintf(text, sizeof(text), "LINUX-SEID-%016llX",
		 (unsigned long long)get_random_u64());
	WARN_ON(smc_eid_from_string(text, strlen(text), smc_own_seid));
	memcpy(smc_eids.seid, smc_own_seid, SMC_EID_LEN);
	smc_eids.has_seid = true;
	smc_eids.seq = 1;
}

/**
 * smc_eids_copy() - copy the currently configured EIDs
 * @eids: receives a copy
 *
 * Context: any.
 */
void smc_eids_copy(struct smc_eids *eids)
{
	read_lock_bh(&smc_eids_lock);
	*eids = smc_eids;
	read_unlock_bh(&smc_eids_lock);
}

/**
 * smc_eids_seq() - the sequence number of the configured EIDs
 *
 * Context: any.
 *
 * Return: a number that changes with every change of the EIDs.
 */
unsigned int smc_eids_seq(void)
{
	return READ_ONCE(smc_eids.seq);
}

static void __changed(void)
{
	lockdep_assert_held_write(&smc_eids_lock);
	smc_eids.seq = smc_next_seq(smc_eids.seq);
}

static int __find(const u8 *eid)
{
	unsigned int i;

	lockdep_assert_held(&smc_eids_lock);
	for (i = 0; i < smc_eids.n; i++)
		if (smc_eid_equal(smc_eids.ueid[i], eid))
			return i;
	return -ENOENT;
}

/**
 * smc_eids_any() - does this host have any EID that two of its sockets could share?
 *
 * Context: any.
 *
 * Return: true if it does.
 */
bool smc_eids_any(void)
{
	return READ_ONCE(smc_eids.n) || READ_ONCE(smc_eids.has_seid);
}

/**
 * smc_eid_ours() - is this our system EID or one of our user EIDs?
 * @eid: SMC_EID_LEN bytes
 *
 * Context: any.
 *
 * Return: true if it is.
 */
bool smc_eid_ours(const u8 *eid)
{
	bool ours;

	read_lock_bh(&smc_eids_lock);
	ours = (smc_eids.has_seid && smc_eid_equal(smc_eids.seid, eid)) ||
	       __find(eid) >= 0;
	read_unlock_bh(&smc_eids_lock);
	return ours;
}

/**
 * smc_eids_common() - find an EID that both a Proposal and this host have
 * @p: the Proposal
 * @system: the system EID may be used
 * @eid: receives the EID
 *
 * User EIDs take precedence: an administrator who configures one wants it to be used.
 *
 * Context: any.
 *
 * Return: true if there is a common EID.
 */
bool smc_eids_common(const struct smc_clc_proposal *p, bool system, u8 *eid)
{
	struct smc_eids own;
	int i;

	smc_eids_copy(&own);
	i = smc_eid_first_common(p->eids, p->eid_count, own.ueid, own.n);
	if (i >= 0) {
		memcpy(eid, p->eids[i], SMC_EID_LEN);
		return true;
	}
	if (!system || !p->has_seid || !own.has_seid || !smc_eid_equal(p->seid, own.seid))
		return false;
	memcpy(eid, own.seid, SMC_EID_LEN);
	return true;
}

/**
 * smc_seid_set() - set the system EID of an ISM device, or remove it
 * @seid: SMC_EID_LEN bytes; NULL restores the EID of this OS instance
 *
 * Context: any.
 */
void smc_seid_set(const u8 *seid)
{
	write_lock_bh(&smc_eids_lock);
	memcpy(smc_eids.seid, seid ?: smc_own_seid, SMC_EID_LEN);
	__changed();
	write_unlock_bh(&smc_eids_lock);
}

/**
 * smc_ueid_add() - configure a user EID
 * @eid: SMC_EID_LEN bytes, padded with blanks
 *
 * Return: 0, -EINVAL if the EID is invalid, -EEXIST, or -ENOSPC.
 */
int smc_ueid_add(const u8 *eid)
{
	int rc = 0;

	if (!smc_eid_valid(eid))
		return -EINVAL;
	write_lock_bh(&smc_eids_lock);
	if (__find(eid) >= 0)
		rc = -EEXIST;
	else if (smc_eids.n == SMC_CLC_MAX_EIDS)
		rc = -ENOSPC;
	else
		memcpy(smc_eids.ueid[smc_eids.n++], eid, SMC_EID_LEN);
	if (!rc)
		__changed();
	write_unlock_bh(&smc_eids_lock);
	return rc;
}

/**
 * smc_ueid_remove() - remove a user EID; existing connections are not affected
 * @eid: SMC_EID_LEN bytes
 *
 * Return: 0 or -ENOENT.
 */
int smc_ueid_remove(const u8 *eid)
{
	int i;

	write_lock_bh(&smc_eids_lock);
	i = __find(eid);
	if (i >= 0) {
		smc_eids.n--;
		memmove(smc_eids.ueid[i], smc_eids.ueid[i + 1],
			(smc_eids.n - i) * SMC_EID_LEN);
		__changed();
		i = 0;
	}
	write_unlock_bh(&smc_eids_lock);
	return i;
}

/**
 * smc_ueid_flush() - remove all user EIDs; existing connections are not affected
 */
void smc_ueid_flush(void)
{
	write_lock_bh(&smc_eids_lock);
	smc_eids.n = 0;
	__changed();
	write_unlock_bh(&smc_eids_lock);
}

/**
 * smc_seid_enable() - allow or forbid the use of the system EID
 * @on: true to allow it
 *
 * Without the system EID and without a user EID, new connections stay TCP.
 */
void smc_seid_enable(bool on)
{
	write_lock_bh(&smc_eids_lock);
	smc_eids.has_seid = on;
	__changed();
	write_unlock_bh(&smc_eids_lock);
}
