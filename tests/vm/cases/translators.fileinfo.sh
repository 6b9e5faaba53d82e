#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
mkdir -p /tmp/sub/dir
cat >w.sh <<'END'
exec 7>>/tmp/sub/dir/file 8</proc/meminfo 9</dev/null
printf hello >&7
for f in 7 8 9; do readlink /proc/$$/fd/$f; awk "NR < 3 { print \$2 }" /proc/$$/fdinfo/$f; done >want
umask >/dev/null
END
cat >p.d <<'END'
syscall::umask:entry /pid == $target/ {
	printf("%s\n%d\n0%o\n", fds[7].fi_pathname, fds[7].fi_offset, fds[7].fi_oflags);
	printf("%s\n%d\n0%o\n", fds[8].fi_pathname, fds[8].fi_offset, fds[8].fi_oflags);
	printf("%s\n%d\n0%o\n", fds[9].fi_pathname, fds[9].fi_offset, fds[9].fi_oflags);
	printf("%s %s %s %s\n", fds[7].fi_name, fds[7].fi_dirname, fds[7].fi_fs, fds[7].fi_mount);
	printf("%s %s %s %s\n", fds[8].fi_name, fds[8].fi_dirname, fds[8].fi_fs, fds[8].fi_mount);
	printf("%s %s %s %s\n", fds[9].fi_name, fds[9].fi_dirname, fds[9].fi_fs, fds[9].fi_mount);
	printf("%s %s %s %s\n", fds[60].fi_name, fds[60].fi_pathname, fds[60].fi_fs, fds[60].fi_mount);
	exit(0);
}
END
dtrace -qs p.d -c 'sh w.sh' | sed '$d' >got
sed 's/^00*\([0-7]\)/0\1/' want >want2
head -n 9 got | sed 's/^00*\([0-7]\)/0\1/' | diff want2 - && echo same
tail -n 4 got
