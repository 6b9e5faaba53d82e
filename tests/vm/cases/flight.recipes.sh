#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >w.sh <<'END'
dd if=/dev/vda of=/dev/null bs=4096 count=50 iflag=direct
ls -lR /sys/kernel/mm >/dev/null
sleep 3
END
for recipe in slow-syscall off-cpu; do
	dfr record -q -s /$recipe.d --arg 2500 -o $recipe.dfr -- sh w.sh >/dev/null 2>>err
	status=$?
	dfr replay -Zqn '
		syscall:::return, sched:::on-cpu /execname == "sleep"/ { @[execname] = count(); }
		END { printa("%s\n", @); }
	' $recipe.dfr 2>>err | grep . | sed "s/^/$recipe $status: /"
done
for recipe in slow-io lock-hold fault-storm; do
	dfr record -q -s /$recipe.d --arg 100000 -o $recipe.dfr -- sh w.sh >/dev/null 2>>err
	echo "$recipe $?"
done
dfr replay -Zqn '
	syscall:::return, io:::done, fbt:::entry, sdt::: /execname == "dd"/ { @ = count(); }
	END { printa("%@d that was quick\n", @); }
' slow-syscall.dfr 2>>err | grep . || echo nothing that was quick
cat err >&2
