# SPDX-License-Identifier: GPL-2.0-only
# Included by every Kbuild: what the headers of the kernel have, as compiler flags.
#
#	obj-m += mswap/					built for every kernel
#	obj-$(call compat-optional,NAME,module,why) += dir/
#							built where the probe NAME says so;
#							elsewhere the log says why not
#	$(call compat-have,NAME)			not empty where the probe NAME says so

compat-dir := $(dir $(lastword $(MAKEFILE_LIST)))
# To clean nothing has to be known, and works for any kernel.
ifeq ($(filter %/Makefile.clean,$(MAKEFILE_LIST)),)
compat-flags := $(shell sh $(compat-dir)probe.sh $(srctree) $(objtree))
ifeq ($(compat-flags),)
$(error muster cannot be built for this kernel)
endif
compat-optional = $(if $(call compat-have,$(1)),m,$(info muster: $(2).ko is left out: $(3)))
else
compat-optional = m
endif

ccflags-y += $(compat-flags) -I$(compat-dir)..

compat-have = $(filter -DCOMPAT_HAVE_$(1),$(compat-flags))
