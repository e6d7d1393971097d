/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The driver interface of ISM devices (internal shared memory).  Drivers are separate modules, and
 * include no other header of this one.
 *
 * A device lets peers write into buffers that are registered with it (DMBs).  There are two kinds:
 * - mapped: the peer's buffer is in our address space.  We write into it, then have the device
 *   signal the peer (ivshmem, virtio-ism).
 * - copying: the device writes into the peer's buffer for us, and signals the peer (IBM's ISM).
 *
 * Do not trust anything that is read from memory that a peer can write: see security.md.
 */
#ifndef SMC_FABRIC_SMCD_ISM_H
#define SMC_FABRIC_SMCD_ISM_H

#include <linux/bitops.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct device;
struct smc_ism_dev;
struct smc_ism_dmb;

/* For memory of a DMB or a peer, as SMC_GFP_CHARGED: whoever the DMB is for is charged. */
#define SMC_ISM_GFP		(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* SMC-Dv2 has no VLANs and uses this reserved id instead. */
#define SMC_ISM_ANY_VLAN	0x1fff
/* SMC-Dv1: the packets of the connection are untagged. */
#define SMC_ISM_NO_VLAN		0xffff

static inline bool smc_ism_is_vlan(u16 vlan)
{
	return vlan != SMC_ISM_NO_VLAN && vlan != SMC_ISM_ANY_VLAN;
}

#define SMC_ISM_PNETID_LEN	16
/* Maximum of VLANs that a device can be in at the same time. */
#define SMC_ISM_VLANS		64

/**
 * struct smc_ism_gid - address of a device
 * @id:		the GID, or the first half of an extended GID
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
 * @dev:	the device; SMC-D sets this, @size and @vlan
 * @size:	size in bytes, 16 KiB << n
 * @vlan:	VLAN of its connections, see @query_gid
 * @mem:	its memory in our address space; register_dmb sets this, @token and @priv
 * @token:	names the DMB to peers; a device must not reuse a token within any reasonable
 *		time
 * @priv:	private data of the driver
 * @in_doubt:	from SMC-D to unregister_dmb: the peer may write to the DMB, possibly for ever
 * @conn:	for SMC-D: the connection that uses the DMB; RCU
 */
struct smc_ism_dmb {
	struct smc_ism_dev	*dev;
	u32			size;
	u16			vlan;
	void			*mem;
	u64			token;
	void			*priv;
	bool			in_doubt;
	void __rcu		*conn;
};

/**
 * struct smc_ism_vlan - a VLAN that a device has joined
 * @id:		VLAN id
 * @n_lgrs:	number of link groups that need it
 */
struct smc_ism_vlan {
	u16	id;
	u32	n_lgrs;
};

/**
 * struct smc_ism_ops - functions of a driver; each kind of device requires those of its kind
 * @owner:	THIS_MODULE, which is pinned while a handshake or a connection uses a device.  The
 *		exit function of the module waits for @release of its devices; only link groups
 *		can hold them then, and these end soon
 * @query_gid:	is a peer reachable?  @vlan is SMC_ISM_ANY_VLAN for SMC-Dv2; for SMC-Dv1 it is a
 *		VLAN that both ends must be in, or SMC_ISM_NO_VLAN.  Returns 0 or a negative errno.
 *		May sleep.
 * @vlan_add:	join a VLAN; for SMC-Dv1.  Returns 0 or a negative errno.  May sleep.
 * @vlan_del:	leave a VLAN.  The device may be gone.  May sleep.
 * @register_dmb: allocate @dmb->size bytes of zeroed memory that @peer may write into, and
 *		register it.  Returns 0; -ENOMEM: a smaller size may succeed; -ENODEV: the device
 *		is gone.  May sleep.
 * @lend_dmb:	a connection gets @dmb; an earlier one, if any, has ended on both sides.  May be
 *		NULL
 * @withdraw_dmb: let no peer attach @dmb any more, until @lend_dmb.  Returns false if a peer may
 *		have attached it.  NULL if the device cannot tell.  Any context but hard interrupts
 * @unregister_dmb: undo @register_dmb.  After it has returned, the driver must not call
 *		smc_ism_signaled() for @dmb.  If @dmb->in_doubt, its memory must go to nobody else
 *		before the peer has let go: see smc_ism_has_last_word().  The device may be gone.
 *		May sleep.
 * @map:	mapped: map a peer's DMB of @bytes into our address space.  Returns ERR_PTR if there
 *		is no such DMB.  May sleep.
 * @unmap:	mapped: undo @map.  Any context.
 * @signal:	mapped: tell the peer that its DMB was written to.  All earlier writes must be
 *		visible to the peer by then.  Any context but hard interrupts.
 * @move:	copying: write @len bytes to @offset of a peer's DMB, and signal the peer if
 *		@signal is set.  Returns 0, or a negative errno: then the data may not have been
 *		written.  Any context but hard interrupts.
 * @release:	the last user is gone after smc_ism_put().  Any context.
 *
 * All functions may be called until @release is called.  Once the device is gone, they may fail or
 * do nothing.
 */
struct smc_ism_ops {
	struct module *owner;
	int (*query_gid)(struct smc_ism_dev *dev, const struct smc_ism_gid *peer, u16 vlan);
	int (*vlan_add)(struct smc_ism_dev *dev, u16 vlan);
	void (*vlan_del)(struct smc_ism_dev *dev, u16 vlan);
	int (*register_dmb)(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb,
			    const struct smc_ism_gid *peer);
	void (*lend_dmb)(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb);
	bool (*withdraw_dmb)(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb);
	void (*unregister_dmb)(struct smc_ism_dev *dev, struct smc_ism_dmb *dmb);
	void *(*map)(struct smc_ism_dev *dev, const struct smc_ism_gid *peer, u64 token, u32 bytes);
	void (*unmap)(struct smc_ism_dev *dev, void *mem);
	void (*signal)(struct smc_ism_dev *dev, const struct smc_ism_gid *peer, u64 token);
	int (*move)(struct smc_ism_dev *dev, u64 token, u32 offset, const void *data, u32 len,
		    bool signal);
	void (*release)(struct smc_ism_dev *dev);
};

/**
 * struct smc_ism_dev - an ISM device, embedded by its driver; the driver sets @ops to @pnetid
 * @ops:	functions of the driver
 * @name:	unique name for display, valid as long as the device
 * @parent:	the bus device, for netlink; may be NULL
 * @gid:	its GID
 * @chid:	the ISM network that it belongs to: 0xff00 to 0xfffe for devices with extended GIDs
 * @max_code:	maximum size of a DMB in compressed notation: 16 KiB << n
 * @seid:	system EID of all devices in its network, 32 bytes, or NULL
 * @v1:		the device serves SMC-Dv1: its GID has 64 bits, and it has the VLAN functions
 * @no_v2:	the device does not serve SMC-Dv2
 * @revokes:	unregister_dmb makes the token invalid: no write of any peer arrives after it, or
 *		into memory of another owner.  Then each connection gets a DMB of its own, and peers
 *		need not be trusted to say a last word
 * @windowed:	DMBs are in a window of the device: once it has been removed, they may vanish, or be
 *		memory of something else. smc_ism_unregister() sees to it that no receiver begins to
 *		copy from them any more
 * @self:	the device reaches its own DMBs, so both ends of a connection may be in this kernel
 * @pnetid:	the PNETID that it has without an entry in the PNET table, or blank
 * @list:	entry in the list of devices; this and all that follows belongs to SMC-D
 * @number:	number of the device, never reused
 * @ref:	reference count; dropping the last reference calls @ops->release
 * @gone:	unregistered
 * @n_lgrs:	number of link groups on it
 * @conns_lock:	protects @conns
 * @conns:	if @windowed: connections that have a DMB
 * @vlan_lock:	protects @n_vlans and @vlans
 * @n_vlans:	number of VLANs that it has joined
 * @vlans:	these VLANs, the most recently requested one last
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
	bool			revokes;
	bool			windowed;
	bool			self;
	char			pnetid[SMC_ISM_PNETID_LEN + 1];

	struct list_head	list;
	u32			number;
	refcount_t		ref;
	bool			gone;
	atomic_t		n_lgrs;
	spinlock_t		conns_lock;
	struct list_head	conns;
	struct mutex		vlan_lock;
	unsigned int		n_vlans;
	struct smc_ism_vlan	vlans[SMC_ISM_VLANS];
};

/*
 * Process context, may sleep.  After smc_ism_unregister() no new connection uses the device, and
 * existing connections are cut off from their peers.  Then the driver shuts down the device and
 * calls smc_ism_put().
 */
int smc_ism_register(struct smc_ism_dev *dev);
void smc_ism_unregister(struct smc_ism_dev *dev);
void smc_ism_put(struct smc_ism_dev *dev);

/*
 * Events that a driver reports:
 * smc_ism_signaled(): a peer has written to one of our DMBs and signals this.  Any context but hard
 * interrupts.
 * smc_ism_gid_gone(): a peer is gone, or its GID belongs to another peer now.  Process context.
 */
void smc_ism_signaled(struct smc_ism_dmb *dmb);
bool smc_ism_has_last_word(const void *mem);
void smc_ism_gid_gone(struct smc_ism_dev *dev, const struct smc_ism_gid *peer);

/**
 * smc_ism_signaled_bits() - peers have marked some of 64 DMBs in a bitmap
 * @dmbs: the DMBs of a word of the bitmap, NULL where there is none
 * @bits: the word
 *
 * Context: any but hard interrupts; the lock that keeps the DMBs registered is held.
 */
static inline void smc_ism_signaled_bits(struct smc_ism_dmb *const *dmbs, u64 bits)
{
	struct smc_ism_dmb *dmb;

	for (; bits; bits &= bits - 1) {
		dmb = dmbs[__ffs64(bits)];
		if (dmb)
			smc_ism_signaled(dmb);
	}
}

#endif
