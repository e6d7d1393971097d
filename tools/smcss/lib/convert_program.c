// SPDX-License-Identifier: GPL-2.0
/*
 * Conversion in the kernel: a BPF program at update_socket_protocol(), a hook that kernels have for
 * this purpose since 6.6. It also reaches static programs and those that do not use the C library.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "convert_program.h"
#include "smc_socket.h"

#define HOOK		"update_socket_protocol"
/* Levels of cgroups to search, from the root down. */
#define MAX_LEVELS	16
#define MAX_DEPTH	8	/* of nested anonymous structs */
#define TYPE_MASK	0xf	/* of socket()'s type: the bits that are not flags */
#define SCRATCH		(-8)	/* stack slot for a key or for data that was read */

/* Forward jumps whose target is filled in later. */
struct jumps {
	int at[MAX_LEVELS + 16];
	int count;
};

struct program {
	struct bpf_insn insns[320];
	int count;
	struct jumps leave;	/* to the end of the program, which changes nothing */
};

/* Offsets to find the network namespace of a process, and addresses to find the SMC module. */
struct kernel_layout {
	int nsproxy;		/* in task_struct */
	int net_ns;		/* in nsproxy */
	int net_cookie;		/* in net */
	uint64_t families;	/* address of net_families; 0: unknown */
	int owner;		/* in net_proto_family */
	int state;		/* in module; MODULE_STATE_LIVE is 0 */
};

/* ---- the kernel ---------------------------------------------------------------- */

/* Offset of a member in bytes, including members of anonymous structs; -1: not found. */
static int member_offset(const struct btf *btf, int id, const char *name, int depth)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	const struct btf_member *member;
	int i, inner;

	while (type && (btf_is_mod(type) || btf_is_typedef(type)))
		type = btf__type_by_id(btf, type->type);
	if (!type || !btf_is_composite(type) || !depth)
		return -1;
	member = btf_members(type);
	for (i = 0; i < btf_vlen(type); i++, member++) {
		const char *called = btf__name_by_offset(btf, member->name_off);
		int offset = btf_member_bit_offset(type, i) / 8;

		if (called && !strcmp(called, name))
			return offset;
		if (called && *called)
			continue;
		inner = member_offset(btf, member->type, name, depth - 1);
		if (inner >= 0)
			return offset + inner;
	}
	return -1;
}

static int offset_in(const struct btf *btf, const char *type, const char *name)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);

	return id < 0 ? -1 : member_offset(btf, id, name, MAX_DEPTH);
}

/* 0 if unknown: unprivileged users and hardened kernels see 0 for all addresses. */
static uint64_t symbol_address(const char *symbol)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	unsigned long long address, found = 0;
	char line[512], name[128];

	while (symbols && fgets(line, sizeof(line), symbols)) {
		if (strstr(line, symbol) &&
		    sscanf(line, "%llx %*c %127s", &address, name) == 2 && !strcmp(name, symbol)) {
			found = address;
			break;
		}
	}
	if (symbols)
		fclose(symbols);
	return found;
}

/* Does lockdown keep BPF programs from reading kernel memory? */
static bool locked_down(void)
{
	FILE *file = fopen("/sys/kernel/security/lockdown", "re");
	char text[128] = "";

	if (file) {
		if (!fgets(text, sizeof(text), file))
			text[0] = '\0';
		fclose(file);
	}
	return strstr(text, "[confidentiality]");
}

static bool read_layout(struct kernel_layout *layout)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (!btf)
		return false;
	layout->nsproxy = offset_in(btf, "task_struct", "nsproxy");
	layout->net_ns = offset_in(btf, "nsproxy", "net_ns");
	layout->net_cookie = offset_in(btf, "net", "net_cookie");
	layout->owner = offset_in(btf, "net_proto_family", "owner");
	layout->state = offset_in(btf, "module", "state");
	btf__free(btf);
	if (layout->owner >= 0 && layout->state >= 0 && !locked_down())
		layout->families = symbol_address("net_families");
	return layout->nsproxy >= 0 && layout->net_ns >= 0 && layout->net_cookie >= 0;
}

const char *convert_unsupported(void)
{
	libbpf_set_print(NULL);
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF), which is needed to find "
		       HOOK "(), which Linux 6.6 and newer have";
	if (libbpf_find_vmlinux_btf_id(HOOK, BPF_MODIFY_RETURN) <= 0)
		return "this kernel has no " HOOK "() for BPF (Linux 6.6 has it)";
	return NULL;
}

/* ---- instructions --------------------------------------------------------------- */

static void add(struct program *p, int code, int dst, int src, int off, int imm)
{
	p->insns[p->count++] = (struct bpf_insn){
		.code = code, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm,
	};
}

static void add_wide(struct program *p, int dst, int src, uint64_t value)
{
	add(p, BPF_LD | BPF_DW | BPF_IMM, dst, src, 0, (uint32_t)value);
	add(p, 0, 0, 0, 0, value >> 32);
}

static void jump_later(struct program *p, struct jumps *jumps, int condition, int reg, int value)
{
	jumps->at[jumps->count++] = p->count;
	add(p, condition | BPF_K, reg, 0, 0, value);
}

static void jumps_end_here(struct program *p, const struct jumps *jumps)
{
	int i;

	for (i = 0; i < jumps->count; i++)
		p->insns[jumps->at[i]].off = p->count - jumps->at[i] - 1;
}

static void set(struct program *p, int reg, int value)
{
	add(p, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, value);
}

static void copy(struct program *p, int to, int from)
{
	add(p, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void load(struct program *p, int to, int from, int offset)
{
	add(p, BPF_LDX | BPF_MEM | BPF_DW, to, from, offset, 0);
}

static void call(struct program *p, int function)
{
	add(p, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

static void return_value(struct program *p, int value)
{
	set(p, BPF_REG_0, value);
	add(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void scratch_address(struct program *p, int reg)
{
	copy(p, reg, BPF_REG_10);
	add(p, BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, SCRATCH);
}

/* Register 0 receives a pointer to the map's value for the key in register @key, or 0. */
static void look_up(struct program *p, int map, int key)
{
	add(p, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, key, SCRATCH, 0);
	add_wide(p, BPF_REG_1, BPF_PSEUDO_MAP_FD, map);
	scratch_address(p, BPF_REG_2);
	call(p, BPF_FUNC_map_lookup_elem);
}

/* ---- the program ---------------------------------------------------------------- */

static void skip_if(struct program *p, int reg, int value)
{
	add(p, BPF_JMP32 | BPF_JEQ | BPF_K, reg, 0, 1, value);
}

static void leave_unless(struct program *p, int reg, int value)
{
	jump_later(p, &p->leave, BPF_JMP32 | BPF_JNE, reg, value);
}

/* Register 8 receives the protocol. Leaves unless it is TCP or, with @mptcp, MPTCP. */
static void only_tcp(struct program *p, bool mptcp)
{
	copy(p, BPF_REG_6, BPF_REG_1);
	load(p, BPF_REG_2, BPF_REG_6, 0);
	skip_if(p, BPF_REG_2, AF_INET);
	leave_unless(p, BPF_REG_2, AF_INET6);
	load(p, BPF_REG_2, BPF_REG_6, 8);
	add(p, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_2, 0, 0, TYPE_MASK);
	leave_unless(p, BPF_REG_2, SOCK_STREAM);
	load(p, BPF_REG_8, BPF_REG_6, 16);
	add(p, BPF_JMP32 | BPF_JEQ | BPF_K, BPF_REG_8, 0, mptcp ? 2 : 1, 0);
	if (mptcp)
		skip_if(p, BPF_REG_8, IPPROTO_MPTCP);
	leave_unless(p, BPF_REG_8, IPPROTO_TCP);
}

/* The program returns 0 unless one of the process's cgroups, from the root down, is @id. */
static void only_cgroup(struct program *p, uint64_t id)
{
	struct jumps found = { };
	int level;

	add_wide(p, BPF_REG_7, 0, id);
	for (level = 0; level < MAX_LEVELS; level++) {
		set(p, BPF_REG_1, level);
		call(p, BPF_FUNC_get_current_ancestor_cgroup_id);
		found.at[found.count++] = p->count;
		add(p, BPF_JMP | BPF_JEQ | BPF_X, BPF_REG_0, BPF_REG_7, 0, 0);
	}
	return_value(p, 0);
	jumps_end_here(p, &found);
}

static void only_namespaces(struct program *p, int map, const struct kernel_layout *layout)
{
	call(p, BPF_FUNC_get_current_task_btf);
	load(p, BPF_REG_1, BPF_REG_0, layout->nsproxy);
	load(p, BPF_REG_1, BPF_REG_1, layout->net_ns);
	load(p, BPF_REG_1, BPF_REG_1, layout->net_cookie);
	look_up(p, map, BPF_REG_1);
	jump_later(p, &p->leave, BPF_JMP | BPF_JEQ, BPF_REG_0, 0);
	/* Leave if the protocol is MPTCP and such sockets are to be kept. */
	add(p, BPF_LDX | BPF_MEM | BPF_W, BPF_REG_1, BPF_REG_0, 0, 0);
	add(p, BPF_JMP32 | BPF_JNE | BPF_K, BPF_REG_8, 0, 1, IPPROTO_MPTCP);
	jump_later(p, &p->leave, BPF_JMP32 | BPF_JSET, BPF_REG_1, CONVERT_KEEP_MPTCP);
}

static void not_in_cgroups(struct program *p, int map)
{
	struct jumps none = { };
	int level;

	for (level = 0; level < MAX_LEVELS; level++) {
		set(p, BPF_REG_1, level);
		call(p, BPF_FUNC_get_current_ancestor_cgroup_id);
		jump_later(p, &none, BPF_JMP | BPF_JEQ, BPF_REG_0, 0);
		look_up(p, map, BPF_REG_0);
		jump_later(p, &p->leave, BPF_JMP | BPF_JNE, BPF_REG_0, 0);
	}
	jumps_end_here(p, &none);
}

/* Register 1 receives the data at the kernel address in register 3. */
static void read_kernel(struct program *p, int size)
{
	add(p, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, SCRATCH, 0);
	scratch_address(p, BPF_REG_1);
	set(p, BPF_REG_2, size);
	call(p, BPF_FUNC_probe_read_kernel);
	add(p, BPF_LDX | BPF_MEM | (size == 8 ? BPF_DW : BPF_W), BPF_REG_1, BPF_REG_10, SCRATCH, 0);
}

static void member_address(struct program *p, int offset)
{
	copy(p, BPF_REG_3, BPF_REG_1);
	add(p, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_3, 0, 0, offset);
}

/*
 * socket() would fail while no module is loaded, and while one is being loaded or unloaded. A
 * built-in family has no owner.
 */
static void only_with_smc(struct program *p, const struct kernel_layout *layout)
{
	struct jumps built_in = { };

	add_wide(p, BPF_REG_3, 0, layout->families + AF_SMC * sizeof(uint64_t));
	read_kernel(p, 8);
	jump_later(p, &p->leave, BPF_JMP | BPF_JEQ, BPF_REG_1, 0);
	member_address(p, layout->owner);
	read_kernel(p, 8);
	jump_later(p, &built_in, BPF_JMP | BPF_JEQ, BPF_REG_1, 0);
	member_address(p, layout->state);
	read_kernel(p, 4);
	jump_later(p, &p->leave, BPF_JMP | BPF_JNE, BPF_REG_1, 0);
	jumps_end_here(p, &built_in);
}

/* A program of this kind returns 0 to leave the decision to the kernel's own function. */
static void write_program(struct program *p, const struct convert_scope *scope,
			  const struct kernel_layout *layout)
{
	memset(p, 0, sizeof(*p));
	only_tcp(p, scope->mptcp || !scope->cgroup);
	if (scope->cgroup) {
		only_cgroup(p, scope->cgroup);
	} else {
		only_namespaces(p, scope->namespaces, layout);
		not_in_cgroups(p, scope->tcp_cgroups);
	}
	if (layout->families)
		only_with_smc(p, layout);
	return_value(p, IPPROTO_SMC);
	jumps_end_here(p, &p->leave);
	return_value(p, 0);
}

static const char *hint(int error)
{
	if (error != EPERM)
		return "";
	return geteuid() ? " (it requires root)" : " (a container or the kernel's lockdown forbids it)";
}

int convert_attach(const struct convert_scope *scope, bool *blind, char *error, size_t room)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_MODIFY_RETURN);
	const char *unsupported = convert_unsupported();
	struct kernel_layout layout = { };
	struct program p;
	int fd, link;

	if (!unsupported && !read_layout(&layout) && !scope->cgroup)
		unsupported = "the BTF of this kernel does not describe the cookie of a network namespace";
	if (unsupported) {
		snprintf(error, room, "%s", unsupported);
		return -1;
	}
	*blind = !layout.families;
	write_program(&p, scope, &layout);
	opts.attach_btf_id = libbpf_find_vmlinux_btf_id(HOOK, BPF_MODIFY_RETURN);
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "smc_convert", "GPL", p.insns, p.count, &opts);
	link = fd < 0 ? -1 : bpf_raw_tracepoint_open(NULL, fd);
	if (link < 0)
		snprintf(error, room, "the kernel refused the BPF program: %s%s",
			 strerror(errno), hint(errno));
	if (fd >= 0)
		close(fd);
	return link;
}
