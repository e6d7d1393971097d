// SPDX-License-Identifier: GPL-2.0
/*
 * A virtio-ism device in its two published forms, written from public knowledge: it takes commands,
 * and maps regions of memory, its own and those of other machines, into a window.
 *
 *   -device virtio-ism-pci-non-transitional,form=43|44,dir=DIRECTORY
 *
 * Machines with the same directory share memory: a region is a file in it, named after its token.
 * There are no interrupts, for which the published forms have a second area and commands. Such
 * commands succeed and do nothing, as do commands that the first form does not know.
 *
 * A word in the PCI configuration space makes the device misbehave, see enum fault. If the guest
 * touches a part of the window in which no region is mapped, the second form ends the machine.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/iov.h"
#include "qemu/module.h"
#include "qemu/timer.h"
#include "qemu/units.h"
#include "hw/pci/pci.h"
#include "hw/qdev-properties.h"
#include "hw/virtio/virtio.h"
#include "hw/virtio/virtio-pci.h"
#include "qom/object.h"
#include "standard-headers/linux/virtio_ids.h"

#define FORM_OFFSET	43
#define FORM_TOKEN	44
#define QUEUE_SIZE	64
#define SHM_MEMORY	1
#define SHM_NOTIFY	2
#define BAR_MSIX	1
#define BAR_MODERN	2
#define BAR_WINDOW	4
#define REG_FAULT	0xf0	/* in configuration space */
#define LATE_MS		4000

enum command {
	ALLOC	= 0,
	ATTACH	= 1,
	DETACH	= 2,
};

enum status {
	OK		= 0,
	E_GENERIC	= 255,
	E_SMALL		= 249,
	E_NO_MEMORY	= 244,
	E_NO_SPACE	= 228,
};

/*
 * The fault of the device from now on, in the low byte of the register; the next byte is the
 * command that it affects.  net/smc/drivers/virtio/uml.c has the same faults.
 */
enum fault {
	FAULT_NONE,
	FAULT_FAIL,		/* the command fails */
	FAULT_SILENT,		/* the command is not answered */
	FAULT_SHORT,		/* the answer has only a status, or not even that */
	FAULT_OUTSIDE,		/* a region is announced behind the window */
	FAULT_OVERLAP,		/* a region is announced where another one is */
	FAULT_GARBAGE,		/* the answer is full of garbage */
	FAULT_LATE,		/* the answer comes after LATE_MS */
};

struct region {
	MemoryRegion	*mr;	/* NULL: no region */
	uint64_t	token;
	bool		own;
};

struct config {
	uint64_t	gid;
	uint64_t	devid;
	uint64_t	region_size;
	uint64_t	notify_size;
};

#define TYPE_VISM "virtio-ism-device"
OBJECT_DECLARE_SIMPLE_TYPE(Vism, VISM)

struct Vism {
	VirtIODevice	parent_obj;
	VirtQueue	*vq;
	MemoryRegion	bar;
	MemoryRegion	holes;
	MemoryRegion	notify;
	struct region	*regions;
	uint64_t	n;
	uint32_t	number;		/* number of the device in this process */
	uint64_t	last;		/* first form: number of regions ever allocated */
	uint64_t	last_own;	/* index of our last own region */
	uint32_t	fault;
	QEMUTimer	*late;
	VirtQueueElement *late_elem;
	uint32_t	late_len;

	uint32_t	form;
	uint64_t	shm_size;
	uint64_t	region_size;
	uint64_t	gid;
	char		*dir;
};

#define TYPE_VISM_PCI "virtio-ism-pci-base"
OBJECT_DECLARE_SIMPLE_TYPE(VismPci, VISM_PCI)

struct VismPci {
	VirtIOPCIProxy	parent_obj;
	Vism		vdev;
	PCIConfigWriteFunc *config_write;
};

/* ---- the window ---- */

static uint64_t touched(void *opaque, hwaddr addr, unsigned int size)
{
	Vism *v = opaque;

	error_report("virtio-ism: the guest touches offset 0x%" PRIx64 ", where nothing is",
		     (uint64_t)addr);
	if (v->form == FORM_TOKEN)
		exit(1);
	return ~0ull;
}

static void touched_write(void *opaque, hwaddr addr, uint64_t value, unsigned int size)
{
	touched(opaque, addr, size);
}

static const MemoryRegionOps hole_ops = {
	.read		= touched,
	.write		= touched_write,
	.endianness	= DEVICE_LITTLE_ENDIAN,
};

static uint64_t notify_read(void *opaque, hwaddr addr, unsigned int size)
{
	return 0;
}

static void notify_write(void *opaque, hwaddr addr, uint64_t value, unsigned int size)
{
}

static const MemoryRegionOps notify_ops = {
	.read		= notify_read,
	.write		= notify_write,
	.endianness	= DEVICE_LITTLE_ENDIAN,
};

static void window_init(Vism *v)
{
	uint64_t notify = v->n;	/* a byte for each region */

	memory_region_init(&v->bar, OBJECT(v), "virtio-ism", pow2ceil(v->shm_size + notify));
	memory_region_init_io(&v->holes, OBJECT(v), &hole_ops, v, "virtio-ism-hole", v->shm_size);
	memory_region_add_subregion_overlap(&v->bar, 0, &v->holes, -1);
	memory_region_init_io(&v->notify, OBJECT(v), &notify_ops, v, "virtio-ism-notify", notify);
	memory_region_add_subregion(&v->bar, v->shm_size, &v->notify);
}

static char *path_of(Vism *v, uint64_t token)
{
	return g_strdup_printf("%s/shm-%" PRIu64, v->dir, token);
}

/* Maps the file of a region into the window; false if there is no file. */
static bool show(Vism *v, uint64_t index, uint64_t token, bool own)
{
	static unsigned int number;
	g_autofree char *path = path_of(v, token), *name = NULL;
	struct region *r = &v->regions[index];
	int fd = open(path, O_RDWR | (own ? O_CREAT | O_EXCL : 0), 0600);

	if (fd < 0)
		return false;
	if (own && ftruncate(fd, v->region_size)) {
		close(fd);
		return false;
	}
	name = g_strdup_printf("virtio-ism-%u", number++);
	/* Never freed: a view of the memory may outlive its mapping in the window. */
	r->mr = g_new0(MemoryRegion, 1);
	memory_region_init_ram_from_fd(r->mr, OBJECT(v), name, v->region_size, RAM_SHARED, fd, 0,
				       &error_fatal);
	memory_region_add_subregion(&v->bar, index * v->region_size, r->mr);
	r->token = token;
	r->own = own;
	return true;
}

static void hide(Vism *v, uint64_t index)
{
	struct region *r = &v->regions[index];

	memory_region_del_subregion(&v->bar, r->mr);
	object_unparent(OBJECT(r->mr));
	r->mr = NULL;
}

/* ---- commands ---- */

/* Returns the index of the next region; the first form continues counting beyond its window. */
static uint64_t next_index(Vism *v)
{
	uint64_t i;

	if (v->form == FORM_OFFSET)
		return v->last;
	for (i = 0; i < v->n && v->regions[i].mr; i++)
		;
	return i;
}

static uint8_t bring(Vism *v, uint64_t token, bool own, uint64_t *index)
{
	*index = next_index(v);
	if (v->form == FORM_TOKEN && *index >= v->n)
		return E_NO_SPACE;
	if (*index < v->n && !show(v, *index, token, own))
		return E_GENERIC;
	v->last++;
	return OK;
}

static uint8_t detach(Vism *v, uint64_t token)
{
	g_autofree char *path = path_of(v, token);
	uint64_t i;

	if (v->form == FORM_OFFSET)
		return OK;
	for (i = 0; i < v->n && !(v->regions[i].mr && v->regions[i].token == token); i++)
		;
	if (i == v->n)
		return E_GENERIC;
	if (v->regions[i].own)
		unlink(path);
	hide(v, i);
	return OK;
}

/* Writes the number of areas, if this form has it, and the only area. Returns its end, or NULL. */
static uint8_t *put_area(Vism *v, uint8_t *p, uint8_t *end, uint64_t offset)
{
	if (end - p < (v->form == FORM_TOKEN ? 24 : 8))
		return NULL;
	if (v->form == FORM_TOKEN) {
		stq_le_p(p, 1);
		p += 8;
	}
	stq_le_p(p, offset);
	p += 8;
	if (v->form == FORM_TOKEN) {
		stq_le_p(p, v->region_size);
		p += 8;
	}
	return p;
}

static bool does(Vism *v, uint8_t class, enum fault fault)
{
	return (v->fault & 0xff) == fault && v->fault >> 8 == class;
}

/* Returns the length of the answer. */
static size_t obey(Vism *v, uint8_t class, uint64_t value, uint8_t *answer, size_t room)
{
	uint64_t token = (uint64_t)getpid() << 32 | v->number << 24 | next_index(v);
	uint64_t index, offset;
	uint64_t own = v->last_own;
	uint8_t *p = answer + 1, *end = answer + room;

	switch (class) {
	case ALLOC:
		if (v->form == FORM_TOKEN && value != v->region_size) {
			answer[0] = E_NO_MEMORY;
			return 1;
		}
		answer[0] = bring(v, token, true, &index);
		own = index;
		break;
	case ATTACH:
		answer[0] = bring(v, value, false, &index);
		break;
	case DETACH:
		answer[0] = detach(v, value);
		return 1;
	default:
		answer[0] = OK;
		return 1;
	}
	if (answer[0])
		return 1;
	offset = index * v->region_size;
	if (does(v, class, FAULT_OUTSIDE))
		offset = v->shm_size;
	if (does(v, class, FAULT_OVERLAP))
		offset = v->last_own * v->region_size;
	v->last_own = own;
	if (class == ALLOC && end - p >= 8) {
		stq_le_p(p, token);
		p += 8;
	}
	p = put_area(v, p, end, offset);
	if (p)
		return p - answer;
	answer[0] = E_SMALL;
	return 1;
}

/* Applies the faults that do not depend on the command. */
static size_t disobey(Vism *v, uint8_t class, uint64_t value, uint8_t *answer, size_t room)
{
	if (does(v, class, FAULT_FAIL)) {
		answer[0] = E_GENERIC;
		return 1;
	}
	if (does(v, class, FAULT_SHORT)) {
		answer[0] = OK;
		return class == DETACH ? 0 : 1;
	}
	if (does(v, class, FAULT_GARBAGE)) {
		memset(answer, 0x5a, room);
		answer[0] = OK;
		return room;
	}
	return obey(v, class, value, answer, room);
}

static void give(Vism *v, VirtQueueElement *elem, size_t len)
{
	virtqueue_push(v->vq, elem, len);
	virtio_notify(VIRTIO_DEVICE(v), v->vq);
	g_free(elem);
}

static void give_late(void *opaque)
{
	Vism *v = opaque;

	if (v->late_elem)
		give(v, v->late_elem, v->late_len);
	v->late_elem = NULL;
}

static void handle(Vism *v, VirtQueueElement *elem)
{
	size_t len = iov_size(elem->out_sg, elem->out_num), room = iov_size(elem->in_sg, elem->in_num);
	uint8_t request[18] = { 0 }, answer[4096] = { 0 };

	if (len < 10 || len > sizeof(request) || !room || room > sizeof(answer)) {
		error_report("virtio-ism: a command of %zu bytes with room for %zu", len, room);
		exit(1);
	}
	iov_to_buf(elem->out_sg, elem->out_num, 0, request, sizeof(request));
	if (does(v, request[0], FAULT_SILENT))
		return;
	len = disobey(v, request[0], ldq_le_p(request + 2), answer, room);
	iov_from_buf(elem->in_sg, elem->in_num, 0, answer, len);
	if (does(v, request[0], FAULT_LATE) && !v->late_elem) {
		v->late_elem = elem;
		v->late_len = len;
		timer_mod(v->late, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) + LATE_MS);
		return;
	}
	give(v, elem, len);
}

static void handle_queue(VirtIODevice *vdev, VirtQueue *vq)
{
	VirtQueueElement *elem;

	while ((elem = virtqueue_pop(vq, sizeof(*elem))))
		handle(VISM(vdev), elem);
}

/* ---- the virtio device ---- */

static void get_config(VirtIODevice *vdev, uint8_t *data)
{
	Vism *v = VISM(vdev);
	struct config config = { 0 };

	stq_le_p(&config.gid, v->gid);
	stq_le_p(&config.region_size, v->region_size);
	/* The first form omits it. */
	stq_le_p(&config.notify_size, v->form == FORM_TOKEN);
	memcpy(data, &config, sizeof(config));
}

static uint64_t get_features(VirtIODevice *vdev, uint64_t features, Error **errp)
{
	return features;
}

/* As in the published forms, regions survive a reset; pending commands do not. */
static void reset(VirtIODevice *vdev)
{
	Vism *v = VISM(vdev);

	timer_del(v->late);
	g_free(v->late_elem);
	v->late_elem = NULL;
}

static void realize(DeviceState *dev, Error **errp)
{
	VirtIODevice *vdev = VIRTIO_DEVICE(dev);
	Vism *v = VISM(dev);

	/* QEMU has no name for either number. */
	virtio_init(vdev, VIRTIO_ID_RNG, sizeof(struct config));
	vdev->device_id = v->form;
	vdev->name = "virtio-ism";
	v->vq = virtio_add_queue(vdev, QUEUE_SIZE, handle_queue);
	v->late = timer_new_ms(QEMU_CLOCK_REALTIME, give_late, v);
}

static void unrealize(DeviceState *dev)
{
	VirtIODevice *vdev = VIRTIO_DEVICE(dev);
	Vism *v = VISM(dev);
	uint64_t i;

	timer_free(v->late);
	for (i = 0; i < v->n; i++)
		if (v->regions[i].mr)
			hide(v, i);
	virtio_delete_queue(v->vq);
	virtio_cleanup(vdev);
}

static const Property vism_properties[] = {
	DEFINE_PROP_UINT32("form", Vism, form, FORM_OFFSET),
	DEFINE_PROP_UINT64("shm_size", Vism, shm_size, GiB),
	DEFINE_PROP_UINT64("region_size", Vism, region_size, MiB),
	DEFINE_PROP_UINT64("gid", Vism, gid, 0),
	DEFINE_PROP_UINT32("fault", Vism, fault, 0),
	DEFINE_PROP_STRING("dir", Vism, dir),
};

static void vism_class_init(ObjectClass *class, void *data)
{
	DeviceClass *dc = DEVICE_CLASS(class);
	VirtioDeviceClass *vdc = VIRTIO_DEVICE_CLASS(class);

	device_class_set_props(dc, vism_properties);
	set_bit(DEVICE_CATEGORY_MISC, dc->categories);
	vdc->realize = realize;
	vdc->unrealize = unrealize;
	vdc->get_config = get_config;
	vdc->get_features = get_features;
	vdc->reset = reset;
}

static const TypeInfo vism_info = {
	.name		= TYPE_VISM,
	.parent		= TYPE_VIRTIO_DEVICE,
	.instance_size	= sizeof(Vism),
	.class_init	= vism_class_init,
};

/* ---- the PCI function ---- */

static void pci_write(PCIDevice *pci_dev, uint32_t address, uint32_t value, int len)
{
	VismPci *p = VISM_PCI(pci_dev);

	p->config_write(pci_dev, address, value, len);
	if (range_covers_byte(address, len, REG_FAULT))
		p->vdev.fault = pci_get_long(pci_dev->config + REG_FAULT);
}

static bool sensible(Vism *v, Error **errp)
{
	if (v->form != FORM_OFFSET && v->form != FORM_TOKEN)
		error_setg(errp, "form is 43 or 44");
	else if (!v->dir)
		error_setg(errp, "dir is missing");
	else if (!is_power_of_2(v->region_size) || v->shm_size < v->region_size)
		error_setg(errp, "region_size is not possible");
	return !*errp;
}

static void pci_realize(VirtIOPCIProxy *proxy, Error **errp)
{
	static uint32_t devices;
	VismPci *p = VISM_PCI(proxy);
	PCIDevice *pci_dev = &proxy->pci_dev;
	Vism *v = &p->vdev;
	ERRP_GUARD();

	if (!sensible(v, errp))
		return;
	v->n = v->shm_size / v->region_size;
	v->number = devices++;
	v->regions = g_new0(struct region, v->n);
	window_init(v);
	proxy->msix_bar_idx = BAR_MSIX;
	proxy->modern_mem_bar_idx = BAR_MODERN;
	proxy->nvectors = 2;
	pci_register_bar(pci_dev, BAR_WINDOW,
			 PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_PREFETCH |
			 PCI_BASE_ADDRESS_MEM_TYPE_64, &v->bar);
	virtio_pci_add_shm_cap(proxy, BAR_WINDOW, 0, v->shm_size, SHM_MEMORY);
	virtio_pci_add_shm_cap(proxy, BAR_WINDOW, v->shm_size, v->n, SHM_NOTIFY);
	virtio_pci_force_virtio_1(proxy);
	if (!qdev_realize(DEVICE(v), BUS(&proxy->bus), errp))
		return;
	pci_set_long(pci_dev->config + REG_FAULT, v->fault);
	pci_set_long(pci_dev->wmask + REG_FAULT, ~0u);
	p->config_write = pci_dev->config_write;
	pci_dev->config_write = pci_write;
}

static void vism_pci_class_init(ObjectClass *class, void *data)
{
	VirtioPCIClass *k = VIRTIO_PCI_CLASS(class);
	PCIDeviceClass *pcidev_k = PCI_DEVICE_CLASS(class);

	k->realize = pci_realize;
	pcidev_k->class_id = PCI_CLASS_MEMORY_OTHER;
}

static void vism_pci_init(Object *obj)
{
	VismPci *p = VISM_PCI(obj);

	virtio_instance_init_common(obj, &p->vdev, sizeof(p->vdev), TYPE_VISM);
}

static const VirtioPCIDeviceTypeInfo vism_pci_info = {
	.base_name		= TYPE_VISM_PCI,
	.generic_name		= "virtio-ism-pci",
	.non_transitional_name	= "virtio-ism-pci-non-transitional",
	.instance_size		= sizeof(VismPci),
	.instance_init		= vism_pci_init,
	.class_init		= vism_pci_class_init,
};

static void vism_register(void)
{
	type_register_static(&vism_info);
	virtio_pci_types_register(&vism_pci_info);
}

type_init(vism_register)
