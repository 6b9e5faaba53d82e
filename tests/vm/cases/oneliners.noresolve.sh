#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -x noresolve -qn '
	syscall::read:entry /execname == "dd"/ { @[ustack(1)] = count(); }
' -c 'dd if=/dev/zero of=/dev/null bs=1 count=10' >got 2>/dev/null
grep -qx ' *0x[0-9a-f]*' got && echo numbers
grep '`' got | wc -l
