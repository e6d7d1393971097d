/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Why a connection did not become SMC.
 *
 * One table, used by the kernel module (fallback reason of a socket, peer diagnosis of a CLC
 * Decline, counters, tracepoints) and by the tools (words and remedy for the administrator). The
 * code is sent in the 32-bit "peer diagnosis information" field of a CLC Decline, so the meaning of
 * a released value never changes; new reasons get new codes.
 *
 * The specifications leave that field to the implementation. Ours is 0x5Ccc00nn, where cc is the
 * class:
 *	01 this host's configuration	02 this application's socket
 *	03 resources of this host	04 the peer
 *	05 nothing in common		06 the protocol
 * The exception is NO_DEVICE, for which deployed peers use 0x03030000.
 *
 * X(NAME, code, "what happened", "what to do about it")
 *
 * The words describe the host whose socket or Decline has the reason: "here" is that host, "the
 * other side" is its peer.
 */
#ifndef _UAPI_LINUX_SMC_REASON_H
#define _UAPI_LINUX_SMC_REASON_H

#define SMC_REASONS(X)							\
	X(NONE, 0x00000000,						\
	  "no reason recorded",						\
	  "nothing to do")						\
	/* this host's configuration */					\
	X(NO_DEVICE, 0x03030000,					\
	  "no SMC device can serve this connection",			\
	  "list the devices with 'smcd device' and 'smcr device'; an RDMA device must belong to the interface the route uses (PNETID)") \
	X(DISABLED, 0x5c010001,						\
	  "SMC is switched off",					\
	  "check 'sysctl net.smc' in this network namespace")		\
	X(FILTERED, 0x5c010002,						\
	  "a filter excludes this connection from SMC",			\
	  "'smcr filter' lists the rules; change them if the connection should use SMC") \
	X(TOO_SHORT, 0x5c010005,					\
	  "connections to this listener were too short for SMC to pay off (autosmc)", \
	  "'smcr auto' shows the figures; nothing to do, or set net.smc.autosmc to 0 or 2") \
	X(IPSEC, 0x5c010003,						\
	  "an IPsec policy covers this connection, and SMC would bypass it", \
	  "exempt these addresses from the policy, or leave them on TCP") \
	X(PREFIX_MISMATCH, 0x5c010004,					\
	  "client and server are not in the same IP subnet, which SMC version 1 needs", \
	  "use SMC version 2 on both sides, or addresses of one subnet") \
	X(CGROUP_BPF, 0x5c010007,					\
	  "a BPF program of the cgroup filters, counts or watches packets, and SMC would bypass it", \
	  "see 'bpftool cgroup tree'; with systemd, IPAddressAllow=, IPAddressDeny= and IPAccounting= of the unit") \
	X(NO_TCP_OPTION, 0x5c010006,					\
	  "the TCP option of SMC cannot be exchanged here",		\
	  "see 'TCP Option' in 'smcr info'; the option requires a kernel with CONFIG_SMC or CONFIG_NETFILTER") \
	/* this application's socket */					\
	X(FASTOPEN, 0x5c020001,						\
	  "the connection was opened with data in the SYN (TCP fast open)", \
	  "do not use TCP fast open on connections that should use SMC") \
	X(ALREADY_CONNECTED, 0x5c020004,				\
	  "the TCP connection existed before SMC could negotiate (e.g. TCP_REPAIR)", \
	  "nothing to do: restored connections stay TCP")		\
	X(REUSED, 0x5c020005,						\
	  "the socket was disconnected and connected again too often",	\
	  "use a new socket for each connection")			\
	X(SIGNED, 0x5c020006,						\
	  "the application signs its TCP segments (TCP_MD5SIG, TCP-AO), and SMC would bypass that", \
	  "nothing to do, or remove the keys and authenticate the peer in the application") \
	X(PACKET_OPTION, 0x5c020007,					\
	  "the socket has an option that acts on packets, and SMC would bypass it", \
	  "nothing to do, or remove the option (SO_ATTACH_FILTER, SO_MAX_PACING_RATE, IP_OPTIONS and the like)") \
	X(KERNEL_USER, 0x5c020008,					\
	  "a service in the kernel, such as the NFS server, uses the socket",	\
	  "nothing to do: such connections are TCP")			\
	X(SELF_CONNECTED, 0x5c020009,					\
	  "the socket is connected to itself",				\
	  "nothing to do: such a connection is TCP")			\
	X(BOTH_CLIENTS, 0x5c02000a,					\
	  "both ends have connected to each other at the same time",	\
	  "nothing to do, or let one of them listen: such a connection is TCP") \
	X(WITHDRAWN, 0x5c02000b,					\
	  "the program closed or disconnected the socket during the SMC handshake", \
	  "nothing to do")						\
	X(SHUT_DOWN, 0x5c02000c,					\
	  "the program called shutdown() before connect()",		\
	  "nothing to do: such a connection is TCP")			\
	/* resources of this host */					\
	X(NO_MEMORY, 0x5c030001,					\
	  "there was no memory for the connection",			\
	  "free some memory, or raise memory.max or memory.high of the program's memory cgroup") \
	X(NO_BUFFER, 0x5c030002,					\
	  "no receive buffer of any permitted size could be allocated",	\
	  "raise net.smc.mem_max, lower SO_RCVBUF or net.smc.rmem, enlarge the memory of the ISM device, or free some memory") \
	X(MAX_CONNS, 0x5c030004,					\
	  "the link group is full and no further one may be created",	\
	  "raise the limit on connections per link group, or on link groups") \
	X(CONGESTED, 0x5c030006,					\
	  "too many SMC handshakes were in progress at once",		\
	  "nothing to do if rare; otherwise raise or lift the handshake limit ('smcd info', 'smcr info')") \
	X(SYN_COOKIE, 0x5c030007,					\
	  "the listener answered with a SYN cookie, which cannot carry the SMC option", \
	  "raise the listener's backlog and net.ipv4.tcp_max_syn_backlog") \
	X(INTERNAL, 0x5c030008,						\
	  "SMC itself failed in a way that should not happen",		\
	  "check the kernel log, and report the failure")			\
	/* the peer */							\
	X(PEER_NO_OPTION, 0x5c040001,					\
	  "the peer did not answer the SMC option of the TCP handshake", \
	  "run the peer's program over SMC too (smc_run), and check that nothing in between strips TCP options") \
	X(PEER_DECLINED, 0x5c040002,					\
	  "the peer declined",						\
	  "see the peer's diagnosis, and run 'smcss --why' on the peer") \
	X(PEER_RELEASE, 0x5c040004,					\
	  "the other side answered with an SMC release that was not offered", \
	  "update SMC on the other side")				\
	X(PEER_CLOSED, 0x5c040005,					\
	  "the peer closed the connection during the SMC handshake",	\
	  "nothing to do if the program was ended; otherwise look at the peer's log") \
	X(AUTOCACHE, 0x5c040006,					\
	  "the destination declined SMC, or did not speak it, a short time ago (autocache)", \
	  "'smcr auto' lists what is remembered and why, 'smcr auto flush' forgets it") \
	/* nothing in common */						\
	X(NO_COMMON_MODE, 0x5c050001,					\
	  "the two hosts have no SMC type (SMC-D, SMC-R) and version in common", \
	  "see 'smcd info' and 'smcr info' on both hosts")		\
	X(NO_COMMON_EID, 0x5c050002,					\
	  "the two hosts have no enterprise ID (EID) in common",	\
	  "add the same user EID on both hosts: 'smcd ueid add NAME'")	\
	X(NO_COMMON_DEVICE, 0x5c050003,					\
	  "the two hosts have no ISM fabric or RDMA network in common",	\
	  "check that both hosts have a device on the same fabric: 'smcd device', 'smcr device'") \
	/* the protocol */						\
	X(TIMEOUT, 0x5c060001,						\
	  "the other side did not finish the SMC handshake in time",	\
	  "check the load of that host, and that nothing in between holds back data") \
	X(PROTOCOL, 0x5c060002,						\
	  "the other side broke the SMC protocol",			\
	  "report it to the vendor of that SMC, with a packet capture")	\
	X(OUT_OF_SYNC, 0x5c060003,					\
	  "the two hosts disagree about which link group exists",	\
	  "nothing to do: the next connection makes a new link group")	\
	X(UNKNOWN_ENUM, 0x5c060004,					\
	  "the other side used a value that is not known here",		\
	  "update SMC on the older of the two hosts")			\
	X(BAD_CONFIRM, 0x5c060005,					\
	  "the Confirm does not fit the Accept it answers",		\
	  "report it to the vendor of that SMC, with a packet capture")	\
	X(BAD_TOKEN, 0x5c060006,					\
	  "the other side named a buffer that does not exist",		\
	  "report it to the vendor of that SMC, with a packet capture")

#define SMC_REASON_ENUM_(name, code, words, remedy) SMC_REASON_##name = code,
enum smc_reason {
	SMC_REASONS(SMC_REASON_ENUM_)
};
#undef SMC_REASON_ENUM_

#endif /* _UAPI_LINUX_SMC_REASON_H */
