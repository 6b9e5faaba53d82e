# SPDX-License-Identifier: GPL-2.0
#
# After an oops inside a firing: the state `kept` ends, and the module that is loaded anew records $probe on both CPUs.
dfr stop kept >/dev/null
rmmod dfr && echo unloaded
rmmod dfr_break
insmod /dfr.ko
echo 'for mask in 1 2; do taskset $mask guest-device getppid 200; done' >calls.sh
dtrace -x engine=kernel -qn "$probe"' { @ = count(); } END { printa("anew %@d\n", @); }' -c 'sh calls.sh'
