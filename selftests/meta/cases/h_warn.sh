#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A WARN in the kernel log while all results are good.
. "$(dirname "$0")/../../lib/ktap.sh"
plan 1
check "module loads" insmod "$MUSTER_PROGS/muster_meta.ko" how=warn
finish
