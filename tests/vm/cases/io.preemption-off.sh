#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >count.d <<'END'
inline int held = *(int *)(*(uintptr_t *)((uintptr_t)&`__per_cpu_offset + 8 * cpu) +
	(uintptr_t)&`__preempt_count) & 0x7fffffff;
proc:::, io:::, sched:::, sdt:::, rawtp:::, syscall::: { @fired[probeprov] = count(); }
proc:::, io:::, sched:::, sdt:::, rawtp:::, syscall:::
/held == 0/
{
	@preemptible[probeprov, probename] = count();
}
END { printa("%s\n", @fired); printa("preemptible: %s:::%s\n", @preemptible); }
END
cat >work.sh <<'END'
exec >/dev/null 2>&1
dd if=/dev/vda of=/dev/null bs=4096 count=4 iflag=direct
for i in 1 2 3; do ls / | cat; done
sh -c 'kill -TERM $$'
END
dtrace -x engine=kernel -qs count.d -c 'sh work.sh' 2>/dev/null >out
echo "fired: $(grep -v preemptible: out | sort | xargs)"
grep preemptible: out
true
