# SPDX-License-Identifier: GPL-2.0
#
# For cases that source it: kilobytes NAME, a line of /proc/meminfo; and fill_memory, which takes memory, in ./fill, until
# less than a sixteenth is left that the module leaves alone. `umount fill` gives it back.
kilobytes() { sed -n "s/^$1: *\([0-9]*\) kB/\1/p" /proc/meminfo; }
fill_memory() {
	mkdir fill
	mount -t tmpfs -o size=100% none fill
	# No less than is needed, because the programs need some, too.
	n=0
	until [ $(($(kilobytes MemAvailable) * 17)) -lt $(kilobytes MemTotal) ]; do
		more=$(($(kilobytes MemAvailable) - $(kilobytes MemTotal) / 17 + 200))
		dd if=/dev/zero of=fill/$n bs=1k count=$more 2>/dev/null
		n=$((n + 1))
	done
}
