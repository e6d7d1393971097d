/* SPDX-License-Identifier: GPL-2.0 */
/* A model of IBM's ISM function, one for each of two hosts: its behaviour and its faults. */
#ifndef ISM_MODEL_FUNCTION_H
#define ISM_MODEL_FUNCTION_H

#include "pcidev.h"

/*
 * The register PCIDEV_FAULT of configuration space selects a fault: one of these and, shifted by
 * FAULT_SHIFT, the command or the number of events. The fault lasts until another value is written.
 */
enum fault {
	FAULT_NONE,
	FAULT_FAIL,		/* the command cannot be done */
	FAULT_SILENT,		/* the command is not answered */
	FAULT_WRONG,		/* the command is answered as if it were another one */
	FAULT_STORM,		/* this many events, as fast as possible, and signals of all DMBs */
	FAULT_DEAD,		/* all reads return set bits */
	FAULT_OLD,		/* the function is of version 1 */
	FAULT_NETWORK,		/* not a fault: it belongs to the physical network MODELNET */
};

#define VLANS		64

#define FAULT_MASK	0xff
#define FAULT_SHIFT	8

/**
 * struct dmb - memory that a host lets a peer write into
 * @token:	identifies the DMB; 0 if there is no DMB with this index
 * @addr:	address in the host's memory
 * @len:	length in bytes
 * @peer:	GID of the peer that may write
 * @vlan:	its VLAN, or 0
 */
struct dmb {
	u64	token;
	u64	addr;
	u32	len;
	u64	peer;
	u16	vlan;
};

/**
 * struct function - the function of a host
 * @pci:	the PCI device through which the host reaches it
 * @name:	for messages
 * @peer:	the function of the other host
 * @gid:	its GID
 * @request:	command area, as written by the host
 * @answer:	command area, as read by the host
 * @sba:	address of the state bits, 0 if not registered
 * @ieq:	address of the event queue, 0 if not registered
 * @next:	entry of the event queue that is written next
 * @dmbs:	by index of the state bit
 * @n_vlans:	number of its VLANs
 * @vlans:	its VLANs
 * @target:	in the window of BAR 0: the target of a move
 * @result:	in that window: the result of the last move
 * @data:	in that window: the data of a move
 * @fault:	last value of PCIDEV_FAULT
 * @storm:	number of events that are still to be posted
 */
struct function {
	struct pcidev	pci;
	const char	*name;
	struct function	*peer;
	u64		gid;
	u8		request[256];
	u8		answer[256];
	u64		sba;
	u64		ieq;
	u64		next;
	struct dmb	dmbs[ISM_SBA_DMBS];
	unsigned int	n_vlans;
	u16		vlans[VLANS];
	u64		target;
	u32		result;
	u8		data[ISM_MOVE_PAGE];
	u32		fault;
	u32		storm;
};

void function_init(struct function *f, const char *name, struct function *peer, u64 gid);
void function_reset(struct function *f);
void function_storm(struct function *f);

#endif /* ISM_MODEL_FUNCTION_H */
