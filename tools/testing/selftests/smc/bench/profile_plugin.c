// SPDX-License-Identifier: GPL-2.0
/*
 * QEMU TCG plugin of bench/profile: counts every instruction that the guest executes between the
 * two marks of smc_bench, by translation block. Exact, no sampling.
 *
 * Arguments: out=FILE; trace=N, skip=M (also N blocks in order, beginning M instructions after the
 * first mark); sum=1 (only their total, at every second mark). Output: "tb ADDRESS INSTRUCTIONS
 * EXECUTIONS", "at ADDRESS INSTRUCTIONS", "sum INSTRUCTIONS" lines.
 *
 * The declarations are those of QEMU's plugin API version 1; Debian ships no header.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { QEMU_PLUGIN_CB_NO_REGS };
enum { QEMU_PLUGIN_INLINE_ADD_U64 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
		void (*cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
		void (*cb)(unsigned int cpu, void *data), int flags, void *data);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *ptr,
		uint64_t imm);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
		void (*cb)(unsigned int cpu, void *data), int flags, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

#define EXPORT __attribute__((visibility("default")))

EXPORT int qemu_plugin_version = 1;

#define BUCKETS		(1 << 16)

struct block {
	struct block *next;
	uint64_t address;
	uint64_t instructions;
	uint64_t executed;	/* QEMU increments it */
	uint64_t before;	/* executions before the first mark */
};

static struct block *blocks[BUCKETS];
static FILE *out;
static long trace_wanted;
static long skip;	/* instructions left until tracing starts */
static bool tracing;
static bool only_sum;

static struct block *block_get(uint64_t address, uint64_t instructions)
{
	struct block **head = &blocks[(address >> 1) % BUCKETS], *b;

	for (b = *head; b; b = b->next)
		if (b->address == address && b->instructions == instructions)
			return b;
	b = calloc(1, sizeof(*b));
	if (!b)
		abort();
	b->address = address;
	b->instructions = instructions;
	b->next = *head;
	*head = b;
	return b;
}

static void at_begin(unsigned int cpu, void *data)
{
	struct block *b;
	int i;

	for (i = 0; i < BUCKETS; i++)
		for (b = blocks[i]; b; b = b->next)
			b->before = b->executed;
	tracing = trace_wanted > 0;
}

static void print_sum(void)
{
	uint64_t sum = 0;
	struct block *b;
	int i;

	for (i = 0; i < BUCKETS; i++)
		for (b = blocks[i]; b; b = b->next)
			sum += b->instructions * (b->executed - b->before);
	fprintf(out, "sum %" PRIu64 "\n", sum);
	fflush(out);
}

static void at_end(unsigned int cpu, void *data)
{
	struct block *b;
	int i;

	tracing = false;
	if (only_sum) {
		print_sum();
		return;
	}
	for (i = 0; i < BUCKETS; i++)
		for (b = blocks[i]; b; b = b->next)
			if (b->executed != b->before)
				fprintf(out, "tb %" PRIx64 " %" PRIu64 " %" PRIu64 "\n",
					b->address, b->instructions,
					b->executed - b->before);
	fflush(out);
}

static void at_block(unsigned int cpu, void *data)
{
	struct block *b = data;

	if (!tracing)
		return;
	if (skip > 0) {
		skip -= b->instructions;
		return;
	}
	fprintf(out, "at %" PRIx64 " %" PRIu64 "\n", b->address, b->instructions);
	tracing = --trace_wanted > 0;
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	/* nopl 0x534d43NN(%rax), see mark_begin() */
	static const unsigned char mark[] = { 0x0f, 0x1f, 0x80 };
	static const unsigned char name[] = { 0x43, 0x4d, 0x53 };
	size_t i, n = qemu_plugin_tb_n_insns(tb);
	struct block *b = block_get(qemu_plugin_tb_vaddr(tb), n);

	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
						 &b->executed, 1);
	if (trace_wanted)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, at_block, QEMU_PLUGIN_CB_NO_REGS, b);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const unsigned char *code = qemu_plugin_insn_data(insn);

		if (qemu_plugin_insn_size(insn) != 7 || memcmp(code, mark, 3) ||
		    memcmp(code + 4, name, 3))
			continue;
		qemu_plugin_register_vcpu_insn_exec_cb(insn, code[3] == 1 ? at_begin : at_end,
						       QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			out = fopen(argv[i] + 4, "w");
		else if (!strncmp(argv[i], "trace=", 6))
			trace_wanted = atol(argv[i] + 6);
		else if (!strncmp(argv[i], "skip=", 5))
			skip = atol(argv[i] + 5);
		else if (!strncmp(argv[i], "sum=", 4))
			only_sum = true;
	}
	if (!out) {
		fprintf(stderr, "profile_plugin: no out=FILE, or it cannot be written\n");
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	return 0;
}
