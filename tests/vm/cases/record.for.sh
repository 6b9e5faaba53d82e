#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >analysis.d <<'END'
syscall::write:entry /execname == "dd"/ { @bytes[arg2] = count(); @sum = sum(arg2); }
END { printa("%d %@d\n", @bytes); printa("%@d\n", @sum); }
END
dfr record -o r.dfr --for analysis.d -- dd if=/dev/zero of=/dev/null bs=7 count=300 2>derived
grep -c 'capture(' derived
dfr replay -q -s analysis.d r.dfr 2>/dev/null
