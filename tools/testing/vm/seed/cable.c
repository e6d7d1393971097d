// SPDX-License-Identifier: GPL-2.0
/*
 * The network and the doorbell between two guests whose runs follow from a seed (User Mode Linux
 * only; debug-kernel adds this file).
 *
 * Both guests have the same clock, and only the one with the token runs. A frame takes LATENCY. So
 * a guest may run until LATENCY after the time at which the other one has something to do. Then it
 * hands over the token, says when it has something to do itself, and waits. What it sends, and when
 * on that clock, follows from its seed and from what it has received. So both runs follow from both
 * seeds, and it does not matter how long anything takes on the host. The guests may share memory,
 * too, because they never run at the same time.
 *
 *	seed_cable=FD,N,FIRST	a SOCK_SEQPACKET socket to the other guest, N interfaces, and
 *				whether this guest has the token first
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/init.h>
#include <linux/netdevice.h>
#include <linux/time-internal.h>
#include <asm/seed.h>
#include <os.h>

#define LATENCY		(100 * NSEC_PER_USEC)
#define MAX_NICS	4
#define MAX_FRAME	9216
#define N_ARRIVALS	512
#define TOKEN		-1
#define BELL		-2

struct cable_message {
	u64 time;	/* of arrival; with the token: when its sender has something to do */
	s32 nic;	/* or TOKEN, or BELL */
	u32 len;
	u8 frame[MAX_FRAME];
};

/*
 * A frame or a ring that has not arrived yet. The wait for the token allocates no memory, because
 * RCU may be idle.
 */
struct cable_arrival {
	struct time_travel_event event;
	struct cable_message message;
};

static struct net_device *nics[MAX_NICS];
static struct cable_arrival arrivals[N_ARRIVALS];
static struct cable_message sent;
static int fd = -1;
static u32 n_nics;
static unsigned int n_expected;
static void (*on_ring)(void *arg);
static void *on_ring_arg;
static bool is_first, has_token, alone;
/* Nothing of the other guest arrives before this time, if this one has the token. */
static u64 limit = LATENCY;

static void cable_put(u64 time, int nic, const void *frame, u32 len)
{
	const int size = offsetof(struct cable_message, frame) + len;
	int rc;

	sent.time = time;
	sent.nic = nic;
	sent.len = len;
	memcpy(sent.frame, frame, len);
	do
		rc = os_write_file(fd, &sent, size);
	while (rc == -EINTR);
	alone |= rc != size;
}

/* Context: interrupts are disabled. */
static void cable_send(int nic, const void *frame, u32 len)
{
	u64 now = time_travel_now();

	cable_put(now + LATENCY, nic, frame, len);
	/* The answer may be here by then. */
	limit = min(limit, now + 2 * LATENCY);
}

/**
 * seed_cable_ring() - ring the other guest's doorbell
 *
 * Context: any.
 * Return: false if this guest has no cable.
 */
bool seed_cable_ring(void)
{
	unsigned long flags;

	if (fd < 0)
		return false;
	local_irq_save(flags);
	cable_send(BELL, NULL, 0);
	local_irq_restore(flags);
	return true;
}
EXPORT_SYMBOL_GPL(seed_cable_ring);

/**
 * seed_cable_on_ring() - set what happens when the other guest rings
 * @fn: called with @arg as an interrupt, or NULL
 * @arg: its argument
 *
 * Context: process.
 */
void seed_cable_on_ring(void (*fn)(void *arg), void *arg)
{
	unsigned long flags;

	local_irq_save(flags);
	on_ring = fn;
	on_ring_arg = arg;
	local_irq_restore(flags);
}
EXPORT_SYMBOL_GPL(seed_cable_on_ring);

static void bell_rings(struct time_travel_event *e)
{
	if (on_ring)
		on_ring(on_ring_arg);
}

static void frame_arrives(struct time_travel_event *e)
{
	struct cable_message *m = &container_of(e, struct cable_arrival, event)->message;
	struct net_device *dev = (u32)m->nic < n_nics ? nics[m->nic] : NULL;
	struct sk_buff *skb;

	if (!dev || !netif_running(dev))
		return;
	skb = netdev_alloc_skb_ip_align(dev, m->len);
	if (!skb)
		return;
	skb_put_data(skb, m->frame, m->len);
	dev->stats.rx_packets++;
	dev->stats.rx_bytes += m->len;
	skb->protocol = eth_type_trans(skb, dev);
	netif_rx(skb);
}

/* Wait for the token. Returns when the first frame arrives that came before it. */
static u64 await_token(void)
{
	struct cable_arrival *next;
	u64 first = U64_MAX;
	int rc;

	while (!has_token && !alone) {
		next = &arrivals[n_expected % N_ARRIVALS];
		if (next->event.pending)
			panic("too many frames are under way");
		rc = os_read_file(fd, &next->message, sizeof(next->message));
		if (rc == -EINTR)
			continue;
		if (rc <= 0) {
			alone = true;
		} else if (next->message.nic == TOKEN) {
			has_token = true;
			limit = next->message.time + LATENCY;
		} else {
			first = min(first, next->message.time);
			next->event.fn = next->message.nic == BELL ? bell_rings : frame_arrives;
			time_travel_expect(&next->event, next->message.time);
			n_expected++;
		}
	}
	return first;
}

/**
 * seed_cable_reach() - wait until nothing can arrive before a time
 * @time: when this guest has something to do, in ns
 *
 * Context: interrupts are disabled.
 * Return: false if a frame arrives before that, which is an event by now.
 */
bool seed_cable_reach(u64 time)
{
	u64 first = U64_MAX;

	if (fd < 0)
		return true;
	while (!alone && first >= time && (!has_token || time > limit)) {
		if (has_token) {
			has_token = false;
			cable_put(time, TOKEN, NULL, 0);
		}
		first = await_token();
	}
	return first >= time;
}

static netdev_tx_t cable_xmit(struct sk_buff *skb, struct net_device *dev)
{
	unsigned long flags;

	skb_tx_timestamp(skb);
	if (skb->len <= MAX_FRAME && !skb_linearize(skb)) {
		local_irq_save(flags);
		cable_send(dev->dev_port, skb->data, skb->len);
		local_irq_restore(flags);
		dev->stats.tx_packets++;
		dev->stats.tx_bytes += skb->len;
	}
	dev_consume_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops cable_ops = {
	.ndo_start_xmit		= cable_xmit,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_set_mac_address	= eth_mac_addr,
};

static int __init add_nic(int i)
{
	/* As those that init_uml renames, and as the addresses that backend_uml.py gives them */
	const u8 address[ETH_ALEN] = { 0x52, 0x54, 0x00, 0x12, 0x34, i << 4 | (is_first ? 1 : 2) };
	struct net_device *dev = alloc_etherdev(0);
	int rc;

	if (!dev)
		return -ENOMEM;
	snprintf(dev->name, sizeof(dev->name), "vec%d", i);
	dev->netdev_ops = &cable_ops;
	dev->max_mtu = MAX_FRAME - ETH_HLEN - VLAN_HLEN;
	dev->dev_port = i;
	eth_hw_addr_set(dev, address);
	rc = register_netdev(dev);
	if (rc) {
		free_netdev(dev);
		return rc;
	}
	nics[i] = dev;
	return 0;
}

static int __init cable_init(void)
{
	int rc = 0;

	for (u32 i = 0; i < n_nics && !rc; i++)
		rc = add_nic(i);
	return rc;
}
late_initcall(cable_init);

static int __init cable_setup(char *text)
{
	int first;

	if (sscanf(text, "%d,%u,%d", &fd, &n_nics, &first) != 3 || n_nics > MAX_NICS)
		panic("seed_cable=%s", text);
	is_first = first;
	has_token = first;
	return 1;
}
__setup("seed_cable=", cable_setup);
