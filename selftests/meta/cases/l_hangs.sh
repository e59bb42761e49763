#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Is stuck in the kernel, where no signal ends it.
# timeout: 10
. "$(dirname "$0")/../../lib/ktap.sh"
plan 2
check "true is true" true
exec insmod "$MUSTER_PROGS/muster_meta.ko" how=hang
