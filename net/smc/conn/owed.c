// SPDX-License-Identifier: GPL-2.0
/*
 * What the owner of tx_lock or rx_lock does after it has released the lock, because another task
 * needed the lock and must not wait for it: the owner may be in a page fault for as long as a
 * program likes. So no task polls for such a lock, and none gives up because another one holds it.
 */
#include "conn.h"
#include "ops.h"

/* Called without the lock, so each step tries the lock again and may be owed again. */
static void part(struct smc_conn *c, unsigned long *owed)
{
	if (test_and_clear_bit(SMC_OWED_PART, owed))
		c->ops->part(c);
}

/**
 * smc_conn_settle_tx() - do what others have left to the owner of tx_lock
 * @c: the connection, referenced; the caller has released tx_lock
 *
 * Context: process.
 */
void smc_conn_settle_tx(struct smc_conn *c)
{
	if (test_and_clear_bit(SMC_OWED_ROOM, &c->tx_owed))
		smc_conn_wake_senders(c);
	if (test_and_clear_bit(SMC_OWED_CORK, &c->tx_owed))
		smc_conn_publish_corked(c);
	part(c, &c->tx_owed);
	if (test_and_clear_bit(SMC_OWED_LAST_WORD, &c->tx_owed))
		c->ops->last_word(c);
}

/**
 * smc_conn_settle_rx() - do what others have left to the owner of rx_lock
 * @c: the connection, referenced; the caller has released rx_lock
 *
 * Context: process.
 */
void smc_conn_settle_rx(struct smc_conn *c)
{
	if (test_and_clear_bit(SMC_OWED_GROW, &c->rx_owed))
		c->ops->may_grow(c);
	if (test_and_clear_bit(SMC_OWED_READ, &c->rx_owed))
		smc_conn_call_reader(c);
	part(c, &c->rx_owed);
}
