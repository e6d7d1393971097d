/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What local users reach, as tables: socket options, netlink commands with their attributes,
 * settings. smc_input_test plays everything that is wrong with each entry, a fuzzer draws from
 * them. smc_input_test's "complete" cases compare the tables with the running module, so that
 * nothing can be added there and be forgotten here.
 */
#ifndef SMC_TEST_SURFACE_H
#define SMC_TEST_SURFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- sockets ---- */

/* What socket() is asked for; the type is SOCK_STREAM. */
struct surface_socket {
	int family;
	int protocol;
	int ip;			/* AF_INET or AF_INET6: of its addresses */
};

extern const struct surface_socket surface_sockets[];
extern const size_t surface_n_sockets;

/* ---- socket options ---- */

enum surface_value {
	VALUE_INT,
	VALUE_BYTES,		/* a structure of surface_option.size bytes, or a list of them */
	VALUE_TEXT,		/* size: the longest, without a terminator */
	VALUE_POINTER,		/* a structure with user pointers in it */
};

/* The value is another one for each socket, or at each look. */
#define OPT_VARIES	0x01
/* Setting it changes the kernel's code (static keys), or delays all that is sent. */
#define OPT_NO_VALUES	0x02
/* Only test builds of the module have it. */
#define OPT_TEST	0x04
/* SMC refuses it in some phase in which TCP takes it. */
#define OPT_REFUSED	0x08
/* SMC, not TCP, decides what it does with its values. */
#define OPT_OWN		0x10
/* It is read only, written only. */
#define OPT_GET		0x20
#define OPT_SET		0x40

struct surface_option {
	int level;
	int number;
	const char *name;
	enum surface_value value;
	uint16_t size;		/* bytes, of its value in the kernel */
	uint16_t flags;
};

extern const struct surface_option surface_options[];
extern const size_t surface_n_options;

/* Numbers from 0 to this one may be options of a level; the others are none. */
struct surface_level {
	int level;
	int last;
	const char *name;
};

extern const struct surface_level surface_levels[];
extern const size_t surface_n_levels;

/* ---- netlink ---- */

enum surface_type {
	ATTR_U8, ATTR_U16, ATTR_U32,
	ATTR_TEXT,		/* with or without a terminator */
	ATTR_ADDRESS,		/* 4 or 16 bytes */
	ATTR_NEST,
};

struct surface_policy;

struct surface_attr {
	uint16_t number;
	const char *name;
	enum surface_type type;
	uint32_t min, max;	/* of a number; length of a text without its terminator */
	int beyond;		/* errno for what is below min or above max, 0: all are taken */
	int empty;		/* errno for a text that is empty, but for the terminator */
	const char *good;	/* a valid text */
	uint16_t needs;		/* an attribute without which it means nothing; 0: none */
	bool of_host;		/* to name it takes CAP_NET_ADMIN on the host */
	const char *never;	/* characters that a text must not have within; some of them */
	uint32_t value;		/* a valid number, an address of IPv4 in host order */
	const struct surface_policy *nest;
};

/* What a command, or a nest, may have. */
struct surface_policy {
	const struct surface_attr *attrs;
	size_t n;
};

enum surface_right {
	RIGHT_NONE,		/* everybody */
	RIGHT_NETNS,		/* CAP_NET_ADMIN in the network namespace */
	RIGHT_DEVICES,		/* for attributes that are of_host on the host, too */
	RIGHT_HOST,		/* and the network namespace is the first one */
};

#define CMD_DO		0x1
#define CMD_DUMP	0x2
#define MAX_MANDATORY	2

struct surface_command {
	uint8_t number;
	const char *name;
	unsigned int how;	/* CMD_* */
	enum surface_right right;
	const struct surface_policy *policy;
	uint16_t mandatory[MAX_MANDATORY];	/* attributes; 0: none */
	uint16_t in_nest[MAX_MANDATORY];	/* attributes in the nest of the first one */
	bool strict;		/* reserved bits of the headers have to be 0 */
};

struct surface_family {
	const char *name;
	uint16_t max;		/* largest attribute of its own policy */
	const struct surface_command *commands;
	size_t n;
};

extern const struct surface_family surface_families[];
extern const size_t surface_n_families;

/* A request for the sockets: SOCK_DIAG_BY_FAMILY, struct smc_diag_req. */
#define SURFACE_DIAG_EXTS	0xff

/* ---- settings ---- */

#define SURFACE_SYSCTL_DIR	"/proc/sys/net/smc"

/* Root of another user namespace may only read it, also of a network namespace of its own. */
#define SYSCTL_OF_HOST	0x1
/* Only the first network namespace has it. */
#define SYSCTL_FIRST	0x2
/* An unsigned long, otherwise an int. */
#define SYSCTL_ULONG	0x4

struct surface_sysctl {
	const char *name;
	long standard;		/* -1: depends on the machine */
	long min;
	unsigned long max;
	unsigned int flags;
};

extern const struct surface_sysctl surface_sysctls[];
extern const size_t surface_n_sysctls;

#endif
