#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Ends before all planned results are there, with status 0.
echo "1..3"
echo "ok 1 first"
exit 0
