# SPDX-License-Identifier: GPL-2.0
#
# Sourced in the guest by what runs the peers that tests/bench/peers has fetched.
export LD_LIBRARY_PATH=/peers/lib BABELTRACE_PLUGIN_PATH=/peers/lib/babeltrace2
export LTTNG_SESSION_CONFIG_XSD_PATH=/peers/lib/ LTTNG_CONSUMERD64_BIN=/peers/bin/lttng-consumerd
ln -s /peers/lib /lib64

# Its daemon finds its modules by the lists that depmod makes.
prepare_lttng() {
	local modules=/lib/modules/$(uname -r)
	[ ! -e $modules ] || return 0
	if [ -e /peers/lttng-$(uname -r)/missing ]; then
		cat /peers/lttng-$(uname -r)/missing >&2
		return 1
	fi
	cp -r /peers/lttng-$(uname -r) $modules
	mkdir -p /dev/shm /var/run /etc
	mount -t tmpfs tmpfs /dev/shm
	echo root:x:0:0:root:/root:/bin/sh >/etc/passwd
	echo tracing:x:0: >/etc/group
	ifconfig lo 127.0.0.1 up
	/peers/bin/depmod 2>/dev/null
}
