#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Leaves a module loaded that cannot be unloaded: the machine is not fit for more tests.
. "$(dirname "$0")/../../lib/ktap.sh"
plan 1
check "module loads" insmod "$MUSTER_PROGS/muster_meta.ko" how=busy
finish
