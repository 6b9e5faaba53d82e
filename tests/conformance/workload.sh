# SPDX-License-Identifier: GPL-2.0
#
# For talks and live-replay, which source it: something of every kind happens, for ever, with files in $work.
workload() {
	while :; do
		cat /proc/self/stat >/dev/null
		echo text >"$work/file"
		cat "$work/file" /nosuch >/dev/null 2>&1
		sh -c 'kill -USR1 $$' 2>/dev/null
		date >/dev/null
	done
}
