// SPDX-License-Identifier: GPL-2.0
/* Finds the option in a segment, or adds it. */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/ip.h>
#include "../wire/tcp_option.h"
#include "ways.h"

static enum smc_tcp_options scan(const struct tcphdr *th)
{
	return smc_tcp_options_scan((const u8 *)(th + 1), th->doff * 4 - sizeof(*th));
}

/**
 * smc_tcpopt_in() - does this segment have the option?
 * @th: TCP header, complete, with a length of at least 20 bytes
 *
 * Return: true if it does.
 */
bool smc_tcpopt_in(const struct tcphdr *th)
{
	return scan(th) == SMC_TCP_OPTIONS_HAVE;
}

/* Is there room for the option, both in the TCP header and in the buffer? */
static bool has_room(struct sk_buff *skb)
{
	const struct tcphdr *th = tcp_hdr(skb);
	unsigned int options = th->doff * 4 - sizeof(*th);

	/* TCP leaves the checksum of outgoing segments to the device or to a later step. */
	return scan(th) == SMC_TCP_OPTIONS_LACK && skb->ip_summed == CHECKSUM_PARTIAL &&
	       options <= SMC_TCP_OPTIONS_MAX - SMC_TCP_OPTION_SPACE && !skb_is_gso(skb) &&
	       !skb_cow_head(skb, SMC_TCP_OPTION_SPACE);
}

static void add_to_lengths(struct sk_buff *skb)
{
	unsigned int len = skb->len - skb_transport_offset(skb);
	struct tcphdr *th = tcp_hdr(skb);

	th->doff += SMC_TCP_OPTION_SPACE / 4;
	if (ip_hdr(skb)->version == 4) {
		ip_hdr(skb)->tot_len = htons(skb->len);
		ip_send_check(ip_hdr(skb));
	} else {
		be16_add_cpu(&ipv6_hdr(skb)->payload_len, SMC_TCP_OPTION_SPACE);
	}
	/* So far the checksum covers only the pseudo header, which includes the length. */
	inet_proto_csum_replace2(&th->check, skb, htons(len - SMC_TCP_OPTION_SPACE), htons(len),
				 true);
}

/**
 * smc_tcpopt_add() - add the option to a segment that TCP sends, unless it is there already
 * @skb: the segment, starting at its IP header; the TCP header is in the linear part
 *
 * Moves the headers towards the head of the buffer. The data behind them, which TCP keeps for a
 * retransmission, stays where it is.
 *
 * Return: true if the segment has the option now; false if it does not, in which case it is
 * unchanged.
 */
bool smc_tcpopt_add(struct sk_buff *skb)
{
	unsigned int headers = skb_transport_offset(skb) + tcp_hdrlen(skb);

	if (smc_tcpopt_in(tcp_hdr(skb)))
		return true;
	if (!has_room(skb))
		return false;
	skb_push(skb, SMC_TCP_OPTION_SPACE);
	memmove(skb->data, skb->data + SMC_TCP_OPTION_SPACE, headers);
	skb->network_header -= SMC_TCP_OPTION_SPACE;
	skb->transport_header -= SMC_TCP_OPTION_SPACE;
	skb->csum_start -= SMC_TCP_OPTION_SPACE;
	smc_tcp_option_write(skb->data + headers);
	add_to_lengths(skb);
	return true;
}
