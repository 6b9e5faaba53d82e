#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	io:::wait-start,io:::wait-done /execname == "dd" && args[1]->dev_statname == "vda"/ {
		@[probename] = count();
	}
	END { printa("%s %@d\n", @); }
' -c 'dd if=/dev/vda of=/dev/null bs=4096 count=40 iflag=direct' 2>/dev/null | sort
