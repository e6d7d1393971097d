/* SPDX-License-Identifier: GPL-2.0 */
/* SMC sockets of smc_chk, and its server. */
#ifndef SMC_TOOLS_ECHO_SERVER_H
#define SMC_TOOLS_ECHO_SERVER_H

#include <stdbool.h>

#define SMC_CHK_PORT	"45901"		/* the first one that smc-tools tries too */

/* Each costs the server a process. */
#define SMC_CHK_CONNECTIONS	64

/* By IPPROTO_SMC, or else by AF_SMC; how says which. -1 and errno: neither. */
int smc_socket(int family, const char **how);

/* Sends back what comes, until a signal. The next free port if the port is in use. */
int run_server(const char *port, bool ipv6);

#endif /* SMC_TOOLS_ECHO_SERVER_H */
