#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
ifconfig lo up
cat >p.d <<'END'
inline struct ipv6hdr *IP[struct sk_buff *s] = (struct ipv6hdr *)(s->head + s->network_header);
fbt::ip6_input:entry /((struct sk_buff *)arg0)->len > 80/ {
	this->i = IP[(struct sk_buff *)arg0];
	this->b = (unsigned char *)this->i;
	printf("%d %d %d %s %d ", xlate <ipv6info_t *> (this->i)->ipv6_ver,
	    xlate <ipv6info_t *> (this->i)->ipv6_plen, xlate <ipv6info_t *> (this->i)->ipv6_nexthdr,
	    xlate <ipv6info_t *> (this->i)->ipv6_nextstr, xlate <ipv6info_t *> (this->i)->ipv6_hlim);
	printf("%s %s\n", xlate <ipv6info_t *> (this->i)->ipv6_saddr,
	    xlate <ipv6info_t *> (this->i)->ipv6_daddr);
	printf("%d %d\n",
	    xlate <ipv6info_t *> (this->i)->ipv6_tclass == ((this->b[0] & 15) << 4 | this->b[1] >> 4),
	    xlate <ipv6info_t *> (this->i)->ipv6_flow ==
	    ((this->b[1] & 15) << 16 | this->b[2] << 8 | this->b[3]));
	printf("%d %d %d\n", (uintptr_t)xlate <ipv6info_t *> (this->i)->ipv6_src - (uintptr_t)this->i,
	    (uintptr_t)xlate <ipv6info_t *> (this->i)->ipv6_dst - (uintptr_t)this->i,
	    xlate <ipv6info_t *> (this->i)->ipv6_hdr == this->i);
	printf("%d %d %s %s\n", xlate <ipinfo_t *> (this->i)->ip_ver,
	    xlate <ipinfo_t *> (this->i)->ip_plength, xlate <ipinfo_t *> (this->i)->ip_saddr,
	    xlate <ipinfo_t *> (this->i)->ip_daddr);
	exit(0);
}
END
dtrace -qs p.d -c 'ping -6 -c 1 -W 2 ::1' | grep -v -e bytes -e packets -e round -e statistics -e '^$'
