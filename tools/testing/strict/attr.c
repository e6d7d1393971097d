// SPDX-License-Identifier: GPL-2.0
/* The values of modify_qp, whose mask the RDMA core has a function for. */
#include <linux/etherdevice.h>
#include "packet.h"

/* Is a value beyond what its field may have? */
static bool above(struct strict_dev *dev, const char *what, u32 value, u32 most)
{
	if (value <= most)
		return false;
	strict_complain(dev, "%s %u, of %u at most", what, value, most);
	return true;
}

static bool has_gid_type(const struct strict_dev *dev, enum ib_gid_type type)
{
	return dev->protocols & (type == IB_GID_TYPE_ROCE_UDP_ENCAP ?
				 RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP : RDMA_CORE_CAP_PROT_ROCE);
}

static bool bad_gid(const struct strict_dev *dev, const struct ib_global_route *grh)
{
	/* The core has looked up the entry, and fails if it is empty. */
	return !grh->sgid_attr || !has_gid_type(dev, grh->sgid_attr->gid_type) ||
	       !memchr_inv(grh->dgid.raw, 0, sizeof(grh->dgid)) ||
	       grh->dgid.raw[0] == 0xff;
}

static bool bad_path(struct strict_dev *dev, const struct rdma_ah_attr *ah)
{
	if (ah->type != RDMA_AH_ATTR_TYPE_ROCE || !(rdma_ah_get_ah_flags(ah) & IB_AH_GRH) ||
	    rdma_ah_get_port_num(ah) != 1) {
		strict_complain(dev, "a path of type %d, port %u, without a GRH or not RoCE", ah->type,
				rdma_ah_get_port_num(ah));
		return true;
	}
	if (bad_gid(dev, &ah->grh)) {
		strict_complain(dev, "a path with a wrong GID");
		return true;
	}
	if (!ah->grh.hop_limit || !is_valid_ether_addr(ah->roce.dmac)) {
		strict_complain(dev, "a path with hop limit %u to %pM", ah->grh.hop_limit,
				ah->roce.dmac);
		return true;
	}
	return above(dev, "service level", rdma_ah_get_sl(ah), 7) ||
	       above(dev, "flow label", ah->grh.flow_label, 0xfffff);
}

static bool bad_target(struct strict_dev *dev, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_DEST_QPN && (attr->dest_qp_num < 2 || attr->dest_qp_num > 0xfffffe)) {
		strict_complain(dev, "queue pair number %#x is reserved", attr->dest_qp_num);
		return true;
	}
	if (mask & IB_QP_PATH_MTU && (attr->path_mtu < IB_MTU_256 ||
				      attr->path_mtu > strict_active_mtu(dev))) {
		strict_complain(dev, "path MTU %d, and the port has %d", attr->path_mtu,
				strict_active_mtu(dev));
		return true;
	}
	return mask & IB_QP_AV && bad_path(dev, &attr->ah_attr);
}

static bool bad_counts(struct strict_dev *dev, const struct ib_qp_attr *attr, int mask)
{
	const struct ib_device_attr *limits = &dev->limits;

	return (mask & IB_QP_RETRY_CNT && above(dev, "retries", attr->retry_cnt, 7)) ||
	       (mask & IB_QP_RNR_RETRY && above(dev, "RNR retries", attr->rnr_retry, 7)) ||
	       (mask & IB_QP_TIMEOUT && above(dev, "timeout", attr->timeout, 31)) ||
	       (mask & IB_QP_MIN_RNR_TIMER && above(dev, "RNR timer", attr->min_rnr_timer, 31)) ||
	       (mask & IB_QP_MAX_QP_RD_ATOMIC &&
		above(dev, "outstanding reads", attr->max_rd_atomic, limits->max_qp_init_rd_atom)) ||
	       (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
		above(dev, "reads of the peer", attr->max_dest_rd_atomic, limits->max_qp_rd_atom));
}

/* Returns false, after a complaint, if a device may refuse a value. */
bool strict_attr_valid(struct strict_dev *dev, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PORT && attr->port_num != 1) {
		strict_complain(dev, "port %u, and there is one", attr->port_num);
		return false;
	}
	if (mask & (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE)) {
		strict_complain(dev, "an alternate path, without IB_DEVICE_AUTO_PATH_MIG");
		return false;
	}
	return !(mask & IB_QP_PKEY_INDEX && above(dev, "P_Key index", attr->pkey_index, 0)) &&
	       !bad_target(dev, attr, mask) && !bad_counts(dev, attr, mask);
}
