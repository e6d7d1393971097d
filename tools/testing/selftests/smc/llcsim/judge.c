// SPDX-License-Identifier: GPL-2.0
/* What must hold for two correct ends, in every schedule. */
#include "sim.h"

static struct smc_lgr *group(unsigned int end)
{
	return sim.ends[end].lgr;
}

static bool is_alive(unsigned int end)
{
	return group(end) && group(end)->state != SMC_LGR_ENDING;
}

/*
 * Both ends are correct, so neither violates the protocol.  A link that both ends use, and whose
 * ports have always worked, must not be considered lost.
 */
void sim_judge_down(struct smc_link *link, u32 reason)
{
	const struct smc_link *other = sim_other_half(link);

	if (reason == SMC_LLC_DEL_PROTOCOL && !sim_alloc_failed())
		sim_fail("end %u takes link %u down for a protocol violation", sim_here,
			 link->number);
	if (reason == SMC_LLC_DEL_LOST_PATH && !sim_alloc_failed() && sim_link_whole(link) &&
	    link->state == SMC_LINK_ACTIVE && other && other->state == SMC_LINK_ACTIVE)
		sim_fail("end %u gives up link %u, which works", sim_here, link->number);
	if (reason == SMC_LLC_DEL_LOST_PATH && !sim_alloc_failed() && sim.prompt &&
	    sim_link_whole(link) && other && smc_link_alive(other) && sim_link_reachable(link) &&
	    !smc_lgr_other_link(smc_link_lgr(link), link))
		sim_fail("end %u gives up its last link %u, which works", sim_here,
			 link->number);
}

static int number_of(struct smc_lgr *lgr, unsigned int link, const struct ib_mr *mr)
{
	return mr ? smc_rtoken_find(lgr, link, mr->rkey, mr->iova) : -ENOENT;
}

static bool knows(struct smc_lgr *lgr, unsigned int link, const struct ib_mr *mr)
{
	return number_of(lgr, link, mr) >= 0;
}

/*
 * Both ends use a link, or only this one does: its messages must then be valid for the other end.
 * knows() takes a lock, and meanwhile the other end may lose the link and release its memory.
 */
void sim_judge_active(struct smc_link *link)
{
	struct smc_lgr *lgr = smc_link_lgr(link), *peer;
	struct smc_link *other = sim_other_half(link);
	struct smc_rmb *rmb;
	unsigned int i;

	sim.ends[sim_here].active = true;
	if (!other || !smc_link_alive(other))
		return;
	peer = smc_link_lgr(other);
	if (other->number != link->number)
		sim_fail("link %u has number %u at the peer", link->number, other->number);
	for (i = 0; i < peer->rmbs->n; i++) {
		rmb = peer->rmbs->rmbs[i];
		if (rmb->confirmed && !rmb->unused &&
		    !knows(lgr, smc_lgr_link_index(lgr, link),
			   rmb->on_link[smc_lgr_link_index(peer, other)].reg.mr) &&
		    smc_link_alive(other))
			sim_fail("end %u uses link %u without a key of RMB %u there", sim_here,
				 link->number, i);
	}
}

/* If an RMB counts as confirmed, the peer must know it on all links that it uses. */
void sim_judge_confirmed(unsigned int end, const struct smc_rmb *rmb)
{
	struct smc_lgr *lgr = group(end), *peer;
	struct smc_link *link, *other;
	int number = -1, n;

	smc_lgr_for_each_link(lgr, link) {
		if (!link->path.dev || link->state != SMC_LINK_ACTIVE)
			continue;
		other = sim_other_half(link);
		if (!other || other->state != SMC_LINK_ACTIVE)
			continue;
		peer = smc_link_lgr(other);
		n = number_of(peer, smc_lgr_link_index(peer, other),
			      rmb->on_link[smc_lgr_link_index(lgr, link)].reg.mr);
		if (n < 0)
			sim_fail("end %u: its peer does not know a confirmed RMB on link %u", end,
				 link->number);
		if (number >= 0 && n != number)
			sim_fail("end %u: its peer knows an RMB under two numbers", end);
		number = n;
	}
}

/*
 * The group must not end while a link works that both ends know, even if it is not confirmed yet.
 */
static void judge_end(unsigned int end)
{
	struct smc_lgr *lgr = group(end);
	const struct smc_link *other;
	struct smc_link *link;

	if (!sim.harmed && !sim_alloc_failed())
		sim_fail("the group of end %u ends without a reason", end);
	if (!lgr || sim.ends[!end].ended)
		return;
	smc_lgr_for_each_link(lgr, link) {
		other = sim_other_half(link);
		if (!link->path.dev || !other || !sim_link_reachable(link))
			continue;
		/*
		 * A link is not confirmed if the answer is missing or late.  A first contact that
		 * loses its link has failed.
		 */
		if ((sim_alloc_failed() || !sim_link_whole(link) || !sim.ends[end].active) &&
		    (link->state != SMC_LINK_ACTIVE || other->state != SMC_LINK_ACTIVE))
			continue;
		if (smc_link_alive(link) && smc_link_alive(other))
			sim_fail("the group of end %u ends while link %u works", end,
				 link->number);
	}
}

/* No answer comes over a link that is down, so an end must not wait for one. */
static void judge_wait(unsigned int end)
{
	const struct smc_llc *llc = &group(end)->llc;

	if (llc->wait != SMC_LLC_W_CONFIRM_RKEY_RSP ||
	    (smc_link_alive(llc->rkey_link) && llc->rkey_link->uid == llc->rkey_uid))
		sim.ends[end].stuck = 0;
	else if (!sim.ends[end].stuck)
		sim.ends[end].stuck = sim_now;
	else if (sim_now - sim.ends[end].stuck > HZ)
		sim_fail("end %u waits for an answer over a dead link", end);
}

/* Called after each event. */
void sim_judge_step(void)
{
	unsigned int i;

	for (i = 0; i < SIM_ENDS; i++) {
		if (is_alive(i))
			judge_wait(i);
		if (sim.ends[i].ended || is_alive(i))
			continue;
		SIM_LOG("the group of end %u ends", i);
		if (!sim.over)
			judge_end(i);
		sim.ends[i].ended = true;
	}
}

/* ---- at rest ---- */

static unsigned int ports_up(const struct sim_end *end)
{
	unsigned int i, n = 0;

	for (i = 0; i < end->n_ports; i++)
		n += end->ports[i].up;
	return n;
}

static unsigned int best_links(void)
{
	unsigned int i, max = 2, ports[SIM_ENDS];
	const struct smc_lgr *lgr;

	for (i = 0; i < SIM_ENDS; i++) {
		lgr = group(i);
		max = min_t(unsigned int, max, lgr->max_links);
		max = min_t(unsigned int, max, lgr->sn->smcr_max_links);
		ports[i] = ports_up(&sim.ends[i]);
	}
	return max < 2 || (ports[0] < 2 && ports[1] < 2) ? 1 : 2;
}

static unsigned int n_active(const struct smc_lgr *lgr)
{
	const struct smc_link *link;
	unsigned int n = 0;

	smc_lgr_for_each_link(lgr, link)
		n += link->path.dev && link->state == SMC_LINK_ACTIVE;
	return n;
}

/* If links are possible that have no port in common at either end, there must be such links. */
static void judge_symmetry(struct smc_lgr *lgr)
{
	const struct smc_link *a, *b;

	if (ports_up(&sim.ends[0]) < 2 || ports_up(&sim.ends[1]) < 2)
		return;
	smc_lgr_for_each_link(lgr, a)
		smc_lgr_for_each_link(lgr, b)
			if (a < b && a->state == SMC_LINK_ACTIVE && b->state == SMC_LINK_ACTIVE &&
			    a->path.dev && a->path.dev == b->path.dev)
				sim_fail("end %u has two links over one port at rest",
					 sim_end_nr(lgr));
}

static void judge_conns(unsigned int end)
{
	const struct sim_conn *conn;
	unsigned int i;

	for (i = 0; i < SIM_CONNS; i++) {
		conn = &sim.ends[end].conns[i];
		if (conn->state == SIM_CONN_ASKING)
			sim_fail("connection %u of end %u does not know the state of its RMB", i,
				 end);
		if (conn->state == SIM_CONN_UP && conn->l.sender.link->state != SMC_LINK_ACTIVE)
			sim_fail("connection %u of end %u is left on a dead link", i, end);
	}
}

static u8 links_there(const struct smc_lgr *lgr)
{
	u8 links = 0;
	unsigned int i;

	for (i = 0; i < SMC_LGR_LINKS; i++)
		if (lgr->links[i].path.dev)
			links |= BIT(i);
	return links;
}

/* The peer must have forgotten the RMBs that are gone. For dead links it forgets them with the next
 * link.
 */
static void judge_rtokens(unsigned int end)
{
	const struct smc_lgr *lgr = group(end), *peer = group(!end);
	u8 links = links_there(peer);
	unsigned int i, n = 0;

	for (i = 0; i < SMC_LGR_RTOKENS; i++)
		n += peer->rtokens[i].used && peer->rtokens[i].links & links;
	if (n > lgr->rmbs->n)
		sim_fail("end %u knows %u RMBs of its peer, which has only %u", !end, n,
			 lgr->rmbs->n);
}

static void judge_group(unsigned int end)
{
	struct smc_lgr *lgr = group(end);
	const struct smc_link *other;
	struct smc_link *link;
	unsigned int i;

	smc_lgr_for_each_link(lgr, link) {
		if (!link->path.dev)
			continue;
		other = sim_other_half(link);
		if (link->state != SMC_LINK_ACTIVE)
			sim_fail("end %u: link %u is in state %u at rest", end, link->number,
				 link->state);
		if (!other || other->state != SMC_LINK_ACTIVE)
			sim_fail("end %u has link %u at rest, but its peer does not", end,
				 link->number);
		sim_judge_active(link);
	}
	if (!sim.useless && n_active(lgr) != best_links())
		sim_fail("end %u has %u links at rest, not %u", end, n_active(lgr), best_links());
	if (!sim.useless)
		judge_symmetry(lgr);
	judge_conns(end);
	judge_rtokens(end);
	for (i = 0; i < lgr->rmbs->n; i++)
		if (lgr->rmbs->rmbs[i]->confirmed && !lgr->rmbs->rmbs[i]->unused)
			sim_judge_confirmed(end, lgr->rmbs->rmbs[i]);
}

static bool at_rest(unsigned int end)
{
	const struct smc_lgr *lgr = group(end);
	const struct smc_llc *llc = &lgr->llc;
	unsigned int i;

	if (llc->wait != SMC_LLC_IDLE || llc->n_queue || llc->rmb || llc->add_link ||
	    !list_empty(&llc->rkeys) || !list_empty(&llc->waiters) ||
	    !list_empty(&llc->unused) || !list_empty(&llc->deleting) ||
	    !list_empty(&llc->forgotten))
		return false;
	for (i = 0; i < SMC_LLC_LOSSES; i++)
		if (llc->losses[i].number)
			return false;
	for (i = 0; i < SMC_LGR_LINKS; i++)
		if (lgr->links[i].path.dev && lgr->links[i].state != SMC_LINK_ACTIVE)
			return false;
	return true;
}

/* A timer may be about to start another attempt. */
static bool come_to_rest(void)
{
	unsigned long until = sim_now + (sim.useless ? 150 : 30) * HZ;

	while (is_alive(0) && is_alive(1) && !(at_rest(0) && at_rest(1))) {
		if (!sim_step(until))
			return false;
		sim_judge_step();
	}
	return true;
}

/* Nothing has happened for a long time. */
void sim_judge_rest(void)
{
	unsigned int i;

	if (!come_to_rest())
		sim_fail("the ends do not come to rest: they wait for %d, %d", group(0)->llc.wait,
			 group(1)->llc.wait);
	if (is_alive(0) != is_alive(1))
		sim_fail("end %u has a group, but its peer does not", is_alive(1));
	if (!is_alive(0))
		return;
	for (i = 0; i < SIM_ENDS; i++)
		judge_group(i);
}

/* The groups have ended. */
void sim_judge_nothing_left(void)
{
	unsigned int i, p;

	if (sim_allocated())
		sim_fail("%lu allocations are not freed", sim_allocated());
	if (sim_links_left())
		sim_fail("%u queue pairs are not destroyed", sim_links_left());
	for (i = 0; i < SIM_ENDS; i++) {
		if (group(i))
			sim_fail("the group of end %u is not freed, %d references", i,
				 group(i)->ref.n);
		for (p = 0; p < SIM_PORTS; p++)
			if (sim.ends[i].ports[p].dev.ref.n != 1)
				sim_fail("port %u of end %u is still used", p, i);
	}
}
