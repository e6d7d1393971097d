/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An ISM device over a region of shared memory, whatever brings the region and the doorbell.
 *
 * Locks, outermost first; tools/testing/house/locks.py holds the list against the source.
 *
 *  ivs_dev.alloc_lock		(mutex) what of our share is in use
 *  ivs_dev.dmb_lock		(spinlock) the table of our DMBs; smc_ism_signaled() is called under
 *				it, so no DMB ends meanwhile
 *  ivs_dev.peer_lock		(spinlock) what we know of peers; a leaf
 *  ivs_all_lock		(spinlock) how many devices there are; a leaf
 *
 * References: the bus has one from ivs_start() to ivs_stop(), SMC-D one while the device is
 * registered and used.  The last one to go gives the slot back, then the mapping, then the memory.
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
 * struct ivs_bus - the bus that has the region and the doorbell
 * @ring:	ring the doorbell of a peer; any context
 * @free:	undo the mapping, and free the device; process context
 */
struct ivs_bus {
	void (*ring)(struct ivs_dev *d, u16 peer);
	void (*free)(struct ivs_dev *d);
};

/**
 * enum ivs_state - how far a device is
 * @IVS_SEEKING:	it waits for a slot
 * @IVS_RESTING:	it has one, and waits until nobody uses the share of its former owner
 * @IVS_UP:		registered with SMC-D
 * @IVS_LEAVING:	about to go
 * @IVS_LOST:		its end, or somebody took the slot, or SMC-D did not want it
 *
 * Changed by the work item only, and by ivs_leave() and ivs_stop() while that does not run.
 */
enum ivs_state {
	IVS_SEEKING,
	IVS_RESTING,
	IVS_UP,
	IVS_LEAVING,
	IVS_LOST,
};

/**
 * struct ivs_peer - the owner of a slot
 * @watch:	its heartbeat
 * @known:	as it was when SMC-D asked for it
 * @is_known:	SMC-D did, and has not been told since that it is gone
 */
struct ivs_peer {
	struct ivs_watch	watch;
	struct ivs_view		known;
	bool			is_known;
};

/**
 * struct ivs_dev - a device; embedded by its bus, zeroed
 * @ism:	the device as SMC-D sees it
 * @bus:	set by ivs_start(), like the rest
 * @region:	the shared memory
 * @seid:	system EID of the domain
 * @state:	enum ivs_state
 * @peer:	our peer id
 * @slot:	ours, once there is one
 * @owner:	the value that we wrote into its owner word
 * @clock:	ms that were observed
 * @looked:	when it was advanced, in ms of the kernel's clock
 * @rest:	when the time of resting is over, by @clock
 * @tick:	heartbeat, and a look at the peers
 * @ref:	references
 * @end:	frees it, since memory is not unmapped in every context
 * @signals:	takes and reports the DMBs that peers have marked
 * @pending:	words of the dirty bitmap that are yet to be taken; of @signals alone
 * @alloc_lock:	protects the four members that follow
 * @units:	bitmap of the units of our share in use
 * @numbers:	bitmap of the DMBs in use
 * @next_unit:	where to look for the next one, so that memory rests before it is used again
 * @next_number: the same
 * @dmb_lock:	protects @dmbs
 * @dmbs:	by number
 * @peer_lock:	protects @peers
 * @peers:	by slot
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

	struct mutex		alloc_lock;
	unsigned long		*units;
	unsigned long		numbers[IVS_DMBS / BITS_PER_LONG];
	u32			next_unit;
	u32			next_number;

	spinlock_t		dmb_lock;
	struct smc_ism_dmb	*dmbs[IVS_DMBS];

	spinlock_t		peer_lock;
	struct ivs_peer		peers[IVS_SLOTS_MAX];
};

/**
 * ivs_start() - make a device
 * @d:		zeroed, with ism.name and ism.parent set
 * @bus:	its bus
 * @mem:	the region
 * @len:	its bytes
 * @peer:	our peer id
 *
 * The device is registered with SMC-D now, or when it has a slot that it may use.
 *
 * Return: 0 or a negative errno: then ivs_bus.free is not called.
 */
int ivs_start(struct ivs_dev *d, const struct ivs_bus *bus, void *mem, u64 len, u16 peer);

/**
 * ivs_interrupt() - the doorbell has rung
 * @d:	the device; any context
 */
static inline void ivs_interrupt(struct ivs_dev *d)
{
	tasklet_schedule(&d->signals);
}

/**
 * ivs_leave() - the device is going: no connection uses it any more
 * @d:	the device, whose doorbell still rings
 */
void ivs_leave(struct ivs_dev *d);

/**
 * ivs_stop() - end a device after ivs_leave()
 * @d:	the device, whose doorbell does not ring any more; it is freed when its last user has gone
 */
void ivs_stop(struct ivs_dev *d);

/**
 * ivs_init() - before the first device
 *
 * Return: 0 or -ENOMEM.
 */
int ivs_init(void);

/**
 * ivs_exit() - after the last ivs_stop(): waits until all devices are freed
 */
void ivs_exit(void);

/* The buses of devices, where the kernel has them. */
int ivs_pci_init(void);
void ivs_pci_exit(void);
int ivs_uml_init(void);
void ivs_uml_exit(void);

#endif /* SMC_IVSHMEM_SHM_H */
