// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "complain.h"
#include "genl.h"

#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif

struct genl {
	struct nl_sock *sk;
	const char *name;
	int family;
	const struct genl_reader *reader;
	int error;
	bool done;
	bool interrupted;
	char words[256];
};

/* ---- decoding attributes ------------------------------------------------------- */

/* A kernel may send fewer or more bytes than the member has. */
static void take_number(const struct field *field, struct nlattr *nla, void *to)
{
	uint64_t value = 0;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;

	switch (nla_len(nla)) {
	case 1:
		value = nla_get_u8(nla);
		break;
	case 2:
		value = nla_get_u16(nla);
		break;
	case 4:
		value = nla_get_u32(nla);
		break;
	case 8:
		memcpy(&value, nla_data(nla), 8);
		break;
	}
	u8 = value;
	u16 = value;
	u32 = value;
	memcpy(to, field->size == 1 ? (void *)&u8 : field->size == 2 ? (void *)&u16 :
	       field->size == 4 ? (void *)&u32 : (void *)&value, field->size);
}

static void take_text(const struct field *field, struct nlattr *nla, char *to)
{
	size_t len = nla_len(nla);

	if (len >= field->size)
		len = field->size - 1;
	memcpy(to, nla_data(nla), len);
	to[len] = '\0';
	len = strlen(to);
	while (len && to[len - 1] == ' ')
		to[--len] = '\0';
}

static void take_bytes(struct nlattr *nla, struct bytes *to)
{
	size_t len = nla_len(nla);

	if (len > sizeof(to->bytes))
		return;
	to->len = len;
	memcpy(to->bytes, nla_data(nla), len);
}

void decode(const struct field *fields, struct nlattr *head, int len, void *object)
{
	const struct field *field;
	struct nlattr *nla;
	int left;

	nla_for_each_attr(nla, head, len, left) {
		for (field = fields; field->size; field++) {
			char *to = (char *)object + field->offset;

			if (field->attribute != nla_type(nla))
				continue;
			if (field->kind == FIELD_NUMBER)
				take_number(field, nla, to);
			else if (field->kind == FIELD_TEXT)
				take_text(field, nla, to);
			else if (field->kind == FIELD_BYTES)
				take_bytes(nla, (void *)to);
			else if (field->kind == FIELD_NEST)
				decode(field->nest, nla_data(nla), nla_len(nla), object);
			else
				*(bool *)to = true;
		}
	}
}

/* ---- communication with the kernel --------------------------------------------- */

static void take_words(struct genl *genl, struct nlmsghdr *nlh, size_t skip)
{
	struct nlattr *nla;
	int left;

	if (!(nlh->nlmsg_flags & NLM_F_ACK_TLVS) || (size_t)nlmsg_datalen(nlh) < skip)
		return;
	nla_for_each_attr(nla, (struct nlattr *)((char *)nlmsg_data(nlh) + skip),
			  (int)(nlmsg_datalen(nlh) - skip), left) {
		if (nla_type(nla) != NLMSGERR_ATTR_MSG)
			continue;
		snprintf(genl->words, sizeof(genl->words), "%.*s", nla_len(nla),
			 (char *)nla_data(nla));
	}
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *err, void *arg)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)((char *)err - NLMSG_HDRLEN);
	struct genl *genl = arg;
	size_t skip = sizeof(*err);

	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += NLMSG_ALIGN(err->msg.nlmsg_len) - sizeof(err->msg);
	take_words(genl, nlh, skip);
	genl->error = -err->error;
	genl->done = true;
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	((struct genl *)arg)->done = true;
	return NL_STOP;
}

/* A dump that failed halfway reports the error in its last message. */
static int on_finish(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct genl *genl = arg;
	int error;

	if (nlmsg_datalen(nlh) >= (int)sizeof(error)) {
		memcpy(&error, nlmsg_data(nlh), sizeof(error));
		if (error < 0) {
			genl->error = -error;
			take_words(genl, nlh, sizeof(error));
		}
	}
	genl->done = true;
	return NL_STOP;
}

static int on_message(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *header = nlmsg_data(nlmsg_hdr(msg));
	struct genl *genl = arg;
	struct nlattr *nla;
	int left;

	if (nlmsg_hdr(msg)->nlmsg_type != genl->family || !genl->reader)
		return NL_OK;
	if (genl->reader->message)
		genl->reader->message(genl->reader->arg);
	nla_for_each_attr(nla, genlmsg_attrdata(header, 0), genlmsg_attrlen(header, 0), left)
		genl->reader->take(nla, genl->reader->arg);
	return NL_OK;
}

/* Receives messages until the answer is complete. Returns 0 or an errno. */
static int receive(struct genl *genl)
{
	genl->error = 0;
	genl->done = genl->interrupted = false;
	genl->words[0] = '\0';
	while (!genl->done) {
		int ret = nl_recvmsgs_default(genl->sk);

		if (ret == -NLE_DUMP_INTR)
			genl->interrupted = true;
		else if (ret < 0 && !genl->error)
			return ret == -NLE_NOMEM ? ENOBUFS : EIO;
	}
	return genl->error;
}

static void say_no_family(const char *family, int ret)
{
	if (ret == -NLE_OBJ_NOTFOUND)
		complain("the kernel has no SMC, or an older one (there is no netlink family %s); to load it, as root: modprobe smc",
			 family);
	else
		complain("cannot reach netlink family %s: %s", family, nl_geterror(ret));
}

struct genl *genl_open(const char *family)
{
	struct genl *genl = calloc(1, sizeof(*genl));
	int one = 1, ret;

	if (!genl)
		no_memory();
	genl->sk = nl_socket_alloc();
	if (!genl->sk)
		no_memory();
	genl->name = family;
	ret = genl_connect(genl->sk);
	if (ret >= 0)
		ret = genl->family = genl_ctrl_resolve(genl->sk, family);
	if (ret < 0) {
		say_no_family(family, ret);
		genl_close(genl);
		return NULL;
	}
	/* kernels before 4.12 send no messages, only the errno */
	setsockopt(nl_socket_get_fd(genl->sk), SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	nl_socket_modify_cb(genl->sk, NL_CB_VALID, NL_CB_CUSTOM, on_message, genl);
	nl_socket_modify_cb(genl->sk, NL_CB_FINISH, NL_CB_CUSTOM, on_finish, genl);
	nl_socket_modify_cb(genl->sk, NL_CB_ACK, NL_CB_CUSTOM, on_ack, genl);
	nl_socket_modify_err_cb(genl->sk, NL_CB_CUSTOM, on_error, genl);
	nl_socket_disable_seq_check(genl->sk);	/* messages of an interrupted dump may remain */
	return genl;
}

void genl_close(struct genl *genl)
{
	if (!genl)
		return;
	nl_socket_free(genl->sk);
	free(genl);
}

int genl_dump(struct genl *genl, uint8_t command, const struct genl_reader *reader)
{
	int tries = 5;
	int error;

	genl->reader = reader;
	do {
		if (reader->restart)
			reader->restart(reader->arg);
		if (genl_send_simple(genl->sk, genl->family, command, 1, NLM_F_DUMP) < 0)
			return EIO;
		error = receive(genl);
	} while (!error && genl->interrupted && --tries);
	if (!error && genl->interrupted)
		complain("note: something changed during the listing, which may be incomplete");
	return error;
}

struct item_reader {
	int nest;
	const struct field *fields;
	struct array *list;
};

static void take_item(struct nlattr *nla, void *arg)
{
	const struct item_reader *reader = arg;

	if (nla_type(nla) == reader->nest)
		decode(reader->fields, nla_data(nla), nla_len(nla), array_add(reader->list));
}

static void restart_items(void *arg)
{
	((struct item_reader *)arg)->list->count = 0;
}

int genl_list(struct genl *genl, uint8_t command, int nest, const struct field *fields,
	      struct array *list)
{
	struct item_reader items = { nest, fields, list };
	struct genl_reader reader = { .take = take_item, .restart = restart_items, .arg = &items };

	return genl_dump(genl, command, &reader);
}

struct nl_msg *genl_message(struct genl *genl, uint8_t command)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, genl->family, 0, 0, command, 1))
		no_memory();
	return msg;
}

int genl_do(struct genl *genl, struct nl_msg *msg, const struct genl_reader *reader)
{
	int ret;

	genl->reader = reader;
	ret = nl_send_auto(genl->sk, msg);	/* requests an acknowledgment */
	nlmsg_free(msg);
	return ret < 0 ? EIO : receive(genl);
}

int genl_join(struct genl *genl, const char *group)
{
	int number = genl_ctrl_resolve_grp(genl->sk, genl->name, group);
	int ret;

	if (number < 0)
		return number == -NLE_OBJ_NOTFOUND ? ENOENT : EIO;
	/* large enough for a burst; without root the limit may be lower */
	nl_socket_set_buffer_size(genl->sk, 1 << 20, 0);
	ret = nl_socket_add_membership(genl->sk, number);
	if (ret >= 0)
		ret = nl_socket_set_nonblocking(genl->sk);
	return ret < 0 ? ret == -NLE_PERM ? EPERM : EIO : 0;
}

int genl_fd(const struct genl *genl)
{
	return nl_socket_get_fd(genl->sk);
}

int genl_take_events(struct genl *genl, const struct genl_reader *reader)
{
	int ret;

	genl->reader = reader;
	do
		ret = nl_recvmsgs_default(genl->sk);
	while (ret >= 0);
	return ret == -NLE_NOMEM ? ENOBUFS : ret == -NLE_AGAIN ? 0 : EIO;
}

const char *genl_words(const struct genl *genl)
{
	return genl->words;
}
