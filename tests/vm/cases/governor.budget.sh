#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >w.sh <<'END'
guest-device load 5 500 >calls
sleep 10
guest-device getppid 5
END
dfr record -o r.dfr --keep mine -s /costly.d -- sh w.sh >/dev/null 2>err
echo "status $?"
read calls <calls
dfr info r.dfr 2>/dev/null >info
sed -nE '
	s/ the recording went on after it;//
	s/.* ([0-9,]*) records?; ([0-9,]*) firings lost( on CPU [0-9])? \(held back by the governor\).*/\1 \2/p
' info | head -n 1 | tr -d , >both
read recorded lost <both
echo "$((recorded + lost - calls)) more than the load's"
[ "$lost" -gt 20 ] && [ "$recorded" -gt 20 ] && echo some of each
dfr replay -qn '
	syscall::getppid:entry { @[tid] = count(); }
' r.dfr | awk '$2 == 5 { print "all of the last" }'
dfr stop mine
