#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# One result of two is bad.
. "$(dirname "$0")/../../lib/ktap.sh"
plan 2
check "true is true" true
check "false is true" false
finish
