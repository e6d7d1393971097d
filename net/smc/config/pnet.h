/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The PNET table of a namespace: which netdevs and device ports are on the same physical network,
 * by name, as set by the administrator. A name need not exist, so a device that is unplugged is
 * recognized when it returns.
 */
#ifndef SMC_CONFIG_PNET_H
#define SMC_CONFIG_PNET_H

#include <linux/netdevice.h>
#include <linux/types.h>
#include <rdma/ib_user_verbs.h>

struct smc_net;

#define SMC_PNETID_LEN	16
/* Limits the size of the table, which is searched linearly. */
#define SMC_PNET_MAX	1024
/* A netdev and a port. */
#define SMC_PNET_AT_ONCE	2

/**
 * struct smc_pnet_entry - an entry of the PNET table
 * @number:	greater than the numbers of all earlier entries
 * @id:		the PNETID, in capitals, NUL-terminated
 * @name:	name of a netdev, or of an RDMA or ISM device (or its PCI name)
 * @port:	port of the device, from 1; 0 for a netdev
 */
struct smc_pnet_entry {
	u32	number;
	char	id[SMC_PNETID_LEN + 1];
	char	name[IB_DEVICE_NAME_MAX];
	u8	port;
};

/**
 * struct smc_pnet_port - identifies a port of a device
 * @dev:	name of the RDMA or ISM device
 * @pci:	PCI name of the device, or NULL
 * @port:	port of the device, from 1
 * @own:	the PNETID that the port itself has, or NULL
 */
struct smc_pnet_port {
	const char	*dev;
	const char	*pci;
	u8		port;
	const char	*own;
};

/* What the table says about a netdev and a port. */
enum smc_pnet_verdict {
	SMC_PNET_UNKNOWN,	/* the table lacks at least one of them */
	SMC_PNET_SAME,
	SMC_PNET_OTHER,
};

extern struct pernet_operations smc_pnet_net_ops;

bool smc_pnetid_parse(const char *text, size_t len, char *id);
int smc_pnet_add(struct smc_net *sn, const struct smc_pnet_entry *e, unsigned int n);
int smc_pnet_remove(struct smc_net *sn, const char *id);
void smc_pnet_flush(struct smc_net *sn);
unsigned int smc_pnet_seq(const struct smc_net *sn);
bool smc_pnet_next(struct smc_net *sn, const char *id, struct smc_pnet_entry *e,
		   unsigned int *seq);

enum smc_pnet_verdict smc_pnet_compare(const struct net_device *ndev,
				       const struct smc_pnet_port *port);
bool smc_pnet_of_port(const struct smc_net *sn, const struct smc_pnet_port *port, char *id);
bool smc_pnet_of_netdev(const struct net_device *ndev, char *id);

#endif
