#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
inside=$(dfr disasm --function vfs_read | sed -n '3,4s/ .*//p' | tr '\n' ' ')
cat >w.sh <<'END'
dd if=/dev/zero of=/dev/null bs=3 count=200
sleep 1
dd if=/dev/zero of=/dev/null bs=3 count=200
END
for probe in $inside; do
	dtrace -qn "
		fbt::vfs_read:entry /execname == \"dd\"/ { self->in = 1; @entered = count(); }
		$probe /self->in/ { @level[ipl] = count(); }
		fbt::vfs_read:return /self->in/ { self->in = 0; }
		END { printa(\"%@d\\n\", @entered); printa(\"at level %d: %@d\\n\", @level); }
	" -c 'sh w.sh' 2>/dev/null
done | awk '/^at/ { print $3, $4 == entered; next } NF { entered = $1 }'
