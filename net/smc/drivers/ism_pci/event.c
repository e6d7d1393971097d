// SPDX-License-Identifier: GPL-2.0
/*
 * Events of the function: writes to our DMBs, and peers that have ended.  Each bit is cleared
 * before the event is processed, so a concurrent event sets the bit and raises the interrupt again.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include "ism_pci.h"

/* A DMB has one element here, so the bit says all, and the mask of elements is only cleared. */
static void __dmb_signaled(struct ism_pci *ism, unsigned int index)
{
	struct smc_ism_dmb *dmb = ism->dmbs[index];

	lockdep_assert_held(&ism->table_lock);
	WRITE_ONCE(ism->sba->masks[index], 0);
	if (dmb)
		smc_ism_signaled(dmb);
}

static u32 take_bits(__be32 *word)
{
	return be32_to_cpu((__force __be32)xchg((__force u32 *)word, 0));
}

static void word_signaled(struct ism_pci *ism, unsigned int word)
{
	u32 bits;
	int bit;

	if (!READ_ONCE(ism->sba->dmbs[word]))
		return;
	bits = take_bits(&ism->sba->dmbs[word]);
	spin_lock(&ism->table_lock);
	while (bits) {
		bit = __fls(bits);
		bits &= ~BIT(bit);
		__dmb_signaled(ism, word * 32 + 31 - bit);
	}
	spin_unlock(&ism->table_lock);
}

/* Runs once for each interrupt: a peer that signals endlessly gets only the time of a softirq. */
static void take_signals(struct tasklet_struct *t)
{
	struct ism_pci *ism = from_tasklet(ism, t, signals);
	u32 state = take_bits(&ism->sba->state);
	unsigned int word;

	for (word = ISM_SBA_FIRST / 32; word < ISM_SBA_DMBS / 32; word++)
		word_signaled(ism, word);
	if (state & ISM_SBA_EVENT)
		queue_work(ism_wq, &ism->events);
}

/* Answer a peer that tests whether we are alive.  If this fails, the peer considers us dead. */
static void answer_test(struct ism_pci *ism, u64 gid, u64 info)
{
	struct ism_signal_event request = {
		.gid = cpu_to_be64(gid), .interrupt = cpu_to_be32(1),
		.code = cpu_to_be32(ISM_CODE_TEST), .info = cpu_to_be64(info),
	};
	struct ism_head answer;

	if (info)
		ism_command(ism, ISM_SIGNAL_EVENT, &request, sizeof(request), &answer,
			    sizeof(answer));
}

static void take_program_event(struct ism_pci *ism, const struct ism_event *event)
{
	const struct smc_ism_gid peer = { .id = be64_to_cpu(event->token) };

	switch (be32_to_cpu(event->code)) {
	case ISM_CODE_SHUTDOWN:
		smc_ism_gid_gone(&ism->dev, &peer);
		break;
	case ISM_CODE_TEST:
		answer_test(ism, peer.id, ism_test_answer(be64_to_cpu(event->info)));
		break;
	}
}

static void take_event(struct ism_pci *ism, const struct ism_event *event)
{
	const struct smc_ism_gid peer = { .id = be64_to_cpu(event->token) };

	switch (be32_to_cpu(event->type)) {
	case ISM_EVENT_GID:
		smc_ism_gid_gone(&ism->dev, &peer);
		break;
	case ISM_EVENT_PROGRAM:
		take_program_event(ism, event);
		break;
	}
}

/*
 * Runs in a workqueue, because a peer can cause events endlessly.  Events that did not fit into the
 * ring are lost without notice.  If one of them was the end of a peer, the next move to that peer
 * fails.
 */
static void take_events(struct work_struct *work)
{
	struct ism_pci *ism = container_of(work, struct ism_pci, events);
	u64 next = be64_to_cpu(READ_ONCE(ism->ieq->next));
	unsigned int end = do_div(next, ISM_EVENTS);
	struct ism_event event;

	/* Read the entries after @next: the function writes them before it advances @next. */
	rmb();
	for (; ism->event != end; ism->event = (ism->event + 1) % ISM_EVENTS) {
		event = ism->ieq->events[ism->event];
		take_event(ism, &event);
	}
}

static irqreturn_t interrupt(int irq, void *arg)
{
	struct ism_pci *ism = arg;

	tasklet_schedule(&ism->signals);
	return IRQ_HANDLED;
}

static int share_pages(struct ism_pci *ism)
{
	struct device *dev = &ism->pdev->dev;

	ism->sba = dma_alloc_coherent(dev, sizeof(*ism->sba), &ism->sba_addr, GFP_KERNEL);
	if (!ism->sba)
		return -ENOMEM;
	ism->ieq = dma_alloc_coherent(dev, PAGE_SIZE, &ism->ieq_addr, GFP_KERNEL);
	if (ism->ieq)
		return 0;
	dma_free_coherent(dev, sizeof(*ism->sba), ism->sba, ism->sba_addr);
	return -ENOMEM;
}

static void unshare_pages(struct ism_pci *ism)
{
	struct device *dev = &ism->pdev->dev;

	dma_free_coherent(dev, PAGE_SIZE, ism->ieq, ism->ieq_addr);
	dma_free_coherent(dev, sizeof(*ism->sba), ism->sba, ism->sba_addr);
}

/* As with a DMB, a function that does not confirm might still write to the page: it is lost. */
static void make_unknown(struct ism_pci *ism, enum ism_command command)
{
	if (ism_tell(ism, command, 0) == -EIO)
		ism_lose(ism, "it does not release a page");
}

static int make_known(struct ism_pci *ism)
{
	struct ism_register_ieq request = {
		.addr = cpu_to_be64(ism->ieq_addr), .len = cpu_to_be64(sizeof(*ism->ieq)),
	};
	struct ism_head answer;
	int rc = ism_tell(ism, ISM_REGISTER_SBA, ism->sba_addr);

	if (rc)
		return rc;
	rc = ism_command(ism, ISM_REGISTER_IEQ, &request, sizeof(request), &answer,
			 sizeof(answer));
	if (rc)
		make_unknown(ism, ISM_UNREGISTER_SBA);
	return rc;
}

static void stop_listening(struct ism_pci *ism)
{
	free_irq(pci_irq_vector(ism->pdev, 0), ism);
	pci_free_irq_vectors(ism->pdev);
	tasklet_kill(&ism->signals);
	cancel_work_sync(&ism->events);
}

static int listen(struct ism_pci *ism)
{
	int rc = pci_alloc_irq_vectors(ism->pdev, 1, 1, PCI_IRQ_MSI);

	if (rc < 0)
		return rc;
	rc = request_irq(pci_irq_vector(ism->pdev, 0), interrupt, 0, "smc_ism_pci", ism);
	if (rc)
		pci_free_irq_vectors(ism->pdev);
	return rc;
}

/**
 * ism_events_init() - set up interrupt, state bits and event queue
 * @ism: the function, without users
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int ism_events_init(struct ism_pci *ism)
{
	int rc;

	tasklet_setup(&ism->signals, take_signals);
	INIT_WORK(&ism->events, take_events);
	rc = share_pages(ism);
	if (rc)
		return rc;
	rc = listen(ism);
	if (rc)
		goto err_pages;
	rc = make_known(ism);
	if (!rc)
		return 0;
	stop_listening(ism);
err_pages:
	unshare_pages(ism);
	return rc;
}

/**
 * ism_events_exit() - undo ism_events_init()
 * @ism: the function, without users
 *
 * Context: process, may sleep.
 */
void ism_events_exit(struct ism_pci *ism)
{
	make_unknown(ism, ISM_UNREGISTER_IEQ);
	make_unknown(ism, ISM_UNREGISTER_SBA);
	stop_listening(ism);
	unshare_pages(ism);
}
