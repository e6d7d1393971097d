// SPDX-License-Identifier: GPL-2.0
/*
 * Choice of the ports that another link of a group connects (RFC 7609, 2.2.1).
 *
 * Two links are symmetric if they have no port in common at either end: the loss of any port then
 * leaves one link.  If one side has a single port, both links use it, and the group is asymmetric
 * until that side gets a second port.  A third link then replaces one of the two.
 */
#include "../../../netns.h"
#include "../../../wire/clc.h"
#include "lgr.h"
#include "../link/link.h"

static bool is_taken(const struct smc_rdma_dev *dev, u8 port, void *arg)
{
	struct smc_lgr *lgr = arg;
	struct smc_link *link;

	smc_lgr_for_each_link(lgr, link)
		if (READ_ONCE(link->path.dev) == dev && link->path.port == port &&
		    smc_link_alive(link))
			return true;
	return false;
}

static unsigned int count_links(struct smc_lgr *lgr)
{
	struct smc_link *link;
	unsigned int n = 0;

	smc_lgr_for_each_link(lgr, link)
		n += smc_lgr_link_alive(link);
	return n;
}

/* Find a link other than @but that shares a port with another link; @same selects the side. */
static struct smc_link *sharing(struct smc_lgr *lgr, const struct smc_link *but,
				bool (*same)(const struct smc_link *a, const struct smc_link *b))
{
	struct smc_link *a, *b;

	smc_lgr_for_each_link(lgr, a)
		smc_lgr_for_each_link(lgr, b)
			if (a != b && a != but && smc_lgr_link_alive(a) &&
			    smc_lgr_link_alive(b) && same(a, b))
				return a;
	return NULL;
}

static bool is_peer_port(struct smc_lgr *lgr, const union ib_gid *gid)
{
	struct smc_link *link;

	smc_lgr_for_each_link(lgr, link)
		if (smc_lgr_link_alive(link) && !memcmp(gid, &link->peer_gid, sizeof(*gid)))
			return true;
	return false;
}

static int find_port(struct smc_lgr *lgr, struct smc_link *over, const union ib_gid *peer_gid,
		     struct smc_rdma_path *path)
{
	struct smc_rdma_path first;
	int rc = smc_lgr_get_path(lgr, over, &first);

	if (rc)
		return rc;
	rc = smc_rdma_path_second(&lgr->network, &first, lgr->sn->net, peer_gid, is_taken, lgr,
				  path);
	smc_rdma_path_put(&first);
	return rc;
}

/*
 * Find a port for a link that replaces an asymmetric one.  If the links share our port, choose
 * another one of ours.  If they share the peer's port, the peer must have named another one of its
 * own, and the new link uses our port of the link that it replaces.
 */
static int find_symmetric(struct smc_lgr *lgr, struct smc_link *over, const union ib_gid *peer_gid,
			  struct smc_rdma_path *path)
{
	struct smc_link *link;

	if (sharing(lgr, over, smc_link_same_port))
		return find_port(lgr, over, peer_gid, path);
	link = sharing(lgr, over, smc_link_same_peer_port);
	if (!link || !peer_gid || is_peer_port(lgr, peer_gid))
		return -EALREADY;
	return smc_lgr_get_path(lgr, link, path);
}

/**
 * smc_lgr_is_parallel() - does a link connect the same two ports as another one?
 * @lgr: the link group
 * @link: the link
 *
 * Parallel links are not permitted (RFC 7609, 2.2.1).
 *
 * Context: the engine's work.
 * Return: true if it does.
 */
bool smc_lgr_is_parallel(struct smc_lgr *lgr, const struct smc_link *link)
{
	struct smc_link *other;

	smc_lgr_for_each_link(lgr, other)
		if (other != link && smc_lgr_link_alive(other) && smc_link_same_port(other, link) &&
		    smc_link_same_peer_port(other, link))
			return true;
	return false;
}

/**
 * smc_lgr_is_asymmetric() - does a link share a port, of ours or of the peer's, with another one?
 * @lgr: the link group
 * @link: the link
 *
 * Context: the engine's work.
 * Return: true if it does.
 */
bool smc_lgr_is_asymmetric(struct smc_lgr *lgr, const struct smc_link *link)
{
	struct smc_link *other;

	smc_lgr_for_each_link(lgr, other)
		if (other != link && smc_lgr_link_alive(other) &&
		    (smc_link_same_port(other, link) || smc_link_same_peer_port(other, link)))
			return true;
	return false;
}

/**
 * smc_lgr_new_path() - choose our end of another link
 * @lgr: the link group
 * @over: a link that works
 * @peer_gid: GID that the link will lead to, NULL if it is not known yet
 * @path: receives our end, with a reference
 *
 * Chooses another port.  If there is none, but the link leads to another port of the peer, chooses
 * the port of @over again; the link is then asymmetric (RFC 7609, 2.2.1).
 *
 * Context: the engine's work.
 * Return: 0 on success; -EALREADY if the group needs no other link, or the peer must provide the
 * port; another negative errno if there is no port for the link now.
 */
int smc_lgr_new_path(struct smc_lgr *lgr, struct smc_link *over, const union ib_gid *peer_gid,
		     struct smc_rdma_path *path)
{
	unsigned int max = min_t(unsigned int, lgr->max_links, READ_ONCE(lgr->sn->smcr_max_links));
	unsigned int n = count_links(lgr);
	int rc;

	if (max < 2 || n > max)
		return -EALREADY;
	if (n == max)
		return find_symmetric(lgr, over, peer_gid, path);
	rc = find_port(lgr, over, peer_gid, path);
	if (rc && peer_gid && !is_peer_port(lgr, peer_gid))
		rc = smc_lgr_get_path(lgr, over, path);
	return rc;
}

/**
 * smc_lgr_replace_asymmetric() - server: delete the link that a new link replaces
 * @lgr: the link group
 * @new: the new link
 *
 * Context: the engine's work.
 */
void smc_lgr_replace_asymmetric(struct smc_lgr *lgr, const struct smc_link *new)
{
	struct smc_link *link;

	if (!lgr->server || count_links(lgr) <= lgr->max_links)
		return;
	smc_lgr_for_each_link(lgr, link) {
		if (link == new || !smc_lgr_link_alive(link) ||
		    !(smc_link_same_port(link, new) || smc_link_same_peer_port(link, new)))
			continue;
		smc_link_down(link, SMC_LLC_DEL_ASYMMETRIC);
		return;
	}
}
