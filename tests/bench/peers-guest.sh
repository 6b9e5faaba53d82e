# SPDX-License-Identifier: GPL-2.0
#
# Runs in the guest, for probe-cost --peers: each line of /peers.rows beside the
# same loop as dfr's row of that name. Prints "row|peer|COUNTED|PLAIN|WITH", the
# events that the peer itself says it has seen and the two lines of the workload;
# WITH is empty where the peer could not do it, and stderr says why.
#
#   bpftrace  a program
#   perf      arguments, without what is traced
#   ftrace    EVENT,... and what is done with it: a histogram, a filter, or its recording
#   LTTng     what is recorded: arguments of enable-event | context fields
#   sh peers-guest.sh EVENTS
events=$1
tracing=/sys/kernel/tracing
. /peers-setup.sh
export BPFTRACE_PERF_RB_PAGES=4096 # on one CPU its reader comes late
echo 'p:peer/entry vfs_read file=$arg1 count=$arg3' >>$tracing/kprobe_events
echo 'r:peer/return vfs_read ret=$retval' >>$tracing/kprobe_events
set -f
sleep 2 # what the kernel puts off at boot is not to be in the first rows

with_bpftrace() { # with_bpftrace PROGRAM COMMAND
	/peers/bin/bpftrace -q -o /tmp/seen -c "$2" -e "$1"
	# a printed record, a row of a histogram, a counter
	awk '/^[0-9]+ [0-9]+ [0-9]+ / { n++ } /^[[(].*[|]/ { sub(/ *[|].*/, ""); n += $NF } /^(@.*|])?: [0-9]+$/ { n += $NF }
		END { print n + 0 }' /tmp/seen >/tmp/counted
}

with_perf() { # with_perf ARGUMENTS COMMAND
	/peers/bin/perf ${1%% *} -q -o /tmp/seen ${1#* } -- $2
	/peers/bin/perf report -i /tmp/seen --stats | awk '$1 == "SAMPLE" { print $3; exit }' >/tmp/counted
}

with_ftrace() { # with_ftrace "EVENT,... HOW" COMMAND
	local names="$(echo ${1%% *} | tr , ' ')" how="${1#* }" name
	for name in $names; do
		case $how in
		hist:*) echo "$how" >$tracing/events/$name/trigger || return ;;
		filter:*) echo "${how#filter:}" >$tracing/events/$name/filter && echo 1 >$tracing/events/$name/enable || return ;;
		*) echo 1 >$tracing/events/$name/enable || return ;;
		esac
	done
	$2
	for name in $names; do
		case $how in
		hist:*)
			awk '/hitcount:/ { sub(/.*hitcount:/, ""); n += $1 } END { print n + 0 }' $tracing/events/$name/hist >/tmp/counted
			echo "!$how" >$tracing/events/$name/trigger
			;;
		*)
			echo 0 >$tracing/events/$name/enable
			echo 0 >$tracing/events/$name/filter
			;;
		esac
	done
	case $how in
	hist:*) ;;
	*) awk '/^(entries|overrun):/ { n += $2 } END { print n }' $tracing/per_cpu/cpu0/stats >/tmp/counted ;;
	esac
	echo >$tracing/trace
}

with_lttng() { # with_lttng "EVENTS; FIELD..." COMMAND
	local lttng="/peers/bin/lttng -q" fields="" field daemon
	prepare_lttng || return
	for field in ${1#*;}; do fields="$fields -t $field"; done
	/peers/bin/lttng-sessiond --daemonize || return
	daemon=$(cat /var/run/lttng/lttng-sessiond.pid)
	$lttng create s --snapshot --output=/tmp/seen &&
		$lttng enable-channel -k --overwrite --subbuf-size=4M --num-subbuf=8 c &&
		eval "$lttng enable-event -k -c c ${1%%;*}" &&
		$lttng add-context -k -c c $fields && $lttng start && $2 && $lttng stop && $lttng snapshot record
	$lttng destroy
	kill $daemon
	while [ -e /proc/$daemon ]; do sleep 0.1; done
	[ ! -e /tmp/seen ] || /peers/bin/babeltrace2 /tmp/seen --component=c:sink.utils.counter | awk '/Event messages/ { n = $1 } END { print n + 0 }' >/tmp/counted
}

while IFS='|' read -r row peer program; do
	call=$(awk -F'|' -v row="$row" '$1 == row { print $2 }' /rows)
	[ -n "$call" ] || continue
	rm -rf /tmp/seen
	echo - >/tmp/counted
	plain=$(/workload $call $events)
	with_$(echo $peer | tr A-Z a-z) "$program" "/workload $call $events" >/tmp/out 2>/tmp/err </dev/null
	echo "$row|$peer|$(cat /tmp/counted)|$plain|$(grep ^loop /tmp/out)"
	head -n 2 /tmp/err | sed "s/^/# $row, $peer: /" >&2
done </peers.rows
