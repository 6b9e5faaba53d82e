# SPDX-License-Identifier: GPL-2.0
#
# What guest-sequence, the load that numbers its calls, has left of itself in a guest's memory (bash; tests/vm/panic
# and tests/vm/reserved source it).

# sequence_page MEMORY: where its page is, in bytes. Status 1: it is not there.
sequence_page() {
	grep -obUa 'Guest-sequence\.\.\.\.\.\.\.\.\.\.\.\.\.\.\.\.\.\.' "$1" | head -n 1 | cut -d : -f 1 | grep .
}

# sequence_calls MEMORY PLACE CPUS: for each CPU a line "CPU BEGUN DONE", the last call that began there and the last
# that returned.
sequence_calls() {
	od -An -v -tu8 -w64 -j $(($2 + 64)) -N $((64 * $3)) "$1" | awk '{ print NR - 1, $1, $2 }'
}
