/* SPDX-License-Identifier: GPL-2.0 */
/* IBM's ISM function, one for each of two hosts: what it does, and what it is made to do wrong. */
#ifndef ISM_MODEL_FUNCTION_H
#define ISM_MODEL_FUNCTION_H

#include "pcidev.h"

/*
 * What goes wrong is the register PCIDEV_FAULT of configuration space: one of these, and shifted by
 * FAULT_SHIFT the command or the number of events. It goes wrong until another value is written.
 */
enum fault {
	FAULT_NONE,
	FAULT_FAIL,		/* the command cannot be done */
	FAULT_SILENT,		/* the command is not answered */
	FAULT_WRONG,		/* the command is answered as if it was another one */
	FAULT_STORM,		/* so many events, as fast as can be, and signals of all DMBs */
	FAULT_DEAD,		/* all reads give set bits */
	FAULT_OLD,		/* the function is of version 1 */
	FAULT_NETWORK,		/* no fault: it belongs to the physical network MODELNET */
};

#define VLANS		64

#define FAULT_MASK	0xff
#define FAULT_SHIFT	8

/**
 * struct dmb - memory that a host lets a peer write into
 * @token:	its name; 0: there is none with this index
 * @addr:	of the host's memory
 * @len:	bytes
 * @peer:	GID of who may write
 * @vlan:	that it is in, or 0
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
 * @pci:	how the host reaches it
 * @name:	for people
 * @peer:	that of the other host
 * @gid:	its GID
 * @request:	command area, as it is written to, and
 * @answer:	as it reads
 * @sba:	address of the state bits, 0 if not registered
 * @ieq:	the same of the event queue
 * @next:	entry of the event queue that is written next
 * @dmbs:	by index of the state bit
 * @n_vlans:	how many VLANs it is in
 * @vlans:	these
 * @target:	the window of BAR 0: where a move goes,
 * @result:	what became of the last one,
 * @data:	and what is moved
 * @fault:	PCIDEV_FAULT as it was last
 * @storm:	events that are yet to come
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
