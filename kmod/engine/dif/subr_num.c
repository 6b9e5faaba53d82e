// SPDX-License-Identifier: GPL-2.0
/*
 * Subroutines on numbers: numbers to text and back, byte order, device numbers.
 * Probe context.
 */
#include "kmod/engine/dif/machine.h"

static bool good_base(struct dfr_machine *m, u64 base)
{
	if (base >= 2 && base <= 36)
		return true;
	dfr_fault(m, DIF_FAULT_ILLOP, base);
	return false;
}

/* Base 10 has a sign, base 8 the prefix 0, base 16 the prefix 0x. */
static u64 to_text(struct dfr_machine *m, u64 value, u64 base)
{
	bool minus = base == 10 && (s64)value < 0;
	bool zero = base == 16 || (base == 8 && value); /* a 0 in front */
	u64 n = minus + zero + (base == 16), rest;
	u8 *at;

	if (!good_base(m, base))
		return 0;
	if (minus)
		value = 0 - value;
	rest = value;
	do {
		n++;
		rest /= base;
	} while (rest);
	at = dfr_scratch(m, n + 1);
	if (!at)
		return 0;
	at += n;
	do {
		u64 digit = value % base;

		*--at = (u8)(digit < 10 ? '0' + digit : 'a' + digit - 10);
		value /= base;
	} while (value);
	if (base == 16)
		*--at = 'x';
	if (zero)
		*--at = '0';
	if (minus)
		*--at = '-';
	return dfr_address(at);
}

static u64 digit_of(u8 byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'z')
		return byte - 'a' + 10;
	if (byte >= 'A' && byte <= 'Z')
		return byte - 'A' + 10;
	return 99;
}

static bool is_space(u8 byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* As C's strtoll(): white space, a sign, 0x in base 16; a value that does not fit becomes the limit. */
static u64 from_text(struct dfr_machine *m, u64 addr, u64 base)
{
	struct dfr_text text;
	u64 i = 0, digit, value = 0, most;
	bool minus = false;
	u8 byte;

	if (!good_base(m, base))
		return 0;
	dfr_text_open(m, &text, addr);
	while (is_space(dfr_text_at(m, &text, i)))
		i++;
	byte = dfr_text_at(m, &text, i);
	if (byte == '-' || byte == '+') {
		minus = byte == '-';
		i++;
	}
	if (base == 16 && dfr_text_at(m, &text, i) == '0' && (dfr_text_at(m, &text, i + 1) | 32) == 'x' &&
	    digit_of(dfr_text_at(m, &text, i + 2)) < 16)
		i += 2;
	most = (~0ull >> 1) + minus;
	for (; (digit = digit_of(dfr_text_at(m, &text, i))) < base; i++)
		value = value > (most - digit) / base ? most : value * base + digit;
	if (m->m_fault)
		return 0;
	return minus ? 0 - value : value;
}

u64 dfr_subr_number(struct dfr_machine *m, u32 subr)
{
	u64 value = m->m_tuple[0], base = m->m_ntuple > 1 ? m->m_tuple[1] : 10;

	switch (subr) {
	case DIF_SUBR_LLTOSTR: return to_text(m, value, base);
	case DIF_SUBR_STRTOLL: return from_text(m, value, base);
	case DIF_SUBR_GETMAJOR: /* of the kernel's dev_t: 12 bits major, 20 bits minor */
		return (u32)value >> 20;
	case DIF_SUBR_GETMINOR: return value & 0xfffff;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	case DIF_SUBR_HTONS:
	case DIF_SUBR_NTOHS: return __builtin_bswap16((u16)value);
	case DIF_SUBR_HTONL:
	case DIF_SUBR_NTOHL: return __builtin_bswap32((u32)value);
	default: /* htonll, ntohll */ return __builtin_bswap64(value);
#else
	case DIF_SUBR_HTONS:
	case DIF_SUBR_NTOHS: return (u16)value;
	case DIF_SUBR_HTONL:
	case DIF_SUBR_NTOHL: return (u32)value;
	default: return value;
#endif
	}
}
