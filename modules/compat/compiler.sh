#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Prints what `make` must be told of the compiler to build for the kernel headers in $1: LLVM=1 where clang built the
# kernel, CC=clang where it was linked by GNU's linker, unless the caller says which one to use, by LLVM or make's CC;
# else nothing.

# A kernel's make takes LLVM from anywhere, but CC only from the command line, also that of a make further up.
is_told() {
	case " ${MAKEFLAGS:-}" in
	*' CC='*) ;;
	*) [ -n "${LLVM:-}" ] ;;
	esac
}

# configured HEADERS LINE: it is in the kernel's configuration.
configured() {
	grep -qsx "$2" "$1/.config" "$1/include/config/auto.conf"
}

if is_told || ! configured "$1" CONFIG_CC_IS_CLANG=y; then
	exit
fi
if configured "$1" CONFIG_LD_IS_BFD=y; then
	echo CC=clang
else
	echo LLVM=1
fi
