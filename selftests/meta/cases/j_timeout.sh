#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Takes too long.
# timeout: 10
. "$(dirname "$0")/../../lib/ktap.sh"
plan 2
check "true is true" true
check "sleeps" sleep 60
finish
