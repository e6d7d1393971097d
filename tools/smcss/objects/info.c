// SPDX-License-Identifier: GPL-2.0
/* smcr info, smcd info: the capabilities of this host. */
#include <inttypes.h>

#include "genl.h"
#include "json_writer.h"
#include "objects.h"

static const struct field sysinfo_fields[] = {
	NUMBER(SMC_NLA_SYS_VER, struct sysinfo, version),
	NUMBER(SMC_NLA_SYS_REL, struct sysinfo, release),
	NUMBER(SMC_NLA_SYS_IS_ISM_V2, struct sysinfo, ism_v2),
	NUMBER(SMC_NLA_SYS_IS_SMCR_V2, struct sysinfo, smcr_v2),
	TEXT(SMC_NLA_SYS_LOCAL_HOST, struct sysinfo, host),
	TEXT(SMC_NLA_SYS_SEID, struct sysinfo, seid),
	FLAG(SMC_NLA_SYS_MEM_LIMIT, struct sysinfo, has_memory),
	NUMBER(SMC_NLA_SYS_MEM_USED, struct sysinfo, memory_used),
	NUMBER(SMC_NLA_SYS_MEM_LIMIT, struct sysinfo, memory_max),
	FLAG(SMC_NLA_SYS_HOST_MEM_LIMIT, struct sysinfo, has_host_memory),
	NUMBER(SMC_NLA_SYS_HOST_MEM_USED, struct sysinfo, host_memory_used),
	NUMBER(SMC_NLA_SYS_HOST_MEM_LIMIT, struct sysinfo, host_memory_max),
	TEXT(SMC_NLA_SYS_MODULE_VERSION, struct sysinfo, module_version),
	FLAG(SMC_NLA_SYS_TCP_OPTION, struct sysinfo, has_tcp_option),
	NUMBER(SMC_NLA_SYS_TCP_OPTION, struct sysinfo, tcp_option),
	NUMBER(SMC_NLA_SYS_TCP_OPTION_IN_PLACE, struct sysinfo, tcp_option_in_place),
	{ }
};

static const struct field limit_fields[] = {
	NUMBER(SMC_NLA_HS_LIMITATION_ENABLED, struct sysinfo, hs_limit),
	FLAG(SMC_NLA_HS_LIMITATION_ENABLED, struct sysinfo, has_hs_limit),
	NUMBER(SMC_NLA_HS_LIMITATION_PENDING, struct sysinfo, hs_pending),
	FLAG(SMC_NLA_HS_LIMITATION_PENDING, struct sysinfo, has_hs_pending),
	NUMBER(SMC_NLA_HS_LIMITATION_THRESHOLD, struct sysinfo, hs_threshold),
	{ }
};

/* The kernel sends the handshake limit without a nest. */
static void take_limit(struct nlattr *nla, void *info)
{
	decode(limit_fields, nla, nla_total_size(nla_len(nla)), info);
}

/* The kernel's flags only tell the supported versions, so look for devices, too. */
static void count_devices(struct genl *genl, struct sysinfo *info)
{
	struct array devices = ARRAY_OF(struct device);
	size_t i;

	devices_read(genl, SMC_R, &devices);
	info->rdma_devices = devices.count;
	devices.count = 0;
	devices_read(genl, SMC_D, &devices);
	for (i = 0; i < devices.count; i++) {
		if (device_is_loopback(array_item(&devices, i)))
			info->loopback = true;
		else
			info->ism_devices++;
	}
	array_free(&devices);
}

int sysinfo_read(struct genl *genl, struct sysinfo *info)
{
	struct genl_reader limit = { .take = take_limit, .arg = info };
	struct array list = ARRAY_OF(struct sysinfo);
	int error;

	error = genl_list(genl, SMC_NETLINK_GET_SYS_INFO, SMC_GEN_SYS_INFO, sysinfo_fields, &list);
	if (!error && list.count)
		*info = *(struct sysinfo *)array_item(&list, 0);
	array_free(&list);
	if (error)
		return error;
	count_devices(genl, info);
	/* kernels before 5.17 have no limit */
	genl_dump(genl, SMC_NETLINK_DUMP_HS_LIMITATION, &limit);
	return 0;
}

/* Only this module has memory limits; they are older than the version attribute. */
const char *sysinfo_module(const struct sysinfo *i)
{
	if (i->module_version[0])
		return i->module_version;
	return i->has_memory ? "older than 0.9.0" : "the kernel's own";
}

/* Names as in the module parameter tcp_option. */
static const char *tcp_option_name(uint8_t way)
{
	switch (way) {
	case SMC_TCP_OPTION_BY_NONE:
		return "none";
	case SMC_TCP_OPTION_BY_HOOKS:
		return "hooks";
	case SMC_TCP_OPTION_BY_NETFILTER:
		return "netfilter";
	default:
		return "unknown";
	}
}

static const char *tcp_option_words(const struct sysinfo *i)
{
	switch (i->tcp_option) {
	case SMC_TCP_OPTION_BY_NONE:
		return "none (only connections within this host use SMC)";
	case SMC_TCP_OPTION_BY_HOOKS:
		return "hooks (the kernel's TCP writes it)";
	case SMC_TCP_OPTION_BY_NETFILTER:
		return i->tcp_option_in_place ? "netfilter (in place)" :
						"netfilter (not in place: no SMC sockets here)";
	default:
		return "unknown";
	}
}

void sysinfo_print(FILE *out, const struct sysinfo *i)
{
	const char *versions = i->version > 1 ? "v1 v2" : "v1";

	fprintf(out, "Kernel Capabilities\n");
	fprintf(out, "SMC Version: %u.%u\n", i->version, i->release);
	fprintf(out, "SMC Hostname: %s\n", i->host);
	fprintf(out, "SMC-D Features: %s\n", versions);
	fprintf(out, "SMC-R Features: %s\n", versions);
	if (i->has_hs_limit)
		fprintf(out, "Handshake Limit: %s", i->hs_limit ? "on" : "off");
	if (i->has_hs_pending)
		fprintf(out, " (%u in progress, TCP beyond %u)", i->hs_pending, i->hs_threshold);
	fprintf(out, "%s", i->has_hs_limit ? "\n" : "");
	if (i->has_memory)
		fprintf(out, "Buffer Memory: %" PRIu64 " of %" PRIu64 " bytes\n", i->memory_used,
			i->memory_max);
	if (i->has_host_memory)
		fprintf(out, "Host Memory: %" PRIu64 " of %" PRIu64 " bytes\n",
			i->host_memory_used, i->host_memory_max);
	if (i->has_tcp_option)
		fprintf(out, "TCP Option: %s\n", tcp_option_words(i));
	fprintf(out, "SMC Module: %s\n", sysinfo_module(i));
	fprintf(out, "SMC Tools: " SMC_TOOLS_VERSION "\n");
	fprintf(out, "\n");
	fprintf(out, "Hardware Capabilities\n");
	fprintf(out, "SEID: %s\n", i->seid[0] ? i->seid : "n/a");
	fprintf(out, "ISM:  %s\n", !i->ism_devices ? i->loopback ? "n/a (loopback: v2)" : "n/a" :
		i->ism_v2 ? "v1 v2" : "v1");
	fprintf(out, "RoCE: %s\n", !i->rdma_devices ? "n/a" : i->smcr_v2 ? "v1 v2" : "v1");
}

void sysinfo_json(FILE *out, const struct sysinfo *i)
{
	struct json json;

	json_begin(&json, out);
	json_object(&json, "info");
	json_number(&json, "version", i->version);
	json_number(&json, "release", i->release);
	json_text(&json, "hostname", i->host);
	if (i->seid[0])
		json_text(&json, "seid", i->seid);
	json_bool(&json, "ism_v2", i->ism_v2);
	json_bool(&json, "smcr_v2", i->smcr_v2);
	json_number(&json, "ism_devices", i->ism_devices);
	json_number(&json, "rdma_devices", i->rdma_devices);
	json_bool(&json, "loopback", i->loopback);
	if (i->has_hs_limit)
		json_bool(&json, "handshake_limit", i->hs_limit);
	if (i->has_hs_pending) {
		json_number(&json, "handshakes_pending", i->hs_pending);
		json_number(&json, "handshakes_threshold", i->hs_threshold);
	}
	if (i->has_memory) {
		json_number(&json, "memory_used", i->memory_used);
		json_number(&json, "memory_max", i->memory_max);
	}
	if (i->has_host_memory) {
		json_number(&json, "host_memory_used", i->host_memory_used);
		json_number(&json, "host_memory_max", i->host_memory_max);
	}
	if (i->has_tcp_option) {
		json_text(&json, "tcp_option", tcp_option_name(i->tcp_option));
		json_bool(&json, "tcp_option_in_place", i->tcp_option_in_place);
	}
	if (i->module_version[0])
		json_text(&json, "module_version", i->module_version);
	json_text(&json, "tools_version", SMC_TOOLS_VERSION);
	json_object_end(&json);
	json_end(&json);
}
