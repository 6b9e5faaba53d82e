#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >w.sh <<'END'
mount -t proc proc /proc
dtrace -x engine=kernel -qn "BEGIN { exit(0); }" -c ls 2>&1; echo $?
dtrace -x engine=kernel -qn "BEGIN { trace(1); exit(0); }"
END
unshare -m -p -f sh w.sh | sed 's/process [0-9]*/process N/'
