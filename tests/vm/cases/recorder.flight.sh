#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dfr compile -o p.dof -n 'syscall::getppid:entry { capture(); }'
dfr compile -o q.dof -x cpubudget=3 -n 'syscall::getppid:entry { capture(); }'
dfr compile -o r.dof --profile flight -x bufsize=64k -n 'syscall::getppid:entry { capture(); }'
for p in p q; do
	dfrd --name $p --program $p.dof --output $p.dfr 2>log-$p &
	while ! grep -q recording log-$p; do sleep 0.1; done
	guest-device getppid 100
	kill -INT $!
	wait $!
	guest-device budget $p
	guest-device end $p
done
for p in p q; do
	dfr replay -qn '
		syscall::getppid:entry { @ = count(); }
		END { printa("%@d\n", @); }
	' $p.dfr 2>/dev/null
done
dfrd --name r --program r.dof --output r.dfr 2>log-r &
while ! grep -q recording log-r; do sleep 0.1; done
kill -INT $!
wait $!
guest-device budget r
guest-device end r
dfr info r.dfr 2>/dev/null | grep -o 'ring of'
dfr record -o s.dfr --keep s --profile flight -n '
	syscall::getppid:entry { capture(); }
' -- guest-device getppid 100 2>/dev/null
guest-device budget s
guest-device end s
dfr record -o t.dfr --keep t --profile flight -x cpubudget=2 -n '
	syscall::getppid:entry { capture(); }
' -- guest-device getppid 100 2>/dev/null
guest-device budget t
guest-device end t
dfr record -o u.dfr --profile fligth -- true; echo $?
