#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a name alone lists, and where it is hooked, before and after all functions are listed: names that
# stand at one address, at several, and in a module.
rmmod dfr && insmod /lib/modules/dummy.ko && insmod /dfr.ko || exit 1
awk 'NF == 3 && $2 ~ /[tT]/ { n[$3]++ } END { for (name in n) if (n[name] > 1 && n[name] < 9) print name }' \
	/proc/kallsyms | sort >several
awk 'NF == 3 { print $3 }' /proc/kallsyms | sort -u >kernel
awk '$4 == "[dummy]" && $2 ~ /[tT]/ { print $3 }' /proc/kallsyms | sort >module
cut -d' ' -f1 /sys/kernel/tracing/available_filter_functions | sort | uniq -c >sites
# The traceable ones among them.
traceable() { awk 'NR == FNR { at[$2] = $1; next } at[$1] > least { print $1 }' least=$2 sites $1; }
names="vfs_read do_sys_openat2 $(traceable several 1 | head -n 4) $(traceable module 0 | head -n 3)"
look() {
	for name in $names; do
		dtrace -x engine=kernel -ln "fbt::$name:" | awk 'NR > 1 { $1 = ""; print }'
		dtrace -x engine=kernel -wqn "fbt::$name:entry { n++; }
			tick-10ms { system(\"sh sites.sh $name\"); exit(0); }"
	done
}
echo 'echo sites of $1: $(grep -c "^$1 " /sys/kernel/tracing/enabled_functions)' >sites.sh
look >by-name 2>errors
dtrace -x engine=kernel -ln 'fbt::schedule:entry' | awk 'NR > 1 { print "all were listed:", ($1 > 20000) }'
dtrace -x engine=kernel -ln 'fbt:::' | wc -l | awk '{ print ($1 > 20000) }'
look >after 2>>errors
cmp by-name after && echo the same
wc -l <by-name | awk '{ print "lines", ($1 > 18) }'
awk '/sites of/ && $NF > 1 { several++ } /sites of/ && !$NF { none++ }
	END { print "several", several + 0, "none", none + 0 }' by-name
grep -c " dummy " by-name | awk '{ print "module", ($1 > 2) }'
cat errors by-name >&2
rmmod dummy
