/* SPDX-License-Identifier: GPL-2.0 */
/* Between the parts of the LLC engine: llc.c, llc_rules.c and llc_msg.c. */
#ifndef SMC_RDMA_LLC_MSG_H
#define SMC_RDMA_LLC_MSG_H

#include "../../../wire/llc.h"
#include "llc.h"

/* llc.c */
int smc_llc_send(struct smc_link *link, const struct smc_llc_msg *m);
void smc_llc_rkey_answered(struct smc_lgr *lgr, bool yes, bool retry);

/* llc_rules.c */
void smc_llc_await(struct smc_lgr *lgr, enum smc_llc_wait wait);
unsigned long smc_llc_left(struct smc_lgr *lgr);
void smc_llc_dispatch(struct smc_lgr *lgr, struct smc_link *link, const u8 *buf,
		      size_t len);

/* llc_msg.c */
int smc_llc_send_confirm_link(struct smc_lgr *lgr, struct smc_link *link, bool reply);
void smc_llc_confirmed(struct smc_lgr *lgr);

/* llc_msg.c: what each message does, by the rules of llc_rules.c */
#define SMC_LLC_TAKES(name)						\
	void smc_llc_take_##name(struct smc_lgr *lgr, struct smc_link *link,	\
				 struct smc_llc_msg *m)
SMC_LLC_TAKES(confirm_link_req);
SMC_LLC_TAKES(confirm_link_rsp);
SMC_LLC_TAKES(add_link_req);
SMC_LLC_TAKES(add_link_wish);
SMC_LLC_TAKES(add_link_rsp);
SMC_LLC_TAKES(add_link_late);
SMC_LLC_TAKES(delete_link_req);
SMC_LLC_TAKES(delete_link_rsp);
SMC_LLC_TAKES(req_add_link);
SMC_LLC_TAKES(confirm_rkey_req);
SMC_LLC_TAKES(confirm_rkey_rsp);
SMC_LLC_TAKES(confirm_rkey_cont);
SMC_LLC_TAKES(delete_rkey_req);

#endif
