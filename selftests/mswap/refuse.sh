# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Writes to control files that are refused: the errno, the line in the kernel log, and that nothing changes.

# The error text of writing VALUE to FILE with one write(2), or "" when it was taken.
write_error() {
	try_write "$@"
	[[ -z $REFUSED ]] || echo "$REFUSED"
}

# Leaves in REFUSED why VALUE could not be written to FILE; empty: it was. REFUSALS counts those that were not. Starts no
# process, as read_state.
REFUSALS=0
try_write() {
	REFUSED=''
	{ printf '%s' "$2" >"$1"; } 2>"$WORK/refused" || read -r REFUSED <"$WORK/refused"
	REFUSED=${REFUSED##*: }
	[[ -z $REFUSED ]] || ((++REFUSALS))
}

# refuse NAME ERROR FILE VALUE: one result: writing VALUE fails with ERROR and changes nothing.
refuse() {
	local name=$1 error=$2 file=$3 value=$4 before

	read_state "$file"
	before=$STATE
	try_write "$file" "$value"
	read_state "$file"
	if [[ $REFUSED != "$error" ]]; then
		result "$name" 1 "writing '${value:0:40}' to $file: got '${REFUSED:-no error}', want '$error'"
	elif [[ $before != "$STATE" ]]; then
		result "$name" 1 "writing '${value:0:40}' to $file changed $before to $STATE"
	else
		result "$name" 0
	fi
}

# refuse_logged NAME ERROR FILE VALUE PATTERN: two results: as refuse, and the kernel log matches PATTERN. The log is
# rate-limited: when the line is not there, the write is tried once more after the limit's interval.
refuse_logged() {
	local name=$1 error=$2 file=$3 value=$4 pattern=$5 before after

	before=$(log_lines "$pattern")
	refuse "$name" "$error" "$file" "$value"
	after=$(log_lines "$pattern")
	if ((after == before)); then
		sleep 6
		try_write "$file" "$value"
		after=$(log_lines "$pattern")
	fi
	if ((after > before)); then
		result "$name: the kernel log says so" 0
	else
		result "$name: the kernel log says so" 1 "no new line with 'mswap' and '$pattern': $(kernel_log | tail -n 3)"
	fi
}

log_lines() {
	kernel_log | grep -cE -- "mswap.*($1)"
}

# Puts in STATE everything a refused write could have changed: knobs, life cycle and the list of devices.
# Starts no process: this runs a thousand times in a slow machine.
read_state() {
	local folder=${1%/*} file value

	STATE=''
	for file in /sys/block/mswap*; do
		STATE+="$file "
	done
	for file in $KNOBS backing_dev disksize initstate; do
		[[ -r $folder/$file ]] || continue
		read -r value <"$folder/$file"
		STATE+=" $file=$value"
	done
}
