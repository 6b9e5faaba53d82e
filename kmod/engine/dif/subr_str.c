// SPDX-License-Identifier: GPL-2.0
/*
 * Subroutines on strings. Arguments are read byte by byte, from the machine's
 * own memory or the kernel's, and never beyond strsize; results are new strings
 * in scratch, except where a pointer into the argument is the answer. Probe
 * context: each byte that is read is charged to the firing's work, because otherwise a
 * search could take strsize squared steps.
 */
#include "kmod/engine/dif/machine.h"

#define NOT_FOUND (~0ull)

static u64 join(struct dfr_machine *m, u64 a, u64 b)
{
	struct dfr_text x, y;
	u64 nx, ny, i;
	u8 *to;

	dfr_text_open(m, &x, a);
	dfr_text_open(m, &y, b);
	nx = dfr_text_len(m, &x);
	ny = dfr_text_len(m, &y);
	if (m->m_fault)
		return 0;
	if (nx + ny + 1 > m->m_strsize) {
		dfr_fault(m, DIF_FAULT_NOSCRATCH, 0);
		return 0;
	}
	to = dfr_scratch(m, nx + ny + 1);
	if (!to)
		return 0;
	for (i = 0; i < nx; i++)
		to[i] = dfr_text_at(m, &x, i);
	for (i = 0; i < ny; i++)
		to[nx + i] = dfr_text_at(m, &y, i);
	return dfr_address(to);
}

static u64 find_char(struct dfr_machine *m, u64 addr, u8 wanted, bool last)
{
	struct dfr_text text;
	u64 i, found = 0;
	u8 byte;

	dfr_text_open(m, &text, addr);
	for (i = 0; i < text.tx_limit; i++) {
		byte = dfr_text_at(m, &text, i);
		if (m->m_fault)
			return 0;
		if (byte == wanted) {
			found = addr + i;
			if (!last)
				break;
		}
		if (!byte)
			break;
	}
	return found;
}

struct search {
	struct dfr_text sea_in;
	struct dfr_text sea_what;
	u64 sea_len;
	u64 sea_whatlen;
};

static bool search_open(struct dfr_machine *m, struct search *se, u64 in, u64 what)
{
	dfr_text_open(m, &se->sea_in, in);
	dfr_text_open(m, &se->sea_what, what);
	se->sea_len = dfr_text_len(m, &se->sea_in);
	se->sea_whatlen = dfr_text_len(m, &se->sea_what);
	return !m->m_fault;
}

static bool matches_at(struct dfr_machine *m, struct search *se, u64 at)
{
	u64 i;

	for (i = 0; i < se->sea_whatlen; i++) {
		if (dfr_text_at(m, &se->sea_in, at + i) != dfr_text_at(m, &se->sea_what, i) || m->m_fault)
			return false;
	}
	return !m->m_fault;
}

static u64 first_from(struct dfr_machine *m, struct search *se, u64 from)
{
	u64 at;

	if (se->sea_whatlen > se->sea_len)
		return NOT_FOUND;
	for (at = from; at <= se->sea_len - se->sea_whatlen && !m->m_fault; at++) {
		if (matches_at(m, se, at))
			return at;
	}
	return NOT_FOUND;
}

static u64 last_up_to(struct dfr_machine *m, struct search *se, u64 upto)
{
	u64 at;

	if (se->sea_whatlen > se->sea_len)
		return NOT_FOUND;
	if (upto > se->sea_len - se->sea_whatlen)
		upto = se->sea_len - se->sea_whatlen;
	upto = dfr_plat_masked(upto, se->sea_len - se->sea_whatlen + 1);
	for (at = upto + 1; at-- > 0 && !m->m_fault;) {
		if (matches_at(m, se, at))
			return at;
	}
	return NOT_FOUND;
}

static u64 find_text(struct dfr_machine *m, u64 in, u64 what)
{
	struct search se;
	u64 at;

	if (!search_open(m, &se, in, what))
		return 0;
	at = first_from(m, &se, 0);
	return at == NOT_FOUND ? 0 : in + at;
}

static u64 index_of(struct dfr_machine *m)
{
	s64 from = m->m_ntuple > 2 ? (s64)(s32)m->m_tuple[2] : 0;
	struct search se;
	u64 at;

	if (!search_open(m, &se, m->m_tuple[0], m->m_tuple[1]))
		return 0;
	if (from < 0)
		from = 0;
	if ((u64)from >= se.sea_len && !se.sea_whatlen)
		return se.sea_len;
	if ((u64)from > se.sea_len)
		return NOT_FOUND;
	at = first_from(m, &se, dfr_plat_masked((u64)from, se.sea_len + 1));
	return m->m_fault ? 0 : at; /* NOT_FOUND is -1 */
}

static u64 rindex_of(struct dfr_machine *m)
{
	struct search se;
	s64 upto;
	u64 at;

	if (!search_open(m, &se, m->m_tuple[0], m->m_tuple[1]))
		return 0;
	upto = m->m_ntuple > 2 ? (s64)(s32)m->m_tuple[2] : (s64)se.sea_len;
	if (upto < 0)
		return se.sea_whatlen ? NOT_FOUND : 0;
	at = last_up_to(m, &se, (u64)upto);
	return m->m_fault ? 0 : at;
}

/* substr() follows Perl. A number far outside the string means the same as one just outside. */
static s64 clamp_to(s64 n)
{
	const s64 far = 1 << 20;

	return n < -far ? -far : n > far ? far : n;
}

static u64 substr(struct dfr_machine *m)
{
	struct dfr_text text;
	struct dfr_out out;
	s64 n, at = clamp_to((s64)m->m_tuple[1]), want;
	bool off_end;

	dfr_text_open(m, &text, m->m_tuple[0]);
	want = m->m_ntuple > 2 ? clamp_to((s64)m->m_tuple[2]) : (s64)m->m_strsize;
	off_end = want < 0; /* leave that many off the end */
	/* What is behind the wanted part is not read: a char array that is full has no NUL. */
	if (at >= 0 && !off_end && (u64)(at + want) < text.tx_limit)
		text.tx_limit = (u64)(at + want);
	n = (s64)dfr_text_len(m, &text);
	if (m->m_fault || !dfr_out_open(m, &out, m->m_strsize))
		return 0;
	if (at < 0) {
		at += n;
		/* Drop the part of the wanted range that lies before the string. */
		if (at < 0 && !off_end) {
			want += at;
			at = 0;
		}
	}
	if (off_end)
		want += n - at;
	if (at < 0 || at >= n)
		want = 0;
	at = (s64)dfr_plat_masked((u64)at, (u64)n);
	for (; want > 0 && at < n; want--, at++)
		dfr_out_put(&out, dfr_text_at(m, &text, (u64)at));
	return dfr_out_close(m, &out);
}

/* A set of bytes. */
struct byte_set {
	u64 bs_bits[4];
};

static bool has_byte(const struct byte_set *set, u8 byte)
{
	return set->bs_bits[byte >> 6] >> (byte & 63) & 1;
}

static void read_set(struct dfr_machine *m, struct byte_set *set, u64 addr)
{
	struct dfr_text text;
	u64 i;
	u8 byte;

	memset(set, 0, sizeof(*set));
	dfr_text_open(m, &text, addr);
	for (i = 0; (byte = dfr_text_at(m, &text, i)); i++)
		set->bs_bits[byte >> 6] |= 1ull << (byte & 63);
}

/* m_strtok is an address. One in scratch is of no use to the next clause, because that reuses scratch. */
static u64 tokenize(struct dfr_machine *m)
{
	struct byte_set set;
	struct dfr_text text;
	struct dfr_out out;
	u64 at = 0, start = m->m_tuple[0];
	bool first = start != 0;
	u8 byte;

	if (!first)
		start = m->m_strtok;
	if (!start)
		return 0;
	dfr_text_open(m, &text, start);
	if (!first && text.tx_limit > m->m_strtok_end - start)
		text.tx_limit = m->m_strtok_end - start;
	m->m_strtok_end = start + text.tx_limit;
	m->m_strtok = 0;
	read_set(m, &set, m->m_tuple[1]);
	while ((byte = dfr_text_at(m, &text, at)) && has_byte(&set, byte))
		at++;
	if (m->m_fault || !byte || !dfr_out_open(m, &out, m->m_strsize))
		return 0;
	while ((byte = dfr_text_at(m, &text, at)) && !has_byte(&set, byte)) {
		dfr_out_put(&out, byte);
		at++;
	}
	if (m->m_fault)
		return 0;
	if (byte)
		m->m_strtok = start + at + 1;
	return dfr_out_close(m, &out);
}

static u8 upper(u8 byte)
{
	return byte >= 'a' && byte <= 'z' ? byte - 32 : byte;
}

static u8 lower(u8 byte)
{
	return byte >= 'A' && byte <= 'Z' ? byte + 32 : byte;
}

static u64 change_case(struct dfr_machine *m, bool to_upper)
{
	struct dfr_text text;
	struct dfr_out out;
	u64 i;
	u8 byte;

	dfr_text_open(m, &text, m->m_tuple[0]);
	if (!dfr_out_open(m, &out, m->m_strsize))
		return 0;
	for (i = 0; (byte = dfr_text_at(m, &text, i)); i++)
		dfr_out_put(&out, to_upper ? upper(byte) : lower(byte));
	return dfr_out_close(m, &out);
}

u64 dfr_subr_string(struct dfr_machine *m, u32 subr)
{
	const u64 *arg = m->m_tuple;
	struct dfr_text text;

	switch (subr) {
	case DIF_SUBR_STRLEN: dfr_text_open(m, &text, arg[0]); return dfr_text_len(m, &text);
	case DIF_SUBR_STRJOIN: return join(m, arg[0], arg[1]);
	case DIF_SUBR_STRCHR: return find_char(m, arg[0], (u8)arg[1], false);
	case DIF_SUBR_STRRCHR: return find_char(m, arg[0], (u8)arg[1], true);
	case DIF_SUBR_STRSTR: return find_text(m, arg[0], arg[1]);
	case DIF_SUBR_STRTOK: return tokenize(m);
	case DIF_SUBR_SUBSTR: return substr(m);
	case DIF_SUBR_INDEX: return index_of(m);
	case DIF_SUBR_RINDEX: return rindex_of(m);
	case DIF_SUBR_TOUPPER: return change_case(m, true);
	default: /* DIF_SUBR_TOLOWER */ return change_case(m, false);
	}
}
