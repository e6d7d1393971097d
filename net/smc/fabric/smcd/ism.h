/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of ISM devices (internal shared memory).  Drivers are modules of their own, and
 * include nothing else of this one.
 *
 * A device lets its peers write into buffers that it has registered (DMBs).  There are two kinds:
 * - mapped: a peer's buffer is in our address space.  We write into it, then have the device
 *   signal the peer (ivshmem, virtio-ism).
 * - copying: the device writes into the peer's buffer for us, and signals with it (IBM's ISM).
 *
 * Everything that is read from memory that a peer can write is hostile: see security.md.
 */
#ifndef SMC_FABRIC_SMCD_ISM_H
#define SMC_FABRIC_SMCD_ISM_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct device;
struct smc_ism_dev;
struct smc_ism_dmb;

/* Instead of a VLAN: SMC-Dv2 knows none, and has this reserved id. */
#define SMC_ISM_ANY_VLAN	0x1fff
/* SMC-Dv1: packets of the connection have no tag. */
#define SMC_ISM_NO_VLAN		0xffff

static inline bool smc_ism_is_vlan(u16 vlan)
{
	return vlan != SMC_ISM_NO_VLAN && vlan != SMC_ISM_ANY_VLAN;
}

#define SMC_ISM_PNETID_LEN	16
/* VLANs that a device can be in at once. */
#define SMC_ISM_VLANS		64

/**
 * struct smc_ism_gid - names a device to its peers
 * @id:		the whole GID, or the first half of an extended one
 * @ext:	second half of an extended GID, else 0
 */
struct smc_ism_gid {
	u64	id;
	u64	ext;
};

static inline bool smc_ism_gid_equal(const struct smc_ism_gid *a, const struct smc_ism_gid *b)
{
	return a->id == b->id && a->ext == b->ext;
}

/**
 * struct smc_ism_dmb - a buffer that peers may write into
 * @dev:	the device; set by SMC-D, like the two that follow
 * @size:	bytes, 16 KiB << n
 * @vlan:	of its connections, see @query_gid
 * @mem:	its memory, in our address space; set by register_dmb, like the rest
 * @token:	names it to peers; no two DMBs of a device have the same one within any
 *		reasonable time
 * @priv:	the driver's
 * @conn:	SMC-D's: the connection that it serves; RCU
 */
struct smc_ism_dmb {
	struct smc_ism_dev	*dev;
	u32			size;
	u16			vlan;
	void			*mem;
	u64			token;
	void			*priv;
	void __rcu		*conn;
};

/**
 * struct smc_ism_vlan - a VLAN that a device is in
 * @id:		the VLAN
 * @n_lgrs:	link groups that need it
 */
struct smc_ism_vlan {
	u16	id;
	u32	n_lgrs;
};

/**
 * struct smc_ism_ops - calls of a driver; a driver of one kind has the functions of that kind
 * @owner:	THIS_MODULE, which stays as long as a handshake or a connection uses the device.
 *		Its exit waits for @release of its devices: there are no such users then, and what
 *		is left of link groups goes soon
 * @query_gid:	is a peer there?  @vlan is SMC_ISM_ANY_VLAN for SMC-Dv2; for SMC-Dv1 a VLAN that
 *		both are in, or SMC_ISM_NO_VLAN.  0 or a negative errno.  May sleep.
 * @vlan_add:	join a VLAN, for a device of version 1.  0 or a negative errno.  May sleep.
 * @vlan_del:	leave it.  The device may be gone.  May sleep.
 * @register_dmb: give @dmb memory of @dmb->size bytes, zeroed, that @peer may write into, and make
 *		it known.  0; -ENOMEM: perhaps a smaller one; -ENODEV: the device is gone.
 *		May sleep.
 * @unregister_dmb: undo that.  smc_ism_signaled() is not called for @dmb once this has returned.
 *		The device may be gone.  May sleep.
 * @map:	mapped: a peer's DMB of @bytes in our address space.  ERR_PTR where there is no such
 *		DMB.  May sleep.
 * @unmap:	mapped: undo that.  Any context.
 * @signal:	mapped: tell the peer that its DMB has been written to.  What was written before is
 *		visible to it by then.  Any context but hard interrupts.
 * @move:	copying: write @len bytes to @offset of a peer's DMB, and tell it with @signal.
 *		0 or a negative errno: then nothing may have been written.  Any context but hard
 *		interrupts.
 * @release:	smc_ism_put() was called, and the last user has gone.  Any context.
 *
 * A function may be called until @release is; once the device is gone it may fail or do nothing.
 */
struct smc_ism_ops {
	struct module *owner;
	int (*query_gid)(struct smc_ism_dev *dev, const struct smc_ism_gid *peer, u16 vlan);
	int (*vlan_add)(struct smc_ism_dev *dev, u16 vlan);
	void (*vlan_del)(struct smc_ism_dev *dev, u16 vlan);
	int (*register_dmb)(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb,
			    const struct smc_ism_gid *peer);
	void (*unregister_dmb)(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb);
	void *(*map)(struct smc_ism_dev *dev, const struct smc_ism_gid *peer, u64 token, u32 bytes);
	void (*unmap)(struct smc_ism_dev *dev, void *mem);
	void (*signal)(struct smc_ism_dev *dev, const struct smc_ism_gid *peer, u64 token);
	int (*move)(struct smc_ism_dev *dev, u64 token, u32 offset, const void *data, u32 len,
		    bool signal);
	void (*release)(struct smc_ism_dev *dev);
};

/**
 * struct smc_ism_dev - a device; embedded by its driver, which sets the first part
 * @ops:	calls of its driver
 * @name:	for people, unique, lives as long as the device
 * @parent:	the bus device, for netlink; may be NULL
 * @gid:	its GID
 * @chid:	the network of devices it can reach: 0xff00 to 0xfffe for one with extended GIDs
 * @max_code:	largest DMB, in compressed notation: 16 KiB << n
 * @seid:	system EID of all devices that can be reached, 32 bytes, or NULL
 * @v1:		it serves SMC-Dv1: it has a GID of 64 bits, and the functions for VLANs
 * @no_v2:	it does not serve SMC-Dv2
 * @self:	it reaches its own DMBs, so both ends of a connection may be in this kernel
 * @pnetid:	the physical network that it belongs to without a table, or blank
 * @list:	SMC-D's, as what follows: in the list of devices
 * @number:	never given twice
 * @ref:	references; the last one calls @ops->release
 * @gone:	unregistered
 * @n_lgrs:	link groups on it
 * @vlan_lock:	protects the two members that follow
 * @n_vlans:	how many VLANs it is in
 * @vlans:	these, the one that was asked for last at the end
 */
struct smc_ism_dev {
	const struct smc_ism_ops *ops;
	const char		*name;
	struct device		*parent;
	struct smc_ism_gid	gid;
	u16			chid;
	u8			max_code;
	const u8		*seid;
	bool			v1;
	bool			no_v2;
	bool			self;
	char			pnetid[SMC_ISM_PNETID_LEN + 1];

	struct list_head	list;
	u32			number;
	refcount_t		ref;
	bool			gone;
	atomic_t		n_lgrs;
	struct mutex		vlan_lock;
	unsigned int		n_vlans;
	struct smc_ism_vlan	vlans[SMC_ISM_VLANS];
};

/*
 * Process context, may sleep.  After smc_ism_unregister() no new connection uses the device, and
 * those that there are lose their peers.  Then the driver takes the device away, and calls
 * smc_ism_put().
 */
int smc_ism_register(struct smc_ism_dev *dev);
void smc_ism_unregister(struct smc_ism_dev *dev);
void smc_ism_put(struct smc_ism_dev *dev);

/*
 * Events that a driver reports.
 * smc_ism_signaled(): a peer has written to a DMB of ours, and has said so.  Any context but hard
 * interrupts.
 * smc_ism_gid_gone(): a peer has ended, or what has its GID is not what it was.  Process context.
 */
void smc_ism_signaled(struct smc_ism_dmb *dmb);
void smc_ism_gid_gone(struct smc_ism_dev *dev, const struct smc_ism_gid *peer);

#endif
