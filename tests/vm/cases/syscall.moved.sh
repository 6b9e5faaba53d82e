#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
mkfifo pipe
echo 'echo >pipe; until [ -s got ]; do sleep 0.1; done' >write.sh
exec 3<>pipe
dtrace -qn 'BEGIN { printf("armed\n"); } syscall::read:return /execname == "cat"/ { }' >log 2>&1 &
tracer=$!
until grep -q armed log; do sleep 0.1; done
cat <pipe >got &
reader=$!
until grep -q pipe_read /proc/$reader/wchan; do sleep 0.1; done
kill -INT $tracer
wait $tracer
dtrace -x syscallhook=tracepoint -qn '
	syscall::read:return /execname == "cat"/ { @ = count(); }
	END { printa("%@d\n", @); }
' -c 'sh write.sh'
kill $reader
