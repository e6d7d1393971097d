// SPDX-License-Identifier: GPL-2.0
/*
 * The device as a virtio device: a queue for commands and a window of shared memory.
 */
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/virtio.h>
#include <linux/virtio_config.h>
#include "vism.h"

/* Devices execute a command during the notification: after this time no answer will come. */
#define ANSWER_MS	2000

/**
 * struct vism_exchange - buffers for a command and its answer, accessed by the device
 * @request:	the command
 * @answer:	the answer, on separate cache lines
 */
struct vism_exchange {
	struct vism_request	request;
	u8			answer[VISM_ANSWER_MAX] ____cacheline_aligned;
};

/**
 * struct vism_virtio - a virtio-ism device
 * @dev:	the device as the rest of the driver sees it
 * @parent:	the bus device, referenced
 * @vq:		its only queue
 * @exchange:	the current command.  If the device does not answer, it may write to this until it
 *		is reset
 * @mem:	the window
 * @name:	name of the device
 */
struct vism_virtio {
	struct vism_dev		dev;
	struct device		*parent;
	struct virtqueue	*vq;
	struct vism_exchange	*exchange;
	void			*mem;
	char			name[32];
};

static struct vism_virtio *to_virtio(struct vism_dev *d)
{
	return container_of(d, struct vism_virtio, dev);
}

/* Poll for the answer: the queue has no interrupt. */
static void *wait_for_answer(struct virtqueue *vq, unsigned int *len)
{
	unsigned long until = jiffies + msecs_to_jiffies(ANSWER_MS);
	bool late = false;
	void *token;

	for (;;) {
		token = virtqueue_get_buf(vq, len);
		if (token || late || virtqueue_is_broken(vq))
			return token;
		late = time_after(jiffies, until);
		usleep_range(20, 100);
	}
}

static int virtio_command(struct vism_dev *d, const struct vism_request *request, u32 len,
			  u8 *answer, u32 answer_len)
{
	struct scatterlist header, payload, status, reply, *sgs[4] = {
		&header, &payload, &status, &reply,
	};
	struct vism_virtio *v = to_virtio(d);
	struct vism_exchange *x = v->exchange;
	unsigned int written;
	int rc;

	x->request = *request;
	memset(x->answer, 0xff, sizeof(x->answer));
	sg_init_one(&header, &x->request, VISM_HEADER_LEN);
	sg_init_one(&payload, x->request.payload, len - VISM_HEADER_LEN);
	sg_init_one(&status, x->answer, 1);
	if (answer_len > 1)
		sg_init_one(&reply, x->answer + 1, answer_len - 1);
	rc = virtqueue_add_sgs(v->vq, sgs, 2, answer_len > 1 ? 2 : 1, x, GFP_KERNEL);
	if (rc)
		return rc;
	if (!virtqueue_kick(v->vq) || wait_for_answer(v->vq, &written) != x)
		return -ETIMEDOUT;
	memcpy(answer, x->answer, answer_len);
	return min(written, answer_len);
}

static void unmap(struct vism_virtio *v)
{
	memunmap(v->mem);
	put_device(v->parent);
	kvfree(v);
}

static void virtio_free(struct vism_dev *d)
{
	unmap(to_virtio(d));
}

static const struct vism_bus virtio_bus = {
	.command	= virtio_command,
	.free		= virtio_free,
};

/* Set up what must stay until the last user is gone, possibly after the removal of the device. */
static struct vism_virtio *map(struct virtio_device *vdev, const struct virtio_shm_region *window)
{
	struct vism_virtio *v = kvzalloc(sizeof(*v), GFP_KERNEL);

	if (!v)
		return NULL;
	/* The window is memory, whatever bus it is behind: map it cacheable. */
	v->mem = memremap(window->addr, window->len, MEMREMAP_WB);
	if (!v->mem) {
		kvfree(v);
		return NULL;
	}
	strscpy(v->name, dev_name(&vdev->dev), sizeof(v->name));
	v->parent = get_device(vdev->dev.parent);
	v->dev.ism.name = v->name;
	v->dev.ism.parent = v->parent;
	return v;
}

static int open_queue(struct virtio_device *vdev, struct vism_virtio *v)
{
	v->exchange = kzalloc(sizeof(*v->exchange), GFP_KERNEL);
	if (!v->exchange)
		return -ENOMEM;
	v->vq = virtio_find_single_vq(vdev, NULL, "control");
	if (IS_ERR(v->vq)) {
		kfree(v->exchange);
		return PTR_ERR(v->vq);
	}
	virtio_device_ready(vdev);
	return 0;
}

static void close_queue(struct virtio_device *vdev, struct vism_virtio *v)
{
	virtio_reset_device(vdev);
	vdev->config->del_vqs(vdev);
	kfree(v->exchange);
}

static int start(struct virtio_device *vdev, struct vism_virtio *v, u64 len)
{
	u64 region_size, gid;
	int rc;

	virtio_cread_le(vdev, struct vism_config, region_size, &region_size);
	virtio_cread_le(vdev, struct vism_config, gid, &gid);
	rc = open_queue(vdev, v);
	if (rc)
		return rc;
	rc = vism_start(&v->dev, &virtio_bus, vdev->id.device, v->mem, len, region_size, gid);
	if (rc)
		close_queue(vdev, v);
	return rc;
}

static int vism_validate(struct virtio_device *vdev)
{
	return virtio_has_feature(vdev, VIRTIO_F_VERSION_1) ? 0 : -ENODEV;
}

static int vism_probe(struct virtio_device *vdev)
{
	struct virtio_shm_region window;
	struct vism_virtio *v;
	int rc;

	if (!virtio_get_shm_region(vdev, &window, VISM_SHM_MEMORY)) {
		dev_err(&vdev->dev, "no window of shared memory\n");
		return -ENODEV;
	}
	v = map(vdev, &window);
	if (!v)
		return -ENOMEM;
	rc = start(vdev, v, window.len);
	if (rc) {
		unmap(v);
		return rc;
	}
	vdev->priv = v;
	return 0;
}

static void vism_remove(struct virtio_device *vdev)
{
	struct vism_virtio *v = vdev->priv;

	if (!v)
		return;
	vdev->priv = NULL;
	vism_leave(&v->dev);
	vism_stop(&v->dev);
	close_queue(vdev, v);
	vism_put(&v->dev);
}

#ifdef CONFIG_PM_SLEEP
/* Peers do not wait for a machine that sleeps, so remove the device. */
static int vism_freeze(struct virtio_device *vdev)
{
	vism_remove(vdev);
	return 0;
}

static int vism_restore(struct virtio_device *vdev)
{
	return vism_probe(vdev);
}
#endif

static const struct virtio_device_id vism_ids[] = {
	{ VISM_ID_OFFSET, VIRTIO_DEV_ANY_ID },
	{ VISM_ID_TOKEN, VIRTIO_DEV_ANY_ID },
	{}
};
MODULE_DEVICE_TABLE(virtio, vism_ids);

static struct virtio_driver vism_driver = {
	.driver.name	= "smc_ism_virtio",
	.driver.owner	= THIS_MODULE,
	.id_table	= vism_ids,
	.validate	= vism_validate,
	.probe		= vism_probe,
	.remove		= vism_remove,
#ifdef CONFIG_PM_SLEEP
	.freeze		= vism_freeze,
	.restore	= vism_restore,
#endif
};

/**
 * vism_virtio_init() - register the virtio driver
 *
 * Return: 0 or a negative errno.
 */
int vism_virtio_init(void)
{
	return register_virtio_driver(&vism_driver);
}

/**
 * vism_virtio_exit() - unregister the virtio driver, which removes all devices
 */
void vism_virtio_exit(void)
{
	unregister_virtio_driver(&vism_driver);
}
