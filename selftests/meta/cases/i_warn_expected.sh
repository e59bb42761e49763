#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The same, announced.
# expect-dmesg: WARNING: .*muster_meta
# expect-dmesg: Call Trace:
. "$(dirname "$0")/../../lib/ktap.sh"
plan 1
check "module loads" insmod "$MUSTER_PROGS/muster_meta.ko" how=warn
finish
