#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is to be a number is a word, or nothing, which an arithmetic expression takes for 0.
. "$(dirname "$0")/../../lib/ktap.sh"
plan 13
check_le "a word" none 5
check_ge "a limit" 5 none
check_le "nothing" "" 5
check_that "a word in a sum" "none + 1 < 5"
check_that "half a sum" " < 5"
check_that "a fraction" "1.5 > 1"
check_that "a sign" "  + 5 > 4"
check_that "two operators" "4 -  + 5 < 0"
check_that "a sign in a bracket" "2 * ( - 3) < 0"
check_le "a number" -5 5
check_ge "a large one" 8589934592 8589934592
check_that "a sum" "(3 - 1) * 2 == 4 && 5 % 2"
check_that "negative ones" "-5 - -3 == -2 && (-4 + 5) > -1"
finish
