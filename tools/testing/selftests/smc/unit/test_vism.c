// SPDX-License-Identifier: GPL-2.0
/* virtio-ism: the answers of a device, the layout of its window, and the content of homes. */
#include <stdlib.h>

#include "home.h"
#include "tap.h"
#include "window.h"

#define SIZE	0x100000ull
#define N	16
#define A	VISM_ID_OFFSET
#define C	VISM_ID_TOKEN

static void put64(u8 *p, u64 value)
{
	value = htole64(value);
	memcpy(p, &value, sizeof(value));
}

static void window(struct vism_window *w, u32 id)
{
	CHECK(!vism_window_measure(w, id, N * SIZE, SIZE), "measure");
	w->regions = calloc(w->n, sizeof(*w->regions));
}

static void measures(void)
{
	struct vism_window w;

	CHECK(!vism_window_measure(&w, A, 1ull << 30, SIZE) && w.n == 1024, "%u", w.n);
	CHECK(!vism_window_measure(&w, C, 10ull << 30, SIZE) && w.n == 10240, "%u", w.n);
	CHECK(!vism_window_measure(&w, C, 10 * SIZE - 1, SIZE) && w.n == 9, "%u", w.n);
	CHECK(!vism_window_measure(&w, C, ~0ull, SIZE) && w.n == 65536, "%u", w.n);
	tap_case("windows of the published devices");

	CHECK(vism_window_measure(&w, 42, 1ull << 30, SIZE), "unknown form");
	CHECK(vism_window_measure(&w, A, 1ull << 30, 0), "size 0");
	CHECK(vism_window_measure(&w, A, 1ull << 30, SIZE + 1), "not a power of two");
	CHECK(vism_window_measure(&w, A, 1ull << 30, VISM_REGION_MIN / 2), "small");
	CHECK(vism_window_measure(&w, A, 1ull << 30, VISM_REGION_MAX * 2ull), "large");
	CHECK(vism_window_measure(&w, A, 3 * SIZE, SIZE), "few");
	CHECK(vism_window_measure(&w, A, 0, SIZE), "none");
	tap_case("invalid windows are refused");
}

static int judge(u32 id, u8 class, const u8 *bytes, u32 len, struct vism_answer *a)
{
	struct vism_window w;

	CHECK(!vism_window_measure(&w, id, N * SIZE, SIZE), "measure");
	return vism_judge(&w, class, bytes, len, a);
}

static void answers(void)
{
	u8 bytes[VISM_ANSWER_MAX] = { 0 };
	struct vism_answer a;

	CHECK(vism_request_len(A, VISM_ALLOC) == 10 && vism_request_len(A, VISM_ATTACH) == 10 &&
	      vism_request_len(A, VISM_DETACH) == 10 && vism_request_len(C, VISM_ALLOC) == 10 &&
	      vism_request_len(C, VISM_ATTACH) == 18 && vism_request_len(C, VISM_DETACH) == 10,
	      "requests");
	/* The length that the published device of the first form reports. */
	CHECK(vism_answer_len(A, VISM_ALLOC) == 17 && vism_answer_len(A, VISM_ATTACH) == 9 &&
	      vism_answer_len(A, VISM_DETACH) == 1 && vism_answer_len(C, VISM_ALLOC) == 33 &&
	      vism_answer_len(C, VISM_ATTACH) == 25 && vism_answer_len(C, VISM_DETACH) == 1,
	      "answers");
	tap_case("lengths of commands and answers");

	put64(bytes + 1, 77);
	put64(bytes + 9, 3 * SIZE);
	CHECK(!judge(A, VISM_ALLOC, bytes, 17, &a) && a.token == 77 && a.offset == 3 * SIZE,
	      "ALLOC");
	put64(bytes + 1, 5 * SIZE);
	CHECK(!judge(A, VISM_ATTACH, bytes, 9, &a) && a.offset == 5 * SIZE, "ATTACH");
	CHECK(!judge(A, VISM_DETACH, bytes, 1, &a), "DETACH");
	put64(bytes + 1, 77);
	put64(bytes + 9, 1);
	put64(bytes + 17, 3 * SIZE);
	put64(bytes + 25, SIZE);
	CHECK(!judge(C, VISM_ALLOC, bytes, 33, &a) && a.token == 77 && a.offset == 3 * SIZE,
	      "ALLOC, areas");
	CHECK(!judge(C, VISM_ATTACH, bytes + 8, 25, &a), "status");
	tap_case("valid answers are accepted");
}

static void bad_answers(void)
{
	u8 bytes[VISM_ANSWER_MAX] = { 0 };
	static const u32 ids[] = { A, C };
	static const u8 classes[] = { VISM_ALLOC, VISM_ATTACH, VISM_DETACH };
	struct vism_answer a;
	unsigned int i, j, len;

	put64(bytes + 1, 1);
	put64(bytes + 9, SIZE);
	put64(bytes + 17, SIZE);
	put64(bytes + 25, SIZE);
	for (i = 0; i < 2; i++)
		for (j = 0; j < 3; j++)
			for (len = 0; len < vism_answer_len(ids[i], classes[j]); len++)
				CHECK(judge(ids[i], classes[j], bytes, len, &a) == -EPROTO,
				      "%u.%u: %u bytes", ids[i], classes[j], len);
	tap_case("an answer that is too short is refused");

	for (i = 1; i < 256; i++) {
		bytes[0] = i;
		CHECK(judge(A, VISM_ALLOC, bytes, 1, &a) == -EIO, "status %u", i);
		CHECK(judge(C, VISM_ATTACH, bytes, 25, &a) == -EIO, "status %u", i);
	}
	tap_case("every status other than 0 is a failure");

	bytes[0] = 0;
	put64(bytes + 1, 0);
	CHECK(judge(A, VISM_ALLOC, bytes, 17, &a) == -EPROTO, "token 0");
	for (i = 0; i < 4; i++) {
		static const u64 counts[] = { 0, 2, ~0ull, 1ull << 32 | 1 };

		put64(bytes + 1, counts[i]);
		CHECK(judge(C, VISM_ATTACH, bytes, 25, &a) == -EPROTO, "count %u", i);
	}
	put64(bytes + 1, 1);
	CHECK(!judge(C, VISM_ATTACH, bytes, 25, &a), "good");
	put64(bytes + 17, SIZE / 2);
	CHECK(judge(C, VISM_ATTACH, bytes, 25, &a) == -EPROTO, "half an area");
	tap_case("token 0, several areas, and an area of another size are refused");
}

static void places(void)
{
	struct vism_window w;
	unsigned int i;

	window(&w, A);
	CHECK(vism_take(&w, VISM_OWN, 5, 0, 3 * SIZE) == 3 && w.high == 4, "take");
	CHECK(vism_take(&w, VISM_ATTACHED, 5, 9, 3 * SIZE) == -EPROTO, "a region in use");
	CHECK(vism_take(&w, VISM_ATTACHED, 5, 9, 3 * SIZE + 4096) == -EPROTO, "not aligned");
	CHECK(vism_take(&w, VISM_ATTACHED, 5, 9, ~0ull) == -EPROTO, "the end of all memory");
	CHECK(!w.full, "full");
	CHECK(vism_take(&w, VISM_ATTACHED, 5, 9, N * SIZE) == -ENOSPC && w.full, "beyond the end");
	CHECK(!vism_may_ask(&w, VISM_OWN) && !vism_may_ask(&w, VISM_ATTACHED), "no more requests");
	free(w.regions);

	window(&w, C);
	CHECK(vism_take(&w, VISM_OWN, 5, 0, N * SIZE) == -EPROTO, "beyond the end");
	CHECK(vism_take(&w, VISM_OWN, 5, 0, 0x44b00000) == -EPROTO, "far beyond the end");
	free(w.regions);
	tap_case("regions at impossible offsets are refused");

	window(&w, C);
	for (i = 0; i < N / 2; i++) {
		CHECK(vism_may_ask(&w, VISM_OWN), "%u", i);
		CHECK(vism_take(&w, VISM_OWN, 100 + i, 0, i * SIZE) == (int)i, "%u", i);
	}
	CHECK(!vism_may_ask(&w, VISM_OWN) && vism_may_ask(&w, VISM_ATTACHED), "half");
	vism_give(&w, 3);
	CHECK(vism_may_ask(&w, VISM_OWN) && w.high == N / 2, "released");
	vism_give(&w, 7);
	CHECK(w.high == 7, "high %u", w.high);
	CHECK(w.count[VISM_FREE] == N - 6 && w.count[VISM_OWN] == 6, "counts");
	free(w.regions);
	tap_case("half of the window for own, half for attached regions");
}

static void views(void)
{
	struct vism_window w;

	window(&w, A);
	vism_take(&w, VISM_OWN, 5, 0, 0);
	vism_take(&w, VISM_ATTACHED, 7, 1, SIZE);
	vism_take(&w, VISM_ATTACHED, 7, 2, 2 * SIZE);
	vism_take(&w, VISM_ATTACHED, 8, 2, 3 * SIZE);
	CHECK(vism_find(&w, VISM_OWN, 5, 0) == 0, "own");
	CHECK(vism_find(&w, VISM_ATTACHED, 5, 0) == -ENOENT, "own, attached");
	CHECK(vism_find(&w, VISM_ATTACHED, 7, 0) == 1 && vism_find(&w, VISM_ATTACHED, 7, 2) == 2 &&
	      vism_find(&w, VISM_ATTACHED, 7, 3) == -ENOENT, "views");
	CHECK(vism_count_of(&w, 1) == 1 && vism_count_of(&w, 2) == 2 && !vism_count_of(&w, 0),
	      "counts");
	tap_case("one region attached several times");

	vism_region_get(&w.regions[1]);
	CHECK(!vism_idle(&w.regions[1]) && !vism_idle(&w.regions[1]), "in use");
	vism_region_put(&w.regions[1]);
	CHECK(vism_idle(&w.regions[1]) == 1 && vism_idle(&w.regions[1]) == 2, "idle");
	vism_region_get(&w.regions[1]);
	CHECK(!vism_idle(&w.regions[1]), "in use again");
	tap_case("how long a region has been idle");
	free(w.regions);
}

static void granules(void)
{
	u64 used = 1;
	unsigned int i;

	CHECK(vism_granule(SIZE) == 16384 && vism_granule(4 * SIZE) == 65536 &&
	      vism_granule(VISM_REGION_MIN) == 16384, "size");
	CHECK(vism_bits(0, 64) == ~0ull && vism_bits(63, 1) == 1ull << 63 && vism_bits(1, 3) == 14,
	      "bits");
	CHECK(vism_fit(used, 32, 0) == 32 && vism_fit(used, 64, 0) == -ENOSPC, "half");
	CHECK(vism_fit(used, 1, 0) == 1 && vism_fit(used, 1, 40) == 40, "where the search begins");
	CHECK(vism_fit(used, 4, 62) == 4, "around the end, past the head");
	CHECK(vism_fit(used, 4, 9) == 12, "aligned");
	CHECK(vism_fit(~vism_bits(5, 1), 1, 6) == 5, "the last free granule");
	CHECK(vism_fit(~vism_bits(5, 2), 2, 0) == -ENOSPC, "not aligned");
	CHECK(vism_fit(~0ull, 1, 63) == -ENOSPC, "none");
	for (i = 0; i < 63; i++)
		used |= vism_bits(vism_fit(used, 1, i * 7 % 64), 1);
	CHECK(used == ~0ull, "all granules: %llx", (unsigned long long)used);
	tap_case("allocation of granules in a region");
}

static struct vism_home *home(u64 nonce)
{
	struct vism_home *h = calloc(1, sizeof(*h));

	vism_beat(h, 1);
	vism_open(&h->head, VISM_HOME, nonce);
	return h;
}

static void heads(void)
{
	struct vism_home *h = home(42);

	CHECK(!memcmp(h, "ISM-HOME\2\0\0\0\0\0\0\0\x2a", 17), "bytes");
	CHECK(vism_is(&h->head, VISM_HOME, 42), "it");
	CHECK(!vism_is(&h->head, VISM_HOME, 43) && !vism_is(&h->head, VISM_DATA, 42), "another");
	h->head.version = htole64(1);
	CHECK(!vism_is(&h->head, VISM_HOME, 42), "version");
	h->head.version = htole64(2);
	vism_close(&h->head);
	CHECK(!vism_is(&h->head, VISM_HOME, 42) && !vism_is(&h->head, VISM_HOME, 0), "closed");
	free(h);
	tap_case("the head of a region");
}

static void pulses(void)
{
	struct vism_watch w = { 0 };
	struct vism_home *h = home(42);
	u64 now = 5, beat = 1;

	CHECK(vism_look(h, 42, &w, now) == VISM_ALIVE, "first look");
	now += VISM_DEAD_MS - 1;
	CHECK(vism_look(h, 42, &w, now) == VISM_ALIVE, "still alive");
	vism_beat(h, ++beat);
	CHECK(vism_look(h, 42, &w, now) == VISM_ALIVE, "after a beat");
	now += VISM_DEAD_MS - 1;
	CHECK(vism_look(h, 42, &w, now) == VISM_ALIVE, "still alive after a beat");
	now++;
	CHECK(vism_look(h, 42, &w, now) == VISM_SILENT, "silent");
	vism_beat(h, ++beat);
	CHECK(vism_look(h, 42, &w, now) == VISM_ALIVE, "beating again");
	vism_close(&h->head);
	CHECK(vism_look(h, 42, &w, now) == VISM_LEFT, "left");
	vism_open(&h->head, VISM_HOME, 43);
	CHECK(vism_look(h, 42, &w, now) == VISM_LEFT, "another boot");
	free(h);
	tap_case("the heartbeat of a peer");
}

static void dmbs(void)
{
	const struct vism_place p = { .region = 77, .nonce = 9, .offset = 3 * VISM_DMB_MIN };
	u64 token = vism_token_join(4095, 12345);
	struct vism_home *h = home(42);
	struct vism_place found;

	CHECK(vism_token_number(token) == 4095 && (token & VISM_NONCE_MASK) == 12345, "token");
	CHECK(!vism_find_dmb(h, token, 65536, SIZE, &found), "none yet");
	vism_set_dmb(h, token, &p, 65536);
	CHECK(vism_find_dmb(h, token, 65536, SIZE, &found) && found.region == 77 &&
	      found.nonce == 9 && found.offset == p.offset, "found");
	CHECK(!vism_find_dmb(h, token + 1, 65536, SIZE, &found), "another nonce");
	CHECK(!vism_find_dmb(h, token, 32768, SIZE, &found), "another size");
	CHECK(!vism_find_dmb(h, vism_token_join(4094, 12345), 65536, SIZE, &found),
	      "another number");
	CHECK(!vism_find_dmb(h, vism_token_join(1, 0), 65536, SIZE, &found), "no nonce");
	vism_mark(h, 4095);
	vism_clear_dmb(h, token);
	CHECK(!vism_find_dmb(h, token, 65536, SIZE, &found), "gone");
	CHECK(!vism_take_dirty(h, 63), "its mark remained");
	tap_case("finding a DMB in the directory");

	token = vism_token_join(0, 1);
	vism_set_dmb(h, token, &p, VISM_DMB_MIN);
	CHECK(vism_find_dmb(h, token, VISM_DMB_MIN, SIZE, &found), "good");
	h->dmb[0].where = htole64((u64)VISM_DMB_MIN << 32);
	CHECK(!vism_find_dmb(h, token, VISM_DMB_MIN, SIZE, &found), "in the place of the head");
	h->dmb[0].where = htole64((u64)VISM_DMB_MIN << 32 | (VISM_DMB_MIN + 8));
	CHECK(!vism_find_dmb(h, token, VISM_DMB_MIN, SIZE, &found), "not aligned");
	h->dmb[0].where = htole64((u64)VISM_DMB_MIN << 32 | (SIZE - VISM_DMB_MIN));
	CHECK(vism_find_dmb(h, token, VISM_DMB_MIN, SIZE, &found), "the last position");
	h->dmb[0].where = htole64((u64)VISM_DMB_MIN << 32 | SIZE);
	CHECK(!vism_find_dmb(h, token, VISM_DMB_MIN, SIZE, &found), "beyond the region");
	h->dmb[0].where = htole64((u64)VISM_DMB_MIN << 32 | 0xffffc000);
	CHECK(!vism_find_dmb(h, token, VISM_DMB_MIN, SIZE, &found), "far beyond the end");
	h->dmb[0].where = htole64((u64)0xffffc000 << 32 | VISM_DMB_MIN);
	CHECK(!vism_find_dmb(h, token, 0xffffc000, SIZE, &found), "larger than a region");
	tap_case("directory entries with impossible values are refused");
	free(h);
}

static void loans(void)
{
	struct vism_place p = { .region = 77, .nonce = 88, .offset = VISM_DMB_MIN };
	u64 token = vism_token_join(4095, 12345);
	struct vism_home *h = home(42);

	vism_set_dmb(h, token, &p, VISM_DMB_MIN);
	CHECK(!vism_borrow(h, token), "not on offer");
	vism_offer(h, token);
	CHECK(!vism_borrow(h, token - 1), "another DMB");
	CHECK(vism_borrow(h, token), "borrow");
	CHECK(h->loan[4095] == htole64(token) && !vism_borrow(h, token), "twice");
	CHECK(!vism_take_back(h, token, false), "taken from a borrower");
	CHECK(vism_take_back(h, token, true) && !h->loan[4095], "last word");
	vism_offer(h, token);
	CHECK(vism_take_back(h, token, false) && !vism_borrow(h, token), "borrowed too late");
	tap_case("a DMB has one borrower, and is taken back before or after it");
	free(h);
}

static void marks(void)
{
	struct vism_home *h = home(42);

	CHECK(!vism_take_summary(h), "nothing");
	vism_mark(h, 0);
	vism_mark(h, 63);
	vism_mark(h, 4095);
	CHECK(vism_take_summary(h) == (1ull << 63 | 1), "summary");
	CHECK(vism_take_dirty(h, 0) == (1ull << 63 | 1) && vism_take_dirty(h, 63) == 1ull << 63,
	      "bits");
	CHECK(!vism_take_summary(h) && !vism_take_dirty(h, 0), "taken");
	free(h);
	tap_case("marks of peers");
}

int main(void)
{
	measures();
	answers();
	bad_answers();
	places();
	views();
	granules();
	heads();
	pulses();
	dmbs();
	loans();
	marks();
	return tap_done();
}
