#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
cat >w.sh <<'END'
mkdir d
touch d/f
ln d/f d/g
ln -s f d/h
mv d/g d/i
chmod 600 d/f
ls -l d >/dev/null
rm d/f d/i d/h
rmdir d
mknod p p
sync
dd if=/dev/zero of=x bs=4096 count=2 conv=fsync 2>/dev/null
fallocate -l 16384 x
stat -f x >/dev/null
END
# From 6.15 on mkdir returns an address.
dtrace -qn '
	vfs:::return /ppid == $target && ((int)arg1 >= 0 || probefunc == "mkdir")/ { @[probefunc] = count(); }
	END { printa("%s\n", @); }
' -c 'sh w.sh' | sort | tr '\n' ' '
