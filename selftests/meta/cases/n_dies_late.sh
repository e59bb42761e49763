#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Passes, as the last of its boot, and leaves a process that panics once it has been judged.
. "$(dirname "$0")/../../lib/ktap.sh"
. "$(dirname "$0")/../after_verdict.sh"
plan 1
check "true is true" true
after_verdict n_dies_late 'echo c >/proc/sysrq-trigger'
finish
