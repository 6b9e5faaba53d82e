#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
printf 'i=0; while [ $i -lt 20 ]; do /bin/true; i=$((i+1)); done; /nosuch 2>/dev/null\n' >w.sh
dtrace -qn '
	proc:::exec-success /execname == "true"/ { @["exec"] = count(); }
	proc:::exit /execname == "true" && arg0 == 1/ { @["exit"] = count(); }
	proc:::exit /execname == "sh"/ { @["sh"] = count(); }
	END { printa("%s %@d\n", @); }
' -c 'sh w.sh'
