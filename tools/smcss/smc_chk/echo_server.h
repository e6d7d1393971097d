/* SPDX-License-Identifier: GPL-2.0 */
/* SMC sockets for smc_chk, and its echo server. */
#ifndef SMC_TOOLS_ECHO_SERVER_H
#define SMC_TOOLS_ECHO_SERVER_H

#include <stdbool.h>

#define SMC_CHK_PORT	"45901"

/* Maximum of connections; each takes a process on the server. */
#define SMC_CHK_CONNECTIONS	64

/* Uses IPPROTO_SMC, else AF_SMC; *how says which. -1 and errno if both fail. */
int smc_socket(int family, const char **how);

/* Echoes data until a signal arrives. If the port is in use, takes the next free one. */
int run_server(const char *port, bool ipv6);

#endif /* SMC_TOOLS_ECHO_SERVER_H */
