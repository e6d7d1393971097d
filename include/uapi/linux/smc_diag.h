/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * sock_diag for AF_SMC: list the SMC sockets of a network namespace.
 *
 * Send a SOCK_DIAG_BY_FAMILY dump request with struct smc_diag_req. Each answer is a struct
 * smc_diag_msg followed by the requested attributes that apply. Layout and numbers are those of
 * every Linux with SMC.
 */
#ifndef _UAPI_LINUX_SMC_DIAG_H
#define _UAPI_LINUX_SMC_DIAG_H

#include <linux/types.h>
#include <linux/inet_diag.h>
#include <rdma/ib_user_verbs.h>		/* IB_DEVICE_NAME_MAX */

struct smc_diag_req {
	__u8	diag_family;		/* AF_SMC */
	__u8	pad[2];
	__u8	diag_ext;		/* bit (SMC_DIAG_x - 1): send attribute x */
	struct inet_diag_sockid	id;	/* ignored */
};

struct smc_diag_msg {
	__u8	diag_family;		/* AF_INET or AF_INET6; others may say AF_SMC */
	__u8	diag_state;		/* SMC_DIAG_STATE_x */
	union {
		__u8	diag_mode;	/* SMC_DIAG_MODE_x */
		__u8	diag_fallback;	/* former name, from before SMC-D */
	};
	__u8	diag_shutdown;		/* bit 0: no receive, bit 1: no send */
	struct inet_diag_sockid id;	/* identifies the TCP connection below */

	__u32		diag_uid;
	__aligned_u64	diag_inode;
};

/*
 * States, after RFC 7609, 4.8. The numbers were observed on a running Linux (6.12) while one or
 * both sides shut down, closed or aborted. 25 and 26 could not be observed; they follow the order
 * in the man page of smcss.
 */
enum {
	SMC_DIAG_STATE_ACTIVE		= 1,	/* connected; also for TCP */
	SMC_DIAG_STATE_INIT		= 2,	/* new, or connecting */
	SMC_DIAG_STATE_CLOSED		= 7,
	SMC_DIAG_STATE_LISTEN		= 10,
	SMC_DIAG_STATE_PEERCLW1		= 20,	/* shut down here, peer still sends */
	SMC_DIAG_STATE_PEERCLW2		= 21,	/* shut down here, then by the peer */
	SMC_DIAG_STATE_APPLCLW1		= 22,	/* shut down or closed by the peer */
	SMC_DIAG_STATE_APPLCLW2		= 23,	/* shut down by the peer, then here */
	SMC_DIAG_STATE_APPLFINCLW	= 24,	/* shut down here, closed by the peer */
	SMC_DIAG_STATE_PEERFINCLW	= 25,	/* closed here, peer not yet */
	SMC_DIAG_STATE_PEERABORTW	= 26,	/* aborted here, peer not yet */
	SMC_DIAG_STATE_PROCESSABORT	= 27,	/* aborted by the peer */
};

/* Mode of a connection; 0 for a socket without one. */
enum {
	SMC_DIAG_MODE_SMCR,
	SMC_DIAG_MODE_FALLBACK_TCP,
	SMC_DIAG_MODE_SMCD,
};

/* Attributes. */
enum {
	SMC_DIAG_NONE,
	SMC_DIAG_CONNINFO,		/* struct smc_diag_conninfo */
	SMC_DIAG_LGRINFO,		/* struct smc_diag_lgrinfo: SMC-R only */
	SMC_DIAG_SHUTDOWN,		/* __u8 */
	SMC_DIAG_DMBINFO,		/* struct smcd_diag_dmbinfo: SMC-D only */
	SMC_DIAG_FALLBACK,		/* struct smc_diag_fallback: TCP only */
	__SMC_DIAG_MAX,

	/* Attributes added by this module start at 64. */
	SMC_DIAG_LGRID = 64,		/* __u32: SMC_NLA_LGR_R_ID, comes with SMC_DIAG_LGRINFO */
};
#define SMC_DIAG_MAX (__SMC_DIAG_MAX - 1)

/* A position in a ring: number of wraps, and the offset in the ring. */
struct smc_diag_cursor {
	__u16	reserved;
	__u16	wrap;
	__u32	count;
};

struct smc_diag_conninfo {
	__u32	token;			/* identifies the connection on this host */
	__u32	sndbuf_size;
	__u32	rmbe_size;		/* size of our element, which the peer writes */
	__u32	peer_rmbe_size;		/* size of the peer's element, which we write */
	struct smc_diag_cursor	rx_prod;	/* position up to which the peer has written */
	struct smc_diag_cursor	rx_cons;	/* position up to which we have read */
	struct smc_diag_cursor	tx_prod;	/* position up to which we announced data */
	struct smc_diag_cursor	tx_cons;	/* position up to which the peer has read */
	__u8	rx_prod_flags;
	__u8	rx_conn_state_flags;
	__u8	tx_prod_flags;
	__u8	tx_conn_state_flags;
	struct smc_diag_cursor	tx_prep;	/* position up to which the application wrote */
	struct smc_diag_cursor	tx_sent;	/* position up to which data was sent */
	struct smc_diag_cursor	tx_fin;		/* position up to which data has arrived */
};

struct smc_diag_linkinfo {
	__u8	link_id;
	__u8	ibname[IB_DEVICE_NAME_MAX];
	__u8	ibport;
	__u8	gid[40];		/* as text */
	__u8	peer_gid[40];
};

struct smc_diag_lgrinfo {
	struct smc_diag_linkinfo	lnk[1];
	__u8	role;			/* 0: client, 1: server */
};

/* For the codes of this module, see smc_reason.h. */
struct smc_diag_fallback {
	__u32	reason;			/* why this side uses TCP */
	__u32	peer_diagnosis;		/* from the peer's Decline, 0 if there was none */
};

struct smcd_diag_dmbinfo {
	__u32		linkid;		/* number of the link group */
	__aligned_u64	peer_gid;
	__aligned_u64	my_gid;
	__aligned_u64	token;		/* token of our DMB */
	__aligned_u64	peer_token;	/* token of the peer's DMB */
};

#endif /* _UAPI_LINUX_SMC_DIAG_H */
