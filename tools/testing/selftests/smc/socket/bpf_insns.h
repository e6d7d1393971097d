/* SPDX-License-Identifier: GPL-2.0 */
/* Instructions of BPF programs. */
#ifndef SMC_TEST_BPF_INSNS_H
#define SMC_TEST_BPF_INSNS_H

#include <linux/bpf.h>

#define LOAD_WORD(dst, src, at)	((struct bpf_insn){ BPF_LDX | BPF_MEM | BPF_W, dst, src, at, 0 })
#define LOAD_HALF(dst, src, at)	((struct bpf_insn){ BPF_LDX | BPF_MEM | BPF_H, dst, src, at, 0 })
#define STORE_WORD(dst, src, at) ((struct bpf_insn){ BPF_STX | BPF_MEM | BPF_W, dst, src, at, 0 })
#define STORE(dst, at, value)	((struct bpf_insn){ BPF_ST | BPF_MEM | BPF_W, dst, 0, at, value })
#define SET(dst, value)		((struct bpf_insn){ BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value })
#define MOVE(dst, src)		((struct bpf_insn){ BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0 })
#define ADD(dst, value)		((struct bpf_insn){ BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, value })
/* skip n instructions unless, or if, the register has the value */
#define UNLESS(reg, value, n)	((struct bpf_insn){ BPF_JMP | BPF_JNE | BPF_K, reg, 0, n, value })
#define IF(reg, value, n)	((struct bpf_insn){ BPF_JMP | BPF_JEQ | BPF_K, reg, 0, n, value })
#define ADD_WORD(dst, src, at)	((struct bpf_insn){ BPF_STX | BPF_ATOMIC | BPF_W, dst, src, at, BPF_ADD })
/* two instructions */
#define MAP_FD(dst, map)	((struct bpf_insn){ BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_FD, 0, map }), \
				((struct bpf_insn){ 0 })
#define CALL(function)		((struct bpf_insn){ BPF_JMP | BPF_CALL, 0, 0, 0, function })
#define EXIT			((struct bpf_insn){ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 })

#endif
