# SPDX-License-Identifier: GPL-2.0
#
# Work of some seconds in a guest, for tests/bench/format: many programs, pipes,
# files and directories. sh mix.sh [ROUNDS]
i=0 rounds=${1:-4}
while [ $i -lt $rounds ]; do
	find / -xdev -type f | sort | xargs md5sum | cut -c 1-8 | sort | uniq -c | tail -1
	dd if=/dev/zero bs=512 count=6000 | gzip | wc -c
	ls -lR /sys/class /sys/devices | wc -l
	ps | grep -c kworker
	i=$((i + 1))
done
