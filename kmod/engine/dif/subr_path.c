// SPDX-License-Identifier: GPL-2.0
/*
 * Subroutines on names of files: basename, dirname, cleanpath. They work on the text
 * and look at no file. Probe context.
 */
#include "kmod/engine/dif/machine.h"

static u64 put_range(struct dfr_machine *m, const struct dfr_text *text, u64 from, u64 to)
{
	struct dfr_out out;

	if (!dfr_out_open(m, &out, m->m_strsize))
		return 0;
	for (; from < to; from++)
		dfr_out_put(&out, dfr_text_at(m, text, from));
	return dfr_out_close(m, &out);
}

static u64 put_byte(struct dfr_machine *m, u8 byte)
{
	struct dfr_out out;

	if (!dfr_out_open(m, &out, m->m_strsize))
		return 0;
	dfr_out_put(&out, byte);
	return dfr_out_close(m, &out);
}

static u64 basename(struct dfr_machine *m, const struct dfr_text *text, u64 n)
{
	u64 end = n, start;

	if (!n)
		return put_byte(m, '.');
	while (end && dfr_text_at(m, text, end - 1) == '/')
		end--;
	if (!end)
		return put_byte(m, '/');
	for (start = end; start && dfr_text_at(m, text, start - 1) != '/'; start--)
		;
	return put_range(m, text, start, end);
}

static u64 dirname(struct dfr_machine *m, const struct dfr_text *text, u64 n)
{
	u64 end = n;

	while (end && dfr_text_at(m, text, end - 1) == '/')
		end--;
	if (!end)
		return put_byte(m, n ? '/' : '.');
	while (end && dfr_text_at(m, text, end - 1) != '/')
		end--;
	if (!end)
		return put_byte(m, '.');
	while (end && dfr_text_at(m, text, end - 1) == '/')
		end--;
	return end ? put_range(m, text, 0, end) : put_byte(m, '/');
}

/* True: the output's last component is "..", so another ".." cannot take it away. */
static bool ends_in_dots(const struct dfr_out *out)
{
	u64 n = out->ou_len;

	return n >= 2 && out->ou_bytes[n - 1] == '.' && out->ou_bytes[n - 2] == '.' &&
	       (n == 2 || out->ou_bytes[n - 3] == '/');
}

/* Removes the last component and the slash before it. */
static void drop_component(struct dfr_out *out)
{
	while (out->ou_len) {
		u8 byte = out->ou_bytes[--out->ou_len];

		out->ou_bytes[out->ou_len] = 0;
		if (byte == '/')
			break;
	}
}

static u64 cleanpath(struct dfr_machine *m, const struct dfr_text *text)
{
	bool absolute = dfr_text_at(m, text, 0) == '/';
	struct dfr_out out;
	u64 i = 0;
	u8 byte;

	if (!dfr_out_open(m, &out, m->m_strsize))
		return 0;
	while ((byte = dfr_text_at(m, text, i))) {
		u8 next = dfr_text_at(m, text, i + 1);
		u8 third = next ? dfr_text_at(m, text, i + 2) : 0;
		u8 fourth = third ? dfr_text_at(m, text, i + 3) : 0;

		if (byte == '/' && next == '/') {
			i++;
		} else if (byte == '/' && next == '.' && third == '/') {
			i += 2;
		} else if (byte == '/' && next == '.' && third == '.' && (fourth == '/' || !fourth) &&
			   !ends_in_dots(&out)) {
			drop_component(&out);
			i += 3;
			if (!fourth && (absolute || out.ou_len))
				dfr_out_put(&out, '/');
			else if (fourth && !absolute && !out.ou_len)
				i++; /* nothing of a relative path is left: skip '/' before its rest */
		} else {
			dfr_out_put(&out, byte);
			i++;
		}
	}
	return dfr_out_close(m, &out);
}

u64 dfr_subr_path(struct dfr_machine *m, u32 subr)
{
	struct dfr_text text;
	u64 n;

	dfr_text_open(m, &text, m->m_tuple[0]);
	if (subr == DIF_SUBR_CLEANPATH)
		return cleanpath(m, &text);
	n = dfr_text_len(m, &text);
	if (m->m_fault)
		return 0;
	return subr == DIF_SUBR_BASENAME ? basename(m, &text, n) : dirname(m, &text, n);
}
