#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Small blocks, and 20,000 records of one thread, which no other interrupts for long.
count() {
	dtrace -x engine=kernel -x cpubudget=100 -x blocksize=512 -x bufsize=8m -x nspec=1 -x specsize=4k \
		-x switchrate=20hz "$@" -c 'guest-access calls 20000' >out 2>err
	told='no '
	grep -q 'aggregation drop' err && told=
	echo "$(sort -n out | awk 'NF == 1 { if (seen[$1]++) twice = 1; n++ }
		END { print n " records, " (twice ? "some twice" : "each once") }'); ${told}aggregation drops were told"
}
count -x aggsize=4k -qn 'syscall::getppid:entry /pid == $target/ { @[n++] = count(); printf("%d\n", n); }
	END { trunc(@); }'
count -qn 'syscall::getppid:entry /pid == $target/ { self->s = speculation(); }
	syscall::getppid:entry /self->s/ { speculate(self->s); printf("%d\n", n++); }
	syscall::getppid:entry /self->s/ { commit(self->s); self->s = 0; }'
