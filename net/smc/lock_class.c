// SPDX-License-Identifier: GPL-2.0
/* Teaches lockdep the lock order before any of the locks is taken. */
#include <linux/bottom_half.h>
#include "lock_class.h"

struct lock_class_key smc_lock_keys[SMC_NR_LOCK_CLASSES];

const char *const smc_lock_names[SMC_NR_LOCK_CLASSES] = {
	[SMC_LOCK_CONN_TX]	= "smc_conn.tx_lock",
	[SMC_LOCK_CONN_RX]	= "smc_conn.rx_lock",
	[SMC_LOCK_LGR_SETUP]	= "smc_lgr.setup_lock",
	[SMC_LOCK_POOLS_REG]	= "smc_pools.reg_lock",
	[SMC_LOCK_PNET_TABLE]	= "smc_pnet_table.lock",
	[SMC_LOCK_FILTER]	= "smc_filter.lock",
	[SMC_LOCK_ISM_VLANS]	= "smc_ism_dev.vlan_lock",
	[SMC_LOCK_POOL]		= "smc_pool.lock",
	[SMC_LOCK_POOLS]	= "smc_pools.lock",
	[SMC_LOCK_SMCD_HEAR]	= "smcd_conn.hear_lock",
	[SMC_LOCK_CONN_STATE]	= "smc_conn.state_lock",
	[SMC_LOCK_LGRS]		= "smc_lgrs.lock",
	[SMC_LOCK_SMCD_LGRS]	= "smcd_lgrs.lock",
	[SMC_LOCK_SMCD_SAY]	= "smcd_conn.say_lock",
	[SMC_LOCK_LINK_TX]	= "smc_link.tx_lock",
	[SMC_LOCK_LGR]		= "smc_lgr.lock",
	[SMC_LOCK_LLC]		= "smc_llc.lock",
	[SMC_LOCK_LO_BUCKET]	= "lo_bucket.lock",
	[SMC_LOCK_CONN_WAIT]	= "smc_conn.wait_lock",
	[SMC_LOCK_ISM_CONNS]	= "smc_ism_dev.conns_lock",
	[SMC_LOCK_AUTOCACHE]	= "smc_autocache.lock",
	[SMC_LOCK_AUTOSMC]	= "smc_autosmc.lock",
	[SMC_LOCK_LISTENER]	= "smc_listener.lock",
	[SMC_LOCK_PAIR_BUCKET]	= "pair_bucket.lock",
	[SMC_LOCK_REGISTRY]	= "smc_registry.lock",
	[SMC_LOCK_STAMPS]	= "smc_stamps.lock",
};

static struct lockdep_map maps[SMC_NR_LOCK_CLASSES];

static void acquire(enum smc_lock_class first, enum smc_lock_class last)
{
	unsigned int i;

	for (i = first; i <= last; i++)
		lock_map_acquire(&maps[i]);
}

static void release(enum smc_lock_class first, enum smc_lock_class last)
{
	unsigned int i;

	for (i = last + 1; i-- > first; )
		lock_map_release(&maps[i]);
}

/* Acquire every lock that may be taken under the mutexes that the caller holds. */
static void spinlocks(void)
{
	unsigned int i;

	local_bh_disable();
	acquire(SMC_LOCK_POOL, SMC_LOCK_CONN_WAIT);
	/* No lock nests inside a leaf lock, not even another leaf. */
	for (i = SMC_LOCK_ISM_CONNS; i < SMC_NR_LOCK_CLASSES; i++) {
		lock_map_acquire(&maps[i]);
		lock_map_release(&maps[i]);
	}
	release(SMC_LOCK_POOL, SMC_LOCK_CONN_WAIT);
	local_bh_enable();
}

static void under(enum smc_lock_class outer)
{
	lock_map_acquire(&maps[outer]);
	acquire(SMC_LOCK_LGR_SETUP, SMC_LOCK_POOLS_REG);
	spinlocks();
	release(SMC_LOCK_LGR_SETUP, SMC_LOCK_POOLS_REG);
	lock_map_release(&maps[outer]);
}

/**
 * smc_lock_order() - teach lockdep the lock order of the list in smc.h
 *
 * lockdep complains about an order once it has seen the opposite one. Because this function
 * acquires all classes in the documented order, lockdep reports the first violation, whether or not
 * any code has taken the locks in the right order before.
 *
 * Context: process, no lock is held.
 */
void smc_lock_order(void)
{
	unsigned int i;

	for (i = 0; i < SMC_NR_LOCK_CLASSES; i++)
		lockdep_init_map_wait(&maps[i], smc_lock_names[i], &smc_lock_keys[i], 0,
				      i < SMC_LOCK_POOL ? LD_WAIT_SLEEP : LD_WAIT_CONFIG);
	under(SMC_LOCK_CONN_TX);
	under(SMC_LOCK_CONN_RX);
	under(SMC_LOCK_PNET_TABLE);
	under(SMC_LOCK_FILTER);
	under(SMC_LOCK_ISM_VLANS);
}
