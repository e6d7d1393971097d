// SPDX-License-Identifier: GPL-2.0
/*
 * For tests: a User Mode Linux kernel has a file of the host as its window, iomem=ism,FILE on the
 * command line, and shares it with another one.  Each kernel allocates regions from its half, and
 * attaching a region of the other half needs no action.  So this device is simple, and it can
 * inject faults.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include "../uml_plugged.h"
#include "vism.h"

#define REGION_SIZE	0x100000
#define MAX_REGIONS	1024
/* The high half of a token is a process number. */
#define PID_OF(peer)	(1000 + (peer))

static ushort peer;
module_param(peer, ushort, 0444);
MODULE_PARM_DESC(peer, "half of the memory that is ours: 0 or 1");

static uint form = VISM_ID_OFFSET;
module_param(form, uint, 0444);
MODULE_PARM_DESC(form, "device ID, which selects the form: 43 or 44");

/* Faults to inject; the same ones as in tools/testing/qemu/smc/virtio-ism.c. */
enum fault {
	FAULT_NONE,
	FAULT_FAIL,
	FAULT_SILENT,
	FAULT_SHORT,
	FAULT_OUTSIDE,
	FAULT_OVERLAP,
	FAULT_GARBAGE,
	FAULT_LATE,
};

static uint fault;
module_param(fault, uint, 0600);
MODULE_PARM_DESC(fault, "fault to inject, in the low byte; the command it affects, in the next byte");

/**
 * struct vism_uml - the device
 * @dev:	the device as the rest of the driver sees it
 * @n:		number of regions in each half
 * @used:	bitmap of the regions in use in our half
 * @last:	next region to allocate.  With VISM_ID_OFFSET none is allocated twice, with
 *		VISM_ID_TOKEN as late as possible: the real device has another file then, so that
 *		late writes hit nobody
 */
struct vism_uml {
	struct vism_dev	dev;
	u32		n;
	unsigned long	used[MAX_REGIONS / BITS_PER_LONG];
	u32		last;
};

static struct vism_uml *vism_uml;

static struct vism_uml *to_uml(struct vism_dev *d)
{
	return container_of(d, struct vism_uml, dev);
}

static u64 token_of(const struct vism_uml *v, u32 index)
{
	return (u64)PID_OF(index / v->n) << 32 | index;
}

/* Returns the index of the region in the window, or -1. */
static long alloc(struct vism_uml *v)
{
	u32 at = form == VISM_ID_OFFSET ? v->last : find_next_zero_bit(v->used, v->n, v->last);

	if (at >= v->n && form == VISM_ID_TOKEN)
		at = find_first_zero_bit(v->used, v->n);
	if (at >= v->n)
		return -1;
	v->last = at + 1;
	set_bit(at, v->used);
	return peer * v->n + at;
}

static long attach(struct vism_uml *v, u64 token)
{
	u32 index = token;

	return index / v->n == !peer && token == token_of(v, index) ? index : -1;
}

static long detach(struct vism_uml *v, u64 token)
{
	u32 index = token;

	if (token != token_of(v, index) || index >= 2 * v->n)
		return -1;
	if (index / v->n == peer)
		clear_bit(index % v->n, v->used);
	return 0;
}

static u32 area(u8 *to, u64 offset)
{
	if (form == VISM_ID_OFFSET) {
		put_unaligned_le64(offset, to);
		return 8;
	}
	put_unaligned_le64(1, to);
	put_unaligned_le64(offset, to + 8);
	put_unaligned_le64(REGION_SIZE, to + 16);
	return 24;
}

static u32 reply(struct vism_uml *v, u8 class, u64 index, u8 *to)
{
	u64 offset = index * REGION_SIZE;
	u8 *p = to;

	*p++ = 0;
	if ((u8)fault == FAULT_OUTSIDE && fault >> 8 == class)
		offset = 2ull * v->n * REGION_SIZE;
	if ((u8)fault == FAULT_OVERLAP && fault >> 8 == class)
		offset = (u64)peer * v->n * REGION_SIZE;
	if (class == VISM_ALLOC) {
		put_unaligned_le64(token_of(v, index), p);
		p += 8;
	}
	if (class != VISM_DETACH)
		p += area(p, offset);
	return p - to;
}

/* Faults that do not depend on the result of the command. */
static bool faulty(u8 class, u8 *answer, u32 answer_len, int *len)
{
	if (fault >> 8 != class)
		return false;
	switch ((u8)fault) {
	case FAULT_FAIL:
		answer[0] = 0xff;
		*len = 1;
		return true;
	case FAULT_SILENT:
	case FAULT_LATE:
		*len = -ETIMEDOUT;
		return true;
	case FAULT_SHORT:
		answer[0] = 0;
		*len = class == VISM_DETACH ? 0 : 1;
		return true;
	case FAULT_GARBAGE:
		memset(answer + 1, 0x5a, answer_len - 1);
		answer[0] = 0;
		*len = answer_len;
		return true;
	}
	return false;
}

static int uml_command(struct vism_dev *d, const struct vism_request *request, u32 len, u8 *answer,
		       u32 answer_len)
{
	u64 value = le64_to_cpu(request->payload[0]);
	struct vism_uml *v = to_uml(d);
	long index = -1;
	int said;

	if (faulty(request->class, answer, answer_len, &said))
		return said;
	switch (request->class) {
	case VISM_ALLOC:
		index = alloc(v);
		break;
	case VISM_ATTACH:
		index = attach(v, value);
		break;
	case VISM_DETACH:
		index = detach(v, value);
		break;
	}
	if (index >= 0)
		return reply(v, request->class, index, answer);
	answer[0] = 0xff;
	return 1;
}

static void uml_free(struct vism_dev *d)
{
	kvfree(to_uml(d));
}

static const struct vism_bus uml_bus = {
	.command	= uml_command,
	.free		= uml_free,
};

static int plug(void *mem, unsigned long len)
{
	struct vism_uml *v;
	int rc;

	if (peer > 1)
		return -EINVAL;
	v = kvzalloc(sizeof(*v), GFP_KERNEL);
	if (!v)
		return -ENOMEM;
	v->n = min_t(u32, len / REGION_SIZE / 2, MAX_REGIONS);
	v->dev.ism.name = "virtio-ism";
	rc = vism_start(&v->dev, &uml_bus, form, mem, len, REGION_SIZE, 0);
	if (rc)
		kvfree(v);
	else
		vism_uml = v;
	return rc;
}

static void unplug(void)
{
	vism_leave(&vism_uml->dev);
	vism_stop(&vism_uml->dev);
	vism_put(&vism_uml->dev);
	vism_uml = NULL;
}

/**
 * vism_uml_init() - plug the device in if the kernel has a window
 *
 * Return: 0 or a negative errno.
 */
int vism_uml_init(void)
{
	return uml_plug(true);
}

/**
 * vism_uml_exit() - unplug the device
 */
void vism_uml_exit(void)
{
	uml_plug(false);
}
