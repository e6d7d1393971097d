# SPDX-License-Identifier: GPL-2.0
#
# make help lists the targets.  Everything built goes to build/.

MAKEFLAGS += --no-print-directory
SHELL := /bin/bash
.DEFAULT_GOAL := modules

ifeq ($(shell tools/plain-path --needed && echo yes),yes)
# A place with spaces in its name, or the like.
%: FORCE
	+@tools/plain-path $(MAKE) $@
Makefile: ;
.PHONY: FORCE
else
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

.PHONY: help modules sparse tools install uninstall shell demo check check-all check-debug check-kernels \
	soak bench fuzz intree clean deb rpm say-kernels FORCE

help:
	@sed -n 's/^## //p' Makefile

## make [KVER=6.12.. | KDIR=dir]   smc.ko, smc_diag.ko and drivers of ISM devices, into build/<kernel>/
##                                 (TEST=1: with test hooks)
## make sparse                     the same, checked by sparse
## make tools                      smcss, smcr, smcd, smc_run and so on, into build/tools/
## make install [DESTDIR=dir]      modules into updates/smc/, before the kernel's own; tools into /usr/local
## make uninstall [DESTDIR=dir]    removes all of that
## make deb                        Debian packages: the modules by DKMS, tools, headers; into build/deb/
## make rpm                        the same packages for RPM; into build/rpm/
## make demo                       nginx, curl and wrk over SMC in a virtual machine, and between two
## make shell [KVER=] [VMS=2] [ISM=1]
##                                 a shell in a virtual machine with the module loaded, or in two that are linked
##                                 (ISM=1: they also share memory by ivshmem;
##                                 UML=1: in User Mode Linux with KASAN, which boots in a second)
## make check [PARTS="host build"] all deterministic tests, in ten minutes: unit tests, builds, the suite under KASAN
##                                 in User Mode Linux, a round on Debian's 6.1 and 6.12
## make check-all                  everything else, which takes hours: the suite on Debian's kernels, programs, pairs
##                                 with the kernel's own module, a fresh Debian, the debug kernel with two processors
## make check-debug                only the suite on the debug kernel, and SMC-R between two of them
## make check-kernels [ROWS="um-7.3 6.1"]
##                                 tests the module on many kernels, and writes the table in Documentation/kernels.md
## make soak [SECONDS=7200]        random, colliding socket calls for this long, on a kernel with KASAN, on one with
##                                 KCSAN, and in User Mode Linux; new seeds of all workloads;
##           [PROGRAMS=250000]     number of programs that the system call fuzzer runs
## make bench                      compares the cost with TCP, AF_UNIX, pipe and the kernel's own SMC-R; into build/bench/
## make fuzz [RUNS=10000000]       the long run of the fuzzers
## make intree                     checks that the tree builds inside a kernel tree
## make clean                      removes build/ and ends every virtual machine of this tree

# ---- kernel modules ----------------------------------------------------------

say-kernels:
ifeq ($(kvers),)
	@echo "error: no kernel headers in /lib/modules; install linux-headers-amd64, or set KDIR=..." >&2; exit 1
endif
ifeq ($(every),yes)
	@echo "No headers for the running kernel $$(uname -r): building for $(kvers)"
endif

modules: $(addprefix module-,$(kvers))
sparse: check-c = C=2
sparse: modules

# Built in a farm of symbolic links under build/, since kbuild before 6.13 writes its
# output beside the sources.  One at a time: two makes in one directory would ruin each
# other's work.
module-%: say-kernels FORCE
	@tools/check-kernel $* $(call kdir-of,$*)
	@tools/link-sources $(call out-of,$*)
	+@flock $(call out-of,$*)/.lock $(MAKE) -C $(call kdir-of,$*) \
		M=$(top)/$(call out-of,$*)/net/smc W=1 $(check-c) \
		CONFIG_SMC=m CONFIG_SMC_DIAG=m CONFIG_SMC_ISM_IVSHMEM=m CONFIG_SMC_ISM_PCI=m \
		CONFIG_SMC_ISM_VIRTIO=m CONFIG_SMC_ISM_DIBS=m \
		$(if $(TEST),CONFIG_SMC_TEST=y) \
		CONFIG_DEBUG_INFO_BTF_MODULES= modules
	@cd $(call out-of,$*) && ln -sf net/smc/*.ko .

intree:
	@tools/install-packages intree
	@tools/testing/intree
	@tools/testing/intree --series 7.3

# ---- tools, installation -----------------------------------------------------

tools:
	@$(MAKE) -s -C tools/smcss all
	@$(MAKE) -s -C tools/ivshmem all

install: modules tools
	@for kver in $(kvers); do tools/install-modules $$kver build/$$kver "$(DESTDIR)" $(KDIR) || exit; done
	@$(MAKE) -s -C tools/smcss install DESTDIR="$(DESTDIR)"
	@for part in ivshmem include boot; do \
		$(MAKE) -s -C tools/$$part install DESTDIR="$(DESTDIR)" || exit; done

uninstall:
	@tools/install-modules --remove "$(DESTDIR)" $(kvers)
	@$(MAKE) -s -C tools/smcss uninstall DESTDIR="$(DESTDIR)"
	@for part in ivshmem include boot; do \
		$(MAKE) -s -C tools/$$part uninstall DESTDIR="$(DESTDIR)" || exit; done

deb:
	@tools/install-packages deb
	@tools/make-deb

rpm:
	@tools/install-packages rpm
	@tools/make-rpm

# ---- virtual machines --------------------------------------------------------

shell-kver = $(or $(KVER),$(if $(filter 6.12.%,$(kvers)),6.12,$(lastword $(kvers))))

# With ISM=1 each of two has 16 MiB for what the other one sends.
shell-vms = --vms $(or $(VMS),$(if $(ISM),2,1)) $(if $(ISM),--ism 256)

shell:
ifdef UML
	@tools/install-packages shell debug
	@$(MAKE) tools
	@$(MAKE) modules TEST=1 ARCH=um KDIR=$$(tools/testing/vm/debug-kernel um)
	@tools/testing/vm/run --kver um --variant=-test $(shell-vms) --name shell --shell
else
	@tools/install-packages shell
	@$(MAKE) tools
	@$(MAKE) modules KVER=$$(tools/testing/vm/run --resolve $(shell-kver))
	@tools/testing/vm/run --kver $(shell-kver) $(shell-vms) --name shell --shell
endif

demo:
	@tools/demo/run_demo

check:
	@tools/install-packages start
	@tools/testing/check $(or $(PARTS),short)

check-all:
	@tools/install-packages start
	@tools/testing/check $(or $(PARTS),full)

check-debug:
	@tools/install-packages start
	@tools/testing/check debug rdma-debug rdma-hostile-debug

check-kernels:
	@tools/install-packages start check rdma debug
	@tools/testing/check_kernels $(ROWS)

soak:
	@tools/install-packages start
	@$(if $(SECONDS),SMC_SOAK_SECONDS=$(SECONDS)) $(if $(PROGRAMS),SMC_SOAK_PROGRAMS=$(PROGRAMS)) \
		tools/testing/check soak soak-kcsan soak-um soak-fuzz soak-seeds

bench:
	@tools/install-packages bench rdma
	@$(MAKE) tools
	@$(MAKE) modules KVER=$$(tools/testing/vm/run --resolve 6.12)
	@tools/testing/selftests/smc/bench/steer.sh filter
	@tools/testing/selftests/smc/bench/steer.sh auto
	@tools/testing/selftests/smc/bench/tcpopt.sh
	@tools/testing/selftests/smc/bench/run_bench
	@$(MAKE) -C tools/testing/selftests/smc/rdma
	@tools/testing/selftests/smc/rdma/bench_rdma --report-only
	@tools/testing/selftests/smc/rdma/bench_ism --report-only

fuzz:
	@$(MAKE) -C tools/testing/selftests/smc/fuzz fuzz $(if $(RUNS),RUNS=$(RUNS))

clean:
	@tools/testing/vm/end-all
	@rm -rf build

endif
