// SPDX-License-Identifier: GPL-2.0
/* Commands, moves, state bits and events. Errors of a driver are reported on standard error. */
#include <err.h>
#include <stdio.h>
#include <time.h>
#include "function.h"

#define CHID		0x07c1
#define ANY_VLAN	0x1fff
#define DMB_MAX		0x100000u
/* A token has a unique number and an index; the bits below are for the word that starts a move. */
#define TOKEN_SERIAL	40
#define TOKEN_INDEX	28
#define TOKEN_MASK	(~0ull << TOKEN_INDEX)
/* Reasons why a request failed; 0 is success. */
#define RC_WRONG	0x0004
#define RC_NOT_THERE	0x0008
#define RC_ON_DEMAND	0x000c	/* FAULT_FAIL */

/* PNETIDs have 16 characters and are padded with blanks. */
#define NETWORK		"MODELNET        "
#define NO_NETWORK	"                "

static u64 last_serial;

static void complain(const struct function *f, const char *what)
{
	fprintf(stderr, "%s: COMPLAINT: %s\n", f->name, what);
}

/* ---- state bits and events ---- */

static struct ism_sba *sba_of(const struct function *f)
{
	return f->sba ? pcidev_dma(&f->pci, f->sba, sizeof(struct ism_sba)) : NULL;
}

static void set_bits(__be32 *word, u32 bits)
{
	__atomic_fetch_or((u32 *)word, htobe32(bits), __ATOMIC_SEQ_CST);
}

static void signal_dmb(struct function *f, unsigned int index, unsigned int element)
{
	struct ism_sba *sba = sba_of(f);

	if (!sba)
		return;
	__atomic_fetch_or((u16 *)&sba->masks[index], htobe16(0x8000 >> element), __ATOMIC_SEQ_CST);
	set_bits(&sba->dmbs[index / 32], 0x80000000u >> index % 32);
	set_bits(&sba->state, ISM_SBA_SUMMARY);
	pcidev_interrupt(&f->pci);
}

static void post_event(struct function *f, u32 type, u32 code, u64 token, u64 info)
{
	struct ism_ieq *ieq = f->ieq ? pcidev_dma(&f->pci, f->ieq, sizeof(*ieq)) : NULL;
	struct ism_sba *sba = sba_of(f);

	if (!ieq || !sba)
		return;
	ieq->events[f->next] = (struct ism_event){
		.type = htobe32(type), .code = htobe32(code), .token = htobe64(token),
		.time = htobe64(time(NULL)), .info = htobe64(info),
	};
	f->next = (f->next + 1) % ISM_EVENTS;
	__atomic_store_n((u64 *)&ieq->next, htobe64(f->next), __ATOMIC_SEQ_CST);
	set_bits(&sba->state, ISM_SBA_SUMMARY | ISM_SBA_EVENT);
	pcidev_interrupt(&f->pci);
}

/* Posts one of the remaining events: of each kind, and signals of DMBs that do not exist. */
void function_storm(struct function *f)
{
	struct ism_sba *sba = sba_of(f);
	unsigned int i;

	if (!f->storm || f->pci.interrupt)
		return;
	f->storm--;
	for (i = 0; sba && i < ISM_SBA_DMBS / 32; i++)
		set_bits(&sba->dmbs[i], ~0u);
	switch (f->storm % 4) {
	case 0:
		post_event(f, ISM_EVENT_PROGRAM, ISM_CODE_TEST, f->peer->gid, ISM_TEST_REQUEST);
		break;
	case 1:
		post_event(f, ISM_EVENT_DMB, 0, f->storm, 0);
		break;
	case 2:
		post_event(f, ISM_EVENT_GID, 0, f->storm, 0);
		break;
	case 3:
		post_event(f, f->storm, f->storm, f->storm, f->storm);
		break;
	}
	if (!f->storm)
		fprintf(stderr, "%s: the storm is over\n", f->name);
}

/* ---- commands ---- */

static bool is_online(const struct function *f)
{
	return f->sba && f->ieq && !f->pci.dead;
}

/* Tells the peer that this function has changed. */
static void go_offline(struct function *f)
{
	post_event(f->peer, ISM_EVENT_GID, 0, f->gid, 0);
}

static u16 register_page(struct function *f, u64 *page, u64 addr, u64 len)
{
	if (*page || !addr || addr % 4096 || !pcidev_dma(&f->pci, addr, len)) {
		complain(f, "a page that cannot be registered");
		return RC_WRONG;
	}
	*page = addr;
	return 0;
}

static u16 unregister_page(struct function *f, u64 *page)
{
	bool was = is_online(f);

	if (!*page) {
		complain(f, "a page to be unregistered does not exist");
		return RC_NOT_THERE;
	}
	*page = 0;
	if (was)
		go_offline(f);
	return 0;
}

static bool has_index(u32 index)
{
	return index >= ISM_SBA_FIRST && index < ISM_SBA_DMBS;
}

/* ---- VLANs ---- */

static bool is_old(const struct function *f)
{
	return f->fault == FAULT_OLD;
}

static int find_vlan(const struct function *f, u16 vlan)
{
	unsigned int i;

	for (i = 0; i < f->n_vlans; i++)
		if (f->vlans[i] == vlan)
			return i;
	return -1;
}

static u16 add_vlan(struct function *f, u64 vlan)
{
	if (vlan == ANY_VLAN)
		return is_old(f) ? RC_WRONG : 0;
	if (!vlan || vlan > 4094 || find_vlan(f, vlan) >= 0 || f->n_vlans == VLANS) {
		complain(f, "a VLAN that cannot be added");
		return RC_WRONG;
	}
	f->vlans[f->n_vlans++] = vlan;
	return 0;
}

static u16 delete_vlan(struct function *f, u64 vlan)
{
	int i;

	if (vlan == ANY_VLAN)
		return is_old(f) ? RC_WRONG : 0;
	i = vlan <= 4094 ? find_vlan(f, vlan) : -1;
	if (i < 0) {
		complain(f, "a VLAN that was not added");
		return RC_WRONG;
	}
	f->vlans[i] = f->vlans[--f->n_vlans];
	return 0;
}

/* ---- DMBs ---- */

static u16 register_dmb(struct function *f, const struct ism_register_dmb *r, struct ism_one *answer)
{
	u32 index = be32toh(r->index), len = be32toh(r->len);
	u64 addr = be64toh(r->addr);
	u16 vlan = be32toh(r->vlan_valid) ? be32toh(r->vlan) : 0;

	if (vlan && find_vlan(f, vlan) < 0) {
		complain(f, "a DMB in a VLAN that was not added");
		return RC_WRONG;
	}
	if (!has_index(index) || f->dmbs[index].token || !len || len > DMB_MAX ||
	    addr % DMB_MAX + len > DMB_MAX || !pcidev_dma(&f->pci, addr, len)) {
		complain(f, "a DMB that cannot be registered");
		return RC_WRONG;
	}
	f->dmbs[index] = (struct dmb){
		.token = ++last_serial << TOKEN_SERIAL | (u64)index << TOKEN_INDEX,
		.addr = addr, .len = len, .peer = be64toh(r->peer), .vlan = vlan,
	};
	answer->value = htobe64(f->dmbs[index].token);
	return 0;
}

static struct dmb *find(struct function *f, u64 token)
{
	u32 index = token >> TOKEN_INDEX & ((1 << (TOKEN_SERIAL - TOKEN_INDEX)) - 1);

	if (!has_index(index) || !token || f->dmbs[index].token != token)
		return NULL;
	return &f->dmbs[index];
}

static u16 unregister_dmb(struct function *f, u64 token)
{
	struct dmb *dmb = find(f, token);

	if (!dmb) {
		complain(f, "a DMB to be unregistered does not exist");
		return RC_NOT_THERE;
	}
	*dmb = (struct dmb){};
	return 0;
}

static u16 query_gid(const struct function *f, const struct ism_query_gid *r)
{
	u32 vlan = be32toh(r->vlan);
	bool both;

	if (be64toh(r->gid) != f->peer->gid || !is_online(f->peer))
		return RC_NOT_THERE;
	if (!be32toh(r->vlan_valid))
		return 0;
	if (vlan == ANY_VLAN)
		both = !is_old(f) && !is_old(f->peer);
	else
		both = find_vlan(f, vlan) >= 0 && find_vlan(f->peer, vlan) >= 0;
	return both ? 0 : RC_NOT_THERE;
}

static u16 signal_event(struct function *f, const struct ism_signal_event *r)
{
	if (be64toh(r->gid) != f->peer->gid || !is_online(f->peer))
		return RC_NOT_THERE;
	post_event(f->peer, ISM_EVENT_PROGRAM, be32toh(r->code), f->gid, be64toh(r->info));
	return 0;
}

/* Executes the commands whose answer contains no number. */
static u16 do_simple(struct function *f, u32 command)
{
	u64 value = be64toh(((struct ism_one *)f->request)->value);

	switch (command) {
	case ISM_REGISTER_SBA:
		return register_page(f, &f->sba, value, sizeof(struct ism_sba));
	case ISM_REGISTER_IEQ:
		f->next = 0;
		return register_page(f, &f->ieq, value, sizeof(struct ism_ieq));
	case ISM_UNREGISTER_SBA:
		return unregister_page(f, &f->sba);
	case ISM_UNREGISTER_IEQ:
		return unregister_page(f, &f->ieq);
	case ISM_ADD_VLAN:
		return add_vlan(f, value);
	case ISM_DELETE_VLAN:
		return delete_vlan(f, value);
	case ISM_UNREGISTER_DMB:
		return unregister_dmb(f, value);
	case ISM_QUERY_GID:
		return query_gid(f, (void *)f->request);
	case ISM_SIGNAL_EVENT:
		return signal_event(f, (void *)f->request);
	}
	complain(f, "an unknown command");
	return RC_WRONG;
}

static u16 do_command(struct function *f, u32 command, u16 *len)
{
	struct ism_one *answer = (void *)f->answer;

	*len = sizeof(*answer);
	switch (command) {
	case ISM_READ_GID:
		answer->value = htobe64(f->gid);
		return 0;
	case ISM_REGISTER_DMB:
		return register_dmb(f, (void *)f->request, answer);
	}
	*len = sizeof(answer->head);
	return do_simple(f, command);
}

static bool goes_wrong(const struct function *f, enum fault how, u32 command)
{
	return f->fault == (how | command << FAULT_SHIFT);
}

static void command(struct function *f)
{
	const struct ism_head *request = (void *)f->request;
	struct ism_head *answer = (void *)f->answer;
	u32 code = be32toh(request->command);
	u16 rc, len = sizeof(*answer);

	memset(f->answer, 0xff, sizeof(f->answer));
	if (goes_wrong(f, FAULT_SILENT, code))
		return;
	rc = goes_wrong(f, FAULT_FAIL, code) ? RC_ON_DEMAND : do_command(f, code, &len);
	*answer = (struct ism_head){
		.command = goes_wrong(f, FAULT_WRONG, code) ? 0 : request->command,
		.rc = htobe16(rc), .len = htobe16(len),
	};
	memset(f->request, 0, sizeof(f->request));
}

/* ---- moves ---- */

static u32 move(struct function *f, u32 len)
{
	u32 offset = f->target & ISM_MOVE_MAX_OFFSET;
	unsigned int element = f->target >> ISM_MOVE_INDEX_SHIFT & 0xf;
	struct dmb *dmb = find(f->peer, f->target & TOKEN_MASK);
	void *to;

	if (!len || len > ISM_MOVE_PAGE - offset % ISM_MOVE_PAGE) {
		complain(f, "a move beyond the end of a page");
		return RC_WRONG;
	}
	/* A DMB may have been removed, but the owner of its token knows how large it was. */
	if (!dmb || dmb->peer != f->gid || (dmb->vlan && find_vlan(f, dmb->vlan) < 0))
		return RC_NOT_THERE;
	if (offset + len > dmb->len || element) {
		complain(f, "a move beyond the end of a DMB");
		return RC_WRONG;
	}
	to = pcidev_dma(&f->peer->pci, dmb->addr + offset, len);
	if (!to)
		return RC_NOT_THERE;
	/* The peer must see earlier moves before this one. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy(to, f->data, len);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (f->target & ISM_MOVE_SIGNAL)
		signal_dmb(f->peer, dmb - f->peer->dmbs, element);
	return 0;
}

/* ---- BARs ---- */

static void read_bar(void *function, unsigned int bar, u64 addr, u8 *data, size_t len)
{
	struct function *f = function;
	char pnetid[16];
	u32 value;

	if (bar == ISM_BAR_COMMAND && addr < sizeof(f->answer) && len <= sizeof(f->answer) - addr) {
		memcpy(data, f->answer + addr, len);
	} else if (bar == ISM_BAR_MOVE && len == sizeof(value) &&
		   (addr == ISM_WINDOW_LEN || addr == ISM_WINDOW_CHID)) {
		value = htobe32(addr == ISM_WINDOW_LEN ? f->result : CHID);
		memcpy(data, &value, sizeof(value));
	} else if (bar == ISM_BAR_MOVE && addr >= ISM_WINDOW_PNETID &&
		   len <= ISM_WINDOW_PNETID + sizeof(pnetid) - addr) {
		memcpy(pnetid, f->fault == FAULT_NETWORK ? NETWORK : NO_NETWORK, sizeof(pnetid));
		memcpy(data, pnetid + addr - ISM_WINDOW_PNETID, len);
	} else {
		complain(f, "a read from a register that does not exist");
	}
}

static void write_window(struct function *f, u64 addr, const u8 *data, size_t len)
{
	if (addr == ISM_WINDOW_TARGET && len == sizeof(u64)) {
		f->target = be64toh(*(const u64 *)data);
	} else if (addr == ISM_WINDOW_LEN && len == sizeof(u32)) {
		f->result = move(f, be32toh(*(const u32 *)data));
	} else if (addr >= ISM_WINDOW_DATA && addr < ISM_WINDOW_BYTES &&
		   len <= ISM_WINDOW_BYTES - addr) {
		memcpy(f->data + addr - ISM_WINDOW_DATA, data, len);
	} else {
		complain(f, "a write to a register that does not exist");
	}
}

static void write_bar(void *function, unsigned int bar, u64 addr, const u8 *data, size_t len)
{
	struct function *f = function;

	if (bar == ISM_BAR_MOVE) {
		write_window(f, addr, data, len);
	} else if (addr < sizeof(f->request) && len <= sizeof(f->request) - addr) {
		memcpy(f->request + addr, data, len);
		if (addr == 0 && len == sizeof(struct ism_head))
			command(f);
	} else {
		complain(f, "a write beyond the command area");
	}
}

/* ---- life ---- */

/* Forgets everything that the driver has set up. */
void function_reset(struct function *f)
{
	bool was = is_online(f);

	f->sba = 0;
	f->ieq = 0;
	f->n_vlans = 0;
	memset(f->dmbs, 0, sizeof(f->dmbs));
	if (was)
		go_offline(f);
}

static void take_fault(struct function *f)
{
	u32 fault = pcidev_config(&f->pci, PCIDEV_FAULT);
	bool was = is_online(f);

	if (fault == f->fault)
		return;
	f->fault = fault;
	fprintf(stderr, "%s: fault %u, %#x\n", f->name, fault & FAULT_MASK, fault >> FAULT_SHIFT);
	f->storm = (fault & FAULT_MASK) == FAULT_STORM ? fault >> FAULT_SHIFT : 0;
	f->pci.dead = (fault & FAULT_MASK) == FAULT_DEAD;
	if (was && f->pci.dead)
		go_offline(f);
}

/* A function that may no longer access memory is reset. */
static void configured(void *function)
{
	struct function *f = function;

	take_fault(f);
	if (!pcidev_is_master(&f->pci) && (f->sba || f->ieq))
		function_reset(f);
}

static const struct pcidev_ops function_ops = {
	.read		= read_bar,
	.write		= write_bar,
	.configured	= configured,
};

void function_init(struct function *f, const char *name, struct function *peer, u64 gid)
{
	f->pci.ops = &function_ops;
	f->pci.function = f;
	f->name = name;
	f->peer = peer;
	f->gid = gid;
	pcidev_reset(&f->pci);
}
