#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
for size in bufsize aggsize dynvarsize; do
	dtrace -x $size=100g -n '
		BEGIN { x[1] = 5; @ = sum(x[1]); exit(0); }
	' 2>said | awk 'NF == 1 { print $1 }'
	sed -n 's/ to [0-9]*[km]$//p' said
done
