#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Cannot run.
. "$(dirname "$0")/../../lib/ktap.sh"
skip_all "no such hardware"
