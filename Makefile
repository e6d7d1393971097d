# SPDX-License-Identifier: GPL-2.0
#
# make help lists the targets.  Everything built goes to build/.

MAKEFLAGS += --no-print-directory
SHELL := /bin/bash
top := $(CURDIR)

# ---- which kernels -----------------------------------------------------------
# KDIR=dir or KVER=version choose one kernel.  Without them: the running kernel,
# or, where it has no headers installed, every kernel that has.

ifdef KDIR
kvers := $(shell awk -F'"' '/UTS_RELEASE/ { print $$2 }' '$(KDIR)/include/generated/utsrelease.h' 2>/dev/null)
ifeq ($(kvers),)
$(error $(KDIR) is not a configured kernel tree: it has no include/generated/utsrelease.h)
endif
else ifdef KVER
kvers := $(KVER)
else ifneq ($(wildcard /lib/modules/$(shell uname -r)/build),)
kvers := $(shell uname -r)
else
kvers := $(patsubst /lib/modules/%/build,%,$(wildcard /lib/modules/*/build))
every := yes
endif
kdir-of = $(or $(KDIR),/lib/modules/$(1)/build)

# TEST=1 adds the hooks that let a test play a hostile peer (CONFIG_SMC_TEST).
variant := $(if $(TEST),-test)
out-of = build/$(1)$(variant)

.DEFAULT_GOAL := modules
.PHONY: modules sparse clean say-kernels FORCE

# ---- kernel modules ----------------------------------------------------------

say-kernels:
ifeq ($(kvers),)
	@echo "error: no kernel headers in /lib/modules; install linux-headers-amd64, or say KDIR=..." >&2; exit 1
endif
ifeq ($(every),yes)
	@echo "No headers for the running kernel $$(uname -r): building for $(kvers)"
endif

modules: $(addprefix module-,$(kvers))
sparse: $(addprefix sparse-,$(kvers))

# $(call kbuild,kver,arguments): build in a farm of symbolic links under build/,
# since kbuild before 6.13 writes its output beside the sources.  One at a time:
# two makes in one directory would ruin each other's work.
kbuild = tools/link-sources $(call out-of,$(1)) && \
	flock $(call out-of,$(1))/.lock $(MAKE) -C $(call kdir-of,$(1)) M=$(top)/$(call out-of,$(1))/net/smc W=1 \
		CONFIG_SMC=m CONFIG_SMC_DIAG=$(if $(wildcard net/smc/admin/diag.c),m) $(if $(TEST),CONFIG_SMC_TEST=y) \
		CONFIG_DEBUG_INFO_BTF_MODULES= $(2) modules

module-%: say-kernels FORCE
	@tools/check-kernel $* $(call kdir-of,$*)
	+@$(call kbuild,$*)
	@ln -sf net/smc/smc.ko net/smc/smc_diag.ko $(call out-of,$*)/

sparse-%: say-kernels FORCE
	@tools/check-kernel $* $(call kdir-of,$*)
	+@$(call kbuild,$*,C=2)

clean:
	@rm -rf build
