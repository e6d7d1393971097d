// SPDX-License-Identifier: GPL-2.0
/* A separate file: libnl needs the C library's struct tcp_info, which lacks the byte counters. */
#include <linux/tcp.h>
#include <string.h>

#include "tcp_watch.h"

void tcp_counters(const void *data, size_t len, struct tcp_count *count)
{
	struct tcp_info info = { };

	memcpy(&info, data, len < sizeof(info) ? len : sizeof(info));
	count->sent = info.tcpi_bytes_acked;
	count->received = info.tcpi_bytes_received;
	count->segments = info.tcpi_data_segs_in + info.tcpi_data_segs_out;
}
