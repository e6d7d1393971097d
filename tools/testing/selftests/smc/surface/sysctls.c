// SPDX-License-Identifier: GPL-2.0
/* The settings in net.smc, as described in Documentation/sysctl.md. */
#include <limits.h>

#include "surface.h"

#define DAY	86400

const struct surface_sysctl surface_sysctls[] = {
	{ "autocache_time", 0, 0, DAY, 0 },
	{ "autosmc", 0, 0, 2, 0 },
	{ "autosmc_retry_time", 60, 1, DAY, 0 },
	{ "autocorking_size", 65536, 0, INT_MAX, 0 },
	{ "enable", 1, 0, 1, 0 },
	{ "lgr_idle_time", 600, 0, DAY, 0 },
	{ "limit_smc_hs", 0, 0, 1, 0 },
	{ "loopback_pairing", 1, 0, 1, 0 },
	{ "mem_max", -1, 0, ULONG_MAX, SYSCTL_ULONG | SYSCTL_OF_HOST },
	{ "mem_max_host", -1, 0, ULONG_MAX, SYSCTL_ULONG | SYSCTL_FIRST },
	{ "rmem", 262144, 16384, 8388608, 0 },
	{ "rmem_max", 1048576, 16384, 8388608, 0 },
	{ "smcr_buf_type", 2, 0, 2, 0 },
	{ "smcr_max_conns_per_lgr", 255, 16, 255, 0 },
	{ "smcr_max_lgrs", 1024, 1, 65536, SYSCTL_OF_HOST },
	{ "smcr_max_lgrs_per_peer", 64, 1, 65536, 0 },
	{ "smcr_max_links_per_lgr", 2, 1, 2, 0 },
	{ "smcr_max_recv_wr", 512, 4, 16384, 0 },
	{ "smcr_max_send_wr", 64, 4, 16384, 0 },
	{ "smcr_testlink_time", 30, 0, DAY, 0 },
	{ "wmem", 262144, 16384, 8388608, 0 },
};

const size_t surface_n_sysctls = sizeof(surface_sysctls) / sizeof(surface_sysctls[0]);
