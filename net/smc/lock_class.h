/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lockdep classes of the locks embedded in objects: one class for each kind of lock, with the name
 * that smc.h lists.
 */
#ifndef SMC_LOCK_CLASS_H
#define SMC_LOCK_CLASS_H

#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>

/* In the order of that list: mutexes, spinlocks, leaf locks. */
enum smc_lock_class {
	SMC_LOCK_CONN_TX,
	SMC_LOCK_CONN_RX,
	SMC_LOCK_LGR_SETUP,
	SMC_LOCK_POOLS_REG,
	SMC_LOCK_PNET_TABLE,
	SMC_LOCK_FILTER,
	SMC_LOCK_ISM_VLANS,
	SMC_LOCK_POOL,
	SMC_LOCK_POOLS,
	SMC_LOCK_SMCD_HEAR,
	SMC_LOCK_CONN_STATE,
	SMC_LOCK_LGRS,
	SMC_LOCK_SMCD_LGRS,
	SMC_LOCK_SMCD_SAY,
	SMC_LOCK_LINK_TX,
	SMC_LOCK_LGR,
	SMC_LOCK_LLC,
	SMC_LOCK_LO_BUCKET,
	SMC_LOCK_CONN_WAIT,
	SMC_LOCK_ISM_CONNS,
	SMC_LOCK_AUTOCACHE,
	SMC_LOCK_AUTOSMC,
	SMC_LOCK_LISTENER,
	SMC_LOCK_PAIR_BUCKET,
	SMC_LOCK_REGISTRY,
	SMC_LOCK_STAMPS,
	SMC_NR_LOCK_CLASSES
};

#ifdef CONFIG_LOCKDEP
extern struct lock_class_key smc_lock_keys[SMC_NR_LOCK_CLASSES];
extern const char *const smc_lock_names[SMC_NR_LOCK_CLASSES];

void smc_lock_order(void);
#else
static inline void smc_lock_order(void) { }
#endif

static inline void smc_mutex_init(struct mutex *lock, enum smc_lock_class class)
{
	mutex_init(lock);
#ifdef CONFIG_LOCKDEP
	lockdep_set_class_and_name(lock, &smc_lock_keys[class], smc_lock_names[class]);
#endif
}

static inline void smc_spin_lock_init(spinlock_t *lock, enum smc_lock_class class)
{
	spin_lock_init(lock);
#ifdef CONFIG_LOCKDEP
	lockdep_set_class_and_name(lock, &smc_lock_keys[class], smc_lock_names[class]);
#endif
}

static inline void smc_seqlock_init(seqlock_t *sl, enum smc_lock_class class)
{
	seqlock_init(sl);
#ifdef CONFIG_LOCKDEP
	lockdep_set_class_and_name(&sl->lock, &smc_lock_keys[class], smc_lock_names[class]);
#endif
}

#endif
