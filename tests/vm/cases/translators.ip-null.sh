#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
dtrace -qn '
	BEGIN {
		printf("%d %s %d %s %s ", xlate <ipv4info_t *> ((struct iphdr *)0)->ipv4_ver,
		    xlate <ipv4info_t *> ((struct iphdr *)0)->ipv4_saddr,
		    xlate <ipv6info_t *> ((struct ipv6hdr *)0)->ipv6_plen,
		    xlate <ipv6info_t *> ((struct ipv6hdr *)0)->ipv6_nextstr,
		    xlate <ipinfo_t *> ((struct iphdr *)0)->ip_daddr);
		printf("%s %s\n", xlate <fileinfo_t *> ((struct file *)0)->fi_name,
		    xlate <ifinfo_t *> ((struct net_device *)0)->if_name);
		exit(0);
	}
'
