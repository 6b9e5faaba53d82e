#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
insmod /lib/modules/dfr_break.ko memory=1 || exit 1
cat >w.sh <<'END'
fail=/sys/module/dfr_break/parameters/fail
for n in $(seq 24); do
	echo $n >$fail; insmod /lib/modules/dfr_test.ko call=1; rmmod dfr_test
done
echo 0 >$fail
END
dtrace -Zqn 'fbt:dfr_test::entry, kinst::dfr_test_call:0 { }' -c 'sh w.sh' 2>&1 |
	grep -E 'probes (fbt|kinst):.* cannot be armed' | sort -u
dtrace -Zqn 'sdt:::dfr_test_called { }' -c 'sh w.sh' 2>&1 | grep -E 'probes sdt:.* cannot be armed' | sort -u
echo "others: $(dtrace -Zqn 'fbt:dfr_break::entry { }' -c 'sh w.sh' 2>&1 | grep -c 'cannot be armed')"
dfr record -o file.dfr -Zn 'fbt:dfr_test::entry { trace(1); }' -- sh w.sh >/dev/null 2>&1
dfr replay file.dfr 2>&1 >/dev/null |
	grep -oE 'fbt:dfr_test:\*:\*.* could not be armed .*recorded' |
	sed 's/and [0-9]* other/and other/'
dtrace -Zqn 'fbt::dfr_test_call:entry { @ = count(); } END { printa("again %@d\n", @); }' -c \
	'insmod /lib/modules/dfr_test.ko call=3' 2>&1
rmmod dfr_test; rmmod dfr_break
