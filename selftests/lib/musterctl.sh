# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of musterctl on real devices share, besides their lib.sh.

# quotient A B [FACTOR]: as musterctl shows it, with one digit behind the point.
quotient() {
	awk -v a="$1" -v b="$2" -v factor="${3:-1}" 'BEGIN { printf "%.1f", factor * a / b }'
}

# file_columns TABLE FOLDER: leaves in COLUMNS those of the table's columns that are files of the folder, with commas
# between, in FILES_TOLD how many, and in TOLD what these files say.
file_columns() {
	local column file

	COLUMNS='' TOLD='' FILES_TOLD=0
	for column in $(musterctl "$1" --help | sed -n 's/^  \([A-Z][^ ]*\) .*/\1/p'); do
		file=${column,,}
		file=$2/${file//-/_}
		[[ -f $file ]] || continue
		COLUMNS+=${COLUMNS:+,}$column
		TOLD+="${TOLD:+ }$(show "$file")"
		FILES_TOLD=$((FILES_TOLD + 1))
	done
}
