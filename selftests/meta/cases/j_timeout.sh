#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Takes too long.
# timeout: 2
. "$(dirname "$0")/../../lib/ktap.sh"
plan 1
check "sleeps" sleep 60
finish
