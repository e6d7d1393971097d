/* SPDX-License-Identifier: GPL-2.0 */
/* Identifies a socket to inet_diag, by its two addresses. */
#ifndef SMC_TEST_SOCK_IDENTITY_H
#define SMC_TEST_SOCK_IDENTITY_H

#include <linux/inet_diag.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

/* Fills family, protocol, states and id of @req; false if it is not an IP socket. */
static inline bool sock_identity(int fd, struct inet_diag_req_v2 *req)
{
	struct sockaddr_storage src, dst = { 0 };
	socklen_t len = sizeof(src);

	if (getsockname(fd, (void *)&src, &len))
		return false;
	len = sizeof(dst);
	getpeername(fd, (void *)&dst, &len);
	req->sdiag_family = src.ss_family;
	req->sdiag_protocol = IPPROTO_TCP;
	req->idiag_states = -1;
	req->id.idiag_cookie[0] = req->id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	req->id.idiag_sport = ((struct sockaddr_in *)&src)->sin_port;
	req->id.idiag_dport = ((struct sockaddr_in *)&dst)->sin_port;
	if (src.ss_family == AF_INET6) {
		memcpy(req->id.idiag_src, &((struct sockaddr_in6 *)&src)->sin6_addr, 16);
		memcpy(req->id.idiag_dst, &((struct sockaddr_in6 *)&dst)->sin6_addr, 16);
	} else {
		req->id.idiag_src[0] = ((struct sockaddr_in *)&src)->sin_addr.s_addr;
		req->id.idiag_dst[0] = ((struct sockaddr_in *)&dst)->sin_addr.s_addr;
	}
	return true;
}

#endif
