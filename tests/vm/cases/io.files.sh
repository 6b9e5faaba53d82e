#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
for m in crc32c_generic crc16 mbcache jbd2 ext4; do
	[ ! -e /lib/modules/$m.ko ] || insmod /lib/modules/$m.ko
done
mke2fs /dev/vda >/dev/null 2>&1; mkdir -p /mnt/disk; mount -t ext4 /dev/vda /mnt/disk || exit 1
mkdir /mnt/disk/dir
cat >w.sh <<'END'
dd if=/dev/zero of=/mnt/disk/dir/file bs=4096 count=10 conv=fsync
dd if=/mnt/disk/dir/file of=/dev/null bs=4096 skip=2 count=1 iflag=direct
END
dtrace -qn '
	io:::start /args[2]->fi_name == "file" && args[0]->b_flags & B_WRITE/ { w += args[0]->b_bcount; }
	io:::start /args[2]->fi_name == "file"/ {
		@[args[2]->fi_pathname, args[2]->fi_dirname, args[2]->fi_fs] = count();
	}
	io:::start /args[2]->fi_name == "file" && args[0]->b_flags & B_READ/ {
		printf("read %d at %d\n", args[0]->b_bcount, args[2]->fi_offset);
	}
	END { printf("wrote %d\n", w); printa("%s %s %s\n", @); }
' -c 'sh w.sh' 2>/dev/null
umount /mnt/disk
