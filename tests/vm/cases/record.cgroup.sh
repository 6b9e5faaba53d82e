#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Other cases of this boot have a hierarchy of their own mounted: it is the same one.
mkdir /tmp/two && mount -t cgroup2 none /tmp/two && mkdir /tmp/two/first /tmp/two/second
# The shell opens files itself; its fourth in the first is the one that moves it. There the
# shell in a namespace of its own opens one, too.
cat >work.sh <<'EOT'
echo $$ >/tmp/two/first/cgroup.procs
for i in 1 2 3; do : </dev/null; done
echo $$ >/tmp/two/second/cgroup.procs
for i in 1 2; do : </dev/null; done
unshare -p -f sh -c ': </dev/null'
EOT
probes='syscall::open:entry,syscall::openat:entry'
program="
	$probes /cgroup == $(stat -c %i /tmp/two/first)/ { a++; }
	$probes /cgroup == $(stat -c %i /tmp/two/second)/ { b++; }
	$probes /nspid == 1 && pid != 1/ { first = pid; }
	END { printf(\"in a %d, in b %d, first of its namespace %d\\n\", a, b, first > 1); }
"
dtrace -qn "$program" -c 'sh work.sh'
dfr record -o f.dfr -n "$probes { capture(arg0); }" -- sh work.sh 2>/dev/null
dfr replay f.dfr -q -n "$program" 2>/dev/null
rmdir /tmp/two/first /tmp/two/second && umount /tmp/two
