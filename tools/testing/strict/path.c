// SPDX-License-Identifier: GPL-2.0
/* Whether packets of a queue pair can pass: its GID and the MTU of the port may change. */
#include <rdma/ib_cache.h>
#include "strict.h"

static bool has_gid(struct strict_dev *dev, const union ib_gid *gid)
{
	static const enum ib_gid_type types[] = { IB_GID_TYPE_ROCE, IB_GID_TYPE_ROCE_UDP_ENCAP };
	const struct ib_gid_attr *attr;
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		attr = rdma_find_gid_by_port(&dev->ib, gid, types[i], 1, NULL);
		if (IS_ERR(attr))
			continue;
		rdma_put_gid_attr(attr);
		return true;
	}
	return false;
}

/* del_gid() comes too late: a queue pair keeps the entry of the table until it is destroyed. */
static void gid_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct strict_dev *dev = container_of(handler, struct strict_dev, event_handler);

	if (event->event == IB_EVENT_GID_CHANGE)
		strict_gids_changed(dev);
}

void strict_gids_changed(struct strict_dev *dev)
{
	WRITE_ONCE(dev->gids_changed, true);
	strict_wake(dev);
}

void strict_watch_gids(struct strict_dev *dev)
{
	INIT_IB_EVENT_HANDLER(&dev->event_handler, &dev->ib, gid_event);
	ib_register_event_handler(&dev->event_handler);
}

void strict_check_gids(struct strict_dev *dev)
{
	struct strict_qp *qp;

	lockdep_assert_held(&dev->lock);
	if (!xchg(&dev->gids_changed, false))
		return;
	list_for_each_entry(qp, &dev->qps, list)
		qp->no_gid = !rdma_is_zero_gid(&qp->gid) && !has_gid(dev, &qp->gid);
}

/* Can packets with @length bytes of data pass, in either direction? Others get lost. */
bool strict_has_path(const struct strict_dev *dev, const struct strict_qp *qp, u32 length)
{
	return !qp->no_gid && length <= ib_mtu_enum_to_int(strict_active_mtu(dev));
}
