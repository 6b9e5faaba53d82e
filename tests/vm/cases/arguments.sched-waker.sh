#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
mkfifo fifo
exec 9<>fifo # so that it has a writer all the time
taskset 2 cat fifo >/dev/null 9>&- &
reader=$!
dtrace -qn '
	sched:::wakeup /args[1]->pr_pid == $1 && execname == "dd"/ { printf("%s\n", execname); exit(0); }
	tick-60s { exit(1); }
' $reader 9>&- &
while kill -0 $! 2>/dev/null; do
	taskset 1 dd if=/dev/zero of=fifo bs=1 count=1 2>/dev/null
	sleep 0.2
done
kill $reader
