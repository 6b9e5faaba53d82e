#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
ifconfig lo up
cat >p.d <<'END'
inline struct iphdr *IP[struct sk_buff *s] = (struct iphdr *)(s->head + s->network_header);
fbt::ip_local_deliver:entry /((struct sk_buff *)arg0)->len > 80/ {
	this->s = (struct sk_buff *)arg0;
	this->i = IP[this->s];
	printf("%d %d %d %d ", xlate <ipv4info_t *> (this->i)->ipv4_ver,
	    xlate <ipv4info_t *> (this->i)->ipv4_ihl, xlate <ipv4info_t *> (this->i)->ipv4_tos,
	    xlate <ipv4info_t *> (this->i)->ipv4_length);
	printf("%d %d %d %s ", xlate <ipv4info_t *> (this->i)->ipv4_offset,
	    xlate <ipv4info_t *> (this->i)->ipv4_ttl, xlate <ipv4info_t *> (this->i)->ipv4_protocol,
	    xlate <ipv4info_t *> (this->i)->ipv4_protostr);
	printf("%s %s %x %x\n", xlate <ipv4info_t *> (this->i)->ipv4_saddr,
	    xlate <ipv4info_t *> (this->i)->ipv4_daddr, ntohl(xlate <ipv4info_t *> (this->i)->ipv4_src),
	    ntohl(xlate <ipv4info_t *> (this->i)->ipv4_dst));
	printf("%d\n",
	    (0x4500 + xlate <ipv4info_t *> (this->i)->ipv4_length +
	    xlate <ipv4info_t *> (this->i)->ipv4_ident +
	    (xlate <ipv4info_t *> (this->i)->ipv4_flags << 12 |
	    xlate <ipv4info_t *> (this->i)->ipv4_offset) +
	    (xlate <ipv4info_t *> (this->i)->ipv4_ttl << 8 |
	    xlate <ipv4info_t *> (this->i)->ipv4_protocol) +
	    xlate <ipv4info_t *> (this->i)->ipv4_checksum + 2 * 0x7f00 + 2) % 0xffff);
	printf("%d %d %s %s\n", xlate <ipinfo_t *> (this->i)->ip_ver,
	    xlate <ipinfo_t *> (this->i)->ip_plength, xlate <ipinfo_t *> (this->i)->ip_saddr,
	    xlate <ipinfo_t *> (this->i)->ip_daddr);
	printf("%d %d %d %d\n", xlate <pktinfo_t *> (this->s)->pkt_addr == arg0,
	    xlate <ipv4info_t *> (this->i)->ipv4_hdr == this->i,
	    xlate <csinfo_t *> (this->s->sk)->cs_addr == (uintptr_t)this->s->sk,
	    xlate <csinfo_t *> (this->s->sk)->cs_cid == (uint64_t)this->s->sk);
	printf("%s %d %d\n", xlate <ifinfo_t *> (this->s->dev)->if_name,
	    xlate <ifinfo_t *> (this->s->dev)->if_local,
	    xlate <ifinfo_t *> (this->s->dev)->if_addr == (uintptr_t)this->s->dev);
	exit(0);
}
END
dtrace -qs p.d -c 'ping -c 1 -W 2 127.0.0.1' | grep -v -e bytes -e packets -e round -e statistics -e '^$'
