/* SPDX-License-Identifier: GPL-2.0 */
/* What is shown of a socket: filled in by the socket, its connection and its fabric. */
#ifndef SMC_SOCK_INFO_H
#define SMC_SOCK_INFO_H

#include <linux/smc_diag.h>
#include <linux/types.h>

struct sock;

/**
 * struct smc_sock_info - a snapshot of a socket
 * @sk:		the socket, referenced during the call
 * @phase:	enum smc_phase
 * @state:	enum smc_conn_state, or SMC_DIAG_STATE_LISTEN
 * @mode:	SMC_DIAG_MODE_*
 * @reason:	enum smc_reason, for mode FALLBACK_TCP
 * @peer_diagnosis: the diagnosis in the peer's Decline
 * @sndbuf_size: size of the ring that the sender fills, in bytes
 * @rmbe_size:	size of the ring in the receive element, in bytes
 * @rx_prod:	count of bytes that the peer has written since the connection began
 * @rx_cons:	count of bytes that the application has read
 * @tx_written:	count of bytes that the application has written into the ring
 * @tx_prod:	count of bytes announced to the peer: fewer than @tx_written while corked
 * @tx_cons:	count of bytes that the peer has consumed
 * @linkid:	SMC-D: number of the link group, as netlink shows it
 * @my_gid:	SMC-D: first half of our GID
 * @peer_gid:	SMC-D: first half of the peer's GID
 * @token:	SMC-D: token of our element
 * @peer_token:	SMC-D: token of the peer's element
 * @lgr:	SMC-R: the link group, valid if its link has a number
 * @lgr_id:	SMC-R: number of the link group, as netlink shows it; valid if @lgr is
 */
struct smc_sock_info {
	struct sock	*sk;
	u8		phase;
	u8		state;
	u8		mode;
	u32		reason;
	u32		peer_diagnosis;
	u32		sndbuf_size;
	u32		rmbe_size;
	u64		rx_prod;
	u64		rx_cons;
	u64		tx_written;
	u64		tx_prod;
	u64		tx_cons;
	u32		linkid;
	u64		my_gid;
	u64		peer_gid;
	u64		token;
	u64		peer_token;
	struct smc_diag_lgrinfo lgr;
	u32		lgr_id;
};

#endif
