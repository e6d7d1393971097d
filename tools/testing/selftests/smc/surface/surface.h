/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interfaces for local users, as tables: socket options, netlink commands with their
 * attributes, settings. smc_input_test tries all errors with each entry, and a fuzzer draws from
 * them. The "complete" cases of smc_input_test compare the tables with the running module, so
 * nothing can be added there and be missing here.
 */
#ifndef SMC_TEST_SURFACE_H
#define SMC_TEST_SURFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- sockets ---- */

/* Arguments for socket(); the type is SOCK_STREAM. */
struct surface_socket {
	int family;
	int protocol;
	int ip;			/* AF_INET or AF_INET6: family of its addresses */
};

extern const struct surface_socket surface_sockets[];
extern const size_t surface_n_sockets;

/* ---- socket options ---- */

enum surface_value {
	VALUE_INT,
	VALUE_BYTES,		/* a structure of surface_option.size bytes, or a list of them */
	VALUE_TEXT,		/* size: the maximum, without a terminator */
	VALUE_POINTER,		/* a structure that contains user pointers */
};

/* The value differs between sockets, or changes over time. */
#define OPT_VARIES	0x01
/* Setting it patches kernel code (static keys), or delays all sending. */
#define OPT_NO_VALUES	0x02
/* Only test builds of the module have it. */
#define OPT_TEST	0x04
/* SMC refuses it in some phase in which TCP accepts it. */
#define OPT_REFUSED	0x08
/* SMC, not TCP, determines which values are valid. */
#define OPT_OWN		0x10
/* It is read only or write only. */
#define OPT_GET		0x20
#define OPT_SET		0x40

struct surface_option {
	int level;
	int number;
	const char *name;
	enum surface_value value;
	uint16_t size;		/* size of its value in the kernel, in bytes */
	uint16_t flags;
};

extern const struct surface_option surface_options[];
extern const size_t surface_n_options;

/* Numbers from 0 to this one may be options of a level; higher ones never are. */
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
	uint32_t min, max;	/* of a number; of a text: its length without terminator */
	int beyond;		/* errno below min or above max; 0: all are accepted */
	int empty;		/* errno for an empty text, with or without a terminator */
	const char *good;	/* a valid text */
	uint16_t needs;		/* an attribute that it requires; 0: none */
	bool of_host;		/* requires CAP_NET_ADMIN on the host */
	const char *never;	/* some of the characters that must not be within a text */
	uint32_t value;		/* a valid number; IPv4 addresses in host byte order */
	const struct surface_policy *nest;
};

/* The attributes of a command or of a nest. */
struct surface_policy {
	const struct surface_attr *attrs;
	size_t n;
};

enum surface_right {
	RIGHT_NONE,		/* everybody */
	RIGHT_NETNS,		/* CAP_NET_ADMIN in the network namespace */
	RIGHT_DEVICES,		/* for attributes with of_host, on the host, too */
	RIGHT_HOST,		/* and in the initial network namespace */
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
	uint16_t in_nest[MAX_MANDATORY];	/* attributes in the nest that is the first one */
	bool strict;		/* reserved bits of the headers must be 0 */
};

struct surface_family {
	const char *name;
	uint16_t max;		/* largest attribute in its policy */
	const struct surface_command *commands;
	size_t n;
};

extern const struct surface_family surface_families[];
extern const size_t surface_n_families;

/* A request for sockets: SOCK_DIAG_BY_FAMILY, struct smc_diag_req. */
#define SURFACE_DIAG_EXTS	0xff

/* ---- settings ---- */

#define SURFACE_SYSCTL_DIR	"/proc/sys/net/smc"

/* Root of another user namespace may only read it, even in a network namespace of its own. */
#define SYSCTL_OF_HOST	0x1
/* Only the initial network namespace has it. */
#define SYSCTL_FIRST	0x2
/* An unsigned long; all others are ints. */
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
