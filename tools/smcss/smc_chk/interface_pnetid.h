/* SPDX-License-Identifier: GPL-2.0 */
/* The PNETID of one interface. */
#ifndef SMC_TOOLS_INTERFACE_PNETID_H
#define SMC_TOOLS_INTERFACE_PNETID_H

#include <stdbool.h>

/* Prints it from the PNET table, or else from its RDMA device. Returns an exit code. */
int print_pnetid(const char *interface, bool json);

#endif /* SMC_TOOLS_INTERFACE_PNETID_H */
