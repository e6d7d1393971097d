/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An ISM device over a region of shared memory; the bus that provides region and doorbell is
 * separate.
 *
 * Locks, outermost first; tools/testing/house/locks.py holds the list against the source.
 *
 *  ivs_dev.alloc_lock		(mutex) which parts of our share are in use, and by whom
 *  ivs_dev.dmb_lock		(spinlock) the table of our DMBs; held while smc_ism_signaled() is
 *				called, so the DMB stays
 *  ivs_dev.peer_lock		(spinlock) what we know of peers; a leaf
 *  ivs_all_lock		(spinlock) number of devices; a leaf
 *
 * References: the bus holds one from ivs_start() to ivs_stop(), SMC-D one while the device is
 * registered and used.  Dropping the last one gives back the slot, then unmaps the region, then
 * frees the device.
 */
#ifndef SMC_IVSHMEM_SHM_H
#define SMC_IVSHMEM_SHM_H

#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "../../fabric/smcd/ism.h"
#include "region.h"

struct ivs_dev;

/**
 * struct ivs_bus - the bus that provides region and doorbell
 * @ring:	ring the doorbell of a peer; any context
 * @free:	unmap the region and free the device; process context
 */
struct ivs_bus {
	void (*ring)(struct ivs_dev *d, u16 peer);
	void (*free)(struct ivs_dev *d);
};

/**
 * enum ivs_state - state of a device
 * @IVS_SEEKING:	waits for a slot
 * @IVS_RESTING:	has a slot, and waits until peers of the slot's former owner have noticed
 * @IVS_UP:		registered with SMC-D
 * @IVS_LEAVING:	about to be removed
 * @IVS_LOST:		removed, or another machine has our slot, or registration failed
 *
 * Only the tick work changes the state, and ivs_leave() and ivs_stop() while it does not run. A DMB
 * is registered only in the state IVS_UP, which ends under alloc_lock.
 */
enum ivs_state {
	IVS_SEEKING,
	IVS_RESTING,
	IVS_UP,
	IVS_LEAVING,
	IVS_LOST,
};

/**
 * struct ivs_peer - what we know of the owner of a slot
 * @watch:	its heartbeat
 * @known:	snapshot of the slot from the time when SMC-D asked for the peer
 * @is_known:	SMC-D has asked for the peer, and was not told since that it is gone
 */
struct ivs_peer {
	struct ivs_watch	watch;
	struct ivs_view		known;
	bool			is_known;
};

/**
 * struct ivs_lent - memory of a DMB of ours (smc_ism_dmb.priv)
 * @list:	entry in ivs_dev.owed, if the DMB is unregistered, but still on loan
 * @number:	number of the DMB
 * @unit:	its first unit
 * @n:		number of units
 * @slot:	slot of the peer for which it is
 */
struct ivs_lent {
	struct list_head	list;
	u32			number;
	u32			unit;
	u32			n;
	u32			slot;
};

/**
 * struct ivs_dev - a device, embedded by its bus, zeroed before ivs_start()
 * @ism:	the device as SMC-D sees it
 * @bus:	the bus; ivs_start() sets this and all that follows
 * @region:	the shared memory
 * @seid:	system EID of the domain
 * @state:	enum ivs_state
 * @peer:	our peer id
 * @slot:	our slot, if we have one
 * @owner:	the value that we wrote to its owner word; 0 without a slot
 * @clock:	time in which this kernel was running, in ms
 * @looked:	kernel time of the last update of @clock, in ms
 * @rest:	end of IVS_RESTING, by @clock
 * @tick:	updates the heartbeat and checks the peers
 * @ref:	reference count
 * @end:	frees the device, as unmapping memory needs process context
 * @signals:	reports the DMBs that peers have marked
 * @pending:	words of the dirty bitmap not processed yet; only used by @signals
 * @boot:	our boot nonce, once we are ready
 * @mapped:	DMBs of peers that we may write to, and one more until ivs_stop()
 * @alloc_lock:	protects @units to @owed
 * @units:	bitmap of units in use in our share
 * @numbers:	bitmap of DMB numbers in use
 * @next_unit:	where to look for free units next; delays the reuse of memory
 * @next_number: where to look for the next free number
 * @n_free:	number of free units
 * @n_lent:	number of units that are in use for each peer, by slot
 * @owed:	list of struct ivs_lent: what nobody uses here, but a peer may write to
 * @dmb_lock:	protects @dmbs
 * @dmbs:	our DMBs by number
 * @peer_lock:	protects @peers
 * @peers:	owners of the slots
 */
struct ivs_dev {
	struct smc_ism_dev	ism;
	const struct ivs_bus	*bus;
	struct ivs_region	region;
	u8			seid[IVS_SEID_LEN];
	int			state;
	u16			peer;
	u32			slot;
	u64			owner;
	u64			clock;
	u64			looked;
	u64			rest;
	struct delayed_work	tick;
	refcount_t		ref;
	struct work_struct	end;

	struct tasklet_struct	signals;
	u64			pending;

	u64			boot;
	atomic_t		mapped;

	struct mutex		alloc_lock;
	unsigned long		*units;
	unsigned long		numbers[IVS_DMBS / BITS_PER_LONG];
	u32			next_unit;
	u32			next_number;
	u32			n_free;
	u32			n_lent[IVS_SLOTS_MAX];
	struct list_head	owed;

	spinlock_t		dmb_lock;
	struct smc_ism_dmb	*dmbs[IVS_DMBS];

	spinlock_t		peer_lock;
	struct ivs_peer		peers[IVS_SLOTS_MAX];
};

/**
 * ivs_start() - start a device
 * @d:		zeroed except for ism.name and ism.parent
 * @bus:	its bus
 * @mem:	the region
 * @len:	size of the region in bytes
 * @peer:	our peer id
 *
 * The device is registered with SMC-D as soon as it has a slot that it may use, possibly later.
 *
 * Return: 0, or a negative errno: then the caller frees the device, not ivs_bus.free.
 */
int ivs_start(struct ivs_dev *d, const struct ivs_bus *bus, void *mem, u64 len, u16 peer);

/**
 * ivs_interrupt() - the bus reports that our doorbell has rung
 * @d:	the device; any context
 */
static inline void ivs_interrupt(struct ivs_dev *d)
{
	tasklet_schedule(&d->signals);
}

/**
 * ivs_leave() - unregister a device that is going away: its connections are reset
 * @d:	the device; its doorbell must still work
 */
void ivs_leave(struct ivs_dev *d);

/**
 * ivs_stop() - stop a device after ivs_leave()
 * @d:	the device, without a doorbell; it is freed when its last user is gone
 */
void ivs_stop(struct ivs_dev *d);

/**
 * ivs_init() - set up what all devices share
 *
 * Return: 0 or -ENOMEM.
 */
int ivs_init(void);

/**
 * ivs_exit() - wait until all devices are freed, after the last ivs_stop()
 */
void ivs_exit(void);

/* pci.c and uml.c, the buses, if the kernel supports them */
int ivs_pci_init(void);
void ivs_pci_exit(void);
int ivs_uml_init(void);
void ivs_uml_exit(void);

#endif /* SMC_IVSHMEM_SHM_H */
