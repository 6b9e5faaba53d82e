/* SPDX-License-Identifier: GPL-2.0 */
/* IP packets, from Linux's iphdr and ipv6hdr. No header: numbers are 0 and texts are "<null>". */
#pragma D depends_on library net.d

typedef struct ipinfo {
	uint8_t ip_ver;
	uint32_t ip_plength;
	string ip_saddr;
	string ip_daddr;
} ipinfo_t;

translator ipinfo_t < struct iphdr *I > {
	ip_ver = I == NULL ? 0 : 4;
	ip_plength = I == NULL ? 0 : ntohs(I->tot_len) - I->ihl * 4;
	ip_saddr = I == NULL ? "<null>" : inet_ntoa(&(I->saddr));
	ip_daddr = I == NULL ? "<null>" : inet_ntoa(&(I->daddr));
};

translator ipinfo_t < struct ipv6hdr *I > {
	ip_ver = I == NULL ? 0 : 6;
	ip_plength = I == NULL ? 0 : ntohs(I->payload_len);
	ip_saddr = I == NULL ? "<null>" : inet_ntoa6(&(I->saddr));
	ip_daddr = I == NULL ? "<null>" : inet_ntoa6(&(I->daddr));
};

typedef struct ifinfo {
	string if_name;
	int8_t if_local;
	uintptr_t if_ipstack;
	uintptr_t if_addr;
} ifinfo_t;

/* flags: 8 is IFF_LOOPBACK. */
translator ifinfo_t < struct net_device *N > {
	if_name = N == NULL ? "<null>" : stringof(N->name);
	if_local = N == NULL ? 0 : (N->flags & 8) != 0;
	if_ipstack = N == NULL ? 0 : (uintptr_t)N->nd_net.net;
	if_addr = (uintptr_t)N;
};

typedef struct ipv4info {
	uint8_t ipv4_ver;
	uint8_t ipv4_ihl;
	uint8_t ipv4_tos;
	uint16_t ipv4_length;
	uint16_t ipv4_ident;
	uint8_t ipv4_flags;
	uint16_t ipv4_offset;
	uint8_t ipv4_ttl;
	uint8_t ipv4_protocol;
	string ipv4_protostr;
	uint16_t ipv4_checksum;
	ipaddr_t ipv4_src;
	ipaddr_t ipv4_dst;
	string ipv4_saddr;
	string ipv4_daddr;
	struct iphdr *ipv4_hdr;
} ipv4info_t;

inline string ip_protocol_text[int p] = p == 6 ? "TCP" : p == 17 ? "UDP" : p == 0 ? "IP" : p == 1 ? "ICMP" :
    p == 2 ? "IGMP" : p == 8 ? "EGP" : p == 41 ? "IPv6" : p == 43 ? "ROUTE" : p == 50 ? "ESP" : p == 51 ? "AH" :
    p == 58 ? "ICMPv6" : p == 89 ? "OSPF" : p == 132 ? "SCTP" : p == 255 ? "RAW" : lltostr(p);

translator ipv4info_t < struct iphdr *I > {
	ipv4_ver = I == NULL ? 0 : I->version;
	ipv4_ihl = I == NULL ? 0 : I->ihl * 4;
	ipv4_tos = I == NULL ? 0 : I->tos;
	ipv4_length = I == NULL ? 0 : ntohs(I->tot_len);
	ipv4_ident = I == NULL ? 0 : ntohs(I->id);
	ipv4_flags = I == NULL ? 0 : ntohs(I->frag_off) >> 12;
	ipv4_offset = I == NULL ? 0 : ntohs(I->frag_off) & 0x1fff;
	ipv4_ttl = I == NULL ? 0 : I->ttl;
	ipv4_protocol = I == NULL ? 0 : I->protocol;
	ipv4_protostr = I == NULL ? "<null>" : ip_protocol_text[I->protocol];
	ipv4_checksum = I == NULL ? 0 : ntohs(I->check);
	ipv4_src = I == NULL ? 0 : I->saddr;
	ipv4_dst = I == NULL ? 0 : I->daddr;
	ipv4_saddr = I == NULL ? "<null>" : inet_ntoa(&(I->saddr));
	ipv4_daddr = I == NULL ? "<null>" : inet_ntoa(&(I->daddr));
	ipv4_hdr = I;
};

typedef struct ipv6info {
	uint8_t ipv6_ver;
	uint8_t ipv6_tclass;
	uint32_t ipv6_flow;
	uint16_t ipv6_plen;
	uint8_t ipv6_nexthdr;
	string ipv6_nextstr;
	uint8_t ipv6_hlim;
	struct in6_addr *ipv6_src;
	struct in6_addr *ipv6_dst;
	string ipv6_saddr;
	string ipv6_daddr;
	struct ipv6hdr *ipv6_hdr;
} ipv6info_t;

translator ipv6info_t < struct ipv6hdr *I > {
	ipv6_ver = I == NULL ? 0 : I->version;
	ipv6_tclass = I == NULL ? 0 : (I->priority << 4) | (I->flow_lbl[0] >> 4);
	ipv6_flow = I == NULL ? 0 : ((I->flow_lbl[0] & 0xf) << 16) | (I->flow_lbl[1] << 8) | I->flow_lbl[2];
	ipv6_plen = I == NULL ? 0 : ntohs(I->payload_len);
	ipv6_nexthdr = I == NULL ? 0 : I->nexthdr;
	ipv6_nextstr = I == NULL ? "<null>" : ip_protocol_text[I->nexthdr];
	ipv6_hlim = I == NULL ? 0 : I->hop_limit;
	ipv6_src = I == NULL ? (struct in6_addr *)NULL : &(I->saddr);
	ipv6_dst = I == NULL ? (struct in6_addr *)NULL : &(I->daddr);
	ipv6_saddr = I == NULL ? "<null>" : inet_ntoa6(&(I->saddr));
	ipv6_daddr = I == NULL ? "<null>" : inet_ntoa6(&(I->daddr));
	ipv6_hdr = I;
};
