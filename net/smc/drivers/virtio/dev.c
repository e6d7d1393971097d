// SPDX-License-Identifier: GPL-2.0
/* A virtio-ism device: its beginning, its heart, its end. */
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "vism.h"

/* The largest element that a CLC message can name is 16 KiB << this. */
#define MAX_CODE	15

static struct workqueue_struct *vism_wq;
static atomic_t vism_all;
static DECLARE_WAIT_QUEUE_HEAD(vism_freed);

/*
 * Time that was observed.  A guest that was paused has not seen a peer stand still meanwhile, which
 * may have been paused as well.
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
	/* The last signal may have started it once more. */
	hrtimer_cancel(&d->poll);
	vism_end_peers(d);
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

/* ---- life ---- */

static const struct smc_ism_ops vism_ops = {
	.owner		= THIS_MODULE,
	.query_gid	= vism_query_gid,
	.register_dmb	= vism_register_dmb,
	.unregister_dmb	= vism_unregister_dmb,
	.map		= vism_map,
	.unmap		= vism_unmap,
	.signal		= vism_signal,
	.release	= vism_release,
};

/* Alone it says to SMC-D that the device is gone, as both its loss and its end may want it. */
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
 * vism_lose() - the device does not do what it should: nothing is asked of it any more
 * @d: the device
 * @why: the reason, for people
 *
 * Its connections end.  It stays bound to its driver, and does nothing until it is bound anew.
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
	__vism_own_age(d);
	__vism_detach_idle(d);
	mutex_unlock(&d->lock);
	queue_delayed_work(vism_wq, &d->tick, msecs_to_jiffies(VISM_BEAT_MS));
}

/* All that a driver has of the domain is its number, and that is often 0. */
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
	d->ism.max_code = min_t(u32, ilog2(granules), MAX_CODE);
	name_domain(d, domain);
	mutex_init(&d->lock);
	spin_lock_init(&d->dmb_lock);
	INIT_LIST_HEAD(&d->own);
	INIT_DELAYED_WORK(&d->tick, tick_work);
	INIT_WORK(&d->offline, offline_work);
	INIT_WORK(&d->end, end_work);
	vism_poll_init(d);
	refcount_set(&d->ref, 1);
	d->clock = 1;
	d->looked = ktime_get_ns() / NSEC_PER_MSEC;
}

/* A region that every peer with our GID may attach; the GID is its token and its nonce. */
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

/* From now on there may be peers. */
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
	/* It may have been lost since: either we see that, or the work item sees the line above. */
	smp_mb();
	if (READ_ONCE(d->lost))
		queue_work(vism_wq, &d->offline);
	queue_delayed_work(vism_wq, &d->tick, msecs_to_jiffies(VISM_BEAT_MS));
	pr_info("smc_ism: %s: %u regions of %llu KiB, CHID %04x\n", d->ism.name, d->window.n,
		d->window.size >> 10, d->ism.chid);
	return 0;
}

/**
 * vism_start() - make a device
 * @d: zeroed, with ism.name and ism.parent set
 * @bus: its bus
 * @id: VISM_ID_*
 * @mem: the window
 * @len: its bytes
 * @region_size: as the device says
 * @domain: the same
 *
 * Return: 0 or a negative errno: then vism_bus.free is not called.
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
	pr_err("smc_ism: %s: does not start: %d\n", d->ism.name, rc);
	cancel_work_sync(&d->offline);
	kvfree(d->window.regions);
	return rc;
}

/**
 * vism_leave() - the device is going: no connection uses it any more
 * @d: the device
 */
void vism_leave(struct vism_dev *d)
{
	queue_work(vism_wq, &d->offline);
	flush_work(&d->offline);
	/* Until here the heart has beaten on, as connections end in order. */
	cancel_delayed_work_sync(&d->tick);
}

/**
 * vism_stop() - end a device after vism_leave()
 * @d: the device, which takes commands until this returns
 *
 * What connections still have that have not been closed stays where it is, and the device with its
 * window stays mapped until they are.
 */
void vism_stop(struct vism_dev *d)
{
	WRITE_ONCE(d->state, VISM_STOPPED);
	hrtimer_cancel(&d->poll);
	vism_close(&d->home->head);
	mutex_lock(&d->lock);
	if (__vism_own_end(d))
		__move_out(d);
	WRITE_ONCE(d->lost, true);
	mutex_unlock(&d->lock);
	cancel_work_sync(&d->offline);
}

/**
 * vism_init() - before the first device
 *
 * Return: 0 or -ENOMEM.
 */
int vism_init(void)
{
	/* A heart must not stop for want of memory. */
	vism_wq = alloc_workqueue("smc_ism_virtio", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return vism_wq ? 0 : -ENOMEM;
}

/**
 * vism_exit() - after the last vism_stop(): waits until all devices are freed
 *
 * A connection holds the module.  What is left of a device that was just removed, such as buffers
 * without users, SMC-D gives back without waiting for anybody.
 */
void vism_exit(void)
{
	wait_event(vism_freed, !atomic_read(&vism_all));
	destroy_workqueue(vism_wq);
	/* A caller of vism_release() may not have returned from it yet. */
	synchronize_rcu_tasks();
}
