// SPDX-License-Identifier: GPL-2.0
/* What ends when an ISM device or a peer goes away. */
#include <linux/export.h>
#include <linux/wait_bit.h>
#include "conn.h"
#include "dev.h"
#include "lgr.h"
#include "vlan.h"

/**
 * smc_ism_unregister() - remove a device and reset its connections
 * @dev: the device; the driver has to call smc_ism_put() afterwards
 *
 * When this returns, the peers have been told: the last words of all connections have been written,
 * except those of a sender in the middle of a copy, and of a handshake that has yet to say a word.
 * Nobody reads or clears the DMBs of a device with a window any more, except for a receiver in the
 * middle of a copy.  It may be waiting for a page, so this does not wait for it.
 *
 * Context: process, may sleep, but does not wait for users or peers.
 */
void smc_ism_unregister(struct smc_ism_dev *dev)
{
	smcd_dev_remove(dev);
	smcd_lgrs_end_on(dev, NULL);
	/* No group enters any more, and the work that ends one does not wait. */
	wait_var_event(&dev->n_lgrs, !atomic_read(&dev->n_lgrs));
	smcd_conns_lose(dev);
	smcd_vlans_leave(dev);
}
EXPORT_SYMBOL_GPL(smc_ism_unregister);

/**
 * smc_ism_gid_gone() - a peer is gone, or its GID belongs to another peer now
 * @dev: the device that reached the peer
 * @peer: GID of the peer
 *
 * Context: process.
 */
void smc_ism_gid_gone(struct smc_ism_dev *dev, const struct smc_ism_gid *peer)
{
	smcd_lgrs_end_on(dev, peer);
}
EXPORT_SYMBOL_GPL(smc_ism_gid_gone);
