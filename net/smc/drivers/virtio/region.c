// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of the device, which make regions appear in the window and disappear from it.
 */
#include "vism.h"

/*
 * How often the same token may be attached.  VISM_ID_OFFSET never takes a region away: if a process
 * has ended, its region remains in the window after another process has got its number, and thereby
 * its tokens.  With VISM_ID_TOKEN a DETACH could not tell which of two regions is meant.
 */
static u32 views(const struct vism_window *w)
{
	return w->id == VISM_ID_OFFSET ? 2 : 1;
}

/* Returns 0; -EIO if the command failed; -ENODEV if the device is lost. */
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

/* Record a region where the device says it is.  Returns its index or a negative errno. */
static int __take(struct vism_dev *d, enum vism_use use, u64 token, u64 boot, u64 offset)
{
	bool was_full = d->window.full;
	int index = vism_take(&d->window, use, token, boot, offset);

	lockdep_assert_held(&d->lock);
	if (index == -EPROTO) {
		vism_lose(d, "it reports a region at an impossible offset");
		return -ENODEV;
	}
	if (index < 0 && !was_full)
		pr_warn("smc_ism: %s: its window is full until QEMU is restarted\n",
			d->ism.name);
	return index;
}

/**
 * __vism_alloc() - allocate a region of our own
 * @d: the device
 * @token: receives the device's token of the region
 *
 * Return: the index of the region, or a negative errno.
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
		vism_lose(d, "it allocated the same region twice");
		return -ENODEV;
	}
	*token = a.token;
	return __take(d, VISM_OWN, a.token, 0, a.offset);
}

/* Find an attached region.  Returns its index; -ENOENT: ask the device for it; -ENOSPC: do not. */
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
		/* This region is stale: its magic or nonce has changed. */
		if (w->id == VISM_ID_OFFSET || vism_region_used(&w->regions[i]))
			n++;
		else
			__vism_detach(d, i);
	}
	return n < views(w) ? -ENOENT : -ENOSPC;
}

/**
 * __vism_attach() - attach a region of a peer
 * @d: the device
 * @token: token of the region, as the peer says
 * @magic: expected magic
 * @nonce: expected nonce
 * @boot: second half of the GID of the peer, whose share of the window this counts for
 *
 * Return: the index of the region, or a negative errno.  A caller that goes on using the region
 * takes a reference before it drops the lock.
 */
int __vism_attach(struct vism_dev *d, u64 token, u64 magic, u64 nonce, u64 boot)
{
	struct vism_window *w = &d->window;
	struct vism_answer a;
	int rc;

	lockdep_assert_held(&d->lock);
	/* A peer must not make us use our own regions as its own. */
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
 * __vism_detach() - detach a region that nobody uses
 * @d: the device
 * @index: index of the region
 *
 * An access after the DETACH kills this machine.  VISM_ID_OFFSET never takes regions away, so
 * nothing happens there.
 */
void __vism_detach(struct vism_dev *d, u32 index)
{
	struct vism_window *w = &d->window;
	struct vism_answer a;

	lockdep_assert_held(&d->lock);
	if (w->id == VISM_ID_OFFSET)
		return;
	if (!__command(d, VISM_DETACH, w->regions[index].token, &a))
		vism_give(w, index);
}

/**
 * __vism_detach_idle() - detach regions that were not used for some time; called once per beat
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
