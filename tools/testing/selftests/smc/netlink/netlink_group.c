// SPDX-License-Identifier: GPL-2.0
/* smc_netlink_test: link groups and devices. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "netlink_test.h"

static bool is_empty(uint8_t cmd)
{
	genl_dump(&genl, cmd, NULL, &ans);
	return done() && (!ans.count || BAD("command %u: %zu messages", cmd, ans.count));
}

bool group_smcd(void)
{
	static const uint16_t shape[][2] = {
		{ SMC_NLA_LGR_D_ID, 4 }, { SMC_NLA_LGR_D_GID, 8 }, { SMC_NLA_LGR_D_EXT_GID, 8 },
		{ SMC_NLA_LGR_D_PEER_GID, 8 }, { SMC_NLA_LGR_D_PEER_EXT_GID, 8 },
		{ SMC_NLA_LGR_D_VLAN_ID, 1 }, { SMC_NLA_LGR_D_CONNS_NUM, 4 },
		{ SMC_NLA_LGR_D_CHID, 2 }, { SMC_NLA_LGR_D_PNETID, 1 },
		{ SMC_NLA_LGR_D_SNDBUF_ALLOC, 4 }, { SMC_NLA_LGR_D_DMB_ALLOC, 4 },
		{ SMC_NLA_LGR_D_V2_COMMON, 0 },
	};
	const uint8_t *nest, *v2;
	struct link l, second;
	unsigned int n = 0, v;
	size_t len, v2_len, host_len;
	bool ok;

	/* connections of earlier cases may still be ending */
	for (int i = 0; i < slow(1000) && !is_empty(SMC_NETLINK_GET_LGR_SMCD); i++)
		usleep(10000);
	if (!is_empty(SMC_NETLINK_GET_LGR_SMCD))
		return false;
	l = connected();
	second = connected();
	ok = is_mode(l, SMC_DIAG_MODE_SMCD) && is_mode(second, SMC_DIAG_MODE_SMCD);
	nest = only_nest(SMC_NETLINK_GET_LGR_SMCD, SMC_GEN_LGR_SMCD, &len);
	ok = ok && nest && has_shape(nest, len, shape, ARRAY_SIZE(shape), SMC_NLA_LGR_D_PAD);
	ok = ok && has_u32(nest, len, SMC_NLA_LGR_D_CONNS_NUM, &n) &&
	     (n == 4 || BAD("%u ends of connections instead of 4", n));
	ok = ok && has_u32(nest, len, SMC_NLA_LGR_D_DMB_ALLOC, &n) &&
	     (n >= 4 * 16384 || BAD("%u bytes", n));
	v2 = ok ? find_attr(nest, len, SMC_NLA_LGR_D_V2_COMMON, &v2_len) : NULL;
	ok = v2 && has_u8(v2, v2_len, SMC_NLA_LGR_V2_VER, &v) && v == 2 &&
	     has_u8(v2, v2_len, SMC_NLA_LGR_V2_REL, &v) && v == 1 &&
	     find_attr(v2, v2_len, SMC_NLA_LGR_V2_PEER_HOST, &host_len) && host_len == 33;
	disconnected(l);
	disconnected(second);
	if (!ok)
		return why[0] ? false : BAD("wrong version, release or host name");
	for (int i = 0; i < slow(1000) && !is_empty(SMC_NETLINK_GET_LGR_SMCD); i++)
		usleep(10000);
	return is_empty(SMC_NETLINK_GET_LGR_SMCD);
}

bool device_smcd(void)
{
	static const uint16_t shape[][2] = {
		{ SMC_NLA_DEV_USE_CNT, 4 }, { SMC_NLA_DEV_IS_CRIT, 1 },
		{ SMC_NLA_DEV_PCI_FID, 4 }, { SMC_NLA_DEV_PCI_CHID, 2 },
		{ SMC_NLA_DEV_PCI_VENDOR, 2 }, { SMC_NLA_DEV_PCI_DEVICE, 2 },
		{ SMC_NLA_DEV_PCI_ID, 13 }, { SMC_NLA_DEV_PORT, 0 },
	};
	static const uint16_t port[][2] = {
		{ SMC_NLA_DEV_PORT_PNET_USR, 1 }, { SMC_NLA_DEV_PORT_PNETID, 0 },
	};
	const uint8_t *nest, *name;
	size_t len, n;

	nest = only_nest(SMC_NETLINK_GET_DEV_SMCD, SMC_GEN_DEV_SMCD, &len);
	if (!nest || !has_shape(nest, len, shape, ARRAY_SIZE(shape), 0))
		return false;
	name = find_attr(nest, len, SMC_NLA_DEV_PCI_ID, &n);
	if (memcmp(name, "loopback-ism", n))
		return BAD("it is '%.*s'", (int)n, name);
	nest = find_attr(nest, len, SMC_NLA_DEV_PORT, &n);
	return has_shape(nest, n, port, ARRAY_SIZE(port), 0);
}

/* There is no RDMA device: an empty answer is no error. */
bool without_rdma(void)
{
	return is_empty(SMC_NETLINK_GET_DEV_SMCR) && is_empty(SMC_NETLINK_GET_LGR_SMCR) &&
	       is_empty(SMC_NETLINK_GET_LINK_SMCR);
}
