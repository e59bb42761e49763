#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Prints what `make` must be told of the compiler to build for the kernel headers in $1: LLVM=1 where clang built the
# kernel, unless the caller's CC or LLVM says which one to use; else nothing.
if [ -z "${CC:-}${LLVM:-}" ] && grep -qsx CONFIG_CC_IS_CLANG=y "$1/.config" "$1/include/config/auto.conf"; then
	echo LLVM=1
fi
