/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A generic netlink client without any library, as an independent check of the tools. It knows
 * netlink, but nothing of SMC except the number of the family.
 */
#ifndef SMC_TEST_GENL_H
#define SMC_TEST_GENL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct genl {
	int fd;
	uint16_t family;
	uint32_t seq;
};

#define MAX_MESSAGES	256

/* An answer: an error with its message, or the attributes of each message. */
struct answer {
	int error;			/* 0, or errno */
	char words[256];		/* message of the extended ACK, or "" */
	bool interrupted;		/* a dump whose objects changed meanwhile */
	size_t count;
	struct {
		uint8_t cmd;
		const uint8_t *attrs;
		size_t len;
	} msg[MAX_MESSAGES];
	uint8_t data[1 << 18];
	size_t used;
};

/* Attributes to send. */
struct payload {
	uint8_t b[4096];
	size_t len;
};

bool genl_open(struct genl *g, const char *family);	/* false: no such family */
void genl_close(struct genl *g);
void genl_do(struct genl *g, uint8_t cmd, const struct payload *p, struct answer *a);
void genl_dump(struct genl *g, uint8_t cmd, const struct payload *p, struct answer *a);

/* Sends an arbitrary message, including the netlink header; the kernel may reject it. */
void genl_send_raw(struct genl *g, const void *msg, size_t len);
void genl_drain(struct genl *g);	/* discards pending answers */

void put_attr(struct payload *p, uint16_t type, const void *data, size_t len);
void put_text(struct payload *p, uint16_t type, const char *text);

/* Finds the first attribute of this type in @len bytes of attributes, or returns NULL. */
const uint8_t *find_attr(const uint8_t *attrs, size_t len, uint16_t type, size_t *attr_len);
bool has_u8(const uint8_t *attrs, size_t len, uint16_t type, unsigned int *value);
bool has_u32(const uint8_t *attrs, size_t len, uint16_t type, unsigned int *value);

/* What sock_diag reports for a socket of this network namespace. */
struct diag {
	unsigned int mode;
	unsigned int reason;
	unsigned int peer_diagnosis;
};
bool diag_of(int fd, struct diag *d);	/* false: sock_diag does not list it */

#endif
