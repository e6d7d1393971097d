// SPDX-License-Identifier: GPL-2.0
/* When SMC is no longer offered, and when it is offered again. */
#include "ewma.h"
#include "tap.h"

#define RETRY	60000ull

static const struct smc_sample brief = { 2, 200, 3 }, even = { 5, 0, 3 }, twice = { 10, 0, 3 };
static const struct smc_sample half = { 3, 0, 3 };
static const struct smc_sample elephant = { 1ull << 40, 1ull << 50, 1ull << 40 };

static void add(struct smc_ewma *p, const struct smc_sample *s, unsigned int n, u64 now)
{
	while (n--)
		smc_ewma_add(p, s, now, RETRY);
}

static void worth(void)
{
	const struct smc_sample bytes = { 0, 96 << 10, 0 }, both = { 5, 96 << 10, 0 };

	CHECK(smc_ewma_worth(&even) == SMC_EWMA_EVEN, "messages");
	CHECK(smc_ewma_worth(&bytes) == SMC_EWMA_EVEN, "bytes");
	CHECK(smc_ewma_worth(&both) == 2 * SMC_EWMA_EVEN, "both");
	CHECK(smc_ewma_worth(&elephant) == SMC_EWMA_MOST, "the maximum");
	CHECK(smc_ewma_worth(&(struct smc_sample){ 0, 0, 1000 }) == 0, "duration is worth nothing");
	CHECK(smc_ewma_worth(&(struct smc_sample){ 1ull << 54, 0, 0 }) == SMC_EWMA_MOST,
	      "messages do not overflow");
	CHECK(smc_ewma_worth(&(struct smc_sample){ 0, 1ull << 32, 0 }) == SMC_EWMA_MOST,
	      "bytes do not overflow");
	tap_case("the worth of a connection");
}

static void verdicts(void)
{
	struct smc_ewma p;

	smc_ewma_init(&p);
	add(&p, &brief, 15, 0);
	CHECK(p.verdict == SMC_VERDICT_LEARNING && smc_ewma_offers(&p, 0), "15");
	add(&p, &brief, 1, 0);
	CHECK(p.verdict == SMC_VERDICT_TOO_SHORT && !smc_ewma_offers(&p, 0), "16");
	CHECK(p.messages == 2 && p.bytes == 200 && p.ms == 3 && p.conns == 16, "averages");
	tap_case("sixteen short connections are too short");

	CHECK(!smc_ewma_offers(&p, RETRY - 1), "too early");
	CHECK(smc_ewma_offers(&p, RETRY) && p.verdict == SMC_VERDICT_LEARNING, "again");
	add(&p, &brief, 16, RETRY);
	CHECK(!smc_ewma_offers(&p, 3 * RETRY - 1) && smc_ewma_offers(&p, 3 * RETRY), "twice");
	tap_case("SMC is tried again, then again after twice the time");

	add(&p, &even, 16, 3 * RETRY);
	CHECK(p.verdict == SMC_VERDICT_PAYS && !p.doublings, "even");
	add(&p, &half, 200, 3 * RETRY);
	CHECK(p.verdict == SMC_VERDICT_PAYS, "half of break-even, worth %u", (unsigned int)p.worth);
	add(&p, &brief, 200, 3 * RETRY);
	CHECK(p.verdict == SMC_VERDICT_TOO_SHORT, "less, worth %u", (unsigned int)p.worth);
	CHECK(!smc_ewma_offers(&p, 4 * RETRY - 1) && smc_ewma_offers(&p, 4 * RETRY), "once");
	tap_case("SMC is given up below half of break-even");

	smc_ewma_init(&p);
	add(&p, &brief, 16, 0);
	add(&p, &even, 100, 0);
	CHECK(p.verdict == SMC_VERDICT_TOO_SHORT, "even");
	add(&p, &twice, 200, 0);
	CHECK(p.verdict == SMC_VERDICT_TOO_SHORT, "just below twice, worth %u",
	      (unsigned int)p.worth);
	add(&p, &elephant, 2, 0);
	CHECK(p.verdict == SMC_VERDICT_PAYS, "beyond twice");
	tap_case("TCP connections that would pay bring SMC back");
}

/* Connections of exactly this worth, by their bytes. */
static void add_worth(struct smc_ewma *p, unsigned int worth, unsigned int n)
{
	const struct smc_sample s = { 0, worth * (SMC_EWMA_BYTES / SMC_EWMA_EVEN), 0 };

	add(p, &s, n, 0);
}

/* An average of 1984 with the verdict "too short". */
static void nearly_twice(struct smc_ewma *p)
{
	smc_ewma_init(p);
	add_worth(p, 0, 16);
	add_worth(p, SMC_EWMA_MOST, 2);
	CHECK(p->verdict == SMC_VERDICT_TOO_SHORT && p->worth == 1984, "worth %u",
	      (unsigned int)p->worth);
}

static void limits(void)
{
	struct smc_ewma p;

	smc_ewma_init(&p);
	add_worth(&p, SMC_EWMA_EVEN - 1, 16);
	CHECK(p.verdict == SMC_VERDICT_TOO_SHORT, "just below break-even");
	smc_ewma_init(&p);
	add_worth(&p, SMC_EWMA_EVEN, 17);
	CHECK(p.verdict == SMC_VERDICT_PAYS && p.n == 16 && p.conns == 17, "break-even");
	add_worth(&p, SMC_EWMA_EVEN / 2, 200);
	CHECK(p.verdict == SMC_VERDICT_PAYS && p.worth == SMC_EWMA_EVEN / 2, "half of break-even");
	add_worth(&p, SMC_EWMA_EVEN / 2 - 1, 1);
	CHECK(p.verdict == SMC_VERDICT_TOO_SHORT && p.worth == SMC_EWMA_EVEN / 2 - 1, "less");
	nearly_twice(&p);
	add_worth(&p, 1984 + 63 * 16, 1);
	CHECK(p.verdict == SMC_VERDICT_TOO_SHORT, "just below twice");
	nearly_twice(&p);
	add_worth(&p, 1984 + 64 * 16, 1);
	CHECK(p.verdict == SMC_VERDICT_PAYS && p.worth == 2 * SMC_EWMA_EVEN, "twice");
	tap_case("each limit of a verdict, and one less");
}

static void doublings(void)
{
	struct smc_ewma p;
	u64 now = 0;
	int i;

	smc_ewma_init(&p);
	for (i = 0; i < 10; i++) {
		add(&p, &brief, 16, now);
		CHECK(p.until - now == RETRY << (i < 6 ? i : 6), "time %d", i);
		now = p.until;
		CHECK(smc_ewma_offers(&p, now), "time %d", i);
	}
	tap_case("the time until a retry doubles six times");
}

static void extremes(void)
{
	struct smc_ewma p;

	smc_ewma_init(&p);
	add(&p, &elephant, 100, 0);
	CHECK(p.worth == SMC_EWMA_MOST && p.bytes <= 1u << 31, "no overflow");
	add(&p, &brief, 1, 0);
	CHECK(p.worth < SMC_EWMA_MOST, "falls");
	add(&p, &(struct smc_sample){ 0, 0, 0 }, 1000, 0);
	CHECK(!p.worth && !p.messages && !p.bytes && !p.ms, "falls to zero");
	tap_case("extreme values");
}

int main(void)
{
	worth();
	verdicts();
	limits();
	doublings();
	extremes();
	return tap_done();
}
