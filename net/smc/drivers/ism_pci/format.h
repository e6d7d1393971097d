/* SPDX-License-Identifier: GPL-2.0 */
/*
 * IBM's ISM function (PCI 1014:04ed): commands and their answers, the state bit area, the event
 * queue, and the word that says where a move goes.  All numbers are big-endian.  Pure, for user
 * space too: the model of the device in tools/testing uses it.
 */
#ifndef SMC_ISM_PCI_FORMAT_H
#define SMC_ISM_PCI_FORMAT_H

#include "../../wire/wire.h"

#define ISM_PCI_VENDOR		0x1014
#define ISM_PCI_DEVICE		0x04ed

/* Address spaces of the function, which are its BARs. */
#define ISM_BAR_MOVE		0
#define ISM_BAR_COMMAND		2

/* ism_head.command */
enum ism_command {
	ISM_REGISTER_SBA	= 0x01,
	ISM_REGISTER_IEQ	= 0x02,
	ISM_READ_GID		= 0x03,
	ISM_ADD_VLAN		= 0x04,
	ISM_DELETE_VLAN		= 0x05,
	ISM_SET_VLAN		= 0x06,
	ISM_RESET_VLAN		= 0x07,
	ISM_QUERY_INFO		= 0x08,
	ISM_QUERY_GID		= 0x09,
	ISM_REGISTER_DMB	= 0x0a,
	ISM_UNREGISTER_DMB	= 0x0b,
	ISM_SIGNAL_EVENT	= 0x0e,
	ISM_UNREGISTER_SBA	= 0x11,
	ISM_UNREGISTER_IEQ	= 0x12,
};

/**
 * struct ism_head - the begin of each request and each answer
 * @command:	enum ism_command
 * @rc:		of an answer: 0 if it was done
 * @len:	of all of it, bytes
 */
struct ism_head {
	__be32	command;
	__be16	rc;
	__be16	len;
};

static_assert(sizeof(struct ism_head) == 8);

/* ism_head.rc before the device has answered; it stays when the function is gone. */
#define ISM_NO_ANSWER		0xffff

/* Requests with one number: an address, a VLAN, a token; answers with one: a GID, a token. */
struct ism_one {
	struct ism_head	head;
	__be64		value;
};

static_assert(sizeof(struct ism_one) == 16);

struct ism_register_ieq {
	struct ism_head	head;
	__be64		addr;
	__be64		len;
};

static_assert(sizeof(struct ism_register_ieq) == 24);

struct ism_query_gid {
	struct ism_head	head;
	__be64		gid;
	__be32		vlan_valid;
	__be32		vlan;
};

static_assert(sizeof(struct ism_query_gid) == 24);

struct ism_register_dmb {
	struct ism_head	head;
	__be64		addr;
	__be32		len;
	__be32		index;
	__be32		vlan_valid;
	__be32		vlan;
	__be64		peer;		/* who may write */
};

static_assert(sizeof(struct ism_register_dmb) == 40);

struct ism_signal_event {
	struct ism_head	head;
	__be64		gid;
	__be32		interrupt;
	__be32		code;
	__be64		info;
};

static_assert(sizeof(struct ism_signal_event) == 32);

/* The longest request or answer. */
#define ISM_MAX_LEN		200

/* ---- state bit area ---- */

#define ISM_SBA_DMBS		1920
#define ISM_SBA_FIRST		32	/* indices below are not used */

/**
 * struct ism_sba - which of our DMBs have been written to
 * @state:	ISM_SBA_*
 * @dmbs:	a bit for each index, the most significant one first
 * @reserved:	not used
 * @masks:	for each index, which of its elements: one here
 */
struct ism_sba {
	__be32	state;
	__be32	dmbs[ISM_SBA_DMBS / 32];
	u8	reserved[12];
	__be16	masks[ISM_SBA_DMBS];
};

static_assert(sizeof(struct ism_sba) == 4096);

#define ISM_SBA_SUMMARY		0x80000000	/* something is set */
#define ISM_SBA_EVENT		0x40000000	/* there is something in the event queue */

/* ---- event queue ---- */

#define ISM_EVENTS		15

/**
 * struct ism_event - an event
 * @type:	ISM_EVENT_*
 * @code:	ISM_CODE_*, of a program's
 * @token:	a GID or a token
 * @time:	when
 * @info:	depends on the code
 */
struct ism_event {
	__be32	type;
	__be32	code;
	__be64	token;
	__be64	time;
	__be64	info;
};

#define ISM_EVENT_DMB		0	/* something happened to a peer's DMB */
#define ISM_EVENT_GID		1	/* a peer's GID is not what it was */
#define ISM_EVENT_PROGRAM	2	/* ISM_SIGNAL_EVENT of a peer */

#define ISM_CODE_SHUTDOWN	0x80	/* the peer's DMBs for us are gone */
#define ISM_CODE_TEST		0x83
#define ISM_TEST_REQUEST	1
#define ISM_TEST_RESPONSE	2

/**
 * ism_test_answer() - the answer to a test of the link
 * @info: of the event that may ask
 *
 * The code is one half of the word, the other one is 0.  What we know of the device does not say
 * which half, so the answer stands where the question did.
 *
 * Return: info of the answer; 0 if nothing is asked.
 */
static inline u64 ism_test_answer(u64 info)
{
	if (info == (u64)ISM_TEST_REQUEST << 32)
		return (u64)ISM_TEST_RESPONSE << 32;
	return info == ISM_TEST_REQUEST ? ISM_TEST_RESPONSE : 0;
}

/**
 * struct ism_ieq - events, in a ring
 * @next:	the entry that the device writes next; what is meant is its place in the ring
 * @len:	of all of it
 * @entry_len:	of one entry
 * @reserved:	not used
 * @events:	the entries
 */
struct ism_ieq {
	__be64			next;
	__be64			len;
	__be64			entry_len;
	__be64			reserved;
	struct ism_event	events[ISM_EVENTS];
};

static_assert(sizeof(struct ism_ieq) == 512);

/* ---- moves ---- */

#define ISM_MOVE_PAGE		4096	/* a move ends where a page of its target does */
#define ISM_MOVE_MAX_OFFSET	0x007fffffu
#define ISM_MOVE_SIGNAL		0x00800000u
#define ISM_MOVE_INDEX_SHIFT	24

/**
 * ism_move_target() - where a move goes
 * @token:	names the peer's DMB; its lower bits are zero
 * @index:	of the element
 * @offset:	in the element, ISM_MOVE_MAX_OFFSET at most
 * @signal:	tell the peer
 *
 * Return: the word.
 */
static inline u64 ism_move_target(u64 token, unsigned int index, u32 offset, int signal)
{
	return token | (u64)index << ISM_MOVE_INDEX_SHIFT | (signal ? ISM_MOVE_SIGNAL : 0) | offset;
}

/**
 * ism_move_part() - where a part of a move goes
 * @target: of ism_move_target(), beginning with this part
 * @last: nothing of the move follows, and everything else was written before
 *
 * Return: the word, which tells the peer with the last part only.
 */
static inline u64 ism_move_part(u64 target, int last)
{
	return last ? target : target & ~(u64)ISM_MOVE_SIGNAL;
}

/* ---- the model: BAR 0 ---- */

#define ISM_WINDOW_TARGET	0x00	/* 64 bits */
#define ISM_WINDOW_LEN		0x08	/* 32 bits: starts a move; then reads as 0 if it was done */
#define ISM_WINDOW_CHID		0x10	/* 32 bits */
#define ISM_WINDOW_PNETID	0x20	/* 16 characters, blanks at the end */
#define ISM_WINDOW_DATA		0x1000
#define ISM_WINDOW_BYTES	(ISM_WINDOW_DATA + ISM_MOVE_PAGE)

/* ---- system EID ---- */

#define ISM_SEID		"IBM-SYSZ-ISMSEID00000000"
#define ISM_SEID_LEN		32

static inline char ism_hex(unsigned int digit)
{
	return "0123456789ABCDEF"[digit & 15];
}

/**
 * ism_seid() - the system EID, which all partitions of a machine share
 * @seid: receives it, ISM_SEID_LEN bytes
 * @number: of the machine
 * @type: of the machine
 */
static inline void ism_seid(u8 *seid, u32 number, u16 type)
{
	int i;

	memcpy(seid, ISM_SEID, sizeof(ISM_SEID) - 1);
	for (i = 0; i < 4; i++) {
		seid[24 + i] = ism_hex(number >> (12 - 4 * i));
		seid[28 + i] = ism_hex(type >> (12 - 4 * i));
	}
}

/* ---- PNETID ---- */

#define ISM_PNETID_LEN		16

/* A digit or a letter, as a capital; 0 for anything else. */
static inline char ism_from_ebcdic(u8 code)
{
	static const char rows[][11] = {
		"\0ABCDEFGHI", "\0JKLMNOPQR", "\0\0STUVWXYZ", "0123456789"
	};
	unsigned int row = code >> 4, column = code & 15;

	if (row >= 8 && row <= 10)	/* small letters */
		row += 4;
	return row < 12 || column > 9 ? 0 : rows[row - 12][column];
}

#define ISM_EBCDIC_BLANK	0x40

/**
 * ism_pnetid() - the PNETID that an administrator of the machine gave the function
 * @pnetid: receives it in capitals, the rest zeros: ISM_PNETID_LEN + 1 bytes
 * @text: ISM_PNETID_LEN characters of EBCDIC, filled up with blanks or zeros
 *
 * Return: false for an empty one, and for one with characters that no PNETID has.
 */
static inline bool ism_pnetid(char *pnetid, const u8 *text)
{
	unsigned int i, len = ISM_PNETID_LEN;

	memset(pnetid, 0, ISM_PNETID_LEN + 1);
	while (len && (text[len - 1] == ISM_EBCDIC_BLANK || !text[len - 1]))
		len--;
	for (i = 0; i < len; i++) {
		pnetid[i] = ism_from_ebcdic(text[i]);
		if (!pnetid[i])
			break;
	}
	if (len && i == len)
		return true;
	pnetid[0] = 0;
	return false;
}

#endif /* SMC_ISM_PCI_FORMAT_H */
