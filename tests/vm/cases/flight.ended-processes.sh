#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# More processes end than there are speculations; then one ends within its second, with many faults.
cat >w.sh <<'END'
for i in $(seq 300); do /bin/true; done
awk 'BEGIN { for (i = 0; i < 60000; i++) a[i] = i }'
END
sed 's/nspec=.*/nspec=64/' /fault-storm.d >few.d
dfr record -q -s few.d --arg 300 -x dynvarsize=64k -o faults.dfr -- sh w.sh >/dev/null 2>err
grep -E 'dynamic variable|speculation' err
dfr replay -Zqn '
	sdt:exceptions::page_fault_user { @[execname] = count(); }
	END { printa("%s %@d\n", @); }
' faults.dfr 2>>err | awk '$1 == "awk" { print $1, ($2 > 300 ? "more than 300" : $2) }'
cat err >&2
