/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Formats of IBM's ISM function (PCI 1014:04ed): commands and answers, the state bit area, the
 * event queue, and the target of a move.  All numbers are big-endian.  Usable in user space: the
 * model of the device in tools/testing includes this file.
 */
#ifndef SMC_ISM_PCI_FORMAT_H
#define SMC_ISM_PCI_FORMAT_H

#include "../../wire/wire.h"

#define ISM_PCI_VENDOR		0x1014
#define ISM_PCI_DEVICE		0x04ed

/* Address spaces of the function: its BARs. */
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
 * struct ism_head - the start of each request and answer
 * @command:	enum ism_command
 * @rc:		in an answer: 0 on success
 * @len:	length of the whole request or answer in bytes
 */
struct ism_head {
	__be32	command;
	__be16	rc;
	__be16	len;
};

static_assert(sizeof(struct ism_head) == 8);

/* Preset for ism_head.rc; it also reads as this when the function is gone. */
#define ISM_NO_ANSWER		0xffff

/* A request with one number (address, VLAN, token), or an answer with one (GID, token). */
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
	__be64		peer;		/* GID of the peer that may write */
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

/* Maximum length of a request or answer. */
#define ISM_MAX_LEN		200

/* ---- state bit area ---- */

#define ISM_SBA_DMBS		1920
#define ISM_SBA_FIRST		32	/* lower indices are not used */

/**
 * struct ism_sba - which of our DMBs have been written to
 * @state:	ISM_SBA_*
 * @dmbs:	one bit for each DMB index, the most significant bit first
 * @reserved:	not used
 * @masks:	for each DMB index, the elements that were written to; a DMB has one element here
 */
struct ism_sba {
	__be32	state;
	__be32	dmbs[ISM_SBA_DMBS / 32];
	u8	reserved[12];
	__be16	masks[ISM_SBA_DMBS];
};

static_assert(sizeof(struct ism_sba) == 4096);

#define ISM_SBA_SUMMARY		0x80000000	/* at least one bit is set */
#define ISM_SBA_EVENT		0x40000000	/* the event queue has new entries */

/* ---- event queue ---- */

#define ISM_EVENTS		15

/**
 * struct ism_event - an entry of the event queue
 * @type:	ISM_EVENT_*
 * @code:	ISM_CODE_*, for ISM_EVENT_PROGRAM
 * @token:	a GID or a token
 * @time:	time of the event
 * @info:	depends on @code
 */
struct ism_event {
	__be32	type;
	__be32	code;
	__be64	token;
	__be64	time;
	__be64	info;
};

#define ISM_EVENT_DMB		0	/* an event of a peer's DMB */
#define ISM_EVENT_GID		1	/* a peer's GID is gone or was reassigned */
#define ISM_EVENT_PROGRAM	2	/* a peer has sent ISM_SIGNAL_EVENT */

#define ISM_CODE_SHUTDOWN	0x80	/* the peer has given up the DMBs that we write to */
#define ISM_CODE_TEST		0x83
#define ISM_TEST_REQUEST	1
#define ISM_TEST_RESPONSE	2

/**
 * ism_test_answer() - compute the answer to a test of the connection between two peers
 * @info: info of the event, which may be a test
 *
 * The code is in one half of the word, the other half is 0.  What is known of the device does not
 * say which half, so the answer uses the half that the request used.
 *
 * Return: info of the answer; 0 if the event is not a test.
 */
static inline u64 ism_test_answer(u64 info)
{
	if (info == (u64)ISM_TEST_REQUEST << 32)
		return (u64)ISM_TEST_RESPONSE << 32;
	return info == ISM_TEST_REQUEST ? ISM_TEST_RESPONSE : 0;
}

/**
 * struct ism_ieq - ring of events
 * @next:	number of the entry that the device writes next, modulo ISM_EVENTS
 * @len:	length of the whole structure in bytes
 * @entry_len:	length of an entry in bytes
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

#define ISM_MOVE_PAGE		4096	/* a move must not cross a page of its target */
#define ISM_MOVE_MAX_OFFSET	0x007fffffu
#define ISM_MOVE_SIGNAL		0x00800000u
#define ISM_MOVE_INDEX_SHIFT	24

/**
 * ism_move_target() - encode the target of a move
 * @token: token of the peer's DMB; its lower bits are zero
 * @index: index of the element
 * @offset: offset in the element, at most ISM_MOVE_MAX_OFFSET
 * @signal: nonzero to signal the peer
 *
 * Return: the target.
 */
static inline u64 ism_move_target(u64 token, unsigned int index, u32 offset, int signal)
{
	return token | (u64)index << ISM_MOVE_INDEX_SHIFT | (signal ? ISM_MOVE_SIGNAL : 0) | offset;
}

/**
 * ism_move_part() - encode the target of one part of a split move
 * @target: result of ism_move_target() for the offset of this part
 * @last: nonzero for the last part
 *
 * Return: the target; only that of the last part signals the peer.
 */
static inline u64 ism_move_part(u64 target, int last)
{
	return last ? target : target & ~(u64)ISM_MOVE_SIGNAL;
}

/* ---- BAR 0 of the model ---- */

#define ISM_WINDOW_TARGET	0x00	/* 64 bits */
#define ISM_WINDOW_LEN		0x08	/* 32 bits: a write starts a move, a read is 0 on success */
#define ISM_WINDOW_CHID		0x10	/* 32 bits */
#define ISM_WINDOW_PNETID	0x20	/* 16 characters, padded with blanks */
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
 * ism_seid() - compute the system EID, which all partitions of a machine share
 * @seid: receives ISM_SEID_LEN bytes
 * @number: serial number of the machine
 * @type: type of the machine
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

/* Converts a letter, to upper case, or a digit; returns 0 for any other character. */
static inline char ism_from_ebcdic(u8 code)
{
	static const char rows[][11] = {
		"\0ABCDEFGHI", "\0JKLMNOPQR", "\0\0STUVWXYZ", "0123456789"
	};
	unsigned int row = code >> 4, column = code & 15;

	if (row >= 8 && row <= 10)	/* lower case */
		row += 4;
	return row < 12 || column > 9 ? 0 : rows[row - 12][column];
}

#define ISM_EBCDIC_BLANK	0x40

/**
 * ism_pnetid() - convert the PNETID that the machine's administrator gave the function
 * @pnetid: receives it in upper case, padded with zeros: ISM_PNETID_LEN + 1 bytes
 * @text: ISM_PNETID_LEN characters in EBCDIC, padded with blanks or zeros
 *
 * Return: false if it is empty or has characters that are invalid in a PNETID.
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
