#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# lock-down.sh: locks the kernel down for confidentiality; does nothing where it is already. There is no way back, so
# each case that wants it calls this, and the file of these cases is the last of its boot.
lockdown=/sys/kernel/security/lockdown
[ -e $lockdown ] || mount -t securityfs none /sys/kernel/security
grep -q '\[confidentiality\]' $lockdown || echo confidentiality >$lockdown
