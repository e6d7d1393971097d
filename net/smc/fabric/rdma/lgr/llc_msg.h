/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the parts of the LLC engine, all files llc*.c. */
#ifndef SMC_RDMA_LLC_MSG_H
#define SMC_RDMA_LLC_MSG_H

#include "../../../wire/llc.h"
#include "llc.h"

/* llc_send.c */
int smc_llc_send(struct smc_link *link, const struct smc_llc_msg *m);
int smc_llc_send_long(struct smc_link *link, const struct smc_llc_msg *m);
void smc_llc_send_or_down(struct smc_link *link, const struct smc_llc_msg *m);
void __smc_llc_kick(struct smc_lgr *lgr, unsigned long delay);
bool smc_llc_same_link(const struct smc_link *link, u32 uid);
void smc_llc_await(struct smc_lgr *lgr, enum smc_llc_wait wait);

/* llc_confirm.c */
int smc_llc_send_confirm_link(struct smc_lgr *lgr, struct smc_link *link, bool reply);
bool smc_llc_confirm_link_matches(const struct smc_lgr *lgr, const struct smc_link *link,
				  const struct smc_llc_confirm_link *m);

/* llc_rkey.c */
void smc_llc_next_rkey(struct smc_lgr *lgr);
unsigned long smc_llc_rkey_delay(struct smc_llc *llc);
void smc_llc_rkey_answered(struct smc_lgr *lgr, bool yes, bool retry);
void smc_llc_rkey_put_off(struct smc_lgr *lgr);
bool smc_llc_is_late_rkey(struct smc_lgr *lgr, const struct smc_link *link);
void smc_llc_wake_rkey_waiters(struct smc_lgr *lgr);

/* llc_loss.c */
unsigned long smc_llc_tell_losses(struct smc_lgr *lgr);
bool smc_llc_is_lost(struct smc_llc *llc, u8 number);
void smc_llc_loss_known(struct smc_llc *llc, u8 number);

/* llc_unused.c */
void smc_llc_next_unused(struct smc_lgr *lgr);
void smc_llc_unused_put_off(struct smc_lgr *lgr);
void smc_llc_forget(struct smc_lgr *lgr);

/* llc_rules.c */
unsigned long smc_llc_left(struct smc_lgr *lgr);
void smc_llc_dispatch(struct smc_lgr *lgr, struct smc_link *link, const u8 *buf,
		      size_t len);

/* llc_msg.c */
void smc_llc_confirmed(struct smc_lgr *lgr);

/* llc_add.c */
void smc_llc_add_link(struct smc_lgr *lgr, struct smc_link *over);
void smc_llc_add_goes_on(struct smc_lgr *lgr);
void smc_llc_add_connect(struct smc_lgr *lgr);
void smc_llc_add_failed(struct smc_lgr *lgr);
bool smc_llc_add_is_late(struct smc_lgr *lgr, u8 number);
void smc_llc_no_half(struct smc_lgr *lgr);
unsigned long smc_llc_add_again(struct smc_lgr *lgr);

/* llc_add_cont.c */
void smc_llc_cont_begin(struct smc_llc *llc);
void smc_llc_cont_ask(struct smc_lgr *lgr);

/* The action for each message, called by the rules of llc_rules.c. */
#define SMC_LLC_TAKES(name)						\
	void smc_llc_take_##name(struct smc_lgr *lgr, struct smc_link *link,	\
				 struct smc_llc_msg *m)
SMC_LLC_TAKES(confirm_link_req);
SMC_LLC_TAKES(confirm_link_rsp);
SMC_LLC_TAKES(confirm_added_req);
SMC_LLC_TAKES(confirm_added_rsp);
SMC_LLC_TAKES(add_link_req);
SMC_LLC_TAKES(add_link_wish);
SMC_LLC_TAKES(add_link_rsp);
SMC_LLC_TAKES(add_link_late);
SMC_LLC_TAKES(add_link_cont_req);
SMC_LLC_TAKES(add_link_cont_rsp);
SMC_LLC_TAKES(add_link_cont_late);
SMC_LLC_TAKES(delete_link_req);
SMC_LLC_TAKES(delete_link_rsp);
SMC_LLC_TAKES(delete_link_late);
SMC_LLC_TAKES(req_add_link);
SMC_LLC_TAKES(req_add_link_rsp);
SMC_LLC_TAKES(confirm_rkey_req);
SMC_LLC_TAKES(confirm_rkey_rsp);
SMC_LLC_TAKES(rkey_late);
SMC_LLC_TAKES(confirm_rkey_cont);
SMC_LLC_TAKES(delete_rkey_req);
SMC_LLC_TAKES(delete_rkey_rsp);

#endif
