/* SPDX-License-Identifier: GPL-2.0 */
/* Busy polling of epoll: the NAPI instance of connections that no network card serves. */
#ifndef SMC_CONN_NAPI_H
#define SMC_CONN_NAPI_H

#include <net/busy_poll.h>

#ifdef CONFIG_NET_RX_BUSY_POLL
extern unsigned int smc_napi_id;

int smc_napi_init(void);
void smc_napi_exit(void);

/*
 * Let epoll poll for a connection.  An id of a network card stays, as packets of that card may
 * carry the data of SMC-R.  A TCP packet over a device without NAPI clears the id, so each poll()
 * sets it.
 */
static inline void smc_napi_mark(struct sock *sk)
{
	if (unlikely(READ_ONCE(sk->sk_napi_id) < MIN_NAPI_ID))
		WRITE_ONCE(sk->sk_napi_id, smc_napi_id);
}
#else
static inline int smc_napi_init(void) { return 0; }
static inline void smc_napi_exit(void) { }
static inline void smc_napi_mark(struct sock *sk) { }
#endif

#endif
