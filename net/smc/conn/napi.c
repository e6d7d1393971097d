// SPDX-License-Identifier: GPL-2.0
/*
 * Busy polling of epoll (net.core.busy_poll, EPIOCSPARAMS).
 *
 * Before epoll sleeps, it polls the device of a socket until an event comes or the time is over.
 * It knows the device by the id of a NAPI instance, which a TCP socket learns from the packets of a
 * network card.  Data over SMC come without packets, so connections without an id get the id of
 * an instance that belongs to no device.  Its poll function does nothing; epoll checks for events
 * between two calls.
 *
 * One instance serves all sockets.  Only one task at a time can own it, but the other tasks keep
 * checking for events meanwhile.
 */
#include <linux/netdevice.h>
#include <linux/sched.h>
#include "napi.h"

#ifdef CONFIG_NET_RX_BUSY_POLL
static struct net_device *smc_napi_dev;
static struct napi_struct smc_napi;
static bool smc_napi_ends;
/* 0 before smc_napi_init() */
unsigned int smc_napi_id __ro_after_init;

static int poll_nothing(struct napi_struct *napi, int budget)
{
	/*
	 * A busy poller that is to be rescheduled releases the instance. set_tsk_need_resched() has
	 * a tracepoint since 6.17, which that kernel does not export to modules.
	 */
	if (READ_ONCE(smc_napi_ends))
		set_tsk_thread_flag(current, TIF_NEED_RESCHED);
	napi_complete_done(napi, 0);
	return 0;
}

/**
 * smc_napi_init() - make the NAPI instance
 *
 * Return: 0 or -ENOMEM.
 */
int __init smc_napi_init(void)
{
	smc_napi_dev = alloc_netdev_dummy(0);
	if (!smc_napi_dev)
		return -ENOMEM;
	netif_napi_add(smc_napi_dev, &smc_napi, poll_nothing);
	napi_enable(&smc_napi);
	smc_napi_id = smc_napi.napi_id;
	return 0;
}

/**
 * smc_napi_exit() - no socket is left, but tasks may still poll
 *
 * Context: process, waits until tasks on other processors have noticed.
 */
void smc_napi_exit(void)
{
	WRITE_ONCE(smc_napi_ends, true);
	napi_disable(&smc_napi);
	netif_napi_del(&smc_napi);
	smc_compat_free_netdev_dummy(smc_napi_dev);
}
#endif
