// SPDX-License-Identifier: GPL-2.0
/* Calls by io_uring: they run while the thread does other things, and get cancelled. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call_fuzz.h"

#define ENTRIES		8

/* One for each thread, from its first use to the end of the program. */
static __thread struct ring {
	int fd;				/* 0: not open */
	char *ring;
	size_t size;
	struct io_uring_sqe *sqes;
	struct io_uring_params p;
} r;
/* Memory that a call reads and writes after its submission. */
static __thread struct sockaddr_storage address;

static bool ring_open(void)
{
	int fd;

	memset(&r.p, 0, sizeof(r.p));
	fd = syscall(__NR_io_uring_setup, ENTRIES, &r.p);
	if (fd < 0)
		return false;
	r.size = r.p.cq_off.cqes + r.p.cq_entries * sizeof(struct io_uring_cqe) + 4096;
	r.ring = mmap(NULL, r.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	r.sqes = mmap(NULL, ENTRIES * sizeof(*r.sqes), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      IORING_OFF_SQES);
	if (r.ring == MAP_FAILED || r.sqes == MAP_FAILED) {
		close(fd);
		return false;
	}
	r.fd = fd;
	return true;
}

/* Cancels pending calls. */
void uring_close(void)
{
	if (!r.fd)
		return;
	munmap(r.ring, r.size);
	munmap(r.sqes, ENTRIES * sizeof(*r.sqes));
	close(r.fd);
	r.fd = 0;
}

static uint32_t *word(uint32_t offset)
{
	return (uint32_t *)(r.ring + offset);
}

static void make_entry(const struct step *s, struct io_uring_sqe *e)
{
	static const uint8_t ops[] = {
		IORING_OP_SEND, IORING_OP_RECV, IORING_OP_ACCEPT, IORING_OP_CONNECT,
		IORING_OP_POLL_ADD, IORING_OP_SHUTDOWN, IORING_OP_CLOSE, IORING_OP_ASYNC_CANCEL,
		IORING_OP_SEND_ZC, IORING_OP_READ, IORING_OP_WRITE, IORING_OP_POLL_REMOVE,
	};
	size_t n;
	char *b = make_buffer(s->arg[1], &n);

	*e = (struct io_uring_sqe){ .opcode = ITEM(ops, s->arg[0]), .fd = slot_fd(s->slot),
				    .user_data = s->arg[3] & 3 };
	switch (e->opcode) {
	case IORING_OP_CONNECT:
		e->off = make_address(s->arg[1], e->fd, &address);
		e->addr = (uintptr_t)&address;
		break;
	case IORING_OP_SHUTDOWN:
		e->len = s->arg[1] % 3;
		break;
	case IORING_OP_POLL_ADD:
		e->poll32_events = s->arg[1] & 1 ? POLLIN | POLLRDHUP : POLLOUT | POLLPRI;
		e->len = s->arg[2] & 1 ? IORING_POLL_ADD_MULTI : 0;
		break;
	case IORING_OP_ASYNC_CANCEL:
	case IORING_OP_POLL_REMOVE:
		e->addr = s->arg[1] & 3;
		break;
	case IORING_OP_ACCEPT:
		e->ioprio = s->arg[1] & 1 ? IORING_ACCEPT_MULTISHOT : 0;
		e->accept_flags = SOCK_CLOEXEC;
		break;
	case IORING_OP_CLOSE:
		break;
	default:
		e->addr = (uintptr_t)b;
		e->len = n;
		e->msg_flags = e->opcode == IORING_OP_READ || e->opcode == IORING_OP_WRITE ? 0 :
			       s->arg[2] & 1 ? MSG_WAITALL : MSG_NOSIGNAL;
	}
	if (s->arg[3] & 4)
		e->flags |= IOSQE_ASYNC;
	if (s->arg[3] & 8)
		e->flags |= IOSQE_IO_LINK;
}

/* Sockets that were accepted go into a slot; other results are ignored. */
static void reap(unsigned int slot)
{
	uint32_t head = *word(r.p.cq_off.head);
	uint32_t tail = __atomic_load_n(word(r.p.cq_off.tail), __ATOMIC_ACQUIRE);

	for (; head != tail; head++) {
		const struct io_uring_cqe *cqe = (void *)(r.ring + r.p.cq_off.cqes);

		cqe += head & *word(r.p.cq_off.ring_mask);
		if (cqe->user_data & 4 && cqe->res > 2 && cqe->res < SLOT_BASE)
			into_slot(cqe->res, slot);
	}
	__atomic_store_n(word(r.p.cq_off.head), head, __ATOMIC_RELEASE);
}

static long run_uring(const struct step *s)
{
	uint32_t tail, at;
	long rc;

	if (!r.fd && !ring_open())
		return -1;
	tail = *word(r.p.sq_off.tail);
	at = tail & *word(r.p.sq_off.ring_mask);
	make_entry(s, &r.sqes[at]);
	if (r.sqes[at].opcode == IORING_OP_ACCEPT)
		r.sqes[at].user_data |= 4;
	word(r.p.sq_off.array)[at] = at;
	__atomic_store_n(word(r.p.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	rc = syscall(__NR_io_uring_enter, r.fd, s->arg[3] & 16 ? 0 : 2, s->arg[3] >> 5 & 1,
		     s->arg[3] & 32 ? IORING_ENTER_GETEVENTS : 0, NULL, 0);
	reap(s->other);
	return rc;
}

const struct call uring_calls[] = {
	{ "uring", 8, run_uring },
	{ NULL, 0, NULL }
};
