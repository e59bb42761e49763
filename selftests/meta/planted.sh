#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All is well for who only looks at results, while the kernel makes the mistake that this file's link is named for.
# timeout: 20
# shellcheck source=../lib/ktap.sh
. "$(dirname "$0")/../../lib/ktap.sh"
plan 2
how=${0##*/}
check "module loads" insmod "$MUSTER_PROGS/muster_planted.ko" how="${how%.sh}"
check "and unloads" rmmod muster_planted
finish
