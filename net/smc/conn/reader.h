/* SPDX-License-Identifier: GPL-2.0 */
/* An in-kernel reader: a user of proto_ops.read_sock. */
#ifndef SMC_CONN_READER_H
#define SMC_CONN_READER_H

#include "conn.h"

int smc_reader_attach(struct sock *sk, struct smc_conn *c);
void smc_reader_queue(struct smc_reader *r);
void smc_reader_leave(struct smc_conn *c);

#endif
