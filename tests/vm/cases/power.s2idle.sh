#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/button.ko
cat >w.sh <<'END'
for i in 1 2; do
	guest-device getppid 100; echo "vm: lies down" >/dev/kmsg; echo freeze >/sys/power/state
done
guest-device getppid 100
END
sh /asleep.sh 'fbt:vmlinux:*suspend*:return,fbt:vmlinux:*resume*:return,fbt:vmlinux:*idle*:return'
