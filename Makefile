# SPDX-License-Identifier: GPL-2.0-only
# What can be done from a clone; `make help` lists it.

KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build
CHECK := selftests/run
OUT ?= $(or $(MUSTER_CACHE),/var/cache/muster)
# The makes that build there run in other directories; and not each shell knows ~ behind a =.
override OUT := $(abspath $(patsubst ~/%,$(HOME)/%,$(OUT)))
ifneq ($(words $(OUT)),1)
override OUT = $(error OUT=, or MUSTER_CACHE, is the path of one directory, without blanks)
endif
# make goes by the age of files: what it builds of one clone's must not be taken for another's.
HERE = $(shell pwd -P | sha256sum | cut -c1-12)
FUZZ_SECONDS ?= 300

.PHONY: modules install uninstall musterctl demo check check-unit check-lint check-dkms check-vm \
	check-debug debug-kernel soak load-held fuzz-vm bench bench-lookup bench-slots bench-swap \
	bench-w2r sim-w2r traces fuzz interleave clean help setup setup-lint headers

# Signs that it, or a shell on its way, would take for something else than a part of a name.
plain-path = @case $$(pwd -P) in *[[:space:]\"\'\`\$$\&\(\)\*\;\<\>\?\|\\:%,\[]*) \
	echo "The kernel's build takes no path with spaces or signs such as ' ( & : %; clone to one without." >&2; \
	exit 1 ;; esac

# The kernel's build does not notice that it is another kernel.
modules: headers
	$(plain-path)
	@if [ "$$(cat .built-for 2>/dev/null)" != "$(KVER) $(KDIR)" ]; then $(MAKE) clean; fi
	@echo "$(KVER) $(KDIR)" >.built-for
	$(MAKE) -C $(KDIR) M=$(CURDIR) $$(sh modules/compat/compiler.sh $(KDIR)) modules

headers:
	@test -e $(KDIR)/Makefile || { \
		echo "No kernel headers in $(KDIR): install linux-headers-$(KVER), or set KDIR."; \
		echo "If there is no such package any more: install the newest kernel with its headers, and boot it."; \
		exit 1; }

install: headers
	@sh tools/dkms-setup install $(KVER) $(abspath $(KDIR))

uninstall:
	@sh tools/dkms-setup uninstall

musterctl:
	@$(MAKE) -s -C tools/musterctl can-build 2>/dev/null || { \
		echo "musterctl takes a C compiler and libsmartcols: apt install gcc libsmartcols-dev"; \
		exit 1; }
	@$(MAKE) -s -C tools/musterctl OUT=$(OUT)/musterctl
	@echo $(OUT)/musterctl/musterctl

setup:
	@tools/host-setup

setup-lint:
	@tools/host-setup lint

demo: setup
	@tools/bench/demo --beside tools/bench/demo-w2r

bench-w2r: setup
	@tools/bench/bench-w2r

check: setup-lint
	@$(CHECK) $(if $(KERNELS),--kernels "$(KERNELS)") $(TESTS)

check-lint: setup-lint
check-unit check-dkms check-vm: setup
check-unit check-lint check-dkms check-vm: check-%:
	@$(CHECK) $(if $(KERNELS),--kernels "$(KERNELS)") --only $* $(TESTS)

debug-kernel: setup
	@tools/lab/lab build --kernel $(or $(VARIANT),debug)

check-debug: setup
	@$(CHECK) --only vm --kernels $(or $(VARIANT),debug) $(if $(TABLE),--table $(TABLE)) $(TESTS)

soak load-held fuzz-vm: setup
	@$(CHECK) --$@ $(or $(MINUTES),$(if $(filter soak,$@),60,10)) $(if $(SEED),--seed $(SEED)) \
		$(if $(KERNELS),--kernels "$(KERNELS)")

bench-slots: setup
	@$(MAKE) -C tools/bench_slots OUT=$(OUT)/bench-slots/$(HERE) run

bench-lookup: setup
	@tools/bench/bench-lookup

bench-swap: setup
	@tools/bench/bench-swap

# The eight programs one after the other, unless said otherwise.
TRACE ?= $(foreach p,compile cp tar-c tar-x gzip gunzip sort grep,tools/sim/w2r/traces/ra128-$(p).csv.xz)
SIM = $(OUT)/sim-w2r/$(HERE)

sim-w2r: setup
	@$(MAKE) -s -C tools/sim/w2r OUT=$(SIM)
	@$(SIM)/w2r-sim $(SIM_OPTIONS) $(TRACE) >$(SIM)/result
	@cat $(SIM)/result
	@tools/sim/w2r/plot.py $(SIM)/result.svg trace=$(SIM)/result
	@echo "plot: $(SIM)/result.svg"

traces: setup
	@tools/sim/w2r/record-traces

bench: setup
	@QUICK=$(QUICK) tools/bench/bench

fuzz: setup
	@$(MAKE) -C selftests/unit OUT=$(OUT)/fuzz/$(HERE) SECONDS_EACH=$(FUZZ_SECONDS) fuzz

interleave: setup
	@$(MAKE) -s -C selftests/interleave OUT=$(OUT)/interleave/$(HERE) SECONDS_EACH=$(or $(SECONDS),300) \
		$(if $(TESTS),TESTS="$(TESTS)") $(if $(SEED),SEED=$(SEED)) run

clean:
	$(plain-path)
	-@find . -name __pycache__ -prune -exec rm -r {} +
	@dir=$(KDIR); test -e "$$dir/Makefile" || dir=$$(cut -d ' ' -f 2 .built-for 2>/dev/null); \
	if test -e "$$dir/Makefile"; then $(MAKE) -C "$$dir" M=$(CURDIR) clean && rm -f .built-for; \
	elif test -e .built-for; then echo "No kernel headers in $(KDIR) or $$dir: set KDIR."; exit 1; fi

help:
	@echo "make               build the modules for the running kernel (or KVER=, KDIR=)"
	@echo "make install       install them by DKMS; make uninstall takes them away"
	@echo "make musterctl     build the tool that shows what they do, and say where it is; make install does it, too"
	@echo "make demo          show what mswap and dm-w2r do, in VMs"
	@echo "make bench-w2r     compare dm-w2r with the plain device, dm-cache and bcache, in a VM"
	@echo "make check         run all tests but those of the debug kernels; TESTS=\"a b\" runs some, KERNELS=\"6.12\" on some"
	@echo "make check-unit    unit tests only; also check-lint, check-dkms, check-vm; TESTS= and KERNELS= likewise"
	@echo "make check-debug   all tests that run in VMs on a kernel that looks for bugs"
	@echo "make debug-kernel  build that kernel (once, 10 to 20 minutes); either with VARIANT=kcsan: the one for data races"
	@echo "make soak          a random mix of loads and changes for MINUTES (60); SEED= repeats one"
	@echo "make load-held     64 processes on swap that is full, for MINUTES (10), on stock swap and on mswap"
	@echo "make fuzz-vm       nonsense for control files and tables, in VMs, for MINUTES (10) each; SEED="
	@echo "make fuzz          fuzz each algorithm for FUZZ_SECONDS (300)"
	@echo "make interleave    the modules on a simulated kernel, for SECONDS (300) each; TESTS=mswap SEED=1 repeats one run"
	@echo "make bench-slots   compare slot allocators"
	@echo "make bench-lookup  searches of a hash chain, with and without move-to-front"
	@echo "make bench-swap    compare mswap with stock swap, in VMs"
	@echo "make sim-w2r       replay TRACE=\"FILE...\" through dm-w2r's rooms; docs/w2r-sim.md"
	@echo "make traces        record the simulator's traces anew, in a VM"
	@echo "make bench         bench-swap, bench-w2r and bench-lookup, in parts, on one page; QUICK=1: in short; PARTS=, RESUME="
	@echo "make clean         remove what make built here"
