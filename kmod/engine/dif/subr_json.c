// SPDX-License-Identifier: GPL-2.0
/*
 * json(text, selector): the value that a selector like a.b[2].c names, as its
 * raw text (a string without its quotes, escapes as they stand; an object or array
 * from its bracket to the matching one), or NULL. One
 * pass, no recursion: values that the selector does not name are skipped by counting
 * brackets. The result is NULL where the text is damaged. Probe context: every step
 * advances in the text or in the selector, and strsize bounds both.
 */
#include "kmod/engine/dif/machine.h"

struct json {
	struct dfr_machine *js_m;
	struct dfr_text js_text;
	struct dfr_text js_selector;
	u64 js_at;  /* in the text */
	u64 js_sel; /* in the selector */
};

static u8 here(struct json *js)
{
	return dfr_text_at(js->js_m, &js->js_text, js->js_at);
}

static u8 sel(struct json *js)
{
	return dfr_text_at(js->js_m, &js->js_selector, js->js_sel);
}

static u8 skip_space(struct json *js)
{
	u8 byte;

	while ((byte = here(js)) == ' ' || byte == '\t' || byte == '\n' || byte == '\r')
		js->js_at++;
	return byte;
}

/* js_at is at the opening quote and moves behind the closing one. False: the text ends before that. */
static bool skip_string(struct json *js)
{
	u8 byte;

	js->js_at++;
	while ((byte = here(js)) != '"') {
		if (byte == '\\') {
			js->js_at++;
			byte = here(js);
		}
		if (!byte)
			return false;
		js->js_at++;
	}
	js->js_at++;
	return true;
}

static bool ends_scalar(u8 byte)
{
	return !byte || byte == ',' || byte == '}' || byte == ']' || byte == ':' || byte == ' ' ||
	       byte == '\t' || byte == '\n' || byte == '\r';
}

/* Moves js_at behind the next value, with all that it contains. */
static bool skip_value(struct json *js)
{
	u64 depth = 0, start = js->js_at;
	u8 byte = skip_space(js);

	do {
		byte = skip_space(js);
		if (!byte)
			return false;
		if (byte == '"') {
			if (!skip_string(js))
				return false;
		} else if (byte == '{' || byte == '[') {
			depth++;
			js->js_at++;
		} else if (byte == '}' || byte == ']') {
			if (!depth)
				return false;
			depth--;
			js->js_at++;
		} else if (depth && (byte == ',' || byte == ':')) {
			js->js_at++;
		} else {
			start = js->js_at;
			while (!ends_scalar(here(js)))
				js->js_at++;
			if (js->js_at == start)
				return false;
		}
	} while (depth);
	return true;
}

/* Is the member's name, at whose opening quote js_at is, the selector's next one? Moves js_at behind it. */
static bool name_matches(struct json *js, bool *damaged)
{
	u64 start = js->js_at + 1, end, i;
	u8 byte;

	*damaged = !skip_string(js);
	end = js->js_at - 1;
	for (i = 0; start + i < end; i++) {
		byte = dfr_text_at(js->js_m, &js->js_selector, js->js_sel + i);
		if (!byte || byte == '.' || byte == '[' ||
		    byte != dfr_text_at(js->js_m, &js->js_text, start + i))
			return false;
	}
	byte = dfr_text_at(js->js_m, &js->js_selector, js->js_sel + i);
	return i && (!byte || byte == '.' || byte == '[');
}

static void next_part(struct json *js)
{
	u8 byte;

	while ((byte = sel(js)) && byte != '.' && byte != '[')
		js->js_sel++;
	if (byte == '.')
		js->js_sel++;
}

/* Moves js_at to the value of the member that the selector names. False: there is none. */
static bool enter_object(struct json *js)
{
	bool damaged, found;

	if (skip_space(js) != '{')
		return false;
	js->js_at++;
	while (skip_space(js) == '"') {
		found = name_matches(js, &damaged);
		if (damaged || skip_space(js) != ':')
			return false;
		js->js_at++;
		if (found) {
			next_part(js);
			return true;
		}
		if (!skip_value(js) || skip_space(js) != ',')
			return false;
		js->js_at++;
	}
	return false;
}

/* Reads [number] from the selector. False: there is none. */
static bool read_index(struct json *js, u64 *index)
{
	u64 digits = 0;
	u8 byte;

	*index = 0;
	for (js->js_sel++; (byte = sel(js)) >= '0' && byte <= '9'; js->js_sel++) {
		if (++digits > 9)
			return false;
		*index = *index * 10 + byte - '0';
	}
	if (!digits || byte != ']')
		return false;
	js->js_sel++;
	if (sel(js) == '.')
		js->js_sel++;
	return true;
}

static bool enter_array(struct json *js)
{
	u64 index;

	if (!read_index(js, &index) || skip_space(js) != '[')
		return false;
	js->js_at++;
	if (skip_space(js) == ']')
		return false;
	for (; index; index--) {
		if (!skip_value(js) || skip_space(js) != ',')
			return false;
		js->js_at++;
	}
	return true;
}

static u64 take_value(struct json *js)
{
	u8 byte = skip_space(js);
	struct dfr_out out;
	u64 start = js->js_at, end;

	if (!skip_value(js))
		return 0;
	end = js->js_at;
	if (byte == '"') {
		start++;
		end--;
	}
	if (js->js_m->m_fault || !dfr_out_open(js->js_m, &out, js->js_m->m_strsize))
		return 0;
	for (; start < end; start++)
		dfr_out_put(&out, dfr_text_at(js->js_m, &js->js_text, start));
	return dfr_out_close(js->js_m, &out);
}

u64 dfr_subr_json(struct dfr_machine *m)
{
	struct json js;
	bool inside;

	js.js_m = m;
	js.js_at = 0;
	js.js_sel = 0;
	dfr_text_open(m, &js.js_text, m->m_tuple[0]);
	dfr_text_open(m, &js.js_selector, m->m_tuple[1]);
	while (sel(&js)) {
		inside = sel(&js) == '[' ? enter_array(&js) : enter_object(&js);
		if (!inside || m->m_fault)
			return 0;
	}
	return m->m_fault ? 0 : take_value(&js);
}
