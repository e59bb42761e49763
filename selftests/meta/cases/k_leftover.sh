#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Leaves a module loaded that cannot be unloaded: the machine is not fit for more tests. A bit later, when the test has
# been judged, the kernel complains.
. "$(dirname "$0")/../../lib/ktap.sh"
. "$(dirname "$0")/../after_verdict.sh"
plan 1
check "module loads" insmod "$MUSTER_PROGS/muster_meta.ko" how=busy
after_verdict k_leftover 'echo "WARNING: late" >/dev/kmsg'
finish
