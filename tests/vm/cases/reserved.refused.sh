#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
record() { dfr record -o a.dfr -x memory="$1" -x bufsize=64m -n 'syscall::getppid:entry' -- true 2>&1; }
record reserved | sed -n 's/takes 132,[0-9]* KiB/takes 132,... KiB/; 1p'
record other | grep -q 'Invalid value for specified option' && echo "the option's value is invalid"
[ -e a.dfr ] || echo nothing is written
