/* SPDX-License-Identifier: GPL-2.0 */
/*
 * first-packet: when each network device sent and received its first packet, after the kernel's entry, and how many.
 *
 *   dfr replay boot.dfr
 */

#pragma D option quiet
#pragma D option bufpolicy=fill
#pragma D option bufsize=64k

int sent[string], received[string];

sdt:net::net_dev_start_xmit
/!sent[stringof(args[1]->name)]/
{
	sent[stringof(args[1]->name)] = 1;
	printf("%6d.%03d s  %-16s sends its first packet\n", timestamp / 1000000000, timestamp / 1000000 % 1000,
	    stringof(args[1]->name));
}

sdt:net::netif_receive_skb
/!received[stringof(args[0]->dev->name)]/
{
	received[stringof(args[0]->dev->name)] = 1;
	printf("%6d.%03d s  %-16s receives its first packet\n", timestamp / 1000000000, timestamp / 1000000 % 1000,
	    stringof(args[0]->dev->name));
}

sdt:net::net_dev_start_xmit { @packets[stringof(args[1]->name), "sent"] = count(); }
sdt:net::netif_receive_skb { @packets[stringof(args[0]->dev->name), "received"] = count(); }

END
{
	printf("packets\n");
	printa("  %-16s %-10s %@8d\n", @packets);
}
