// SPDX-License-Identifier: GPL-2.0
/*
 * Regions come into the window and leave it: the commands of the device.
 */
#include <linux/rcupdate.h>
#include "vism.h"

/*
 * Of one region the first form of the device may show us several, as it takes none away: one of a
 * process that has ended, whose number another one has got.  The second form would not know which
 * of them to take away.
 */
static u32 views(const struct vism_window *w)
{
	return w->id == VISM_ID_OFFSET ? 2 : 1;
}

/* 0 or a negative errno: -EIO if it could not be done, -ENODEV if the device is lost. */
static int __command(struct vism_dev *d, u8 class, u64 value, struct vism_answer *a)
{
	struct vism_request request = {
		.class = class,
		.payload = { cpu_to_le64(value), cpu_to_le64(VISM_READ_WRITE) },
	};
	u8 answer[VISM_ANSWER_MAX] = {};
	u32 id = d->window.id;
	int rc;

	lockdep_assert_held(&d->lock);
	if (READ_ONCE(d->lost))
		return -ENODEV;
	rc = d->bus->command(d, &request, vism_request_len(id, class), answer,
			     vism_answer_len(id, class));
	if (rc < 0) {
		vism_lose(d, "it does not answer");
		return -ENODEV;
	}
	rc = vism_judge(&d->window, class, answer, rc, a);
	if (rc == -EPROTO) {
		vism_lose(d, "it gives a wrong answer");
		return -ENODEV;
	}
	return rc;
}

/* Note the region that the device has put there, by its own account. */
static int __take(struct vism_dev *d, enum vism_use use, u64 token, u64 boot, u64 offset)
{
	bool was_full = d->window.full;
	int index = vism_take(&d->window, use, token, boot, offset);

	lockdep_assert_held(&d->lock);
	if (index == -EPROTO) {
		vism_lose(d, "it shows a region where none can be");
		return -ENODEV;
	}
	if (index < 0 && !was_full)
		pr_warn("smc_ism: %s: its window is full, until this machine is started anew\n",
			d->ism.name);
	return index;
}

/**
 * __vism_alloc() - a region of our own, for as long as we want it
 * @d: the device
 * @token: receives the device's token
 *
 * Return: its index, or a negative errno.
 */
int __vism_alloc(struct vism_dev *d, u64 *token)
{
	struct vism_answer a;
	int rc;

	lockdep_assert_held(&d->lock);
	if (!vism_may_ask(&d->window, VISM_OWN))
		return -ENOSPC;
	rc = __command(d, VISM_ALLOC, d->window.size, &a);
	if (rc)
		return rc;
	if (vism_find(&d->window, VISM_OWN, a.token, 0) >= 0) {
		vism_lose(d, "it gives the same region twice");
		return -ENODEV;
	}
	*token = a.token;
	return __take(d, VISM_OWN, a.token, 0, a.offset);
}

/* One that is there already; or -ENOENT, if another view of it may be asked for. */
static int __find_view(struct vism_dev *d, u64 token, u64 magic, u64 nonce)
{
	struct vism_window *w = &d->window;
	u32 n = 0;
	int i;

	lockdep_assert_held(&d->lock);
	for (i = vism_find(w, VISM_ATTACHED, token, 0); i >= 0;
	     i = vism_find(w, VISM_ATTACHED, token, i + 1)) {
		if (vism_is(vism_mem(d, i), magic, nonce))
			return i;
		/* Not that one any more. */
		if (w->id == VISM_ID_OFFSET || vism_region_used(&w->regions[i]))
			n++;
		else
			__vism_detach(d, i);
	}
	return n < views(w) ? -ENOENT : -ENOSPC;
}

/**
 * __vism_attach() - a region of a peer
 * @d: the device
 * @token: of the region, as somebody says
 * @magic: the kind that it must be
 * @nonce: and which one
 * @boot: second half of the GID of the peer, which is allowed a part of the window
 *
 * Return: its index, of which the caller may take a reference before it drops the lock; or a
 * negative errno.
 */
int __vism_attach(struct vism_dev *d, u64 token, u64 magic, u64 nonce, u64 boot)
{
	struct vism_window *w = &d->window;
	struct vism_answer a;
	int rc;

	lockdep_assert_held(&d->lock);
	/* A peer has no business with our own. */
	if (!token || vism_find(w, VISM_OWN, token, 0) >= 0)
		return -ENOENT;
	rc = __find_view(d, token, magic, nonce);
	if (rc != -ENOENT)
		return rc;
	if (!vism_may_ask(w, VISM_ATTACHED) || vism_count_of(w, boot) > vism_share(w))
		return -ENOSPC;
	rc = __command(d, VISM_ATTACH, token, &a);
	if (rc)
		return rc;
	rc = __take(d, VISM_ATTACHED, token, boot, a.offset);
	if (rc < 0 || vism_is(vism_mem(d, rc), magic, nonce))
		return rc;
	__vism_detach(d, rc);
	return -ENOENT;
}

/**
 * __vism_detach() - a region is not needed any more, and nobody uses it
 * @d: the device
 * @index: of the region
 *
 * Where the device takes nothing away, it stays as it is.
 */
void __vism_detach(struct vism_dev *d, u32 index)
{
	struct vism_window *w = &d->window;
	struct vism_answer a;

	lockdep_assert_held(&d->lock);
	if (w->id == VISM_ID_OFFSET)
		return;
	/* To touch it afterwards ends this machine: wait for signals to a peer that was there. */
	synchronize_rcu();
	if (!__command(d, VISM_DETACH, w->regions[index].token, &a))
		vism_give(w, index);
}

/**
 * __vism_detach_idle() - a beat has passed: give back what was not used for some time
 * @d: the device
 */
void __vism_detach_idle(struct vism_dev *d)
{
	struct vism_window *w = &d->window;
	u32 i;

	lockdep_assert_held(&d->lock);
	if (w->id == VISM_ID_OFFSET)
		return;
	for (i = 0; i < w->high; i++)
		if (w->regions[i].use == VISM_ATTACHED && vism_idle(&w->regions[i]) >= VISM_REST)
			__vism_detach(d, i);
}
