# SPDX-License-Identifier: GPL-2.0
#
# Runs in the guest, for recorders: dfr, LTTng, perf and trace-cmd record the same work, one after the other, each all
# system calls and sched_switch. Leaves /mix.dfr, /ctf.tar, /perf.data and /trace.dat.
# What they write, and their own programs, are on file systems that the work does not read.
mkdir /kept /out
mount -t tmpfs tmpfs /kept
mount -t tmpfs tmpfs /out
cp -r /peers /kept/
rm -r /peers
ln -s /kept/peers /peers
. /peers-setup.sh
prepare_lttng || exit
sh /mix.sh 1 >/tmp/first # what it reads is in memory from now on

dfr record -x bufsize=16m -o /out/mix.dfr -s /mix.d -- sh /mix.sh 4

lttng="/peers/bin/lttng -q"
/peers/bin/lttng-sessiond --daemonize || exit
$lttng create s --output=/out/ctf &&
	$lttng enable-channel -k --subbuf-size=2M --num-subbuf=16 c &&
	$lttng enable-event -k -c c --syscall --all &&
	$lttng enable-event -k -c c sched_switch &&
	$lttng add-context -k -c c -t tid && $lttng start || exit
sh /mix.sh 4
$lttng stop
$lttng destroy
kill $(cat /var/run/lttng/lttng-sessiond.pid)

/peers/bin/perf record -q -z3 -a -m 4096 --mmap-flush=4M -o /out/perf.data \
	-e raw_syscalls:sys_enter -e raw_syscalls:sys_exit -e sched:sched_switch -- sh /mix.sh 4 || exit
/peers/bin/trace-cmd record --compression zstd -b 16384 -o /out/trace.dat \
	-e raw_syscalls -e sched:sched_switch sh /mix.sh 4 || exit

tar -C /out -cf /ctf.tar ctf
mv /out/mix.dfr /out/perf.data /out/trace.dat /
