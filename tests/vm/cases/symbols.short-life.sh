#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	syscall::getppid:entry /pid == $target/ { @[ustack(3)] = count(); }
' -c 'guest-workload spin 1' | sed 's/+0x[0-9a-f]*//' | grep workload
