/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A virtio-ism device, as the files of its driver share it.  What it does is in
 * Documentation/ism-virtio.md.
 *
 * Locks, outermost first; tools/testing/house/locks.py holds the list against the source.
 *
 *  vism_dev.lock		(mutex) the window, peers, our regions, and the device's commands,
 *				one at a time
 *  vism_dev.dmb_lock		(spinlock) the table of our DMBs; smc_ism_signaled() is called under
 *				it, so no DMB ends meanwhile
 *
 * References: the bus has one from vism_start() to vism_stop(), SMC-D one while the device is
 * registered and used.  The last one to go unmaps the window and frees the device.
 *
 * Peers are read under RCU as well.  What a peer was attached at stays there until a grace period
 * after it was forgotten.
 */
#ifndef SMC_VISM_VISM_H
#define SMC_VISM_VISM_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "../../fabric/smcd/ism.h"
#include "home.h"
#include "window.h"

#define VISM_SEID_LEN	32
#define VISM_PEERS	64

/* After so many beats, which are seconds, ... */
#define VISM_REST	10	/* a region that nobody uses is given back, or another peer's */
#define VISM_FORGET	60	/* a peer with which there are no connections is forgotten */

struct vism_dev;

/**
 * struct vism_bus - the bus that has the window and takes commands
 * @command:	a command, and its answer; may sleep, returns in bounded time, one at a time.
 *		How many bytes of the answer the device says that it has written, at most
 *		@answer_len; negative: there is no answer, and there may never be one
 * @free:	undo the mapping, and free the device; process context
 */
struct vism_bus {
	int (*command)(struct vism_dev *d, const struct vism_request *request, u32 len, u8 *answer,
		       u32 answer_len);
	void (*free)(struct vism_dev *d);
};

/**
 * enum vism_state - how far a device is
 * @VISM_UP:		it can be used
 * @VISM_LEAVING:	no new connections
 * @VISM_STOPPED:	nothing is heard or said any more
 */
enum vism_state {
	VISM_UP,
	VISM_LEAVING,
	VISM_STOPPED,
};

/**
 * struct vism_peer - a peer that the driver knows
 * @gid:	its GID
 * @home:	its home
 * @index:	of the region, of which it has a reference
 * @watch:	its heartbeat
 * @idle:	for how many beats there was no connection
 * @rcu:	for its end
 */
struct vism_peer {
	struct smc_ism_gid	gid;
	struct vism_home	*home;
	u32			index;
	struct vism_watch	watch;
	u32			idle;
	struct rcu_head		rcu;
};

/**
 * enum vism_own_state - peers that may write to a region of ours
 * @VISM_NOBODYS:	nobody
 * @VISM_PEERS_OWN:	one peer
 * @VISM_RESTING:	a peer that was there, and is about to stop
 * @VISM_RETIRED:	a peer that was silent, and may wake up at any time
 */
enum vism_own_state {
	VISM_NOBODYS,
	VISM_PEERS_OWN,
	VISM_RESTING,
	VISM_RETIRED,
};

/**
 * struct vism_own - a region of ours for DMBs
 * @list:	in vism_dev.own
 * @index:	in the window
 * @token:	of the device
 * @nonce:	random, told to the peer
 * @state:	enum vism_own_state
 * @peer:	the only one that is told of it
 * @used:	granules in use
 * @next:	where to look for room, so that memory rests before it is used again
 * @idle:	for how many beats there was no DMB in it
 */
struct vism_own {
	struct list_head	list;
	u32			index;
	u64			token;
	u64			nonce;
	int			state;
	struct smc_ism_gid	peer;
	u64			used;
	u32			next;
	u32			idle;
};

/**
 * struct vism_dev - a device; embedded by its bus, zeroed
 * @ism:	the device as SMC-D sees it
 * @bus:	set by vism_start(), like the rest
 * @mem:	the window, in our address space
 * @home:	ours
 * @seid:	system EID
 * @state:	enum vism_state
 * @lost:	no commands any more
 * @registered:	with SMC-D; of @offline alone, once it is set
 * @beat:	counts
 * @clock:	ms that were observed
 * @looked:	when it was advanced, in ms of the kernel's clock
 * @tick:	heartbeat, and a look at the peers
 * @offline:	takes it from SMC-D
 * @ref:	references
 * @end:	frees it, since memory is not unmapped in every context
 * @lock:	protects the five members that follow
 * @window:	the map of the window
 * @own:	our regions for DMBs
 * @peers:	peers that the driver knows; read under RCU as well
 * @numbers:	bitmap of the DMBs in use
 * @next_number: where to look for the next one
 * @poll:	looks for what peers have marked
 * @interval:	of that, in ns
 * @active:	when there was something, in ns
 * @pending:	words of the dirty bitmap that are yet to be taken; of @poll alone
 * @dmb_lock:	protects the two members that follow
 * @n_dmbs:	how many there are
 * @dmbs:	by number
 */
struct vism_dev {
	struct smc_ism_dev	ism;
	const struct vism_bus	*bus;
	void			*mem;
	struct vism_home	*home;
	u8			seid[VISM_SEID_LEN];
	int			state;
	bool			lost;
	bool			registered;
	u64			beat;
	u64			clock;
	u64			looked;
	struct delayed_work	tick;
	struct work_struct	offline;
	refcount_t		ref;
	struct work_struct	end;

	struct mutex		lock;
	struct vism_window	window;
	struct list_head	own;
	struct vism_peer __rcu	*peers[VISM_PEERS];
	unsigned long		numbers[VISM_DMBS / BITS_PER_LONG];
	u32			next_number;

	struct hrtimer		poll;
	u64			interval;
	u64			active;
	u64			pending;

	spinlock_t		dmb_lock;
	u32			n_dmbs;
	struct smc_ism_dmb	*dmbs[VISM_DMBS];
};

static inline struct vism_dev *to_vism(struct smc_ism_dev *ism)
{
	return container_of(ism, struct vism_dev, ism);
}

static inline bool vism_up(const struct vism_dev *d)
{
	return READ_ONCE(d->state) == VISM_UP;
}

/* Memory of a region. */
static inline void *vism_mem(const struct vism_dev *d, u32 index)
{
	return d->mem + index * d->window.size;
}

/* dev.c */
int vism_start(struct vism_dev *d, const struct vism_bus *bus, u32 id, void *mem, u64 len,
	       u64 region_size, u64 domain);
void vism_leave(struct vism_dev *d);
void vism_stop(struct vism_dev *d);
void vism_put(struct vism_dev *d);
void vism_lose(struct vism_dev *d, const char *why);
int vism_init(void);
void vism_exit(void);

/* region.c: all under vism_dev.lock */
int __vism_alloc(struct vism_dev *d, u64 *token);
int __vism_attach(struct vism_dev *d, u64 token, u64 magic, u64 nonce, u64 boot);
void __vism_detach(struct vism_dev *d, u32 index);
void __vism_detach_idle(struct vism_dev *d);

/* dmb.c */
int vism_register_dmb(struct smc_ism_dev *ism, struct smc_ism_dmb *dmb,
		      const struct smc_ism_gid *peer);
void vism_unregister_dmb(struct smc_ism_dev *ism, struct smc_ism_dmb *dmb);
bool __vism_serves(const struct vism_dev *d, const struct smc_ism_gid *peer);
void __vism_own_leave(struct vism_dev *d, const struct smc_ism_gid *peer, bool silent);
void __vism_own_age(struct vism_dev *d);
bool __vism_own_end(struct vism_dev *d);

/* poll.c */
void vism_poll_init(struct vism_dev *d);
void vism_poll_start(struct vism_dev *d);
void vism_poll_soon(struct vism_dev *d);

/* peer.c */
struct vism_peer *__vism_get_peer(struct vism_dev *d, const struct smc_ism_gid *gid);
int vism_query_gid(struct smc_ism_dev *ism, const struct smc_ism_gid *gid, u16 vlan);
void *vism_map(struct smc_ism_dev *ism, const struct smc_ism_gid *gid, u64 token, u32 bytes);
void vism_unmap(struct smc_ism_dev *ism, void *mem);
void vism_signal(struct smc_ism_dev *ism, const struct smc_ism_gid *gid, u64 token);
void vism_watch_peers(struct vism_dev *d);
void vism_end_peers(struct vism_dev *d);

/* The buses of devices. */
int vism_virtio_init(void);
void vism_virtio_exit(void);
int vism_uml_init(void);
void vism_uml_exit(void);

#endif /* SMC_VISM_VISM_H */
