#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Succeeds without a word.
exit 0
