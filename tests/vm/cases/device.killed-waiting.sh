#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
killed() { dmesg | grep -c 'could be armed (error -4)'; }; before=$(killed)
guest-device hold 1000 >held & held=$!; until grep -q holding held; do sleep 0.1; done
ask() {
	guest-device count 1 >/dev/null &
	asks=$!
	until grep -qs dfr_device_lock /proc/$asks/wchan; do
		[ -e /proc/$asks/stat ] || return 1; sleep 0.1
	done
}
dtrace -x engine=kernel -qn 'fbt:::entry, fbt:::return { @ = count(); }' >/dev/null 2>&1 & arms=$!
until sed -n '100{p;q}' /sys/kernel/tracing/enabled_functions | grep -q .; do sleep 0.1; done
until ask; do wait $asks; done
kill -9 $asks $held; wait $asks $held 2>/dev/null
ask && echo others go on
kill -9 $asks $arms; wait $asks $arms 2>/dev/null
guest-device states; guest-device count 1000
echo $(($(killed) - before))
