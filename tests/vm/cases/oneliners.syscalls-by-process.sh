#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -n 'syscall:::entry { @num[execname] = count(); }' -c 'dd if=/dev/zero of=/dev/null bs=3 count=500' \
	>got 2>said
grep -cE "^dtrace: description 'syscall:::entry ' matched [0-9]+ probes$" said
grep -E '^  dd {40,}[0-9]+$' got | awk '{ print ($2 > 1000), length($0) < 80 }'
awk 'NF == 2 { if ($2 < last) bad++; last = $2 } END { print bad + 0 }' got
