#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the guest: something is done to the machine ROUNDS times while it is
# traced. A kind prints a line for each round that went wrong; what counts beside
# that is the kernel's log, that memory is back where it was after the second
# round (first uses fill caches), and that the module goes.
#
#   storm.sh KIND ROUNDS [SECONDS]   "KIND: ROUNDS rounds, WRONG wrong, memory back, module gone"
#
# With SECONDS: fewer rounds, but three at least, if that time is over before.
kind=$1 rounds=$2 seconds=${3-} round=0 wrong=0

bad() {
	wrong=$((wrong + 1))
	echo "$kind, round $round: $*"
}

# One of 0 to $1 - 1.
any() { echo $(($(od -An -N2 -tu2 /dev/urandom) % $1)); }

last_cpu() { echo $(($(ls -d /sys/devices/system/cpu/cpu[0-9]* | wc -l) - 1)); }

load() { # some of everything, until it is killed
	while :; do
		ls -lR /sys/kernel/mm /proc/self >/dev/null 2>&1
		echo x | cat >/dev/null
	done
}

# All functions, in and out. A state with a budget, here the whole CPU, is left alone by the governor's deadman.
fbt() {
	dtrace -x cpubudget=100 -qn '
		fbt:::entry, fbt:::return { @ = count(); n++; }
		tick-300ms /n > 1000/ { exit(0); }
	' >out 2>err
	[ "$(tail -n 1 out)" -gt 1000 ] || bad "$(head -n 2 err) $(tail -n 1 out)"
}

# CPUs go and come while calls are counted on all of them.
hotplug() {
	(
		while [ ! -e stop ]; do
			echo 0 >/sys/devices/system/cpu/cpu"$(last_cpu)"/online
			echo 1 >/sys/devices/system/cpu/cpu"$(last_cpu)"/online
		done
	) &
	echo 'for i in 1 2 3 4; do guest-device getppid 5000 & done; wait' >w.sh
	dtrace -qn 'syscall::getppid:entry /execname == "guest-device"/ { @ = count(); }' -c 'sh w.sh' >out 2>err
	touch stop
	wait $!
	rm stop
	lost=$(tr -d , <err | sed -n 's/^dtrace: \([0-9]*\) firings\{0,1\} on a CPU without a ring.*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
	counted=$(tail -n 1 out)
	[ $((counted + lost)) -eq 20000 ] || bad "$counted counted, $lost lost of 20000: $(head -n 2 err)"
}

# A module comes and goes under a program that waits for its functions.
modules() {
	echo 'for i in 1 2 3; do insmod /lib/modules/dummy.ko; rmmod dummy; done' >w.sh
	dtrace -Zqn 'fbt:dummy::entry { @ = count(); }' -c 'sh w.sh' >out 2>err
	[ "$(tail -n 1 out)" -gt 0 ] || bad "$(head -n 2 err) $(tail -n 1 out)"
}

# A consumer dies at any moment: while it compiles, enables, records, leaves.
kill_consumer() {
	dtrace -qn 'syscall:::, fbt::vfs_*:, profile-997, sched::: { @[probename, stack(3)] = count(); s = speculation(); }
		syscall:::, fbt::vfs_*:, profile-997, sched::: { speculate(s); trace(pid); }' >/dev/null 2>&1 &
	sleep "$(any 2).$(any 10)$(any 10)"
	kill -9 $!
	wait $! 2>/dev/null
	left=$(guest-device states | wc -l)
	[ "$left" -eq 0 ] || bad "$left states left"
}

# Non-maskable interrupts (tests/vm/run --nmi) into functions that are traced, until twenty have come.
nmi() {
	echo 'nmis() { awk "\$1 == \"NMI:\" { print \$2 + \$3 + \$4 + \$5 }" /proc/interrupts; }
		since=$(nmis); until [ $(nmis) -ge $((since + 20)) ] && [ -e many ]; do sleep 0.1; done' >w.sh
	rm -f many
	dtrace -x cpubudget=100 -wqn 'fbt:vmlinux:[a-f]*:entry, profile-997 { @ = count(); n++; }
		tick-500ms /n > 1000/ { system("touch many"); }' -c 'sh w.sh' >out 2>err
	[ "$(tail -n 1 out)" -gt 1000 ] || bad "$(head -n 2 err) $(tail -n 1 out)"
}

consumers() {
	for i in 1 2 3 4 5 6 7 8 9 10; do
		dtrace -x cpubudget=100 -qn 'syscall::getppid:entry /execname == "guest-device"/ { @ = count(); } syscall:::return, sched:::on-cpu, fbt::vfs_read: { @b[probefunc] = quantize(arg1); } END { printa("%@d\n", @); }' \
			-c 'guest-device getppid 2000' >"out$i" 2>"err$i" &
	done
	wait
	for i in 1 2 3 4 5 6 7 8 9 10; do
		# Ten workloads of one name: each consumer sees its own and some of the others'.
		[ "$(grep -cE '^[0-9]+$' "out$i")" -ge 1 ] && [ "$(grep -oE '^[0-9]+$' "out$i" | head -n 1)" -ge 2000 ] ||
			bad "consumer $i: $(head -n 2 "err$i") $(head -n 1 "out$i")"
	done
}

free_memory() { # KiB, when what can be given back has been; with what CPUs hold ready
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^ +nr_free_pages / { n += $2 } $1 == "count:" { n += $2 } END { print n * 4 }' /proc/zoneinfo
}

case $kind in
fbt | nmi) load & loader=$! ;;
esac
[ "$kind" = kill ] && run=kill_consumer || run=$kind
now() { cut -d . -f 1 /proc/uptime; }
began=$(now)
goes_on() {
	[ $round -lt "$rounds" ] || return 1
	[ -z "$seconds" ] || [ $round -lt 3 ] || [ $(($(now) - began)) -lt "$seconds" ]
}
while goes_on; do
	round=$((round + 1))
	$run
	[ $round != 2 ] || first=$(free_memory)
done
[ -z "$loader" ] || kill $loader
memory="memory back"
most=4096
# KASAN keeps what is freed for a while, up to a 32nd of the memory.
grep -q ' kasan_report$' /proc/kallsyms && most=$((most + $(awk '/^MemTotal/ { print $2 }' /proc/meminfo) / 32))
# A killed consumer's state may go a moment later.
tries=0
until last=$(free_memory) && [ $((first - last)) -lt $most ] || [ $tries = 20 ]; do tries=$((tries + 1)); done
[ $((first - last)) -lt $most ] || memory="$((first - last)) KiB of memory gone"
rmmod dfr && [ ! -e /dev/dfr ] && module="module gone" || module="module there"
insmod /dfr.ko
echo "$kind: $round rounds, $wrong wrong, $memory, $module"
