/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Generic netlink: ask a family of the kernel, change something, and say in words what
 * went wrong. A table of fields turns attributes into a structure.
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
	FIELD_NUMBER,		/* u8 to u64, as many bytes as the kernel sent */
	FIELD_TEXT,		/* trailing blanks are dropped */
	FIELD_NEST,		/* fields of its own, into the same structure */
	FIELD_FLAG,		/* true: the attribute came */
	FIELD_BYTES,		/* struct bytes */
};

/* A few bytes as they came, such as an address. Anything longer is not an address. */
struct bytes {
	uint8_t len;
	uint8_t bytes[16];
};

struct field {
	int attribute;
	enum field_kind kind;
	size_t offset;
	size_t size;
	const struct field *nest;	/* ends with an entry of size 0 */
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

/* Fills a structure from attributes. What the table does not know is left out. */
void decode(const struct field *fields, struct nlattr *head, int len, void *object);

struct genl;

/* NULL: refused, and said why. */
struct genl *genl_open(const char *family);
void genl_close(struct genl *genl);

/*
 * One dump. Each top-level attribute of each message is handed to take(), after message()
 * (if there is one) for the message itself. When the kernel says that its table changed
 * meanwhile, restart() is called and the dump begins again. Returns 0 or an errno.
 */
struct genl_reader {
	void (*take)(struct nlattr *attribute, void *arg);
	void (*restart)(void *arg);
	void *arg;
	void (*message)(void *arg);
};
int genl_dump(struct genl *genl, uint8_t command, const struct genl_reader *reader);

/* A dump of one kind of object into a list: a top-level nest per object. */
int genl_list(struct genl *genl, uint8_t command, int nest, const struct field *fields,
	      struct array *list);

/* A command that changes something, or asks for one thing. Returns 0 or an errno. */
struct nl_msg *genl_message(struct genl *genl, uint8_t command);
int genl_do(struct genl *genl, struct nl_msg *msg, const struct genl_reader *reader);

/*
 * Messages that nobody asked for: joins a multicast group of the family. 0, or ENOENT if the family
 * has none of that name, or another errno. From then on the socket does not block.
 */
int genl_join(struct genl *genl, const char *group);
int genl_fd(const struct genl *genl);

/* Takes what has come. 0, or ENOBUFS: some were lost, and more may have come since. */
int genl_take_events(struct genl *genl, const struct genl_reader *reader);

/* What the kernel said of the last error, or "". */
const char *genl_words(const struct genl *genl);

#endif /* SMC_TOOLS_GENL_H */
