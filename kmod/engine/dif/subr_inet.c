// SPDX-License-Identifier: GPL-2.0
/*
 * Subroutines that write network and link addresses as text. The arguments are
 * pointers to addresses in network order. Probe context.
 */
#include "kmod/engine/dif/machine.h"

#define INET	   2  /* AF_INET */
#define INET6	   10 /* AF_INET6 */
#define ETHERNET   1  /* ARPHRD_ETHER */
#define INFINIBAND 32
#define INET_ROOM  16
#define INET6_ROOM 46

static void put_decimal(struct dfr_out *out, u32 n)
{
	if (n >= 100)
		dfr_out_put(out, (u8)('0' + n / 100));
	if (n >= 10)
		dfr_out_put(out, (u8)('0' + n / 10 % 10));
	dfr_out_put(out, (u8)('0' + n % 10));
}

static u8 hex(u32 n)
{
	return (u8)(n < 10 ? '0' + n : 'a' + n - 10);
}

static void put_hex(struct dfr_out *out, u32 n)
{
	int shift;
	bool started = false;

	for (shift = 12; shift >= 0; shift -= 4) {
		u32 digit = n >> shift & 15;

		started = started || digit || !shift;
		if (started)
			dfr_out_put(out, hex(digit));
	}
}

static void put_quad(struct dfr_out *out, const u8 *bytes)
{
	int i;

	for (i = 0; i < 4; i++) {
		if (i)
			dfr_out_put(out, '.');
		put_decimal(out, bytes[i]);
	}
}

static u32 group(const u8 *bytes, u32 i)
{
	return (u32)bytes[2 * i] << 8 | bytes[2 * i + 1];
}

/* The longest run of at least two zero groups among the first `n`; of equal runs the first. */
static u32 longest_run(const u8 *bytes, u32 n, u32 *start)
{
	u32 i, run = 0, best = 1;

	*start = n;
	for (i = 0; i < n; i++) {
		run = group(bytes, i) ? 0 : run + 1;
		if (run > best) {
			best = run;
			*start = i + 1 - run;
		}
	}
	return *start == n ? 0 : best;
}

static bool zeros(const u8 *bytes, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

static bool is_mapped(const u8 *bytes)
{
	return zeros(bytes, 10) && bytes[10] == 0xff && bytes[11] == 0xff;
}

/* ::a.b.c.d, but neither :: nor ::1. */
static bool is_compatible(const u8 *bytes)
{
	return zeros(bytes, 12) && !(zeros(bytes + 12, 3) && bytes[15] <= 1);
}

static void put_inet6(struct dfr_out *out, const u8 *bytes)
{
	bool tail = is_mapped(bytes) || is_compatible(bytes), colon = false;
	u32 n = tail ? 6 : 8, i, start, run = longest_run(bytes, n, &start);

	for (i = 0; i < n; i++) {
		if (run && i == start) {
			dfr_out_put(out, ':');
			dfr_out_put(out, ':');
			i += run - 1;
			colon = false;
			continue;
		}
		if (colon)
			dfr_out_put(out, ':');
		put_hex(out, group(bytes, i));
		colon = true;
	}
	if (tail) {
		if (colon)
			dfr_out_put(out, ':');
		put_quad(out, bytes + 12);
	}
}

static u64 inet_text(struct dfr_machine *m, u64 addr)
{
	struct dfr_out out;
	u8 bytes[4];

	if (!dfr_copy_in(m, bytes, addr, sizeof(bytes)) || !dfr_out_open(m, &out, INET_ROOM))
		return 0;
	put_quad(&out, bytes);
	return dfr_out_close(m, &out);
}

static u64 inet6_text(struct dfr_machine *m, u64 addr, bool mapped_is_plain)
{
	struct dfr_out out;
	u8 bytes[16];

	if (!dfr_copy_in(m, bytes, addr, sizeof(bytes)) || !dfr_out_open(m, &out, INET6_ROOM))
		return 0;
	if (mapped_is_plain && is_mapped(bytes))
		put_quad(&out, bytes + 12);
	else
		put_inet6(&out, bytes);
	return dfr_out_close(m, &out);
}

static u64 link_text(struct dfr_machine *m, u64 type, u64 addr)
{
	u64 n = type == ETHERNET ? 6 : type == INFINIBAND ? 20 : 0, i;
	struct dfr_out out;
	u8 bytes[20];

	if (!n) {
		dfr_fault(m, DIF_FAULT_ILLOP, type);
		return 0;
	}
	if (!dfr_copy_in(m, bytes, addr, n) || !dfr_out_open(m, &out, 3 * n))
		return 0;
	for (i = 0; i < n; i++) {
		if (i)
			dfr_out_put(&out, ':');
		dfr_out_put(&out, hex(bytes[i] >> 4));
		dfr_out_put(&out, hex(bytes[i] & 15));
	}
	return dfr_out_close(m, &out);
}

u64 dfr_subr_address(struct dfr_machine *m, u32 subr)
{
	const u64 *arg = m->m_tuple;

	switch (subr) {
	case DIF_SUBR_INET_NTOA: return inet_text(m, arg[0]);
	case DIF_SUBR_INET_NTOA6: return inet6_text(m, arg[0], true);
	case DIF_SUBR_LINK_NTOP: return link_text(m, arg[0], arg[1]);
	default: /* DIF_SUBR_INET_NTOP */
		if ((u32)arg[0] == INET)
			return inet_text(m, arg[1]);
		if ((u32)arg[0] == INET6)
			return inet6_text(m, arg[1], false);
		dfr_fault(m, DIF_FAULT_ILLOP, arg[0]);
		return 0;
	}
}
