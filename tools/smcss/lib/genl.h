/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink: read from a family of the kernel, change something, and report errors in
 * words. A table of fields converts attributes to members of a structure.
 */
#ifndef SMC_TOOLS_GENL_H
#define SMC_TOOLS_GENL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "array.h"

enum field_kind {
	FIELD_NUMBER,		/* u8 to u64, with the size that the kernel sent */
	FIELD_TEXT,		/* without trailing blanks */
	FIELD_NEST,		/* nested attributes, decoded into the same structure */
	FIELD_FLAG,		/* true: the attribute is present */
	FIELD_BYTES,		/* struct bytes */
};

/* A short binary value, such as an address; a longer attribute is not one. */
struct bytes {
	uint8_t len;
	uint8_t bytes[16];
};

struct field {
	int attribute;
	enum field_kind kind;
	size_t offset;
	size_t size;
	const struct field *nest;	/* table that ends with an entry of size 0 */
};

#define NUMBER(attribute, type, member) \
	{ attribute, FIELD_NUMBER, offsetof(type, member), sizeof(((type *)0)->member), NULL }
#define TEXT(attribute, type, member) \
	{ attribute, FIELD_TEXT, offsetof(type, member), sizeof(((type *)0)->member), NULL }
#define FLAG(attribute, type, member) \
	{ attribute, FIELD_FLAG, offsetof(type, member), sizeof(bool), NULL }
#define BYTES(attribute, type, member) \
	{ attribute, FIELD_BYTES, offsetof(type, member), sizeof(struct bytes), NULL }
#define NEST(attribute, fields) \
	{ attribute, FIELD_NEST, 0, 1, fields }

/* Fills a structure from attributes. Ignores attributes that are not in the table. */
void decode(const struct field *fields, struct nlattr *head, int len, void *object);

struct genl;

/* Returns NULL after printing a message if the family cannot be used. */
struct genl *genl_open(const char *family);
void genl_close(struct genl *genl);

/*
 * One dump. Calls message() for each message, if it is set, then take() for each of its top-level
 * attributes. If the kernel reports that its table changed during the dump, restart() is called
 * and the dump begins again. Returns 0 or an errno.
 */
struct genl_reader {
	void (*take)(struct nlattr *attribute, void *arg);
	void (*restart)(void *arg);
	void *arg;
	void (*message)(void *arg);
};
int genl_dump(struct genl *genl, uint8_t command, const struct genl_reader *reader);

/* Dumps objects of one kind into a list; each object is a top-level nest. */
int genl_list(struct genl *genl, uint8_t command, int nest, const struct field *fields,
	      struct array *list);

/* A command that changes something or requests a single object. Returns 0 or an errno. */
struct nl_msg *genl_message(struct genl *genl, uint8_t command);
int genl_do(struct genl *genl, struct nl_msg *msg, const struct genl_reader *reader);

/*
 * Joins a multicast group of the family, for notifications. Returns 0; ENOENT if the family has no
 * such group; or another errno. From then on the socket is non-blocking.
 */
int genl_join(struct genl *genl, const char *group);
int genl_fd(const struct genl *genl);

/* Reads pending notifications. Returns 0, or ENOBUFS: some were lost, and more may be pending. */
int genl_take_events(struct genl *genl, const struct genl_reader *reader);

/* The kernel's message for the last error, or "". */
const char *genl_words(const struct genl *genl);

#endif /* SMC_TOOLS_GENL_H */
