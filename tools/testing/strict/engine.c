// SPDX-License-Identifier: GPL-2.0
/* The work item that does what hardware would do, and the frames between two devices. */
#include <linux/etherdevice.h>
#include <linux/if_ether.h>
#include "packet.h"

/* Has work be done as soon as possible. Context: any. */
void strict_wake(struct strict_dev *dev)
{
	mod_delayed_work(strict_wq, &dev->engine, 0);
}

/* Makes a frame with room for data, to which @data will point; NULL if it is lost already. */
struct sk_buff *strict_packet(struct strict_dev *dev, struct strict_qp *qp,
			      const struct strict_hdr *hdr, u32 room, void **data)
{
	struct net_device *ndev = dev->ndev;
	struct sk_buff *skb;
	struct ethhdr *eth;

	if (!strict_has_path(dev, qp, room))
		return NULL;
	skb = alloc_skb(LL_RESERVED_SPACE(ndev) + sizeof(*hdr) + room, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, LL_RESERVED_SPACE(ndev) - ETH_HLEN);
	eth = skb_put(skb, ETH_HLEN);
	ether_addr_copy(eth->h_dest, qp->attr.ah_attr.roce.dmac);
	ether_addr_copy(eth->h_source, ndev->dev_addr);
	eth->h_proto = htons(STRICT_ETHERTYPE);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb_put_data(skb, hdr, sizeof(*hdr));
	if (room)
		*data = skb_put(skb, room);
	skb->protocol = htons(STRICT_ETHERTYPE);
	skb->dev = ndev;
	return skb;
}

/* A frame for this device; in a softirq. */
int strict_rx(struct sk_buff *skb, struct net_device *ndev, struct packet_type *type,
	      struct net_device *orig)
{
	struct strict_dev *dev = container_of(type, struct strict_dev, packet_type);

	if (skb->pkt_type != PACKET_HOST || READ_ONCE(dev->deaf))
		goto drop;
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	if (skb_linearize(skb) || skb->len < sizeof(struct strict_hdr) ||
	    skb_queue_len(&dev->rx) > 4096)
		goto drop;
	skb_queue_tail(&dev->rx, skb);
	strict_wake(dev);
	return NET_RX_SUCCESS;
drop:
	kfree_skb(skb);
	return NET_RX_DROP;
}

struct strict_qp *strict_find_qp(struct strict_dev *dev, u32 qpn)
{
	struct strict_qp *qp;

	list_for_each_entry(qp, &dev->qps, list)
		if (qp->ib.qp_num == qpn)
			return qp;
	return NULL;
}

static void receive(struct strict_dev *dev, struct sk_buff *skb)
{
	const struct strict_hdr *hdr = (void *)skb->data;
	struct strict_qp *qp = strict_find_qp(dev, be32_to_cpu(hdr->qpn));

	/* Queue pairs of other devices may have the same numbers. */
	if (!qp || !ether_addr_equal(eth_hdr(skb)->h_source, qp->attr.ah_attr.roce.dmac) ||
	    qp->attr.dest_qp_num != be32_to_cpu(hdr->from) ||
	    !strict_has_path(dev, qp, be32_to_cpu(hdr->length)) ||
	    skb->len - sizeof(*hdr) < be32_to_cpu(hdr->length))
		goto drop;
	switch (hdr->op) {
	case STRICT_WRITE:
	case STRICT_SEND:
		strict_responder_rx(dev, qp, skb);
		return;
	case STRICT_ACK:
		strict_acked(dev, qp, be32_to_cpu(hdr->psn));
		break;
	case STRICT_NAK:
		strict_refused(dev, qp, be32_to_cpu(hdr->psn), hdr->why);
		break;
	}
drop:
	kfree_skb(skb);
}

static void report(struct strict_dev *dev, struct strict_qp *qp)
{
	struct ib_event event = {
		.device	    = &dev->ib,
		.element.qp = &qp->ib,
		.event	    = __ffs(qp->events),
	};

	qp->events &= qp->events - 1;
	if (!qp->ib.event_handler)
		return;
	/* strict_destroy_qp() waits for the engine. */
	spin_unlock_irq(&dev->lock);
	qp->ib.event_handler(&event, qp->ib.qp_context);
	spin_lock_irq(&dev->lock);
}

static bool report_events(struct strict_dev *dev)
{
	struct strict_qp *qp;

	list_for_each_entry(qp, &dev->qps, list)
		if (qp->events) {
			report(dev, qp);
			return true;
		}
	return false;
}

static void transmit_one(struct strict_dev *dev, struct sk_buff *skb)
{
	if (!strict_port_up(dev)) {
		kfree_skb(skb);
	} else if (ether_addr_equal(eth_hdr(skb)->h_dest, dev->ndev->dev_addr)) {
		skb_pull(skb, ETH_HLEN);
		skb_queue_tail(&dev->rx, skb);
		strict_wake(dev);
	} else {
		dev_queue_xmit(skb);
	}
}

/*
 * Packets get lost, or overtake one another, or come twice. Returns whether some are still to
 * come.
 */
static bool transmit(struct strict_dev *dev)
{
	struct sk_buff *skb, *copy;

	while ((skb = skb_dequeue(&dev->tx))) {
		dev->sent++;
		if (strict_choose(512)) {
			kfree_skb(skb);
			continue;
		}
		copy = strict_choose(512) ? skb_copy(skb, GFP_KERNEL) : NULL;
		if (copy)
			skb_queue_tail(&dev->late, copy);
		if (strict_choose(512))
			skb_queue_tail(&dev->late, skb);
		else
			transmit_one(dev, skb);
	}
	while (!strict_choose(4) && (skb = skb_dequeue(&dev->late)))
		transmit_one(dev, skb);
	return !skb_queue_empty(&dev->late);
}

/* Events that report no change, as consumers may get them at any time. */
static void report_port(struct strict_dev *dev)
{
	static const enum ib_event_type types[] = {
		IB_EVENT_GID_CHANGE, IB_EVENT_LID_CHANGE, IB_EVENT_PKEY_CHANGE, IB_EVENT_SM_CHANGE,
		IB_EVENT_CLIENT_REREGISTER, IB_EVENT_PORT_ACTIVE,
	};
	struct ib_event event = { .device = &dev->ib, .element.port_num = 1 };

	event.event = types[get_random_u32_below(ARRAY_SIZE(types) - !strict_port_up(dev))];
	ib_dispatch_event(&event);
}

void strict_engine(struct work_struct *work)
{
	struct strict_dev *dev = container_of(to_delayed_work(work), struct strict_dev, engine);
	unsigned long idle = jiffies + 60 * HZ, next = idle;
	struct strict_qp *qp;
	struct sk_buff *skb;
	bool more = false;

	spin_lock_irq(&dev->lock);
	strict_check_gids(dev);
	while ((skb = skb_dequeue(&dev->rx)))
		receive(dev, skb);
	list_for_each_entry(qp, &dev->qps, list) {
		if (qp->state == IB_QPS_RTS && strict_fatal()) {
			strict_event(qp, IB_EVENT_QP_FATAL);
			strict_qp_error(dev, qp);
		}
		more |= strict_run_requester(dev, qp, &next);
		more |= strict_run_responder(dev, qp);
	}
	more |= strict_publish(dev);
	strict_report_cqs(dev);
	more |= report_events(dev);
	spin_unlock_irq(&dev->lock);
	more |= transmit(dev);
	if (strict_port_event())
		report_port(dev);
	if (more)
		queue_delayed_work(strict_wq, &dev->engine, strict_below(2));
	else if (time_before(next, idle))
		queue_delayed_work(strict_wq, &dev->engine, max_t(long, next - jiffies, 0));
}
