# SPDX-License-Identifier: GPL-2.0
#
# Runs in the guest, for probe-cost --peers: each line of /peers.rows beside the
# same loop as dfr's row of that name. Prints "row|peer|PLAIN|WITH", the two lines
# of the workload; WITH is empty where the peer could not do it.
#
#   bpftrace  a program
#   perf      arguments, without what is traced
#   ftrace    EVENT and what is done with it: a histogram, a filter, or its recording
#   sh peers-guest.sh EVENTS
events=$1
tracing=/sys/kernel/tracing
export LD_LIBRARY_PATH=/peers/lib
ln -s /peers/lib /lib64
echo 'p:peer/entry vfs_read file=$arg1 count=$arg3' >>$tracing/kprobe_events
echo 'r:peer/return vfs_read ret=$retval' >>$tracing/kprobe_events
set -f

with_ftrace() { # with_ftrace EVENT HOW COMMAND...
	local folder=$tracing/events/$1 how=$2
	shift 2
	case $how in
	hist:*)
		echo "$how" >$folder/trigger || return
		"$@"
		grep -q '^ *Hits: [1-9]' $folder/hist || echo "its histogram is empty" >&2
		echo "!$how" >$folder/trigger
		;;
	*)
		case $how in filter:*) echo "${how#filter:}" >$folder/filter || return ;; esac
		echo 1 >$folder/enable
		"$@"
		echo 0 >$folder/enable
		echo 0 >$folder/filter
		;;
	esac
	echo >$tracing/trace
}

while IFS='|' read -r row peer program; do
	call=$(awk -F'|' -v row="$row" '$1 == row { print $2 }' /rows)
	[ -n "$call" ] || continue
	plain=$(/workload $call $events)
	case $peer in
	bpftrace) /peers/bin/bpftrace -q -c "/workload $call $events" -e "$program" ;;
	perf) /peers/bin/perf ${program%% *} -q -o /tmp/perf.data ${program#* } -- /workload $call $events ;;
	ftrace) with_ftrace ${program%% *} "${program#* }" /workload $call $events ;;
	esac >/tmp/out 2>/tmp/err </dev/null
	rm -f /tmp/perf.data
	echo "$row|$peer|$plain|$(grep -a ^loop /tmp/out)"
	head -n 2 /tmp/err | sed "s/^/# $row, $peer: /" >&2
done </peers.rows
