#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
mkdir -p /tmp/disk
mount -t tmpfs -o size=16m tmpfs /tmp/disk
dfr compile -o p.dof -x bufpolicy=ring -x bufsize=1m -n 'syscall::getpgid:entry { capture(arg0); }'
run='kill -USR1 $$; kill -HUP $$; echo ran $DFR_REASON $DFR_STATE $DFR_SNAPSHOT >>ran; exit 7'
options="--mode flight --retain 2 --every 0 --low-disk 8m --stop"
dfrd --name flight --program p.dof --output /tmp/disk/a.dfr $options --run "$run" 2>log &
daemon=$!
while ! grep -q 'is in flight' log; do sleep 0.1; done
dd if=/dev/zero of=/tmp/disk/full bs=1M count=10 2>/dev/null
while ! grep -q 'low disk' ran 2>/dev/null; do sleep 0.1; done
for n in 2 3; do
	kill -USR1 $daemon
	while ! grep -q "^dfrd: snapshot /tmp/disk/a-000$n" log; do sleep 0.1; done
done
head -n 1 ran
while [ -e /tmp/disk/a-0001.dfr ]; do sleep 0.1; done
echo files: $(cd /tmp/disk && ls a-*.dfr)
grep -o 'ended with status 7' log | head -n 1
kill -TERM $daemon; wait $daemon
umount /tmp/disk
