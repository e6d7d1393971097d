// SPDX-License-Identifier: GPL-2.0
/* Memory that is mapped for the device, and memory that is not. */
#include <linux/io.h>
#include "test.h"

#define REMOTE	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

/* Maps a part of an end's memory; that all of it is already mapped elsewhere does not matter. */
static u64 map(struct test_rig *rig, struct test_end *end, u32 at, u32 length,
	       enum dma_data_direction dir)
{
	return ib_dma_map_single(rig->ibdev, end->mem + at, length, dir);
}

static void unmap(struct test_rig *rig, u64 dma, u32 length, enum dma_data_direction dir)
{
	ib_dma_unmap_single(rig->ibdev, dma, length, dir);
}

static int send_from(struct test_rig *rig, u64 addr, u32 length, u32 key)
{
	struct ib_sge sge = { .addr = addr, .length = length, .lkey = key };
	struct ib_send_wr wr = {
		.wr_id	    = 2,
		.opcode	    = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list    = &sge,
		.num_sge    = 1,
	};

	return ib_post_send(rig->a.qp, &wr, NULL);
}

static int receive_at(struct test_rig *rig, struct test_end *end, u64 addr, u32 length)
{
	struct ib_sge sge = { .addr = addr, .length = length, .lkey = rig->pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(end->qp, &wr, NULL);
}

/* ---- what is allowed ------------------------------------------------------------------- */

/* Two mappings in one page, with nothing around them. */
static const char *mapped_parts(struct test_rig *rig)
{
	u64 from, to;
	int i;

	for (i = 0; i < 20; i++) {
		from = map(rig, &rig->a, 10, 64, DMA_TO_DEVICE);
		to = map(rig, &rig->b, 100, 60, DMA_FROM_DEVICE);
		if (from == virt_to_phys(rig->a.mem + 10) || from == (uintptr_t)rig->a.mem + 10)
			return "it is the address of the memory";
		memset(rig->a.mem + 10, 'a' + i, 64);
		if (receive_at(rig, &rig->b, to, 60) ||
		    send_from(rig, from + 4, 60, rig->pd->local_dma_lkey) ||
		    !test_await(&rig->b, 1, IB_WC_SUCCESS) ||
		    !test_await(&rig->a, 2, IB_WC_SUCCESS))
			return "no message";
		unmap(rig, i & 1 ? from : to, i & 1 ? 64 : 60, i & 1 ? DMA_TO_DEVICE : DMA_FROM_DEVICE);
		unmap(rig, i & 1 ? to : from, i & 1 ? 60 : 64, i & 1 ? DMA_FROM_DEVICE : DMA_TO_DEVICE);
		if (memcmp(rig->a.mem + 10, rig->b.mem + 100, 60))
			return "other data";
	}
	return NULL;
}

/* A part of the second page, the fourth page, and the beginning of the third. */
static void make_list(struct test_rig *rig, struct scatterlist sg[3])
{
	sg_init_table(sg, 3);
	sg_set_buf(&sg[0], rig->a.mem + PAGE_SIZE + 100, PAGE_SIZE - 100);
	sg_set_buf(&sg[1], rig->a.mem + 3 * PAGE_SIZE, PAGE_SIZE);
	sg_set_buf(&sg[2], rig->a.mem + 2 * PAGE_SIZE, 90);
}

static const char *send_list(struct test_rig *rig, struct scatterlist sg[3])
{
	const u8 *got = rig->b.mem + TEST_MEMORY / 2;
	u32 length = 2 * PAGE_SIZE - 10;
	int i;

	for (i = 0; i < TEST_MEMORY; i++)
		rig->a.mem[i] = i ^ i >> 8;
	if (ib_map_mr_sg(rig->a.mr, sg, 3, NULL, PAGE_SIZE) != 3 ||
	    test_register(rig, &rig->a, IB_ACCESS_LOCAL_WRITE))
		return "it cannot be registered";
	if (test_recv(rig, &rig->b, 1, length) ||
	    send_from(rig, rig->a.mr->iova, length, rig->a.mr->lkey) ||
	    !test_await(&rig->b, 1, IB_WC_SUCCESS) || !test_await(&rig->a, 2, IB_WC_SUCCESS))
		return "no message";
	for (i = 0; i < 3; got += sg[i++].length)
		if (memcmp(got, sg_virt(&sg[i]), sg[i].length))
			return "other data";
	return NULL;
}

static const char *mapped_list(struct test_rig *rig)
{
	struct scatterlist sg[3];
	const char *wrong;

	make_list(rig, sg);
	if (ib_dma_map_sg(rig->ibdev, sg, 3, DMA_TO_DEVICE) != 3)
		return "it cannot be mapped";
	wrong = send_list(rig, sg);
	ib_dma_unmap_sg(rig->ibdev, sg, 3, DMA_TO_DEVICE);
	return wrong;
}

/* What was mapped a moment ago comes back to its address, or to another one. */
static const char *map_again(struct test_rig *rig)
{
	bool same = false, other = false;
	u64 dma, before = 0;
	int i;

	for (i = 0; i < 100 && !(same && other); i++) {
		dma = map(rig, &rig->a, 0, 10, DMA_TO_DEVICE);
		unmap(rig, dma, 10, DMA_TO_DEVICE);
		same |= dma == before;
		other |= before && dma != before;
		before = dma;
	}
	return same && other ? NULL : "the addresses are always the same, or never";
}

/* ---- what is not ----------------------------------------------------------------------- */

static const char *send_and_fail(struct test_rig *rig, u64 dma, u32 length)
{
	if (send_from(rig, dma, length, rig->pd->local_dma_lkey))
		return "the post fails";
	return test_await(&rig->a, 2, IB_WC_LOC_PROT_ERR) ? NULL : "no error";
}

static const char *send_unmapped(struct test_rig *rig)
{
	u64 dma = map(rig, &rig->a, 0, 100, DMA_TO_DEVICE);

	unmap(rig, dma, 100, DMA_TO_DEVICE);
	return send_and_fail(rig, dma, 100);
}

/* 100 bytes are mapped; what is sent begins @before bytes before them. */
static const char *send_past(struct test_rig *rig, u32 before, u32 length,
			     enum dma_data_direction dir)
{
	u64 dma = map(rig, &rig->a, before, 100, dir);
	const char *wrong = send_and_fail(rig, dma - before, length);

	unmap(rig, dma, 100, dir);
	return wrong;
}

static const char *send_beyond(struct test_rig *rig)
{
	return send_past(rig, 0, 101, DMA_TO_DEVICE);
}

static const char *send_before(struct test_rig *rig)
{
	return send_past(rig, 1, 100, DMA_TO_DEVICE);
}

static const char *send_input(struct test_rig *rig)
{
	return send_past(rig, 0, 100, DMA_FROM_DEVICE);
}

static const char *receive_into_output(struct test_rig *rig)
{
	u64 dma = map(rig, &rig->b, 0, 100, DMA_TO_DEVICE);
	const char *wrong = NULL;

	if (receive_at(rig, &rig->b, dma, 100) || test_send(rig, &rig->a, 2, 100, 0) ||
	    !test_await(&rig->b, 1, IB_WC_LOC_PROT_ERR))
		wrong = "no error";
	unmap(rig, dma, 100, DMA_TO_DEVICE);
	return wrong;
}

static const char *unmap_in_use(struct test_rig *rig)
{
	u64 dma = map(rig, &rig->a, 0, 100, DMA_FROM_DEVICE);

	if (receive_at(rig, &rig->a, dma, 100))
		return "the post fails";
	unmap(rig, dma, 100, DMA_FROM_DEVICE);
	return NULL;
}

static const char *unmap_twice(struct test_rig *rig)
{
	u64 dma = map(rig, &rig->a, 0, 100, DMA_TO_DEVICE);

	unmap(rig, dma, 100, DMA_TO_DEVICE);
	unmap(rig, dma, 100, DMA_TO_DEVICE);
	return NULL;
}

static const char *unmap_part(struct test_rig *rig)
{
	unmap(rig, map(rig, &rig->a, 0, 100, DMA_TO_DEVICE), 99, DMA_TO_DEVICE);
	return NULL;
}

static const char *unmap_otherwise(struct test_rig *rig)
{
	unmap(rig, map(rig, &rig->a, 0, 100, DMA_TO_DEVICE), 100, DMA_BIDIRECTIONAL);
	return NULL;
}

static const char *unmap_some(struct test_rig *rig)
{
	struct scatterlist sg[3];

	make_list(rig, sg);
	if (ib_dma_map_sg(rig->ibdev, sg, 3, DMA_TO_DEVICE) != 3)
		return "it cannot be mapped";
	ib_dma_unmap_sg(rig->ibdev, sg, 2, DMA_TO_DEVICE);
	ib_dma_unmap_sg(rig->ibdev, &sg[2], 1, DMA_TO_DEVICE);
	return NULL;
}

static void unmap_end(struct test_rig *rig, struct test_end *end)
{
	ib_dma_unmap_sg(rig->ibdev, &end->sg, 1, DMA_BIDIRECTIONAL);
	end->dma = 0;
}

static const char *write_unmapped(struct test_rig *rig)
{
	if (test_register(rig, &rig->b, REMOTE))
		return "it cannot be registered";
	unmap_end(rig, &rig->b);
	if (test_write(rig, &rig->a, 1, 0, 10, 0))
		return "the post fails";
	return test_await(&rig->a, 1, IB_WC_REM_ACCESS_ERR) ? NULL : "no error";
}

static const char *register_unmapped(struct test_rig *rig)
{
	unmap_end(rig, &rig->a);
	return test_register(rig, &rig->a, IB_ACCESS_LOCAL_WRITE) ? "it cannot be registered" : NULL;
}

static const char *register_output(struct test_rig *rig)
{
	struct scatterlist sg;
	const char *wrong = NULL;

	sg_init_one(&sg, rig->b.mem, PAGE_SIZE);
	if (ib_dma_map_sg(rig->ibdev, &sg, 1, DMA_TO_DEVICE) != 1)
		return "it cannot be mapped";
	if (ib_map_mr_sg(rig->b.mr, &sg, 1, NULL, PAGE_SIZE) != 1 ||
	    test_register(rig, &rig->b, REMOTE) || test_write(rig, &rig->a, 1, 0, 10, 0) ||
	    !test_await(&rig->a, 1, IB_WC_REM_ACCESS_ERR))
		wrong = "no error";
	ib_dma_unmap_sg(rig->ibdev, &sg, 1, DMA_TO_DEVICE);
	return wrong;
}

const struct test_case test_dma_cases[] = {
	{ "mapped_parts", mapped_parts },
	{ "mapped_list", mapped_list },
	{ "map_again", map_again },
	{ "send_unmapped", send_unmapped, "which are not mapped so" },
	{ "send_beyond", send_beyond, "send of 101 bytes" },
	{ "send_before", send_before, "send of 100 bytes" },
	{ "send_input", send_input, "send of 100 bytes" },
	{ "receive_into_output", receive_into_output, "receive of 100 bytes" },
	{ "unmap_in_use", unmap_in_use, "a work request uses it" },
	{ "unmap_twice", unmap_twice, "but not mapped so" },
	{ "unmap_part", unmap_part, "with 99 bytes" },
	{ "unmap_otherwise", unmap_otherwise, "direction 0; it was mapped with 100, 1" },
	{ "unmap_some", unmap_some, "2 entries of a list of 3" },
	{ "write_unmapped", write_unmapped, "whose memory is not mapped" },
	{ "register_unmapped", register_unmapped, "is registered for memory" },
	{ "register_output", register_output, "is registered for memory" },
	{}
};
