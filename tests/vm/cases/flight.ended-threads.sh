#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >w.sh <<'END'
for i in $(seq 400); do /bin/true; done
sleep 1
END
for recipe in slow-syscall off-cpu; do
	sed 's/nspec=.*/nspec=256/' /$recipe.d >few.d # more than there are threads that wait
	dfr record -q -s few.d --arg 500 -o $recipe.dfr -- sh w.sh >/dev/null 2>>err
	dfr replay -Zqn '
		syscall:::return, sched:::on-cpu /execname == "sleep"/ { @[execname] = count(); }
		END { printa("%s\n", @); }
	' $recipe.dfr 2>>err | grep . | sed "s/^/$recipe: /"
done
dfr record -q -s /flight.d -x dynvarsize=16k -x cpubudget=100 -o flight.dfr -- sh w.sh >/dev/null 2>lost
grep 'dynamic variable' lost
dfr replay -qn '
	syscall::exit_group:entry { @[execname] = count(); }
	END { printa("%s\n", @); }
' flight.dfr 2>>err | grep 'true' | sed 's/^/flight: room for each /'
cat err lost >&2
