/* SPDX-License-Identifier: GPL-2.0 */
/* What the commands of smcr and smcd do. */
#ifndef SMC_TOOLS_COMMANDS_H
#define SMC_TOOLS_COMMANDS_H

#include "command_line.h"

extern const struct command info_commands[];
extern const struct command smcr_linkgroup_commands[];
extern const struct command smcd_linkgroup_commands[];
extern const struct command smcr_device_commands[];
extern const struct command smcd_device_commands[];
extern const struct command stats_commands[];
extern const struct command ueid_commands[];
extern const struct command seid_commands[];
extern const struct command filter_commands[];
extern const struct command auto_commands[];
extern const struct command convert_commands[];
extern const struct command save_commands[];
extern const struct command restore_commands[];
extern const struct command monitor_commands[];
extern const struct command report_commands[];

/* The main program: parses the command line, then runs the command once or repeatedly. */
int tool_main(const struct tool *tool, int argc, char **argv);

#endif /* SMC_TOOLS_COMMANDS_H */
