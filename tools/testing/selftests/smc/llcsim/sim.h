/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two hosts, each with ports, one link group and connections, and queue pairs between them.
 *
 * The link group is the module's, except group.c, active.c, lgr.c, peer_rmbe.c and report.c.  The
 * layers below it (ports, paths, queue pairs) and above it (connections) are models.
 */
#ifndef LLCSIM_SIM_H
#define LLCSIM_SIM_H

#include "fabric/rdma/lgr/lgr.h"

enum { SIM_SERVER, SIM_CLIENT, SIM_ENDS };

#define SIM_PORTS	3
#define SIM_RMBS	8

/**
 * struct sim_port - a device with one port
 * @dev:	as the module knows it; first member
 * @ibdev:	part of that
 * @pd:		allocates RKeys
 * @up:		the port is active
 * @silent:	frames are lost without any notification
 * @event:	notifies the module of a change
 */
struct sim_port {
	struct smc_rdma_dev	dev;
	struct ib_device	ibdev;
	struct ib_pd		pd;
	bool			up;
	bool			silent;
	struct sim_event	event;
};

enum sim_conn_state {
	SIM_CONN_NONE,
	SIM_CONN_ASKING,	/* waits until its RMB is confirmed */
	SIM_CONN_UP,
	SIM_CONN_CUT_OFF,
};

/**
 * struct sim_conn - a connection
 * @l:		as the group knows it; first member
 * @state:	enum sim_conn_state
 * @rmb:	its RMB
 * @again:	event: its handshake continues
 */
struct sim_conn {
	struct smc_lgr_conn	l;
	enum sim_conn_state	state;
	struct smc_rmb		*rmb;
	struct sim_event	again;
};

/**
 * struct smc_pools - buffers of a group, the model of mem/pool.c
 * @owner:	the group
 * @ops:	operations on each buffer
 * @n:		number of buffers
 * @rmbs:	the buffers, as devices know them
 */
struct smc_pools {
	void				*owner;
	const struct smc_buf_ops	*ops;
	unsigned int			n;
	struct smc_rmb			*rmbs[SIM_RMBS];
};

/**
 * struct sim_end - a host
 * @net:	its namespace
 * @sn:		the module's data of the namespace
 * @stats:	part of that
 * @lgrs:	its link groups; there is only one
 * @lgr:	the group, NULL once its memory has been freed
 * @active:	the first contact is complete
 * @ended:	the group has begun to end
 * @stuck:	since when its engine has been waiting for an answer over a link that is down
 * @ports:	its ports
 * @n_ports:	their number
 * @conns:	its connections
 */
struct sim_end {
	struct net		net;
	struct smc_net		sn;
	struct smc_stats	stats;
	struct smc_lgrs		lgrs;
	struct smc_lgr		*lgr;
	bool			active;
	bool			ended;
	unsigned long		stuck;
	struct sim_port		ports[SIM_PORTS];
	unsigned int		n_ports;
	struct sim_conn		conns[SIM_CONNS];
};

/**
 * struct sim_world - the choices of the seed, and what has happened
 * @ends:	the two hosts
 * @latency:	maximum latency of a message, in jiffies
 * @hop_one_in:	one in this many paths has a gateway that has to be resolved first
 * @alloc_one_in: one in this many messages is lost for lack of memory
 * @useless:	an end has a port that reaches nothing, without an error
 * @prompt:	nothing takes long
 * @harmed:	a port was down or silent, so the group may end
 * @harmed_at:	when that was last
 * @over:	the schedule is complete, and the groups have to end
 * @actions:	actions of the schedule that are still to come
 */
struct sim_world {
	struct sim_end		ends[SIM_ENDS];
	unsigned int		latency;
	unsigned int		hop_one_in;
	unsigned int		alloc_one_in;
	bool			useless;
	bool			prompt;
	bool			harmed;
	unsigned long		harmed_at;
	bool			over;
	unsigned int		actions;
};

extern struct sim_world sim;

/* link.c: queue pairs */
void sim_links_reset(void);
unsigned int sim_links_made(void);
unsigned int sim_links_left(void);
bool sim_handler_runs(unsigned int end);
void sim_port_harmed(const struct sim_port *port);
struct smc_link *sim_other_half(const struct smc_link *link);
bool sim_link_reachable(const struct smc_link *link);
bool sim_link_whole(const struct smc_link *link);

/* host.c: ports, connections, groups */
void sim_hosts_reset(void);
void sim_make_groups(u8 version, u8 release, const u8 *max_links);
void sim_end_group(unsigned int end);
void sim_port_set(unsigned int end, unsigned int port, bool up);
void sim_port_remove(unsigned int end, unsigned int port);
bool sim_conn_begin(unsigned int end);
void sim_conn_close(unsigned int end);
void sim_retire(unsigned int end, bool now);

/* judge.c: what must hold */
void sim_judge_down(struct smc_link *link, u32 reason);
void sim_judge_active(struct smc_link *link);
void sim_judge_confirmed(unsigned int end, const struct smc_rmb *rmb);
void sim_judge_step(void);
void sim_judge_rest(void);
void sim_judge_nothing_left(void);

static inline struct sim_end *sim_end_of(const struct smc_lgr *lgr)
{
	return container_of(lgr->sn, struct sim_end, sn);
}

static inline unsigned int sim_end_nr(const struct smc_lgr *lgr)
{
	return sim_end_of(lgr) - sim.ends;
}

#endif
