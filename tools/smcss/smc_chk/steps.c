// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <linux/smc_reason.h>

#include "json_writer.h"
#include "steps.h"

static const char * const step_names[STEPS] = {
	"socket", "tcp", "option", "proposal", "accept", "link", "data"
};

static const char * const result_names[] = { "-", "ok", "FAIL" };

void check_step(struct check *check, enum check_step step, enum check_result result,
		const char *format, ...)
{
	va_list args;

	check->steps[step].result = result;
	va_start(args, format);
	vsnprintf(check->steps[step].words, sizeof(check->steps[step].words), format, args);
	va_end(args);
}

const char *connect_remedy(int error)
{
	switch (error) {
	case ECONNREFUSED:
		return "start a server on that port, for example 'smc_chk -S -p PORT'";
	case ECONNRESET:
		return "the server ended the connection at once: look at its log, it may not serve this host";
	case EINTR:
	case ETIMEDOUT:
		return "no answer: check the address, the route and the firewalls";
	case ENETUNREACH:
	case EHOSTUNREACH:
		return "there is no route to that host: check 'ip route get HOST'";
	case EADDRNOTAVAIL:
		return "this host has no address or no free port to connect from: check 'ip address'";
	case EINVAL:
		return "check the address; a link-local one requires the interface, as in fe80::1%eth0";
	case EACCES:
	case EPERM:
		return "this host forbids the connection: check its firewall, security modules and BPF programs";
	}
	return "check the address, the route and the firewalls of this host";
}

/* ---- TCP: the step that failed ------------------------------------------------- */

#define KERNEL_NO_OPTION	0x03010000	/* codes of the kernel's own module */
#define KERNEL_PEER_DECLINED	0x05000000

/* Classes of our own codes (linux/smc_reason.h), for the codes of a newer module. */
#define CLASS_NOT_IN_COMMON	0x5c05
#define CLASS_PEER		0x5c06

/* Codes of others and of newer modules: where they fail is known for a few only. */
static enum check_step failed_step_of_other(uint32_t code)
{
	switch (code) {
	case KERNEL_NO_OPTION:
		return STEP_OPTION;
	case KERNEL_PEER_DECLINED:
		return STEP_ACCEPT;
	}
	switch (code >> 16) {
	case CLASS_NOT_IN_COMMON:
	case CLASS_PEER:
		return STEP_ACCEPT;
	}
	return STEP_PROPOSAL;
}

/*
 * The step at which a client fails for a reason of its own. A new reason has to be added here: the
 * compiler warns of one that is missing.
 */
static enum check_step failed_step(enum smc_reason reason)
{
	switch (reason) {
	case SMC_REASON_DISABLED:
	case SMC_REASON_FILTERED:
	case SMC_REASON_TOO_SHORT:
	case SMC_REASON_IPSEC:
	case SMC_REASON_CGROUP_BPF:
	case SMC_REASON_NO_TCP_OPTION:
	case SMC_REASON_FASTOPEN:
	case SMC_REASON_ALREADY_CONNECTED:
	case SMC_REASON_REUSED:
	case SMC_REASON_SIGNED:
	case SMC_REASON_PACKET_OPTION:
	case SMC_REASON_KERNEL_USER:
	case SMC_REASON_SELF_CONNECTED:
	case SMC_REASON_BOTH_CLIENTS:
	case SMC_REASON_SHUT_DOWN:
	case SMC_REASON_CONGESTED:
	case SMC_REASON_SYN_COOKIE:
	case SMC_REASON_PEER_NO_OPTION:
	case SMC_REASON_AUTOCACHE:
		return STEP_OPTION;
	case SMC_REASON_NONE:
	case SMC_REASON_NO_DEVICE:
	case SMC_REASON_NO_MEMORY:
	case SMC_REASON_INTERNAL:
		return STEP_PROPOSAL;
	case SMC_REASON_PREFIX_MISMATCH:
	case SMC_REASON_WITHDRAWN:
	case SMC_REASON_NO_BUFFER:
	case SMC_REASON_MAX_CONNS:
	case SMC_REASON_PEER_DECLINED:
	case SMC_REASON_PEER_RELEASE:
	case SMC_REASON_PEER_CLOSED:
	case SMC_REASON_NO_COMMON_MODE:
	case SMC_REASON_NO_COMMON_EID:
	case SMC_REASON_NO_COMMON_DEVICE:
	case SMC_REASON_TIMEOUT:
	case SMC_REASON_PROTOCOL:
	case SMC_REASON_OUT_OF_SYNC:
	case SMC_REASON_UNKNOWN_ENUM:
	case SMC_REASON_BAD_CONFIRM:
	case SMC_REASON_BAD_TOKEN:
		return STEP_ACCEPT;
	}
	return failed_step_of_other(reason);
}

/* What fails the Proposal, such as a lack of devices, may have been found before the SYN. */
static void passed_before(struct check *check, enum check_step failed)
{
	if (failed == STEP_PROPOSAL)
		check_step(check, STEP_OPTION, NOT_TRIED,
			   "not known; this host may not have sent it");
	if (failed > STEP_PROPOSAL) {
		check_step(check, STEP_OPTION, PASSED, "both ends have the SMC option");
		check_step(check, STEP_PROPOSAL, PASSED, "sent");
	}
}

static void check_fallback(struct check *check, const struct record *r)
{
	const struct smc_diag_fallback *f = &r->fallback;
	uint32_t code = f->peer_diagnosis ? f->peer_diagnosis : f->reason;
	enum check_step failed = f->peer_diagnosis ? STEP_ACCEPT : failed_step(f->reason);
	char room[REASON_ROOM];

	check->has_fallback = true;
	check->fallback = *f;
	passed_before(check, failed);
	check_step(check, failed, FAILED, "%s%s (0x%08x)",
		   f->peer_diagnosis ? "the peer declined: " : "", reason_words(code, room), code);
	snprintf(check->remedy, sizeof(check->remedy), "%s%s",
		 f->peer_diagnosis ? "on the peer: " : "", reason_remedy(code));
}

/* ---- SMC: the link ------------------------------------------------------------- */

static void check_link(struct check *check, const struct record *r)
{
	const struct smc_diag_linkinfo *link = &r->lgr.lnk[0];

	if (record_has(r, SMC_DIAG_LGRINFO)) {
		check_step(check, STEP_LINK, PASSED, "%.64s port %u, link %u, GID %.40s to %.40s",
			   link->ibname, link->ibport, link->link_id, link->gid, link->peer_gid);
		return;
	}
	if (record_has(r, SMC_DIAG_DMBINFO)) {
		check_step(check, STEP_LINK, PASSED, "link group %08x, GID %016llx to %016llx",
			   r->dmb.linkid, (unsigned long long)r->dmb.my_gid,
			   (unsigned long long)r->dmb.peer_gid);
		return;
	}
	check_step(check, STEP_LINK, PASSED, "present; the kernel reports no details");
}

void check_record(struct check *check, const struct record *r)
{
	check->mode = mode_name(r);
	if (is_tcp(r)) {
		check_fallback(check, r);
		return;
	}
	passed_before(check, STEPS);
	check_step(check, STEP_ACCEPT, PASSED, "%s", r->msg.diag_mode == SMC_DIAG_MODE_SMCD ?
		   "SMC-D" : "SMC-R");
	check_link(check, r);
}

/* ---- text and JSON ------------------------------------------------------------- */

static const char *mode_words(const struct check *check)
{
	if (!check->mode)
		return NULL;
	return !strcmp(check->mode, "SMCD") ? "SMC-D" : !strcmp(check->mode, "SMCR") ? "SMC-R" :
	       check->mode;
}

static bool failed(const struct check *check)
{
	int i;

	for (i = 0; i < STEPS; i++)
		if (check->steps[i].result == FAILED)
			return true;
	return false;
}

void check_print(FILE *out, const struct check *check)
{
	const char *mode = mode_words(check);
	int i;

	fprintf(out, "Test with %s%s%s\n", check->host, check->address[0] ? ", which is " : "",
		check->address);
	for (i = 0; i < STEPS; i++)
		fprintf(out, "  %-9s %-4s  %s\n", step_names[i],
			result_names[check->steps[i].result], check->steps[i].result == NOT_TRIED &&
			!check->steps[i].words[0] ? "not reached" : check->steps[i].words);
	if (!mode)
		fprintf(out, "Failed, no connection\n");
	else if (check->has_fallback)
		fprintf(out, "Failed, the connection is TCP\n");
	else
		fprintf(out, "%s, using %s\n", failed(check) ? "Failed" : "Success", mode);
	if (check->remedy[0])
		fprintf(out, "Remedy: %s\n", check->remedy);
}

void check_json(FILE *out, const struct check *check)
{
	static const char * const results[] = { "not tried", "ok", "failed" };
	struct json json;
	int i;

	json_begin(&json, out);
	json_object(&json, "check");
	json_text(&json, "host", check->host);
	if (check->address[0])
		json_text(&json, "address", check->address);
	if (check->mode)
		json_text(&json, "mode", check->mode);
	json_list(&json, "steps");
	for (i = 0; i < STEPS; i++) {
		json_object(&json, NULL);
		json_text(&json, "step", step_names[i]);
		json_text(&json, "result", results[check->steps[i].result]);
		if (check->steps[i].words[0])
			json_text(&json, "words", check->steps[i].words);
		json_object_end(&json);
	}
	json_list_end(&json);
	if (check->has_fallback) {
		json_reason(&json, "reason", check->fallback.reason);
		if (check->fallback.peer_diagnosis)
			json_reason(&json, "peer_diagnosis", check->fallback.peer_diagnosis);
	}
	if (check->remedy[0])
		json_text(&json, "remedy", check->remedy);
	json_object_end(&json);
	json_end(&json);
}
