#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
question='syscall::getppid:entry'
dfr record -q --keep kept -o k.dfr -x memory=reserved -x bufsize=1m -n "$question" -- true 2>/dev/null
echo disk 2>&1 >/sys/power/state | grep -q 'busy' && echo busy
dmesg | grep -c 'no hibernation while a state has memory=reserved'
dfr stop kept >/dev/null 2>&1
