#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Passes, in a new boot because the test before left something behind.
. "$(dirname "$0")/../../lib/ktap.sh"
plan 1
check_not "the module is not there" test -d /sys/module/muster_meta
finish
