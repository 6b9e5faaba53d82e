#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
sh /lock-down.sh || exit
n=$(dtrace -ln 'fbt::vfs_r*:entry' | grep -c fbt)
dtrace -x engine=kernel -qn 'fbt::vfs_r*:entry { trace(arg0); } BEGIN { exit(0); }' 2>&1 |
	sed -n "s/^dtrace: $n probes cannot be armed: the clause reads .*/$n probes/p" | wc -l
[ "$n" -gt 3 ] && echo many
