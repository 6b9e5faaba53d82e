#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
refused() {
	dfr record -o a.dfr -x memory=reserved -n 'syscall::getppid:entry' -- true 2>&1 | sed -n '1s/.*program: //p'
}
rmmod dfr
# In use, half in use, no memory at all, reserved by the firmware, too small, no range and no name.
for range in 16M@0x8000000 16M@0x0f800000 16M@0x40000000 16M@0xfd00000000 64K@0x10000000 0x10000000; do
	dmesg -c >/dev/null
	insmod /dfr.ko reserved=$range
	dmesg | grep 'is left alone' | tail -n 1 | sed 's/.*is left alone: //'
	[ $range = 0x10000000 ] || rmmod dfr
done
grep -q ': dfr$' /proc/iomem || echo none
refused
rmmod dfr
# Of the kernel's command line.
insmod /dfr.ko
dfr record -q -o a.dfr -x memory=reserved -n 'syscall::getppid:entry' -x bufsize=1m -- true 2>err && echo fits
