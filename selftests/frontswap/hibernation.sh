#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The machine hibernates while programs swap through frontswap, goes off, and returns; every page verified.
# kernels: 5.10
# timeout: 240
# mem: 1G
# virtio: 512M
# hibernates: yes
# stays: mswap mswap_frontswap

. "$(dirname "$0")/lib.sh"
# shellcheck source=../mswap/power.sh
. "$(dirname "$0")/../mswap/power.sh"

plan 12

can_hibernate || skip_all 'this kernel cannot hibernate'
fswap_start /dev/vdb
# What frontswap does not take, as files in memory, goes to the first area.
areas 1 256
must swap_start /dev/vda
must put 0 /sys/power/image_size

programs_start
returns 'the machine goes off'
returns 'and once more'
before=$(get pages_out)
check 'the programs go on swapping' wait_until 60 swapped_out "$before"
programs_end
check_that 'frontswap took pages' "$(get pages_out) > 10000"
check 'swapoff' swapoff /dev/mapper/muster-area0 /dev/vda
check_eq 'no I/O failed' "$(get write_errors) $(get read_errors) $(get nospace)" '0 0 0'

finish
