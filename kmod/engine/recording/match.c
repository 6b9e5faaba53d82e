// SPDX-License-Identifier: GPL-2.0
/*
 * Which probes a description matches: globs, and the walk over all probes. Process context. It
 * takes en_provide_lock while providers make probes on demand, then en_probe_lock (registry.c).
 */
#include "kmod/engine/recording/store.h"

/* Globs. */

/*
 * Matches c against the bracket expression whose text behind '[' is at p. *end: what follows it;
 * NULL: it is not closed.
 */
static bool glob_bracket(const char *p, char c, const char **end)
{
	bool invert = *p == '!' || *p == '^';
	bool match = false;
	bool first = true;
	unsigned char low, high;

	if (invert)
		p++;
	for (; *p && (first || *p != ']'); first = false) {
		if (*p == '\\' && p[1])
			p++;
		low = (unsigned char)*p++;
		high = low;
		if (*p == '-' && p[1] && p[1] != ']') {
			p++;
			if (*p == '\\' && p[1])
				p++;
			high = (unsigned char)*p++;
		}
		if ((unsigned char)c >= low && (unsigned char)c <= high)
			match = true;
	}
	*end = *p == ']' ? p + 1 : NULL;
	return match != invert;
}

/* Matches one pattern element against one character; *next: the pattern behind the element. */
static bool glob_one(const char *p, char c, const char **next)
{
	bool match;

	*next = p + 1;
	if (*p == '?')
		return true;
	if (*p == '[') {
		match = glob_bracket(p + 1, c, next);
		if (*next)
			return match;
		*next = p + 1; /* unclosed: an ordinary character */
	}
	if (*p == '\\' && p[1]) {
		*next = p + 2;
		return p[1] == c;
	}
	return *p == c;
}

bool dfr_glob(const char *pattern, const char *text)
{
	const char *star = NULL; /* behind the last '*' */
	const char *resume = NULL;
	const char *next;

	if (!*pattern)
		return true;
	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			resume = text;
		} else if (*pattern && glob_one(pattern, *text, &next)) {
			pattern = next;
			text++;
		} else if (star) {
			pattern = star;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool dfr_glob_is_name(const char *pattern)
{
	return *pattern && !strpbrk(pattern, "*?[\\");
}

/* Matching. */

/*
 * True: a probe of the group may have this name (names of gone probes stay in the group). False:
 * none has.
 */
static bool group_may_have(const struct dfr_namegroup *group, const char *name)
{
	int i;

	for (i = 0; i < DFR_GROUP_NAMES; i++)
		if (group->ng_names[i] == name)
			return true;
	return group->ng_more;
}

/*
 * One field of a description, prepared for matching. A text without wildcards is one interned
 * pointer; if it is not interned, no probe has it. A glob remembers its last answer, because
 * neighbouring probes share texts.
 */
struct field {
	const char *fd_pattern; /* NULL: anything */
	const char *fd_exact;
	const char *fd_last;
	bool fd_last_match;
};

struct matcher {
	struct field mt_field[4];
	bool mt_never;
	bool mt_confined; /* only what users without privilege may use */
	u64 mt_since;	  /* only what was born later */
};

static void matcher_init(const struct dfr_engine *engine, struct matcher *matcher,
			 const char *const pattern[4])
{
	struct field *field;
	int i;

	memset(matcher, 0, sizeof(*matcher));
	for (i = 0; i < 4; i++) {
		field = &matcher->mt_field[i];
		if (!pattern[i] || !*pattern[i] || !strcmp(pattern[i], "*"))
			continue;
		field->fd_pattern = pattern[i];
		/* Names of providers are not interned. */
		if (i == 0 || !dfr_glob_is_name(pattern[i]))
			continue;
		field->fd_exact = dfr_string_find(engine, pattern[i]);
		if (!field->fd_exact)
			matcher->mt_never = true;
	}
}

static bool field_matches(struct field *field, const char *text)
{
	if (!field->fd_pattern)
		return true;
	if (field->fd_exact)
		return field->fd_exact == text;
	if (field->fd_last != text) {
		field->fd_last = text;
		field->fd_last_match = dfr_glob(field->fd_pattern, text);
	}
	return field->fd_last_match;
}

static bool probe_matches(struct matcher *matcher, const struct dfr_probe *probe)
{
	if (probe->pb_born <= matcher->mt_since || (matcher->mt_confined && !dfr_probe_open(probe)))
		return false;
	return field_matches(&matcher->mt_field[0], probe->pb_provider->pv_name) &&
	       field_matches(&matcher->mt_field[3], probe->pb_name) &&
	       field_matches(&matcher->mt_field[1], probe->pb_module) &&
	       field_matches(&matcher->mt_field[2], probe->pb_function);
}

/*
 * Calls visit for each matching probe with an id above `from` that was born after `since`, until
 * visit returns something other than 0.
 */
static int match_all(struct dfr_engine *engine, const char *const pattern[4], u32 from, u64 since,
		     bool confined, int (*visit)(struct dfr_probe *probe, void *arg), void *arg)
{
	struct matcher matcher;
	struct dfr_probe *probe;
	const char *function, *name;
	u32 id;
	int result = 0;

	matcher_init(engine, &matcher, pattern);
	matcher.mt_confined = confined;
	matcher.mt_since = since;
	if (matcher.mt_never)
		return 0;
	function = matcher.mt_field[2].fd_exact;
	if (function) {
		for (probe = engine->en_byname[dfr_string_hash(function) & (engine->en_byname_size - 1)];
		     probe && !result; probe = probe->pb_hash)
			if (probe->pb_id > from && probe_matches(&matcher, probe))
				result = visit(probe, arg);
		return result;
	}
	name = matcher.mt_field[3].fd_exact;
	for (id = from + 1; id <= engine->en_nprobes && !result; id++) {
		const struct dfr_namegroup *group = &engine->en_groups[id / DFR_GROUP_PROBES];

		if (group->ng_born <= since || (confined && !group->ng_confined) ||
		    (name && !group_may_have(group, name))) {
			id |= DFR_GROUP_PROBES - 1; /* the last of its group */
			continue;
		}
		probe = engine->en_byid[id];
		if (probe && probe_matches(&matcher, probe))
			result = visit(probe, arg);
	}
	return result;
}

static int provide(struct dfr_engine *engine, const char *const pattern[4])
{
	struct dfr_provider *provider;
	int result, error = 0;

	dfr_mutex_lock(&engine->en_provide_lock);
	for (provider = engine->en_providers; provider; provider = provider->pv_next)
		if (provider->pv_ops->provide &&
		    (!pattern[0] || !*pattern[0] || dfr_glob(pattern[0], provider->pv_name))) {
			result = provider->pv_ops->provide(provider, pattern);
			error = error ? error : result;
		}
	dfr_mutex_unlock(&engine->en_provide_lock);
	return error;
}

/*
 * Visits the probes born after `since` that a clause's description matches. A confined clause
 * makes no provider create probes. None is visited if a provider could not create all.
 */
int dfr_engine_match(struct dfr_engine *engine, const struct dfr_clause *clause, u64 since, bool do_provide,
		     int (*visit)(struct dfr_probe *probe, void *arg), void *arg)
{
	struct dfr_probe *probe;
	int result = 0;

	if (clause->cl_foreign || !dfr_engine_host_matches(engine, clause->cl_host))
		return 0;
	if (do_provide && !clause->cl_probe_id && !clause->cl_confined)
		result = provide(engine, clause->cl_pattern);
	if (result)
		return result;
	dfr_mutex_lock(&engine->en_probe_lock);
	if (clause->cl_probe_id) {
		probe = clause->cl_probe_id <= engine->en_nprobes ? engine->en_byid[clause->cl_probe_id]
								  : NULL;
		if (probe && probe->pb_born > since && (!clause->cl_confined || dfr_probe_open(probe)))
			result = visit(probe, arg);
	} else {
		result = match_all(engine, clause->cl_pattern, 0, since, clause->cl_confined, visit, arg);
	}
	dfr_mutex_unlock(&engine->en_probe_lock);
	return result;
}

struct visit_all {
	bool (*al_visit)(const struct dfr_probe *probe, void *arg);
	void *al_arg;
};

static int visit_all(struct dfr_probe *probe, void *arg)
{
	struct visit_all *all = arg;

	return !all->al_visit(probe, all->al_arg);
}

int dfr_probes_match(struct dfr_engine *engine, const char *const pattern[4], u32 from, bool confined,
		     bool (*visit)(const struct dfr_probe *probe, void *arg), void *arg)
{
	struct visit_all all = { visit, arg };
	int error = 0;

	if (!from && !confined)
		error = provide(engine, pattern);
	dfr_mutex_lock(&engine->en_probe_lock);
	match_all(engine, pattern, from ? from - 1 : 0, 0, confined, visit_all, &all);
	dfr_mutex_unlock(&engine->en_probe_lock);
	return error;
}

/*
 * The fifth field of a description: a glob that must match the machine's host name, vmname or OS
 * release.
 */
bool dfr_engine_host_matches(const struct dfr_engine *engine, const char *glob)
{
	static const char *const keys[] = { "host=", "vmname=", "release=" };
	const char *line = engine->en_machine;
	const char *end = engine->en_machine + engine->en_machine_size;
	const char *newline;
	char text[128];
	size_t i, n, key;

	if (!glob || !*glob)
		return true;
	for (; line < end; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		if (!newline)
			newline = end;
		for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			key = strlen(keys[i]);
			if ((size_t)(newline - line) < key || memcmp(line, keys[i], key))
				continue;
			n = (size_t)(newline - line) - key;
			if (n >= sizeof(text))
				n = sizeof(text) - 1;
			memcpy(text, line + key, n);
			text[n] = '\0';
			if (dfr_glob(glob, text))
				return true;
		}
	}
	return false;
}
