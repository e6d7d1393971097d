/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A consumer of the strict device that does what is allowed, and then what is not.
 *
 * A case returns NULL, or what is wrong. The test also fails if the device complains about
 * anything, or does not complain as test_case.complaint says.
 */
#ifndef STRICT_TEST_H
#define STRICT_TEST_H

#include <linux/completion.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#define TEST_MEMORY	(4 * PAGE_SIZE)

/* One of two queue pairs of a device, which are connected to one another. */
struct test_end {
	struct ib_cq		*cq;
	struct ib_qp		*qp;
	struct ib_mr		*mr;		/* of mem, registered by test_register() */
	struct scatterlist	sg;
	u8			*mem;
	u64			dma;
	unsigned int		n_events;	/* of the completion queue */
	unsigned long		qp_events;	/* bits: enum ib_event_type */
	unsigned long		cq_events;
};

struct test_rig {
	struct ib_device	*ibdev;
	struct ib_pd		*pd;
	u8			mac[ETH_ALEN];
	union ib_gid		gid;
	int			gid_index;
	struct test_end		a, b;
};

struct test_options {
	unsigned int		n_send, n_recv, n_cqe;	/* 0: enough */
	bool			unconnected;
};

struct test_case {
	const char		*name;
	const char		*(*run)(struct test_rig *rig);
	const char		*complaint;	/* a part of it, or NULL */
	struct test_options	options;
};

extern const struct test_case test_queue_cases[], test_memory_cases[], test_dma_cases[],
			      test_attr_cases[], test_path_cases[], test_limit_cases[];

/* test_rig.c: they return 0 or a negative errno unless they say otherwise. */
int test_begin(struct test_rig *rig, struct ib_device *ibdev, const struct test_options *options);
void test_end(struct test_rig *rig);
void test_attr(struct test_rig *rig, struct test_end *to, enum ib_qp_state state,
	       struct ib_qp_attr *attr, int *mask);
int test_modify(struct test_rig *rig, struct test_end *end, enum ib_qp_state state);
int test_register(struct test_rig *rig, struct test_end *end, int access);
int test_recv(struct test_rig *rig, struct test_end *end, u64 id, u32 length);
int test_post(struct test_rig *rig, struct test_end *end, struct ib_rdma_wr *wr, u32 length);
int test_send(struct test_rig *rig, struct test_end *end, u64 id, u32 length, int flags);
int test_write(struct test_rig *rig, struct test_end *end, u64 id, u32 at, u32 length, int flags);
bool test_poll(struct test_end *end, struct ib_wc *wc);		/* waits for a second */
bool test_await(struct test_end *end, u64 id, enum ib_wc_status status);

#endif /* STRICT_TEST_H */
