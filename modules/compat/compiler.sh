#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Prints what `make` must be told of the compiler to build for the kernel headers in $1: LLVM=1 where clang built the
# kernel, unless the caller says which one to use, by LLVM or make's CC; else nothing.

# A kernel's make takes LLVM from anywhere, but CC only from the command line, also that of a make further up.
is_told() {
	case " ${MAKEFLAGS:-}" in
	*' CC='*) ;;
	*) [ -n "${LLVM:-}" ] ;;
	esac
}

if ! is_told && grep -qsx CONFIG_CC_IS_CLANG=y "$1/.config" "$1/include/config/auto.conf"; then
	echo LLVM=1
fi
