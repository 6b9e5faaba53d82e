#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -n '
	sdt:kmem::kmalloc,sdt:kmem::kmem_cache_alloc { @[execname, probename] = count(); }
' -c 'ls -lR /sys/kernel/mm' 2>/dev/null >got
awk '$1 == "ls" && $2 == "kmem_cache_alloc" && $3 > 20 { print "many" }' got
