// SPDX-License-Identifier: GPL-2.0
/*
 * Floating point by integer instructions: IEEE 754 doubles as bit patterns,
 * rounded to nearest even, subnormals and infinities as the standard has them.
 * D has floats, but probe context in the kernel may not use floating-point registers.
 * Arithmetic gives one NaN only, the quiet one without a payload, so that results do
 * not depend on the machine. Probe context: no tables, loops of at most 64 steps.
 *
 * A finite number other than 0 is held as  fraction * 2^(exponent - 62)  with
 * the fraction's highest bit at bit 62. Its upper 53 bits are the result; the 10 bits
 * below decide the rounding, and the lowest of these is sticky: 1 if any bit that was
 * shifted out is 1.
 */
#include "kmod/engine/dif/machine.h"

#define SIGN	      (1ull << 63)
#define INFINITY_BITS 0x7ff0000000000000ull
#define NAN_BITS      0x7ff8000000000000ull
#define FRACTION_BITS 0x000fffffffffffffull
#define TOP	      62

struct soft_number {
	u64 sf_fraction; /* 0: zero */
	s32 sf_exponent;
	bool sf_negative;
};

static bool is_nan(u64 a)
{
	return (a & ~SIGN) > INFINITY_BITS;
}

static bool is_infinite(u64 a)
{
	return (a & ~SIGN) == INFINITY_BITS;
}

static bool is_zero(u64 a)
{
	return (a & ~SIGN) == 0;
}

static int leading_zeros(u64 n)
{
	return __builtin_clzll(n);
}

/* A right shift that sets the lowest bit if any bit that it shifts out is 1. */
static u64 shift_sticky(u64 n, u32 by)
{
	if (!by)
		return n;
	if (by > 63)
		return n != 0;
	return n >> by | ((n << (64 - by)) != 0);
}

static struct soft_number unpack(u64 a)
{
	struct soft_number n;
	int exponent = (int)(a >> 52 & 0x7ff), shift;

	n.sf_negative = a >> 63;
	n.sf_fraction = a & FRACTION_BITS;
	n.sf_exponent = 0;
	if (exponent) {
		n.sf_fraction = (n.sf_fraction | 1ull << 52) << 10;
		n.sf_exponent = exponent - 1023;
	} else if (n.sf_fraction) {
		shift = leading_zeros(n.sf_fraction) - 1;
		n.sf_fraction <<= shift;
		n.sf_exponent = -1022 + 10 - shift;
	}
	return n;
}

/* Rounds. The fraction may have its highest bit anywhere but at 63. */
static u64 pack(struct soft_number n)
{
	u64 sign = n.sf_negative ? SIGN : 0, bits, rest;
	s32 exponent, shift;

	if (!n.sf_fraction)
		return sign;
	shift = leading_zeros(n.sf_fraction) - 1;
	bits = n.sf_fraction << shift;
	exponent = n.sf_exponent - shift + 1023;
	if (exponent >= 2047)
		return sign | INFINITY_BITS;
	if (exponent <= 0) {
		bits = shift_sticky(bits, (u32)(1 - exponent));
		exponent = 0;
	}
	rest = bits & 0x3ff;
	bits >>= 10;
	if (rest > 0x200 || (rest == 0x200 && bits & 1))
		bits++;
	/* exponent - 1, because the leading bit (bit 52) adds one; so does a carry from rounding. */
	if (exponent)
		bits += (u64)(exponent - 1) << 52;
	return sign | bits;
}

static u64 add(u64 a, u64 b)
{
	struct soft_number x, y, t;

	if (is_nan(a) || is_nan(b))
		return NAN_BITS;
	if (is_infinite(a))
		return is_infinite(b) && a != b ? NAN_BITS : a;
	if (is_infinite(b))
		return b;
	if (is_zero(a))
		return is_zero(b) ? a & b : b; /* -0 only if both are -0 */
	if (is_zero(b))
		return a;
	x = unpack(a);
	y = unpack(b);
	if (x.sf_exponent < y.sf_exponent ||
	    (x.sf_exponent == y.sf_exponent && x.sf_fraction < y.sf_fraction)) {
		t = x;
		x = y;
		y = t;
	}
	/* Shifted right by one, to leave room for the carry. */
	x.sf_fraction >>= 1;
	x.sf_exponent++;
	y.sf_fraction = shift_sticky(y.sf_fraction >> 1, (u32)(x.sf_exponent - 1 - y.sf_exponent));
	if (x.sf_negative == y.sf_negative) {
		x.sf_fraction += y.sf_fraction;
	} else {
		x.sf_fraction -= y.sf_fraction;
		if (!x.sf_fraction)
			return 0;
	}
	return pack(x);
}

static u64 multiply(u64 a, u64 b)
{
	u64 sign = (a ^ b) & SIGN;
	unsigned __int128 product;
	struct soft_number x, y;

	if (is_nan(a) || is_nan(b))
		return NAN_BITS;
	if (is_infinite(a) || is_infinite(b))
		return is_zero(a) || is_zero(b) ? NAN_BITS : sign | INFINITY_BITS;
	if (is_zero(a) || is_zero(b))
		return sign;
	x = unpack(a);
	y = unpack(b);
	product = (unsigned __int128)x.sf_fraction * y.sf_fraction; /* its highest bit is 124 or 125 */
	x.sf_fraction = (u64)(product >> 63) | ((u64)product << 1 != 0);
	x.sf_exponent += y.sf_exponent + 1;
	x.sf_negative = sign != 0;
	return pack(x);
}

static u64 divide(u64 a, u64 b)
{
	u64 sign = (a ^ b) & SIGN, quotient = 0, rest;
	struct soft_number x, y;
	int i;

	if (is_nan(a) || is_nan(b))
		return NAN_BITS;
	if (is_infinite(a))
		return is_infinite(b) ? NAN_BITS : sign | INFINITY_BITS;
	if (is_infinite(b))
		return sign;
	if (is_zero(b))
		return is_zero(a) ? NAN_BITS : sign | INFINITY_BITS;
	if (is_zero(a))
		return sign;
	x = unpack(a);
	y = unpack(b);
	/* Bit by bit. The quotient is in (1/2, 2), so 61 or 62 of the 62 bits are significant. */
	rest = x.sf_fraction;
	for (i = 0; i < TOP; i++) {
		quotient <<= 1;
		if (rest >= y.sf_fraction) {
			rest -= y.sf_fraction;
			quotient |= 1;
		}
		rest <<= 1;
	}
	x.sf_fraction = quotient << 1 | (rest != 0);
	x.sf_exponent -= y.sf_exponent;
	x.sf_negative = sign != 0;
	return pack(x);
}

static u64 compare(u64 a, u64 b)
{
	if (is_nan(a) || is_nan(b))
		return 2;
	if (a == b || (is_zero(a) && is_zero(b)))
		return 0;
	if ((a ^ b) & SIGN)
		return a & SIGN ? ~0ull : 1;
	/* Bit patterns of equal sign are in the order of the magnitudes. */
	return (a < b) == !(a & SIGN) ? ~0ull : 1;
}

static u64 from_u64(u64 value, bool negative)
{
	struct soft_number n;

	n.sf_negative = negative;
	n.sf_fraction = value;
	n.sf_exponent = TOP;
	if (value >> 63) {
		n.sf_fraction = shift_sticky(value, 1);
		n.sf_exponent++;
	}
	return value ? pack(n) : 0;
}

/* The integer part; ~0 when it does not fit in 64 bits. */
static u64 magnitude(u64 a, bool *fits)
{
	struct soft_number n = unpack(a);

	*fits = n.sf_exponent < 64;
	if (n.sf_exponent < 0 || !n.sf_fraction)
		return 0;
	if (!*fits)
		return ~0ull;
	if (n.sf_exponent > TOP)
		return n.sf_fraction << (n.sf_exponent - TOP);
	return n.sf_fraction >> (TOP - n.sf_exponent);
}

/* Rounds towards 0. A value that does not fit becomes the limit next to it, a NaN becomes 0. */
static u64 to_i64(u64 a)
{
	const u64 most = ~0ull >> 1;
	bool fits;
	u64 n;

	if (is_nan(a))
		return 0;
	n = magnitude(a & ~SIGN, &fits);
	if (a & SIGN)
		return !fits || n > most ? SIGN : 0 - n;
	return !fits || n > most ? most : n;
}

static u64 to_u64(u64 a)
{
	bool fits;

	if (is_nan(a) || a & SIGN)
		return 0;
	return magnitude(a, &fits);
}

/* Exact, because a double holds each float's fraction and exponent. */
static u64 from_f32(u64 bits)
{
	u64 sign = (bits & 1ull << 31) << 32, fraction = bits & 0x7fffff;
	int exponent = (int)(bits >> 23 & 0xff);
	struct soft_number n;

	if (exponent == 255)
		return fraction ? NAN_BITS : sign | INFINITY_BITS;
	if (exponent)
		return sign | (u64)(exponent - 127 + 1023) << 52 | fraction << 29;
	n.sf_negative = sign != 0;
	n.sf_fraction = fraction;
	n.sf_exponent = TOP - 149;
	return pack(n);
}

static u64 to_f32(u64 a)
{
	u64 sign = a >> 32 & 1ull << 31, bits, rest;
	struct soft_number n;
	s32 exponent;

	if (is_nan(a))
		return 0x7fc00000;
	if (is_infinite(a))
		return sign | 0x7f800000;
	n = unpack(a);
	if (!n.sf_fraction)
		return sign;
	exponent = n.sf_exponent + 127;
	if (exponent >= 255)
		return sign | 0x7f800000;
	bits = n.sf_fraction;
	if (exponent <= 0) {
		bits = shift_sticky(bits, (u32)(1 - exponent));
		exponent = 0;
	}
	/* The upper 24 of the 63 bits are the result. */
	rest = bits & ((1ull << 39) - 1);
	bits >>= 39;
	if (rest > 1ull << 38 || (rest == 1ull << 38 && bits & 1))
		bits++;
	if (exponent)
		bits += (u64)(exponent - 1) << 23;
	return sign | bits;
}

u64 dfr_softfloat(u32 subr, u64 a, u64 b)
{
	switch (subr) {
	case DIF_SUBR_F_ADD: return add(a, b);
	case DIF_SUBR_F_SUB: return add(a, is_nan(b) ? b : b ^ SIGN);
	case DIF_SUBR_F_MUL: return multiply(a, b);
	case DIF_SUBR_F_DIV: return divide(a, b);
	case DIF_SUBR_F_NEG: return a ^ SIGN;
	case DIF_SUBR_F_CMP: return compare(a, b);
	case DIF_SUBR_F_FROM_I64: return from_u64((s64)a < 0 ? 0 - a : a, (s64)a < 0);
	case DIF_SUBR_F_FROM_U64: return from_u64(a, false);
	case DIF_SUBR_F_TO_I64: return to_i64(a);
	case DIF_SUBR_F_TO_U64: return to_u64(a);
	case DIF_SUBR_F_FROM_F32: return from_f32(a & 0xffffffff);
	case DIF_SUBR_F_TO_F32: return to_f32(a);
	default: return 0;
	}
}
