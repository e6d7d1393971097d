/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CLC messages composed by hand from the tables of RFC 7609 A.2 and of the
 * SMCv2 paper. One line per field; the comments give the offset.
 */
#ifndef SMC_UNIT_GOLDEN_SPEC_H
#define SMC_UNIT_GOLDEN_SPEC_H

#include "wire.h"

#define EYE_R		0xe2, 0xd4, 0xc3, 0xd9
#define EYE_D		0xe2, 0xd4, 0xc3, 0xc4
#define Z2		0, 0
#define Z4		Z2, Z2
#define Z8		Z4, Z4
#define Z12		Z8, Z4
#define Z16		Z8, Z8
#define Z20		Z16, Z4
#define Z32		Z16, Z16
#define B8		' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '
#define B24		B8, B8, B8
#define PEER_C		0x12, 0x34, 0x02, 0x00, 0x00, 0xaa, 0xbb, 0x01
#define PEER_S		0x56, 0x78, 0x02, 0x00, 0x00, 0xaa, 0xbb, 0x02
#define MAC_C		0x02, 0x00, 0x00, 0xaa, 0xbb, 0x01
#define MAC_S		0x02, 0x00, 0x00, 0xaa, 0xbb, 0x02
#define GID_C		0xfe, 0x80, Z4, Z2, 0x00, 0x00, 0xaa, 0xff, 0xfe, \
			0xbb, 0xcc, 0x01
#define GID_S		0xfe, 0x80, Z4, Z2, 0x00, 0x00, 0xaa, 0xff, 0xfe, \
			0xbb, 0xcc, 0x02
#define GID4_C		Z8, Z2, 0xff, 0xff, 192, 168, 7, 1
#define GID4_S		Z8, Z2, 0xff, 0xff, 192, 168, 7, 2
/* 32 characters */
#define EID_A		'S', 'Y', 'S', 'P', 'L', 'E', 'X', '1', B24
#define EID_B		'E', 'I', 'D', '-', '2', '.', '0', 'B', B24
#define SEID		'I', 'B', 'M', '-', 'S', 'Y', 'S', 'Z', '-', 'I', \
			'S', 'M', 'S', 'E', 'I', 'D', '0', '0', '0', '0', \
			'0', '0', '0', '0', '1', 'A', '2', 'B', '3', '9', \
			'0', '6'
#define HOST_C		'c', 'l', 'i', 'e', 'n', 't', '-', '1', B24
#define HOST_S		's', 'e', 'r', 'v', 'e', 'r', '-', '2', B24

/* SMC-Rv1 over IPv4, RFC 7609 figure 26: 52 bytes */
static const u8 spec_r1_proposal_ipv4[] = {
	/*  0 */ EYE_R,
	/*  4 */ 0x01,
	/*  5 */ 0x00, 0x34,
	/*  7 */ 0x10,			/* version 1, SMC-R */
	/*  8 */ PEER_C,
	/* 16 */ GID_C,
	/* 32 */ MAC_C,
	/* 38 */ 0x00, 0x00,		/* mask area follows at once */
	/* 40 */ 255, 255, 252, 0,
	/* 44 */ 22,
	/* 45 */ Z2,
	/* 47 */ 0,
	/* 48 */ EYE_R,
};
static_assert(sizeof(spec_r1_proposal_ipv4) == 52);

/* SMC-Rv1 over IPv6 with two prefixes: 52 + 2 * 17 */
static const u8 spec_r1_proposal_ipv6[] = {
	/*  0 */ EYE_R,
	/*  4 */ 0x01,
	/*  5 */ 0x00, 0x56,
	/*  7 */ 0x10,
	/*  8 */ PEER_C,
	/* 16 */ GID_C,
	/* 32 */ MAC_C,
	/* 38 */ 0x00, 0x00,
	/* 40 */ Z4,
	/* 44 */ 0,
	/* 45 */ Z2,
	/* 47 */ 2,
	/* 48 */ 0x20, 0x01, 0x0d, 0xb8, 0x00, 0x01, Z8, Z2, 64,
	/* 65 */ 0xfd, 0x00, 0x00, 0x42, Z12, 48,
	/* 82 */ EYE_R,
};
static_assert(sizeof(spec_r1_proposal_ipv6) == 86);

/* SMC-Dv1: the GID is at 40, the IP area follows the long base */
static const u8 spec_d1_proposal[] = {
	/*  0 */ EYE_R,
	/*  4 */ 0x01,
	/*  5 */ 0x00, 0x5c,
	/*  7 */ 0x11,			/* version 1, SMC-D */
	/*  8 */ PEER_C,
	/* 16 */ Z16,
	/* 32 */ Z4, Z2,
	/* 38 */ 0x00, 0x28,		/* 40 + 40 = 80 */
	/* 40 */ 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
	/* 48 */ Z32,
	/* 80 */ 10, 1, 2, 0,
	/* 84 */ 24,
	/* 85 */ Z2,
	/* 87 */ 0,
	/* 88 */ EYE_R,
};
static_assert(sizeof(spec_d1_proposal) == 92);

/* Everything in v1 and v2.0, one IPv6 prefix, two EIDs, SEID, two ISM GIDs */
static const u8 spec_all20_proposal[] = {
	/*   0 */ EYE_R,
	/*   4 */ 0x01,
	/*   5 */ 0x01, 0x19,		/* 281 */
	/*   7 */ 0x2f,			/* version 2, both, both */
	/*   8 */ PEER_C,
	/*  16 */ GID_C,
	/*  32 */ MAC_C,
	/*  38 */ 0x00, 0x28,		/* 40 + 40 = 80 */
	/*  40 */ 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
	/*  48 */ 0x03, 0xe8,
	/*  50 */ 0x00, 0x35,		/* 52 + 53 = 105 */
	/*  52 */ Z8,
	/*  60 */ Z20,
	/*  80 */ Z4, 0, Z2, 1,
	/*  88 */ 0x20, 0x01, 0x0d, 0xb8, Z12, 64,
	/* 105 */ 2, 2, 0, 0x01,	/* 2 EIDs, 2 GIDs, release 0, SEID */
	/* 109 */ Z2,
	/* 111 */ 0x00, 0x60,		/* 113 + 96 = 209 */
	/* 113 */ GID_C,
	/* 129 */ Z16,
	/* 145 */ EID_A,
	/* 177 */ EID_B,
	/* 209 */ SEID,
	/* 241 */ Z16,
	/* 257 */ 0xa1, 0, 0, 0, 0, 0, 0, 0x01, 0x04, 0x01,
	/* 267 */ 0xa2, 0, 0, 0, 0, 0, 0, 0x02, 0x04, 0x02,
	/* 277 */ EYE_R,
};
static_assert(sizeof(spec_all20_proposal) == 281);

/*
 * v2.1, SMC-R and SMC-D version 2: vendor options, an associated ISM device,
 * no SEID, loopback (two entries), a real ISM device (one), virtio-ism (two)
 */
static const u8 spec_both21_proposal[] = {
	/*   0 */ EYE_R,
	/*   4 */ 0x01,
	/*   5 */ 0x01, 0x0e,		/* 270 */
	/*   7 */ 0x2e,			/* version 2, both, none */
	/*   8 */ PEER_C,
	/*  16 */ Z16,
	/*  32 */ MAC_C,
	/*  38 */ 0x00, 0x00,
	/*  40 */ 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
	/*  48 */ 0x00, 0x07,
	/*  50 */ 0x00, 0x1c,		/* 52 + 28 = 80 */
	/*  52 */ 0x00, 0x60, 0x94,
	/*  55 */ 1, 2, 3, 4, 5,
	/*  60 */ Z20,
	/*  80 */ 1, 5, 0, 0x10,	/* 1 EID, 5 GIDs, release 1 */
	/*  84 */ Z2,
	/*  86 */ 0x00, 0x40,		/* 88 + 64 = 152 */
	/*  88 */ GID4_C,
	/* 104 */ 16,			/* connections per link group */
	/* 105 */ 1,			/* links per link group */
	/* 106 */ 0x00, 0x01,		/* emulated ISM */
	/* 108 */ Z12,
	/* 120 */ EID_B,
	/* 152 */ Z32,			/* no SEID */
	/* 184 */ Z16,
	/* 200 */ 0xc0, 1, 2, 3, 4, 5, 0x46, 7, 0xff, 0xff,
	/* 210 */ 0x88, 9, 10, 11, 12, 13, 14, 15, 0xff, 0xff,
	/* 220 */ 0xb0, 0, 0, 0, 0, 0, 0, 1, 0xfe, 0xff,
	/* 230 */ 0xd0, 1, 2, 3, 4, 5, 0x46, 7, 0xff, 0x00,
	/* 240 */ 0x98, 9, 10, 11, 12, 13, 14, 15, 0xff, 0x00,
	/* 250 */ Z16,			/* bytes that a later release has added */
	/* 266 */ EYE_R,
};
static_assert(sizeof(spec_both21_proposal) == 270);

/* RFC 7609 figure 28 */
static const u8 spec_r1_accept[] = {
	/*  0 */ EYE_R,
	/*  4 */ 0x02,
	/*  5 */ 0x00, 0x44,
	/*  7 */ 0x18,			/* version 1, first contact */
	/*  8 */ PEER_S,
	/* 16 */ GID_S,
	/* 32 */ MAC_S,
	/* 38 */ 0x12, 0x34, 0x56,
	/* 41 */ 0xde, 0xad, 0xbe, 0xef,
	/* 45 */ 0x07,
	/* 46 */ 0xca, 0xfe, 0xba, 0xbe,
	/* 50 */ 0x54,			/* 512 KiB, MTU 2048 */
	/* 51 */ 0,
	/* 52 */ 0x00, 0x00, 0x7f, 0xff, 0x12, 0x34, 0x50, 0x00,
	/* 60 */ 0,
	/* 61 */ 0xab, 0xcd, 0xef,
	/* 64 */ EYE_R,
};
static_assert(sizeof(spec_r1_accept) == 68);

/* RFC 7609 figure 29 */
static const u8 spec_r1_confirm[] = {
	/*  0 */ EYE_R,
	/*  4 */ 0x03,
	/*  5 */ 0x00, 0x44,
	/*  7 */ 0x10,
	/*  8 */ PEER_C,
	/* 16 */ GID_C,
	/* 32 */ MAC_C,
	/* 38 */ 0x00, 0x00, 0x2a,
	/* 41 */ 0x00, 0x00, 0x10, 0x01,
	/* 45 */ 0xff,
	/* 46 */ 0x00, 0x00, 0x00, 0x09,
	/* 50 */ 0x01,			/* 16 KiB, MTU 256 */
	/* 51 */ 0,
	/* 52 */ 0xff, 0xff, 0x88, 0x80, 0x00, 0x00, 0x00, 0x00,
	/* 60 */ 0,
	/* 61 */ 0x00, 0x00, 0x01,
	/* 64 */ EYE_R,
};
static_assert(sizeof(spec_r1_confirm) == 68);

/* SMC-Dv2.0, first contact: 114 bytes */
static const u8 spec_d20_accept_first[] = {
	/*   0 */ EYE_D,
	/*   4 */ 0x02,
	/*   5 */ 0x00, 0x72,
	/*   7 */ 0x29,
	/*   8 */ 0xa1, 0, 0, 0, 0, 0, 0, 0x01,
	/*  16 */ 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
	/*  24 */ 0x09,
	/*  25 */ 0x60,			/* 1 MiB */
	/*  26 */ Z2,
	/*  28 */ 0x00, 0x00, 0x01, 0x02,
	/*  32 */ 0x04, 0x01,
	/*  34 */ SEID,
	/*  66 */ Z8,
	/*  74 */ 0x00, 0x10, Z2,	/* z/OS, release 0 */
	/*  78 */ HOST_S,
	/* 110 */ EYE_D,
};
static_assert(sizeof(spec_d20_accept_first) == 114);

/* SMC-Dv2.1, first contact, virtio-ism, vendor options: 130 bytes */
static const u8 spec_d21_confirm_first[] = {
	/*   0 */ EYE_D,
	/*   4 */ 0x03,
	/*   5 */ 0x00, 0x82,
	/*   7 */ 0x29,
	/*   8 */ 0xd0, 1, 2, 3, 4, 5, 0x46, 7,
	/*  16 */ 0x80, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
	/*  24 */ 0xfe,
	/*  25 */ 0xf0,			/* 512 MiB */
	/*  26 */ Z2,
	/*  28 */ 0x80, 0x00, 0x00, 0x00,
	/*  32 */ 0xff, 0x00,
	/*  34 */ EID_B,
	/*  66 */ 0x98, 9, 10, 11, 12, 13, 14, 15,
	/*  74 */ 0x00, 0x31, Z2,	/* AIX, release 1 */
	/*  78 */ HOST_C,
	/* 110 */ Z2,
	/* 112 */ 0x00, 0x01,
	/* 114 */ 4, 3, 2, 1,
	/* 118 */ Z8,
	/* 126 */ EYE_D,
};
static_assert(sizeof(spec_d21_confirm_first) == 130);

/* SMC-Rv2.1, first contact, indirect, reason saved: 160 bytes */
static const u8 spec_r21_accept_first[] = {
	/*   0 */ EYE_R,
	/*   4 */ 0x02,
	/*   5 */ 0x00, 0xa0,
	/*   7 */ 0x2c,
	/*   8 */ PEER_S,
	/*  16 */ GID4_S,
	/*  32 */ MAC_S,
	/*  38 */ 0xff, 0xff, 0xff,
	/*  41 */ 0x80, 0x00, 0x00, 0x01,
	/*  45 */ 0x01,
	/*  46 */ 0xff, 0xff, 0xff, 0xfe,
	/*  50 */ 0x35,			/* 128 KiB, MTU 4096 */
	/*  51 */ 0,
	/*  52 */ 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00,
	/*  60 */ 0,
	/*  61 */ 0x80, 0x00, 0x01,
	/*  64 */ EID_A,
	/*  96 */ Z8,
	/* 104 */ 0x00, 0xf1, Z2,	/* indirect, unknown OS, release 1 */
	/* 108 */ HOST_S,
	/* 140 */ 255,
	/* 141 */ 2,
	/* 142 */ 0x00, 0x00,
	/* 144 */ 9, 8, 7, 6,
	/* 148 */ Z8,
	/* 156 */ EYE_R,
};
static_assert(sizeof(spec_r21_accept_first) == 160);

/* SMC-Rv2.0, first contact, three GIDs behind the long extension */
static const u8 spec_r20_confirm_first[] = {
	/*   0 */ EYE_R,
	/*   4 */ 0x03,
	/*   5 */ 0x00, 0xd4,		/* 212 */
	/*   7 */ 0x28,
	/*   8 */ PEER_C,
	/*  16 */ GID_C,
	/*  32 */ MAC_C,
	/*  38 */ 0x00, 0x00, 0x11,
	/*  41 */ 0x00, 0x00, 0x03, 0x24,
	/*  45 */ 0x02,
	/*  46 */ 0x00, 0x00, 0x00, 0x05,
	/*  50 */ 0x23,
	/*  51 */ 0,
	/*  52 */ 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
	/*  60 */ 0,
	/*  61 */ 0x00, 0x12, 0x34,
	/*  64 */ EID_A,
	/*  96 */ Z8,
	/* 104 */ 0x80, 0x20, Z2,	/* direct, Linux, release 0 */
	/* 108 */ HOST_C,
	/* 140 */ Z16,
	/* 156 */ 3, 0, Z2,
	/* 160 */ GID_C,
	/* 176 */ GID4_C,
	/* 192 */ GID_S,
	/* 208 */ EYE_R,
};
static_assert(sizeof(spec_r20_confirm_first) == 212);

/* The same with the 36 byte extension shown in the paper */
static const u8 spec_r20_confirm_first_short[] = {
	/*   0 */ EYE_R,
	/*   4 */ 0x03,
	/*   5 */ 0x00, 0xc4,		/* 196 */
	/*   7 */ 0x28,
	/*   8 */ PEER_C,
	/*  16 */ GID_C,
	/*  32 */ MAC_C,
	/*  38 */ 0x00, 0x00, 0x11,
	/*  41 */ 0x00, 0x00, 0x03, 0x24,
	/*  45 */ 0x02,
	/*  46 */ 0x00, 0x00, 0x00, 0x05,
	/*  50 */ 0x23,
	/*  51 */ 0,
	/*  52 */ 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
	/*  60 */ 0,
	/*  61 */ 0x00, 0x12, 0x34,
	/*  64 */ EID_A,
	/*  96 */ Z8,
	/* 104 */ 0x80, 0x20, Z2,
	/* 108 */ HOST_C,
	/* 140 */ 3, 0, Z2,
	/* 144 */ GID_C,
	/* 160 */ GID4_C,
	/* 176 */ GID_S,
	/* 192 */ EYE_R,
};
static_assert(sizeof(spec_r20_confirm_first_short) == 196);

/* Decline of version 2 with all reason codes, SMCD eye catchers */
static const u8 spec_v2_decline[] = {
	/*  0 */ EYE_D,
	/*  4 */ 0x04,
	/*  5 */ 0x00, 0x2c,
	/*  7 */ 0x28,			/* version 2, out of sync */
	/*  8 */ PEER_S,
	/* 16 */ 0x03, 0x03, 0x00, 0x02,
	/* 20 */ 0x20, 0, Z2,		/* Linux */
	/* 24 */ 0x00, 0x00, 0x00, 0x01,
	/* 28 */ 0x00, 0x00, 0x00, 0x02,
	/* 32 */ 0x03, 0x03, 0x00, 0x02,
	/* 36 */ 0x80, 0x00, 0x00, 0x04,
	/* 40 */ EYE_D,
};
static_assert(sizeof(spec_v2_decline) == 44);

/* Decline of version 2 without reason codes */
static const u8 spec_v2_decline_short[] = {
	/*  0 */ EYE_R,
	/*  4 */ 0x04,
	/*  5 */ 0x00, 0x1c,
	/*  7 */ 0x20,
	/*  8 */ PEER_S,
	/* 16 */ 0x01, 0x02, 0x03, 0x04,
	/* 20 */ 0x10, 0, Z2,		/* z/OS */
	/* 24 */ EYE_R,
};
static_assert(sizeof(spec_v2_decline_short) == 28);

/*
 * SMC-Dv1. Up to the link ID it equals the paper's version 2 table. Neither a
 * text nor a capture that we have gives the length, see struct
 * smc_clc_w_smcd_v1.
 */
static const u8 spec_d1_accept[] = {
	/*  0 */ EYE_D,
	/*  4 */ 0x02,
	/*  5 */ 0x00, 0x30,
	/*  7 */ 0x19,
	/*  8 */ 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x99,
	/* 16 */ 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,
	/* 24 */ 0x03,
	/* 25 */ 0x00,			/* 16 KiB */
	/* 26 */ Z2,
	/* 28 */ 0x00, 0x00, 0x00, 0x01,
	/* 32 */ Z12,
	/* 44 */ EYE_D,
};
static_assert(sizeof(spec_d1_accept) == 48);

#endif /* SMC_UNIT_GOLDEN_SPEC_H */
