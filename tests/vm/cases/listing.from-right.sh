#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
for p in 'syscall::read*' 'syscall::read*:nosuch'; do
	dfr probes "$p" 2>&1 | grep -cF "fields are counted from the right; did you mean '$p:'?"
done
true
