#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'for n in 1 2 3; do insmod /lib/modules/dummy.ko numdummies=4; rmmod dummy; done\n' >w.sh
dtrace -Zqn '
	fbt:dummy:dummy_dev_init:entry { @["init entry"] = count(); }
	fbt:dummy:dummy_dev_init:return /arg1 == 0/ { @["init return"] = count(); }
	fbt:dummy:dummy_setup:entry { @["setup entry"] = count(); }
	END { printa("%s %@d\n", @); }
' -c 'sh w.sh' | sort
