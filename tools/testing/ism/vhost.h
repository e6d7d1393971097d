/* SPDX-License-Identifier: GPL-2.0 */
/* vhost-user: a User Mode Linux kernel shares its memory, and queues in it. */
#ifndef ISM_MODEL_VHOST_H
#define ISM_MODEL_VHOST_H

#include <linux/virtio_ring.h>
#include "format.h"

#define VHOST_REGIONS	2
#define VHOST_QUEUES	2

struct vhost_region {
	u64	addr;		/* of the guest */
	u64	len;
	u8	*mem;
	void	*map;
	size_t	map_len;
};

/**
 * struct vhost_queue - a virtqueue, of the split kind, without options
 * @num:	descriptors
 * @desc:	table of descriptors, NULL before the guest has set its address
 * @avail:	chains for us
 * @used:	chains that we return
 * @seen:	number of chains that we have taken
 * @kick:	readable when there are chains
 * @call:	written to after chains were returned; -1 before the guest has set it
 */
struct vhost_queue {
	unsigned int		num;
	struct vring_desc	*desc;
	struct vring_avail	*avail;
	struct vring_used	*used;
	u16			seen;
	int			kick, call;
};

/**
 * struct vhost - a guest
 * @listening:	socket on which the guest will connect
 * @fd:		its connection, -1 without
 * @requests:	channel for our requests. We send none, but without the channel there is no
 *		interrupt for the calls of queues, and closing it removes the device.
 * @regions:	regions of its memory
 * @n_regions:	number of regions
 * @queues:	its queues
 */
struct vhost {
	int			listening, fd, requests;
	struct vhost_region	regions[VHOST_REGIONS];
	unsigned int		n_regions;
	struct vhost_queue	queues[VHOST_QUEUES];
};

/**
 * struct vhost_chain - one request of a queue: the request, then the buffer for the answer
 * @head:	its number
 * @out:	the request
 * @out_len:	length of the request in bytes
 * @in:		buffer for the answer, NULL if there is none
 * @in_len:	size of the buffer in bytes
 */
struct vhost_chain {
	u16		head;
	u8		out[8192];
	size_t		out_len;
	u8		*in;
	size_t		in_len;
};

void vhost_listen(struct vhost *vu, const char *path);
void vhost_accept(struct vhost *vu);
bool vhost_message(struct vhost *vu);
void vhost_close(struct vhost *vu);

void *vhost_memory(const struct vhost *vu, u64 addr, u64 len);
bool vhost_take(struct vhost *vu, unsigned int queue, struct vhost_chain *chain);
void vhost_give_back(struct vhost *vu, unsigned int queue, const struct vhost_chain *chain,
		     size_t len);
void vhost_call(struct vhost *vu, unsigned int queue);

#endif /* ISM_MODEL_VHOST_H */
