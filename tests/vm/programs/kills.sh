# SPDX-License-Identifier: GPL-2.0
#
# dfrd is killed at seeded points while calls are made that it records, and started again each time:
#
#   sh kills.sh stream|flight POINTS SEED [reload]
#     reload   the points lie behind a reload with another program; else behind the start
#
# The memory is large enough for all, so what is in the files at the end is what was made: prints
# "all POINTS", and on stderr where it was killed.
mkdir -p /run # for what dfrd tells the next dfrd
mode=$1 points=$2 seed=$3 reload=${4-}
random() { # random N: sets number to one of 1 to N
	seed=$(((seed * 1103515245 + 12345) & 2147483647))
	number=$(((seed >> 8) % $1 + 1))
}
options="--name kills --program p.dof --output a.dfr --config conf"
case $mode in
stream) printf 'rotate 256k\ncheckpoint 1\n' >conf ;;
flight) printf 'mode flight\nevery 0\n' >conf ;;
esac
size='-x bufpolicy=ring -x bufsize=16m -x cpubudget=90'
dfr compile -o one.dof $size -n 'syscall::getpgid:entry { capture(arg0); } syscall::getpgid:entry /arg0 == 199/ { snapshot("now"); }'
dfr compile -o two.dof $size -n 'syscall::getpgid:entry { capture(arg0, execname); } syscall::getpgid:entry /arg0 == 199/ { snapshot("now"); }'
cp one.dof p.dof
# The calls begin when the state is there, and end when the last dfrd may.
dfrd $options 2>log &
daemon=$!
until grep -qE 'recording kills|is in flight' log; do sleep 0.1; done
[ -n "$reload" ] || { kill -TERM $daemon; wait $daemon; }
(
	made=0
	until [ -e enough ]; do
		guest-workload number 200 sleep 20 >/dev/null
		made=$((made + 1))
	done
	echo $made >made
) &
load=$!
for point in $(seq $points); do
	if [ -z "$reload" ]; then
		random 60
		guest-killer $number dfrd $options 2>>log >/dev/null
		continue
	fi
	[ $((point % 2)) = 1 ] && cp two.dof p.dof || cp one.dof p.dof
	random 60
	guest-killer $number 1 $daemon 2>>log
	wait $daemon 2>/dev/null
	dfrd $options 2>log-$point &
	daemon=$!
	until grep -qE 'recording kills|is in flight' log-$point; do sleep 0.1; done
done
: >enough
wait $load
[ -z "$reload" ] || { kill -TERM $daemon; wait $daemon; }
[ -z "$reload" ] || cat log-* >>log
dfrd $options --stop 2>last &
daemon=$!
until grep -qE 'recording kills|is in flight' last; do sleep 0.1; done
kill -TERM $daemon; wait $daemon
cat last >>log
dfr replay -qn 'syscall::getpgid:entry { @ = count(); @sum = sum(arg0); } END { printa("%@d ", @); printa("%@d\n", @sum); }' \
	a-*.dfr >counted 2>verdict
# After a reload a CPU may record nothing between the kill and the end of the old program: then no block of it in the next
# file proves where the cut one ended, and the answer is partial for this reason alone, although it has everything.
all_is_there() {
	grep -q '^complete' verdict ||
		{ [ -n "$reload" ] && grep -qE '^partial: [^;]*; [^;]*: a-[0-9]+[.]dfr: cut at byte [0-9]+: it was not finished; what was recorded before [0-9:.]+ had been written(; [0-9]+ blocks? (is|are) in several files and counted once)?$' verdict; }
}
made=$(cat made)
if [ "$(cat counted)" = "$((made * 200)) $((made * 20100))" ] && [ "$(grep -c 'killed in' log)" = $points ] &&
	all_is_there; then
	echo all $points
else
	echo "$((made * 200)) $((made * 20100)) were made"
	cat counted verdict
	tail -n 15 log
fi
for file in a-*.dfr; do
	dfr verify $file 2>&1 | grep -vE 'sound:|damaged:|has no end mark|every CPU|^(complete|window|partial|lossy)|^  '
done
guest-device states | grep '^kills'
grep 'killed in' log >&2
:
