// SPDX-License-Identifier: GPL-2.0
/* A virtio-ism device: start, heartbeat, stop. */
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "vism.h"

/* The largest element size that a CLC message can encode is 16 KiB << MAX_CODE. */
#define MAX_CODE	15

static struct workqueue_struct *vism_wq;
static atomic_t vism_all;
static DECLARE_WAIT_QUEUE_HEAD(vism_freed);

/*
 * The clock counts only time in which this kernel was running.  After a pause of this guest, its
 * peers must not appear silent for that time: they may have been paused as well.
 */
static void advance_clock(struct vism_dev *d)
{
	u64 now = ktime_get_ns() / NSEC_PER_MSEC;

	WRITE_ONCE(d->clock, d->clock + min_t(u64, now - d->looked, 2 * VISM_BEAT_MS));
	d->looked = now;
}

/* ---- references ---- */

static void free_own(struct vism_dev *d)
{
	struct vism_own *own, *next;

	list_for_each_entry_safe(own, next, &d->own, list)
		kfree(own);
}

static void vism_free(struct vism_dev *d)
{
	/* A late vism_signal() may have restarted the timer. */
	hrtimer_cancel(&d->poll);
	vism_end_peers(d);
	vism_end_owed(d);
	free_own(d);
	kvfree(d->window.regions);
	d->bus->free(d);
	if (atomic_dec_and_test(&vism_all))
		wake_up_all(&vism_freed);
}

static void end_work(struct work_struct *work)
{
	vism_free(container_of(work, struct vism_dev, end));
}

/**
 * vism_put() - drop a reference
 * @d: the device
 *
 * Context: any.
 */
void vism_put(struct vism_dev *d)
{
	if (refcount_dec_and_test(&d->ref))
		queue_work(vism_wq, &d->end);
}

static void vism_release(struct smc_ism_dev *ism)
{
	vism_put(to_vism(ism));
}

/* ---- lifetime ---- */

static const struct smc_ism_ops vism_ops = {
	.owner		= THIS_MODULE,
	.query_gid	= vism_query_gid,
	.register_dmb	= vism_register_dmb,
	.lend_dmb	= vism_lend_dmb,
	.withdraw_dmb	= vism_withdraw_dmb,
	.unregister_dmb	= vism_unregister_dmb,
	.map		= vism_map,
	.unmap		= vism_unmap,
	.signal		= vism_signal,
	.release	= vism_release,
};

/* Only this work unregisters the device, as both a loss and a removal may request it. */
static void offline_work(struct work_struct *work)
{
	struct vism_dev *d = container_of(work, struct vism_dev, offline);

	if (!READ_ONCE(d->registered))
		return;
	WRITE_ONCE(d->registered, false);
	mutex_lock(&d->lock);
	WRITE_ONCE(d->state, VISM_LEAVING);
	mutex_unlock(&d->lock);
	smc_ism_unregister(&d->ism);
	smc_ism_put(&d->ism);
}

/**
 * vism_lose() - stop using a device that misbehaves
 * @d: the device
 * @why: the reason, for the log
 *
 * Its connections end.  It stays bound to the driver, without effect, until it is bound anew.
 *
 * Context: any.
 */
void vism_lose(struct vism_dev *d, const char *why)
{
	if (READ_ONCE(d->lost))
		return;
	WRITE_ONCE(d->lost, true);
	pr_err("smc_ism: %s: lost: %s\n", d->ism.name, why);
	queue_work(vism_wq, &d->offline);
}

static void tick_work(struct work_struct *work)
{
	struct vism_dev *d = container_of(to_delayed_work(work), struct vism_dev, tick);

	advance_clock(d);
	vism_beat(d->home, ++d->beat);
	vism_watch_peers(d);
	mutex_lock(&d->lock);
	__vism_collect(d);
	__vism_own_age(d);
	__vism_detach_idle(d);
	mutex_unlock(&d->lock);
	queue_delayed_work(vism_wq, &d->tick, msecs_to_jiffies(VISM_BEAT_MS));
}

/* All that the device tells us about its domain is a number, which is often 0. */
static void name_domain(struct vism_dev *d, u64 domain)
{
	char seid[VISM_SEID_LEN + 1];

	snprintf(seid, sizeof(seid), "VIRTISM-%016llX00000000", domain);
	memcpy(d->seid, seid, VISM_SEID_LEN);
	d->ism.seid = d->seid;
	d->ism.chid = 0xff00 + domain % 0xff;
}

static void set_up(struct vism_dev *d, const struct vism_bus *bus, void *mem, u64 domain)
{
	u64 granules = d->window.size / 2 / VISM_DMB_MIN;

	d->bus = bus;
	d->mem = mem;
	d->ism.ops = &vism_ops;
	d->ism.windowed = true;
	d->ism.max_code = min_t(u32, ilog2(granules), MAX_CODE);
	name_domain(d, domain);
	mutex_init(&d->lock);
	spin_lock_init(&d->dmb_lock);
	INIT_LIST_HEAD(&d->own);
	INIT_LIST_HEAD(&d->owed);
	INIT_DELAYED_WORK(&d->tick, tick_work);
	INIT_WORK(&d->offline, offline_work);
	INIT_WORK(&d->end, end_work);
	vism_poll_init(d);
	refcount_set(&d->ref, 1);
	d->clock = 1;
	d->looked = ktime_get_ns() / NSEC_PER_MSEC;
}

/* Allocate our home.  Its token and nonce are our GID, by which every peer can attach it. */
static int move_in(struct vism_dev *d)
{
	int index;

	mutex_lock(&d->lock);
	index = __vism_alloc(d, &d->ism.gid.id);
	mutex_unlock(&d->lock);
	if (index < 0)
		return index;
	do {
		d->ism.gid.ext = get_random_u64();
	} while (!d->ism.gid.ext);
	d->home = vism_mem(d, index);
	vism_home_begin(d->home, vism_share(&d->window));
	vism_beat(d->home, ++d->beat);
	vism_open(&d->home->head, VISM_HOME, d->ism.gid.ext);
	return 0;
}

static void __move_out(struct vism_dev *d)
{
	lockdep_assert_held(&d->lock);
	__vism_detach(d, ((void *)d->home - d->mem) / d->window.size);
}

static int go_online(struct vism_dev *d)
{
	int rc;

	refcount_inc(&d->ref);
	rc = smc_ism_register(&d->ism);
	if (rc) {
		vism_put(d);
		return rc;
	}
	WRITE_ONCE(d->registered, true);
	/* If it was lost meanwhile, either we see @lost, or the work sees @registered. */
	smp_mb();
	if (READ_ONCE(d->lost))
		queue_work(vism_wq, &d->offline);
	queue_delayed_work(vism_wq, &d->tick, msecs_to_jiffies(VISM_BEAT_MS));
	pr_info("smc_ism: %s: %u regions of %llu KiB, CHID %04x\n", d->ism.name, d->window.n,
		d->window.size >> 10, d->ism.chid);
	return 0;
}

/**
 * vism_start() - start a device
 * @d: zeroed except for ism.name and ism.parent
 * @bus: its bus
 * @id: VISM_ID_*
 * @mem: the window
 * @len: size of the window in bytes
 * @region_size: size of a region, from the configuration space
 * @domain: number of the domain, from the configuration space
 *
 * Return: 0, or a negative errno: then the caller frees the device, not vism_bus.free.
 */
int vism_start(struct vism_dev *d, const struct vism_bus *bus, u32 id, void *mem, u64 len,
	       u64 region_size, u64 domain)
{
	const char *wrong = vism_window_measure(&d->window, id, len, region_size);
	int rc;

	if (wrong) {
		pr_err("smc_ism: %s: this device cannot be used: %s\n", d->ism.name, wrong);
		return -EINVAL;
	}
	d->window.regions = kvcalloc(d->window.n, sizeof(*d->window.regions), GFP_KERNEL);
	if (!d->window.regions)
		return -ENOMEM;
	set_up(d, bus, mem, domain);
	rc = move_in(d);
	if (!rc) {
		atomic_inc(&vism_all);
		rc = go_online(d);
		if (!rc)
			return 0;
		atomic_dec(&vism_all);
		vism_close(&d->home->head);
		mutex_lock(&d->lock);
		__move_out(d);
		mutex_unlock(&d->lock);
	}
	pr_err("smc_ism: %s: cannot start: %d\n", d->ism.name, rc);
	cancel_work_sync(&d->offline);
	kvfree(d->window.regions);
	return rc;
}

/**
 * vism_leave() - unregister a device that is going away: its connections are reset
 * @d: the device
 */
void vism_leave(struct vism_dev *d)
{
	queue_work(vism_wq, &d->offline);
	flush_work(&d->offline);
	/* Stop the heartbeat last: peers should see connections end, not a dead machine. */
	cancel_delayed_work_sync(&d->tick);
}

/**
 * vism_stop() - stop a device after vism_leave()
 * @d: the device; it must execute commands until this function returns
 *
 * Regions with DMBs that are still in use are not given back, nor any if a sender is still copying
 * to a peer.  The device and its window stay mapped until the last connection is gone.
 */
void vism_stop(struct vism_dev *d)
{
	WRITE_ONCE(d->state, VISM_STOPPED);
	/*
	 * With the device, all regions may vanish from the window: wait for vism_signal() and for
	 * what still changes our home.
	 */
	synchronize_rcu();
	hrtimer_cancel(&d->poll);
	mutex_lock(&d->lock);
	/* The device takes care of what peers may write to: it gives no region to others. */
	__vism_collect(d);
	/* Peers rely on it that we write to nothing after this.  Otherwise just go silent. */
	if (!atomic_read(&d->mapped)) {
		vism_close(&d->home->head);
		if (__vism_own_end(d))
			__move_out(d);
	}
	WRITE_ONCE(d->lost, true);
	mutex_unlock(&d->lock);
	cancel_work_sync(&d->offline);
}

/**
 * vism_init() - set up what all devices share
 *
 * Return: 0 or -ENOMEM.
 */
int vism_init(void)
{
	/* WQ_MEM_RECLAIM: the heartbeat must go on when memory is short. */
	vism_wq = alloc_workqueue("smc_ism_virtio", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return vism_wq ? 0 : -ENOMEM;
}

/**
 * vism_exit() - wait until all devices are freed, after the last vism_stop()
 *
 * Connections pin the module, so there are none.  Buffers and link groups may still hold a removed
 * device; SMC-D frees them without waiting for peers.
 */
void vism_exit(void)
{
	wait_event(vism_freed, !atomic_read(&vism_all));
	/* Wait for the end of the callbacks for peers, which have dropped their references. */
	rcu_barrier();
	destroy_workqueue(vism_wq);
	/* Wait for callers that have not returned from vism_release() yet. */
	synchronize_rcu_tasks();
}
