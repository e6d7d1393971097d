/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An SMC-R peer in user space: libibverbs over soft-RoCE below, CLC over the raw sockets of the
 * test build, LLC and CDC by hand.  It can do everything right, and each case makes it deviate in
 * one place.
 *
 * Both ends are on one machine, connected by a veth pair: the module has the device rxe0, the rogue
 * rxe1. So rxe0 holds exactly what the module holds.  For a second link the module also has rxe2
 * and the rogue rxe3, and a switch connects the four.
 */
#ifndef SMC_TEST_ROGUE_H
#define SMC_TEST_ROGUE_H

#include <infiniband/verbs.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "scene.h"
#include "clc.h"
#include "cdc.h"
#include "llc.h"

#define VICTIM		0x0a010001	/* 10.1.0.1 */
#define ROGUE		0x0a010002
#define ROGUE_EID	"SMC-ROGUE"
#define MSG_LEN		SMC_WR_MSG_LEN
#define ELEM_SIZE	16384u		/* size of our elements: the smallest there is */
#define N_ELEMS		18
#define MAX_QUEUED	512

/* ---- rogue_verbs.c: the device, and queue pairs on it ---- */

/**
 * struct rogue_dev - our RDMA device
 * @gid:	its RoCEv2 GID with our IPv4 address
 * @gid6:	its link-local GID, which stands in for RoCEv1
 */
struct rogue_dev {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	uint8_t gid[16], gid6[16];
	int gid_index, gid6_index;
	uint8_t mac[6];
};

extern struct rogue_dev dev, dev2;	/* dev2: for second links, if available */
void dev_open(struct rogue_dev *d, const char *name, const char *netdev, const char *address);

long now_ms(void);

struct msg {
	size_t len;
	uint8_t b[SMC_LLC_V2_MAX_LEN];
};

struct conn;
struct group;

/**
 * struct offer - a copy of an ADD LINK; the decoded one points into its bytes
 */
struct offer {
	struct smc_llc_msg m;
	struct smc_llc_w_rtoken rtokens[8];
};

/**
 * struct their_rmb - an RMB of the victim on one link
 * @name:	its RKey on the first link
 * @rkey:	its RKey on this link
 * @addr:	its address on this link
 */
struct their_rmb {
	uint32_t name, rkey;
	uint64_t addr;
};

/**
 * struct link - one queue pair towards the victim, with an RMB
 * @dev:	its device
 * @first:	first link of its group; has what belongs to the group, such as the connections
 * @next:	next link of its group, or NULL
 * @server:	our role in the link group
 * @version:	SMC version
 * @release:	release of version 2
 * @max_links:	as negotiated
 * @number:	number of the link
 * @n_rx:	number of posted receive buffers
 * @shut:	no more receive buffers are posted
 * @in:		ring of the victim's messages that are not yet processed
 * @send_error:	status of the first send that failed, enum ibv_wc_status
 * @conns:	connections of the group, by index of our element - 1
 * @offer:	the victim's ADD LINK of the first contact, if we are the client
 * @theirs:	RMBs of the victim on this link
 */
struct link {
	struct rogue_dev *dev;
	struct link *first, *next;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	bool connected, stalled;
	uint32_t psn;
	uint8_t *rmb, *rx, *tx;
	struct ibv_mr *rmb_mr, *rx_mr, *tx_mr;
	uint32_t n_sent, n_done, n_rx;
	bool shut;
	int send_error;

	uint32_t peer_qpn, peer_psn;
	uint8_t peer_gid[16], peer_mac[6], peer_mtu;

	uint8_t peer_id[8];
	bool server;
	uint8_t version, release, max_links, max_conns, number;
	struct msg *in[MAX_QUEUED];
	unsigned int in_head, in_tail;
	struct conn *conns[N_ELEMS];
	unsigned int n_conns;
	struct group *group;
	struct offer offer;
	struct their_rmb theirs[8];
	unsigned int n_theirs;
};

struct link *link_new(void);
/* Create one more queue pair of a group, with the same RMB. */
struct link *link_new_of(struct link *first, struct rogue_dev *d);
bool link_connect(struct link *l);		/* RTR, RTS */
extern bool link_deaf;				/* ... with a PSN that the victim never uses */
void link_break(struct link *l);		/* destroy the queue pair */
/* Post no more receive buffers; this many are left for the victim. */
void link_shut(struct link *l, unsigned int left);
void link_reopen(struct link *l);
void link_free(struct link *l);
void link_send(struct link *l, const void *b, size_t len);
void link_write(struct link *l, const void *b, size_t len, uint64_t addr, uint32_t rkey);
/* Any kind of work request; @b: the data, if it sends any; @rkey: also the key to invalidate. */
void link_request(struct link *l, enum ibv_wr_opcode opcode, const void *b, size_t len,
		  uint64_t addr, uint32_t rkey);
void link_fail(struct link *l);			/* put the queue pair into the error state */
/* Restore the state before link_connect(), with the same QP number and another RKey. */
void link_renew(struct link *l);
/* The next message of the victim, to be freed; NULL if none comes in time. */
struct msg *link_recv(struct link *l, int ms);
/* Wait until all that was sent is acknowledged; false if it was not all. */
bool link_flush(struct link *l, int ms);
/* For a failure: what was sent and acknowledged, and the state of TCP and the devices. */
const char *link_state(struct link *l);

/* ---- rogue_conn.c: connections, their CLC and CDC ---- */

/**
 * struct conn - one connection of the rogue
 * @s:		the TCP connection: our end and the victim's socket
 * @idx:	index of our element
 * @token:	our alert token
 * @peer:	the victim's Accept or Confirm
 * @prod:	what we have written
 * @cons:	what we have consumed
 * @peer_prod:	what the victim has written
 * @peer_cons:	what the victim has consumed, according to its messages
 * @peer_prod_at: producer cursor of the victim's last message
 * @peer_cons_at: consumer cursor of that message
 * @peer_urg:	where the victim's urgent data end, according to its messages
 * @peer_flags:	all connection flags that the victim has ever set
 * @peer_prod_flags: all producer flags that it has ever set
 * @peer_seqno:	number of the victim's last message
 * @left_at:	number of its last message over the previous link
 * @n_validated: how many failover validations the victim has sent
 * @validated:	number in the last one
 * @closed_with_data: its first message with CLOSED, or one behind it, announced new data
 * @over:	the link that its last message came over
 * @name:	RKey of the victim's RMB on the first link
 */
struct conn {
	struct scene s;
	struct link *l;		/* the link that we write over */
	uint8_t idx;
	uint32_t token;
	struct smc_clc_accept peer;
	uint64_t peer_addr;
	uint32_t peer_size;
	uint64_t prod, cons, peer_prod, peer_cons, peer_urg;
	struct smc_wire_cursor peer_prod_at, peer_cons_at;
	uint8_t peer_flags, peer_prod_flags;
	uint16_t seqno, peer_seqno, left_at, validated;
	unsigned int n_validated;
	bool closed_with_data;
	struct link *over;
	uint32_t name;
};

enum role { CLIENT, SERVER };		/* ours */
extern const char * const role_name[];
enum flavour { V21, V20, V21_TWO, V1 };	/* V21_TWO, V20 and V1 try a second link */

/* How far the handshake goes correctly before the case does something else. */
enum stage {
	AT_TCP,		/* nothing was sent; as server: the Proposal was read */
	AT_CLC,		/* client: the Accept was read; server: the Accept was sent */
	AT_LINK,	/* client: CONFIRM LINK was read; server: the Confirm was read */
	AT_ADD_LINK,	/* CONFIRM LINK is done; client: ADD LINK was read */
	AT_UP,
};

/* Changes that a case makes on the way; each may be NULL. */
struct twist {
	void (*proposal)(struct smc_clc_proposal *p);
	void (*accept)(struct smc_clc_accept *a);	/* our Accept or Confirm */
	void (*bytes)(struct message *m);		/* the bytes of that message */
};

struct conn *conn_new(struct link *l);	/* for rogue_clc.c */
struct conn *conn_begin(enum role role, enum flavour flavour, enum stage until,
			const struct twist *twist);
/* One more connection over the link of another one. */
struct conn *conn_more(struct conn *first, enum stage until, const struct twist *twist);
struct conn *conn_over(struct link *l);		/* begins over this link, at AT_UP */
void conn_end(struct conn *c);		/* closes everything, and with the last one the link */
void conns_end(const struct conn *but);	/* ends all connections but this */
void conn_close(struct conn *c);	/* only its sockets; the link stays */

void clc_open(void);			/* creates the listeners, where raw_hosts() says */

/* What follows AT_TCP and AT_CLC for a client; clc_rest() ends a further contact. */
void clc_propose(struct conn *c, const struct twist *twist);
void clc_confirm(struct conn *c, const struct twist *twist);
void clc_rest(struct conn *c);
/* A twist that makes a Proposal of version 1 offer both versions. */
void clc_offer_v2(struct smc_clc_proposal *p);
/* A first contact of a peer with this GID, which does not have a queue pair. */
struct scene clc_stranger(const uint8_t *gid);
void clc_wrong_rkey(struct smc_clc_accept *a);	/* a twist: names an RMB that does not exist */
bool addr_is_harmless(uint64_t addr);	/* the address of an RMB of the victim */
bool clc_peer(struct conn *c);		/* reads the victim's Accept or Confirm */
void clc_close(void);			/* closes the listeners */
void clc_decline(const struct conn *c);
void clc_out_of_sync(const struct conn *c);

struct smc_wire_cursor cursor_at(uint64_t count, uint32_t size);
void cdc_fill(struct conn *c, struct smc_cdc_msg *m);
void cdc_send(struct conn *c, const struct smc_cdc_msg *m);
void victim_closes(struct conn *c);
void conn_say(struct conn *c, uint8_t flags);			/* a message with these flags */
void conn_put(struct conn *c, const void *b, size_t len);	/* into the element, unannounced */
void conn_write(struct conn *c, const void *b, size_t len);	/* into the element, announced */
bool conn_read(struct conn *c, void *b, size_t len);		/* waits for this many bytes */
bool conn_flags(struct conn *c, uint8_t flags);			/* waits for any of them */
bool conn_told(struct conn *c, uint16_t seqno);			/* waits for this CDC message */
bool conn_prod_flags(struct conn *c, uint8_t flags);
/* Wait until the victim reports that it has read this much since the connection began. */
bool conn_consumed(struct conn *c, uint64_t count);
bool conn_echo(struct conn *c);		/* one byte to the victim and back */
bool conn_goes_on(struct conn *c, enum stage at);	/* the rest correctly, then conn_echo() */

/* ---- rogue_llc.c ---- */

void llc_put(struct link *l, struct smc_llc_msg *m);
size_t llc_bytes(struct link *l, const struct smc_llc_msg *m, uint8_t *b);
/* Makes the victim fill all receive buffers but this many. */
void llc_use_up(struct link *l, unsigned int left);
/* The next LLC message, decoded. CDC messages that come before it go to their connections. */
bool llc_get(struct link *l, struct smc_llc_msg *m, int ms);
bool llc_expect(struct link *l, uint8_t type, bool reply, struct smc_llc_msg *m);
void llc_serve(struct link *l);		/* answers what has arrived */
const uint8_t *link_gid(const struct link *l);	/* our GID, for the link's version */
void llc_confirm_link(struct link *l, struct smc_llc_msg *m, bool reply);
void llc_add_link(struct link *l, struct smc_llc_msg *m);
bool llc_confirm(struct link *l);	/* our part of the first contact, from AT_LINK on */
bool llc_add(struct link *l);		/* from AT_ADD_LINK on */
bool llc_told_of_end(struct link *l);	/* waits for DELETE LINK of all links */

void cdc_take(struct link *l, const struct msg *m);

/* ---- rogue_links.c: groups of several links ---- */

/*
 * From link_second() on, the victim may send LLC messages over any link.  They are kept for
 * group_expect(). TEST LINK and CONFIRM RKEY are answered and ADD LINK is refused, unless a case
 * wants to handle them.
 */
struct link *half_new(struct link *first, struct rogue_dev *d);
void half_tell(const struct link *l, const struct link *over, struct smc_llc_msg *m);
bool half_take(struct link *l, const struct link *over, const struct smc_llc_msg *m);
/* An RToken of the victim on the new link. */
void half_rtoken(struct link *l, const struct link *over, const struct smc_llc_rtoken *t);
bool half_connect(struct link *l);		/* as link_connect(), says what is wrong */
bool half_confirm(struct link *l);		/* CONFIRM LINK over the new link, and the reply */
void told_rmb(struct link *over, const struct smc_llc_confirm_rkey *m);	/* another RMB of theirs */
/* Our ADD LINK over a working link, and all that correctly follows. */
bool link_add(struct link *l, struct link *over);
/* The same for the victim's ADD LINK; requires group_wants_adds(). */
bool link_accept(struct link *l, struct link *over);
struct link *link_second(struct conn *c);	/* from AT_ADD_LINK on, done correctly */

/**
 * struct duo - a connection and the links of its group
 */
struct duo {
	struct conn *c;
	struct link *first, *second;
};

struct conn *conn_one_link(enum role role);	/* the victim still expects a second link */
struct duo two_links(enum role role);
bool both_work(struct duo d);			/* its links do; nothing else is sent */
/* Answer ADD LINK in the group of @c; stop before CONFIRM LINK. */
bool half_way(struct duo *d, struct conn *c, bool connected);
void ask_for_link(struct link *first, const uint8_t *gid);	/* REQUEST ADD LINK with this GID */
void group_wants_adds(struct link *l, bool wants);
void group_wants_rkeys(struct link *l);
/* Wait for a TEST LINK over this link, and never answer it, or answer it with other data. */
bool group_muted(struct link *l, bool wrong);
bool group_take(struct link *l, int ms);
/* Wait for this message; returns the link that it came over, or NULL. */
struct link *group_expect(struct link *l, uint8_t type, bool reply, struct smc_llc_msg *m);
bool group_deletes(struct link *l, uint8_t number);	/* the victim's DELETE LINK */
bool group_silent(struct link *l);		/* the victim has sent nothing that is kept */
bool group_settled(struct link *l);		/* the victim has processed all that we sent */
void group_free(struct link *first);
const struct their_rmb *link_rmb(const struct link *l, uint32_t name);
void conn_move(struct conn *c, struct link *to);	/* write over this link from now on */
void cdc_validate(struct conn *c, uint16_t seqno);	/* send a failover validation message */

/* ---- rogue_census.c: what the victim's device holds ---- */

struct census {
	uint64_t qp, cq, mr, pd;
};

void census_open(const char *device);	/* adds a device; again after it was replaced */
void census_take(struct census *c);
bool census_back_to(const struct census *c);	/* waits for it */
/* Waits until the victim has this many queue pairs, and has released those of lost links. */
bool census_qps(uint64_t n);

/* ---- rogue_strangers.c ---- */

#define GATEWAY		"10.1.0.77"	/* between the victim and the strangers */
#define STRANGERS	600		/* more than a workqueue runs at once */

void run(const char *command);		/* must not fail */
void strangers_open(void);		/* adds a route to them and raises limits */
void strangers_close(void);
void gateway_fails(void);		/* the gateway becomes unreachable */
void strangers_begin(unsigned int n);	/* sends this many Proposals */
void strangers_end(unsigned int n);
const struct scene *stranger(unsigned int i);
bool strangers_wait(unsigned int n);	/* none has got an answer */

/* ---- the cases ---- */

void bystander_turn(void);		/* the bystander answers its messages */
bool loopback_goes_on(void);		/* a new connection over SMC-D works */
bool others_go_on(void);		/* other connections to the victim work */
long set_sysctl(const char *name, long value);	/* returns the old value */
/* Print one line of TAP. Also checks the bystanders, the kernel log and the device. */
void verdict(bool ok, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same without bystanders. */
void verdict_alone(bool ok, const char *name);

/* Is the next case in our shard? */
bool in_shard(void);

/* Play a case. If it gives up, it counts as failed, and the next one is played. */
extern jmp_buf gave_up;
void verdict_gave_up(const char *what, const char *detail);
#define TRY(call, detail)						\
	do {								\
		if (!in_shard())					\
			break;						\
		if (!setjmp(gave_up))					\
			call;						\
		else							\
			verdict_gave_up(#call, detail);			\
	} while (0)

void cases_clc(void);
void cases_llc(void);
void cases_cdc(void);
void cases_link(void);
void cases_peer(void);
void cases_time(void);
void cases_wait(void);
void cases_stall(void);
void cases_gateway(void);
void cases_device(void);
void cases_many(void);
void cases_verbs(void);
void cases_moments(void);
void cases_links(void);		/* these require two devices */
void cases_cont(void);
void cases_verbs2(void);
void cases_late(void);
void cases_exchanges(void);
void cases_failover(void);
void cases_gone(void);		/* no other case can follow */

#endif
