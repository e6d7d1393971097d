/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the parts of smc_netlink_test. */
#ifndef SMC_TEST_NETLINK_H
#define SMC_TEST_NETLINK_H

#include <linux/netlink.h>
#include <linux/smc.h>
#include <linux/smc_diag.h>
#include <linux/smc_reason.h>
#include <stdio.h>

#include "kselftest.h"
#include "netlink_client.h"
#include "raw_peer.h"
#include "slow.h"

#define MAX_EIDS	8
#define EID_LEN		SMC_MAX_EID_LEN

extern struct genl genl;		/* SMC_GEN_NETLINK */
extern struct genl pnet;		/* SMC_PNETID */
extern struct answer ans;		/* answer to the last request */
extern char why[600];			/* the current case has failed */
extern volatile bool stop_changing;	/* tells the other thread of a case to stop */
extern const char * const no_eids[];

#define BAD(...)	(snprintf(why, sizeof(why), __VA_ARGS__), false)

/* Two ends of a connection. */
struct link {
	int client, server;
};

void do_eid(uint8_t cmd, const char *eid);
bool refused(int error, const char *words);
bool done(void);
bool do_cmd(uint8_t cmd);
bool add(const char *eid);
bool is_padded(const uint8_t *data, size_t n, const char *text);
bool table_is(const char * const *eids);
bool seid_enabled(unsigned int *on);
bool limited(struct genl *g, unsigned int *on);
bool back_to_default(void);
bool in_child(bool (*body)(void));
bool reopen(void);
struct link connected(void);
void disconnected(struct link l);
bool is_mode(struct link l, unsigned int mode);
const char *words_of(unsigned int reason);
bool connects_as(unsigned int mode);
const uint8_t *only_nest(uint8_t cmd, uint16_t type, size_t *len);
bool has_shape(const uint8_t *nest, size_t len, const uint16_t (*shape)[2], size_t n, uint16_t pad);

/* netlink_group.c */
bool group_smcd(void);
bool device_smcd(void);
bool without_rdma(void);

/* netlink_stats.c */
bool stats_of_data(void);
bool stats_of_buffers(void);
bool stats_of_fallbacks(void);
bool stats_of_errors(void);
bool stats_of_namespace(void);
bool stats_while_changing(void);

/* netlink_pnet.c */
bool pnet_table(void);
bool pnet_wrong(void);
bool pnet_while_changing(void);
bool pnet_empty(void);		/* from now on */

/* netlink_reasons.c */
bool reasons_of_tcp(void);

/* netlink_sysctl.c */
bool sysctl_namespace(void);
bool sysctl_autocorking(void);

/* netlink_fuzz.c */
bool fuzz(void);

/* netlink_trace.c */
bool trace_available(void);
bool trace_formats(void);
bool trace_events(void);

#endif
