#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
awk '{ name = $1; sub(/\..*/, "", name); print name }' /sys/kernel/tracing/available_filter_functions |
	sort -u >/sites
dtrace -l -P fbt | awk '{ name = $4; sub(/\..*/, "", name); print name }' | sort -u >/probes
named() {
	awk -v why="$1" '
		$1 ~ /^(before|after)$/ && $3 == why {
			n = split($4 == "-" ? $2 : $4, names, ",")
			for (i = 1; i <= n; i++) { sub(/^__SCT__/, "", names[i]); print names[i] }
		}
	' /probe-context*.list | sort -u
}
named notrace >/untraced
echo "of those that are not traceable: $(cat /untraced /sites | sort | uniq -d | tr '\n' ' ')"
(named notrace; named left-out) | sort -u >/unlisted
echo "of those that fbt has not: $(cat /unlisted /probes | sort | uniq -d | tr '\n' ' ')"
awk '{ print $3 }' /proc/kallsyms | sort -u >/symbols
[ $(cat /untraced /symbols | sort | uniq -d | wc -l) -ge 15 ] && echo "most of them exist"
known() { echo from_kuid | cat - "$1" | sort | uniq -d; }
echo "guarded, and traceable: $(known /sites) $(known /probes)"
