// SPDX-License-Identifier: GPL-2.0
/*
 * The completion queue of a link, and the contexts that poll it.
 *
 * The RDMA core polls in a softirq (IB_POLL_SOFTIRQ), which its completion handler raises.
 * Hardware calls that handler from an interrupt, behind which the softirq runs at once.
 * Soft-RoCE calls it from a work item, some versions of it with interrupts off, and the softirq
 * then has to wait for ksoftirqd: two context switches before the reader is woken.  The core
 * offers no choice.  So its handler is replaced by one that, outside of interrupts, first raises
 * an interrupt (irq_work), and then calls the core's handler.
 *
 * This relies on ib_alloc_cq() to set comp_handler, on drivers to do no more than call it, and on
 * ib_free_cq() not to use it.
 */
#include "link.h"
#include "queues.h"

static void cq_completed_irq(struct irq_work *work)
{
	struct smc_link *link = container_of(work, struct smc_link, cq_irq);

	link->cq_handler(link->cq, link);
}

static void cq_completed(struct ib_cq *cq, void *context)
{
	struct smc_link *link = context;

	if (in_interrupt() || !arch_irq_work_has_interrupt())
		link->cq_handler(cq, context);
	else
		irq_work_queue(&link->cq_irq);
}

/**
 * smc_cq_create() - create the completion queue of a link
 * @link: the link, which has no queue pair yet, so nothing can complete meanwhile
 * @n: number of entries
 *
 * Return: 0 or a negative errno.
 */
int smc_cq_create(struct smc_link *link, int n)
{
	struct ib_cq *cq;

	/* ib_alloc_cq_any() spreads the queues over the device's completion vectors. */
	cq = ib_alloc_cq_any(link->path.dev->ibdev, link, n, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	link->cq_irq = IRQ_WORK_INIT_HARD(cq_completed_irq);
	link->cq_handler = cq->comp_handler;
	cq->comp_handler = cq_completed;
	link->cq = cq;
	return 0;
}

/**
 * smc_cq_destroy() - undo smc_cq_create()
 * @link: the link, whose queue pair is gone
 */
void smc_cq_destroy(struct smc_link *link)
{
	if (!link->cq)
		return;
	irq_work_sync(&link->cq_irq);
	ib_free_cq(link->cq);
	link->cq = NULL;
}
