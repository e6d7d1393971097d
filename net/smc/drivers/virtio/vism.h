/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of the virtio-ism driver share.  Documentation/ism-virtio.md
 * describes the protocol.
 *
 * Locks, outermost first; tools/testing/house/locks.py holds the list against the source.
 *
 *  vism_dev.lock		(mutex) the window, peers, our regions, and the device's commands,
 *				one at a time
 *  vism_dev.dmb_lock		(spinlock) the table of our DMBs; held while smc_ism_signaled() is
 *				called, so the DMB stays
 *
 * References: the bus holds one from vism_start() to vism_stop(), SMC-D one while the device is
 * registered and used.  Dropping the last one unmaps the window and frees the device.
 *
 * Peers may also be read under RCU.  A peer that was forgotten keeps its home attached, by its
 * reference, until a grace period has passed.  So no DETACH has to wait for one.
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

/* Timeouts in beats, which are seconds. */
#define VISM_REST	10	/* until an unused region is given back or reused */
#define VISM_FORGET	60	/* until a peer without connections is forgotten */

struct vism_dev;

/**
 * struct vism_bus - the bus that provides the window and executes commands
 * @command:	execute a command; may sleep, must return in bounded time, called one at a time.
 *		Returns the length of the answer that the device claims to have written, at most
 *		@answer_len; a negative errno if there is no answer and may never be one
 * @free:	unmap the window and free the device; process context
 */
struct vism_bus {
	int (*command)(struct vism_dev *d, const struct vism_request *request, u32 len, u8 *answer,
		       u32 answer_len);
	void (*free)(struct vism_dev *d);
};

/**
 * enum vism_state - state of a device
 * @VISM_UP:		usable
 * @VISM_LEAVING:	no new connections
 * @VISM_STOPPED:	no more signals, in either direction
 */
enum vism_state {
	VISM_UP,
	VISM_LEAVING,
	VISM_STOPPED,
};

/**
 * struct vism_peer - a known peer
 * @dev:	the device that knows it
 * @gid:	its GID
 * @home:	its home
 * @index:	index of the region with the home, to which the peer holds a reference
 * @watch:	its heartbeat
 * @idle:	number of beats without a connection
 * @rcu:	for call_rcu()
 */
struct vism_peer {
	struct vism_dev		*dev;
	struct smc_ism_gid	gid;
	struct vism_home	*home;
	u32			index;
	struct vism_watch	watch;
	u32			idle;
	struct rcu_head		rcu;
};

/**
 * enum vism_own_state - which peers may write to a region of ours
 * @VISM_NOBODYS:	none
 * @VISM_PEERS_OWN:	one peer
 * @VISM_RESTING:	a peer that has left, and will soon have stopped writing
 * @VISM_RETIRED:	a peer that was silent and may resume at any time
 */
enum vism_own_state {
	VISM_NOBODYS,
	VISM_PEERS_OWN,
	VISM_RESTING,
	VISM_RETIRED,
};

/**
 * struct vism_own - a region of ours for DMBs
 * @list:	entry in vism_dev.own
 * @index:	index in the window
 * @token:	the device's token
 * @nonce:	random nonce, known to the peer
 * @state:	enum vism_own_state
 * @peer:	the only peer that knows the region
 * @used:	bitmap of granules in use
 * @next:	where to look for room next; delays the reuse of memory
 * @idle:	number of beats without a DMB
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
 * struct vism_dev - a device, embedded by its bus, zeroed before vism_start()
 * @ism:	the device as SMC-D sees it
 * @bus:	the bus; vism_start() sets this and all that follows
 * @mem:	the window in our address space
 * @home:	our home
 * @seid:	system EID
 * @state:	enum vism_state
 * @lost:	execute no more commands
 * @registered:	registered with SMC-D; after registration only @offline clears it
 * @beat:	our heartbeat
 * @clock:	time in which this kernel was running, in ms
 * @looked:	kernel time of the last update of @clock, in ms
 * @tick:	updates the heartbeat and checks the peers
 * @offline:	unregisters the device from SMC-D
 * @ref:	reference count
 * @end:	frees the device, as unmapping memory needs process context
 * @lock:	protects @window to @next_number
 * @mapped:	number of DMBs of peers that we may write to
 * @window:	state of the window
 * @own:	our regions for DMBs
 * @owed:	list of struct vism_slice: what nobody uses here, but a peer may write to
 * @peers:	known peers; may also be read under RCU
 * @numbers:	bitmap of DMB numbers in use
 * @next_number: where to look for the next free number
 * @poll:	timer that looks for DMBs that peers have marked
 * @interval:	current interval of @poll in ns
 * @active:	time of the last activity in ns
 * @pending:	words of the dirty bitmap not processed yet; only used by @poll
 * @dmb_lock:	protects @n_dmbs and @dmbs
 * @n_dmbs:	number of DMBs
 * @dmbs:	our DMBs by number
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

	atomic_t		mapped;

	struct mutex		lock;
	struct vism_window	window;
	struct list_head	own;
	struct list_head	owed;
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

/* region.c: call with vism_dev.lock held */
int __vism_alloc(struct vism_dev *d, u64 *token);
int __vism_attach(struct vism_dev *d, u64 token, u64 magic, u64 nonce, u64 boot);
void __vism_detach(struct vism_dev *d, u32 index);
void __vism_detach_idle(struct vism_dev *d);

/* dmb.c */
int vism_register_dmb(struct smc_ism_dev *ism, struct smc_ism_dmb *dmb,
		      const struct smc_ism_gid *peer);
void vism_lend_dmb(struct smc_ism_dev *ism, struct smc_ism_dmb *dmb);
bool vism_withdraw_dmb(struct smc_ism_dev *ism, struct smc_ism_dmb *dmb);
void vism_unregister_dmb(struct smc_ism_dev *ism, struct smc_ism_dmb *dmb);
void __vism_collect(struct vism_dev *d);
void vism_end_owed(struct vism_dev *d);
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

/* virtio.c and uml.c, the buses */
int vism_virtio_init(void);
void vism_virtio_exit(void);
int vism_uml_init(void);
void vism_uml_exit(void);

#endif /* SMC_VISM_VISM_H */
