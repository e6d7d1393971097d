// SPDX-License-Identifier: GPL-2.0
/* A moving average of the connections of one listener.  See ewma.h. */
#include "ewma.h"

/* Start over: SMC is offered until there are enough samples. */
static void learn(struct smc_ewma *p)
{
	p->verdict = SMC_VERDICT_LEARNING;
	p->n = 0;
	p->worth = 0;
	p->messages = 0;
	p->bytes = 0;
	p->ms = 0;
}

void smc_ewma_init(struct smc_ewma *p)
{
	memset(p, 0, sizeof(*p));
	learn(p);
}

static u64 less(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* The counts are capped first, so that no sum can overflow. */
u64 smc_ewma_worth(const struct smc_sample *s)
{
	u64 messages = less(s->messages, 16 * SMC_EWMA_MESSAGES);
	u64 bytes = less(s->bytes, 16ull * SMC_EWMA_BYTES);

	/* A 32-bit division: SMC_EWMA_BYTES is a multiple of SMC_EWMA_EVEN. */
	return less(messages * SMC_EWMA_EVEN / SMC_EWMA_MESSAGES +
		    (u32)bytes / (SMC_EWMA_BYTES / SMC_EWMA_EVEN), SMC_EWMA_MOST);
}

/*
 * The plain mean of the first samples, then a moving average: each new sample has the weight 1 /
 * SMC_EWMA_SAMPLES.
 */
static void blend(u64 *mean, u64 value, u32 n)
{
	u32 v = less(value, 1u << 31), m = *mean;

	*mean = v >= m ? m + (v - m) / n : m - (m - v + n - 1) / n;
}

static void too_short(struct smc_ewma *p, u64 now, u64 retry)
{
	p->verdict = SMC_VERDICT_TOO_SHORT;
	p->until = now + (retry << p->doublings);
	if (p->doublings < SMC_EWMA_DOUBLINGS)
		p->doublings++;
}

static void pays(struct smc_ewma *p)
{
	p->verdict = SMC_VERDICT_PAYS;
	p->doublings = 0;
}

static void judge(struct smc_ewma *p, u64 now, u64 retry)
{
	switch (p->verdict) {
	case SMC_VERDICT_LEARNING:
		if (p->n < SMC_EWMA_SAMPLES)
			break;
		if (p->worth < SMC_EWMA_EVEN)
			too_short(p, now, retry);
		else
			pays(p);
		break;
	case SMC_VERDICT_PAYS:
		/* At break-even, the verdict would change with every connection. */
		if (p->worth < SMC_EWMA_EVEN / 2)
			too_short(p, now, retry);
		break;
	case SMC_VERDICT_TOO_SHORT:
		if (p->worth >= 2 * SMC_EWMA_EVEN)
			pays(p);
		break;
	}
}

void smc_ewma_add(struct smc_ewma *p, const struct smc_sample *s, u64 now, u64 retry)
{
	p->conns++;
	if (p->n < SMC_EWMA_SAMPLES)
		p->n++;
	blend(&p->worth, smc_ewma_worth(s), p->n);
	blend(&p->messages, s->messages, p->n);
	blend(&p->bytes, s->bytes, p->n);
	blend(&p->ms, s->ms, p->n);
	judge(p, now, retry);
}

bool smc_ewma_offers(struct smc_ewma *p, u64 now)
{
	if (p->verdict != SMC_VERDICT_TOO_SHORT)
		return true;
	if (now < p->until)
		return false;
	learn(p);
	return true;
}
