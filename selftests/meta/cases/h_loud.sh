#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Writes more to the kernel log than that holds, so that what was there before, be it trouble, is lost.
. "$(dirname "$0")/../../lib/ktap.sh"
plan 1
# Of the level that does not go to the console, which is slow.
line="<7>$(printf 'x%.0s' {1..900})"
check "it is good" true
for _ in {1..6000}; do
	echo "$line" >/dev/kmsg
done
finish
