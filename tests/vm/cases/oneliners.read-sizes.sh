#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'dd if=/dev/zero of=/dev/null bs=3 count=100\ndd if=/dev/zero of=/dev/null bs=4096 count=50\n' >w.sh
dtrace -qn '
	syscall::read:return /execname == "dd" && (arg1 == 3 || arg1 == 4096)/ {
		@["bytes"] = quantize(arg1);
	}
' -c 'sh w.sh' 2>/dev/null >got
cat got
