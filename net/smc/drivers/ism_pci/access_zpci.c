// SPDX-License-Identifier: GPL-2.0
/*
 * Access to IBM's function on s390.  Its BARs cannot be mapped; the one for moves has 256 TiB.
 * Instructions name the function by its handle, an address space, and an offset in that space.
 * readl() and friends may use newer PCI instructions, which this function does not support.
 *
 * All writes are blocks (PCI store block).  Other functions require an alignment of eight bytes.
 * This one accepts any alignment and any length up to its maximum block length, as long as a block
 * stays within a 4 KiB page of the address space.
 */
#include <linux/kernel.h>
#include <asm/pci.h>
#include <asm/pci_io.h>
#include <asm/processor.h>
#include "ism_pci.h"

/* Each load reads one word of the command area. */
#define WORD	sizeof(u64)

static struct zpci_dev *zpci_of(struct ism_pci *ism)
{
	return to_zpci(ism->pdev);
}

/* A failed instruction does not say whether the function is lost: check its state. */
static int failed(struct ism_pci *ism)
{
	return zdev_enabled(zpci_of(ism)) && !pci_channel_offline(ism->pdev) ? -EIO : -ENODEV;
}

/* The handle changes each time the function is enabled, so do not cache it. */
static int store(struct ism_pci *ism, u64 space, u64 offset, const void *data, u32 len)
{
	u64 request = ZPCI_CREATE_REQ(READ_ONCE(zpci_of(ism)->fh), space, len);

	return __zpci_store_block(data, request, offset) ? failed(ism) : 0;
}

static int load(struct ism_pci *ism, u64 space, u64 offset, u64 *data)
{
	u64 request = ZPCI_CREATE_REQ(READ_ONCE(zpci_of(ism)->fh), space, WORD);

	return __zpci_load(data, request, offset) ? failed(ism) : 0;
}

/* Control data and requests must fit into one block. */
static int s390_init(struct ism_pci *ism)
{
	return zpci_of(ism)->maxstbl < ZPCI_MAX_WRITE_SIZE ? -ENODEV : 0;
}

static void s390_exit(struct ism_pci *ism)
{
}

static int s390_write(struct ism_pci *ism, u32 offset, const void *data, u32 len)
{
	return store(ism, ISM_BAR_COMMAND, offset, data, len);
}

static int s390_read(struct ism_pci *ism, u32 offset, void *data, u32 len)
{
	u64 word;
	int rc;
	u32 n;

	for (; len; offset += n, data += n, len -= n) {
		rc = load(ism, ISM_BAR_COMMAND, offset, &word);
		if (rc)
			return rc;
		n = min_t(u32, len, WORD);
		memcpy(data, &word, n);
	}
	return 0;
}

static int s390_move(struct ism_pci *ism, u64 target, const void *data, u32 len)
{
	u32 most = zpci_of(ism)->maxstbl, n;
	int rc = 0;

	for (; len && !rc; target += n, data += n, len -= n) {
		n = min(len, most);
		rc = store(ism, ISM_BAR_MOVE, ism_move_part(target, n == len), data, n);
	}
	return rc;
}

static u16 s390_chid(struct ism_pci *ism)
{
	return zpci_of(ism)->pchid;
}

static void s390_seid(struct ism_pci *ism, u8 *seid)
{
	struct cpuid id;

	get_cpu_id(&id);
	ism_seid(seid, id.ident, id.machine);
}

static void s390_pnetid(struct ism_pci *ism, char *pnetid)
{
	const struct zpci_dev *zdev = zpci_of(ism);

	if (zdev->util_str_avail)
		ism_pnetid(pnetid, zdev->util_str);
}

const struct ism_access ism_access = {
	.init	= s390_init,
	.exit	= s390_exit,
	.write	= s390_write,
	.read	= s390_read,
	.move	= s390_move,
	.chid	= s390_chid,
	.seid	= s390_seid,
	.pnetid	= s390_pnetid,
};
