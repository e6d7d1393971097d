// SPDX-License-Identifier: GPL-2.0
/* The part of vhost-user that virtio_uml speaks. */
#include <err.h>
#include <linux/virtio_config.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "vhost.h"

enum {
	GET_FEATURES		= 1,
	SET_MEM_TABLE		= 5,
	SET_VRING_NUM		= 8,
	SET_VRING_ADDR		= 9,
	SET_VRING_BASE		= 10,
	SET_VRING_KICK		= 12,
	SET_VRING_CALL		= 13,
	GET_PROTOCOL_FEATURES	= 15,
	SET_REQUEST_FD		= 21,
};

#define VERSION			1
#define FLAG_REPLY		4
#define FLAG_NEED_REPLY		8
#define F_PROTOCOL_FEATURES	30
#define PROTOCOL_F_REPLY_ACK	3
#define PROTOCOL_F_REQUEST	5
#define VRING_MASK		0xff
#define FDS			8

struct header {
	u32	request;
	u32	flags;
	u32	size;
} __packed;

struct memory_region {
	u64	addr;
	u64	size;
	u64	user;
	u64	offset;
} __packed;

struct message {
	struct header	header;
	union {
		u64	number;
		struct {
			u32	index;
			u32	num;
		} __packed state;
		struct {
			u32	index;
			u32	flags;
			u64	desc, used, avail, log;
		} __packed addr;
		struct {
			u32	num;
			u32	padding;
			struct memory_region regions[VHOST_REGIONS];
		} __packed memory;
	};
} __packed;

static void forget(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Creates the socket to which a guest will connect later. */
void vhost_listen(struct vhost *vu, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	unsigned int i;

	if (strlen(path) >= sizeof(addr.sun_path))
		errx(2, "%s: too long for a socket", path);
	strcpy(addr.sun_path, path);
	vu->fd = vu->requests = -1;
	for (i = 0; i < VHOST_QUEUES; i++)
		vu->queues[i].kick = vu->queues[i].call = -1;
	vu->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (vu->listening < 0 || bind(vu->listening, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(vu->listening, 1))
		err(2, "%s", path);
}

void vhost_accept(struct vhost *vu)
{
	vu->fd = accept4(vu->listening, NULL, NULL, SOCK_CLOEXEC);
	if (vu->fd < 0)
		err(2, "accept");
}

static void unmap(struct vhost *vu)
{
	while (vu->n_regions) {
		vu->n_regions--;
		munmap(vu->regions[vu->n_regions].map, vu->regions[vu->n_regions].map_len);
	}
}

/* The guest has disconnected; it may connect again. */
void vhost_close(struct vhost *vu)
{
	unsigned int i;

	forget(&vu->fd);
	forget(&vu->requests);
	for (i = 0; i < VHOST_QUEUES; i++) {
		forget(&vu->queues[i].kick);
		forget(&vu->queues[i].call);
		vu->queues[i] = (struct vhost_queue){ .kick = -1, .call = -1 };
	}
	unmap(vu);
}

/* ---- messages ---- */

/* Receives the header and the file descriptors that come with it. */
static bool receive(struct vhost *vu, struct message *m, int *fds, unsigned int *n_fds)
{
	union {
		struct cmsghdr	align;
		char		bytes[CMSG_SPACE(FDS * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = &m->header, .iov_len = sizeof(m->header) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c;

	*n_fds = 0;
	if (recvmsg(vu->fd, &msg, MSG_CMSG_CLOEXEC | MSG_WAITALL) != sizeof(m->header))
		return false;
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		*n_fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), *n_fds * sizeof(int));
	}
	if (m->header.size > sizeof(*m) - sizeof(m->header))
		return false;
	return !m->header.size ||
	       recv(vu->fd, &m->number, m->header.size, MSG_WAITALL) == (ssize_t)m->header.size;
}

static void reply(struct vhost *vu, const struct message *to, u64 number)
{
	struct message m = {
		.header = { .request = to->header.request, .flags = VERSION | FLAG_REPLY,
			    .size = sizeof(m.number) },
		.number = number,
	};
	size_t len = sizeof(m.header) + sizeof(m.number);

	if (send(vu->fd, &m, len, MSG_NOSIGNAL) != (ssize_t)len)
		warn("reply");
}

static void set_memory(struct vhost *vu, const struct message *m, const int *fds,
		       unsigned int n_fds)
{
	unsigned int i;

	unmap(vu);
	for (i = 0; i < m->memory.num && i < n_fds && i < VHOST_REGIONS; i++) {
		const struct memory_region *from = &m->memory.regions[i];
		struct vhost_region *to = &vu->regions[i];

		to->addr = from->addr;
		to->len = from->size;
		to->map_len = from->offset + from->size;
		to->map = mmap(NULL, to->map_len, PROT_READ | PROT_WRITE, MAP_SHARED, fds[i], 0);
		if (to->map == MAP_FAILED)
			err(2, "memory of a guest");
		to->mem = (u8 *)to->map + from->offset;
		vu->n_regions++;
	}
}

/* No translation of addresses: the guest uses the same ones here and in its memory regions. */
static void set_addresses(struct vhost *vu, const struct message *m)
{
	struct vhost_queue *q = &vu->queues[m->addr.index];

	q->desc = vhost_memory(vu, m->addr.desc, q->num * sizeof(*q->desc));
	q->avail = vhost_memory(vu, m->addr.avail, sizeof(*q->avail) + q->num * sizeof(u16));
	q->used = vhost_memory(vu, m->addr.used,
			       sizeof(*q->used) + q->num * sizeof(struct vring_used_elem));
	if (!q->desc || !q->avail || !q->used)
		errx(2, "a queue is not in the guest's memory");
}

/* Returns whether the descriptor was kept. */
static bool for_queue(struct vhost *vu, const struct message *m, int fd)
{
	u32 index = m->header.request == SET_VRING_KICK || m->header.request == SET_VRING_CALL ?
		    m->number & VRING_MASK : m->state.index;
	struct vhost_queue *q;

	if (index >= VHOST_QUEUES)
		errx(2, "queue %u", index);
	q = &vu->queues[index];
	switch (m->header.request) {
	case SET_VRING_NUM:
		q->num = m->state.num;
		break;
	case SET_VRING_BASE:
		q->seen = m->state.num;
		break;
	case SET_VRING_ADDR:
		set_addresses(vu, m);
		break;
	case SET_VRING_KICK:
		forget(&q->kick);
		q->kick = fd;
		return true;
	case SET_VRING_CALL:
		forget(&q->call);
		q->call = fd;
		return true;
	}
	return false;
}

/* Handles one message of the guest. Returns whether the guest is still connected. */
bool vhost_message(struct vhost *vu)
{
	unsigned int n_fds, i;
	bool kept = false;
	struct message m;
	int fds[FDS];

	if (!receive(vu, &m, fds, &n_fds))
		return false;
	switch (m.header.request) {
	case GET_FEATURES:
		reply(vu, &m, 1ull << VIRTIO_F_VERSION_1 | 1ull << F_PROTOCOL_FEATURES);
		return true;
	case GET_PROTOCOL_FEATURES:
		reply(vu, &m, 1ull << PROTOCOL_F_REPLY_ACK | 1ull << PROTOCOL_F_REQUEST);
		return true;
	case SET_MEM_TABLE:
		set_memory(vu, &m, fds, n_fds);
		break;
	case SET_REQUEST_FD:
		forget(&vu->requests);
		vu->requests = n_fds ? fds[0] : -1;
		kept = true;
		break;
	case SET_VRING_NUM:
	case SET_VRING_BASE:
	case SET_VRING_ADDR:
	case SET_VRING_KICK:
	case SET_VRING_CALL:
		kept = for_queue(vu, &m, n_fds ? fds[0] : -1);
		break;
	}
	for (i = kept; i < n_fds; i++)
		close(fds[i]);
	if (m.header.flags & FLAG_NEED_REPLY)
		reply(vu, &m, 0);
	return true;
}

/* ---- memory and queues ---- */

/* Returns a range of the guest's memory, or NULL if it does not exist. */
void *vhost_memory(const struct vhost *vu, u64 addr, u64 len)
{
	unsigned int i;

	for (i = 0; i < vu->n_regions; i++) {
		const struct vhost_region *r = &vu->regions[i];

		if (addr >= r->addr && len <= r->len && addr - r->addr <= r->len - len)
			return r->mem + (addr - r->addr);
	}
	return NULL;
}

static void collect(struct vhost *vu, const struct vring_desc *d, struct vhost_chain *chain)
{
	u8 *mem = vhost_memory(vu, d->addr, d->len);

	/* User Mode Linux does not share its own image, which includes the first stack. */
	if (!mem)
		warnx("%u bytes at %llx are not in the guest's memory", d->len,
		      (unsigned long long)d->addr);
	if (d->flags & VRING_DESC_F_WRITE) {
		chain->in = mem;
		chain->in_len = mem ? d->len : 0;
	} else if (d->len <= sizeof(chain->out) - chain->out_len) {
		if (mem)
			memcpy(chain->out + chain->out_len, mem, d->len);
		else
			memset(chain->out + chain->out_len, 0, d->len);
		chain->out_len += d->len;
	}
}

/* Takes the next chain of a queue, if there is one. */
bool vhost_take(struct vhost *vu, unsigned int queue, struct vhost_chain *chain)
{
	struct vhost_queue *q = &vu->queues[queue];
	unsigned int i, n;

	if (!q->avail || __atomic_load_n(&q->avail->idx, __ATOMIC_ACQUIRE) == q->seen)
		return false;
	chain->head = q->avail->ring[q->seen++ % q->num];
	chain->out_len = 0;
	chain->in = NULL;
	chain->in_len = 0;
	for (i = chain->head, n = 0; i < q->num && n < q->num; i = q->desc[i].next, n++) {
		collect(vu, &q->desc[i], chain);
		if (!(q->desc[i].flags & VRING_DESC_F_NEXT))
			break;
	}
	return true;
}

/* Returns a chain to the guest, with @len bytes written to its answer. */
void vhost_give_back(struct vhost *vu, unsigned int queue, const struct vhost_chain *chain,
		     size_t len)
{
	struct vhost_queue *q = &vu->queues[queue];
	u16 idx = q->used->idx;

	q->used->ring[idx % q->num] = (struct vring_used_elem){ .id = chain->head, .len = len };
	__atomic_store_n(&q->used->idx, (u16)(idx + 1), __ATOMIC_SEQ_CST);
}

/* Makes the guest look at returned chains. */
void vhost_call(struct vhost *vu, unsigned int queue)
{
	const u64 one = 1;

	/* A full pipe means that calls are pending, so the guest will look anyway. */
	if (vu->queues[queue].call >= 0 &&
	    write(vu->queues[queue].call, &one, sizeof(one)) < 0 && errno != EAGAIN)
		warn("call");
}
