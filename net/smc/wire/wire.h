/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the codecs need from their environment: fixed-size types, byte order helpers, memcpy() and
 * errno values. The same sources are built in the kernel and in user space (unit tests, fuzzers).
 * Nothing here allocates or does I/O.
 */
#ifndef SMC_WIRE_WIRE_H
#define SMC_WIRE_WIRE_H

#ifdef __KERNEL__

#include <linux/types.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#else

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

/* As in the kernel: the message is optional, so this one has none. */
#define static_assert(expr) _Static_assert(expr, #expr)

#ifndef __packed
#define __packed __attribute__((__packed__))
#endif

#define be16_to_cpu(x) be16toh(x)
#define be32_to_cpu(x) be32toh(x)
#define be64_to_cpu(x) be64toh(x)
#define cpu_to_be16(x) htobe16(x)
#define cpu_to_be32(x) htobe32(x)
#define cpu_to_be64(x) htobe64(x)

#endif /* __KERNEL__ */

/*
 * Length of every SMC-R message over an RDMA link, except for the large LLC messages of version 2.
 */
#define SMC_WR_MSG_LEN	44

#endif /* SMC_WIRE_WIRE_H */
