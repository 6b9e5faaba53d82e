#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'insmod /lib/modules/dummy.ko numdummies=4; rmmod dummy\n' >w.sh
wide=$(printf '%0200d' 0)
dtrace -Zqn "
	fbt:dummy:dummy_setup:entry { @[stack(), execname, strjoin(probemod, \"$wide\")] = count(); }
	END { printa(\"%@d\\n\", @); }
" -c 'sh w.sh' | grep .
