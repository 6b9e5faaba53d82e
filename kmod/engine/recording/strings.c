// SPDX-License-Identifier: GPL-2.0
/*
 * The strings of probes, interned: one copy of each text, in a table by hash, kept until the
 * engine ends. en_probe_lock is held.
 */
#include "kmod/engine/recording/store.h"

#define STRINGS_FIRST 1024

static u32 text_hash(const char *text, u32 *size)
{
	const char *p = text;
	u32 hash = 0x811c9dc5;

	for (; *p; p++)
		hash = (hash ^ (u8)*p) * 0x01000193;
	*size = (u32)(p - text) + 1;
	return hash ^ (hash >> 15);
}

int dfr_strings_grow(struct dfr_engine *engine)
{
	u32 size = engine->en_strings_size ? engine->en_strings_size * 4 : STRINGS_FIRST;
	struct dfr_string **table = dfr_plat_alloc_shared(size * sizeof(*table));
	struct dfr_string *string, *next;
	u32 i;

	if (!table)
		return -ENOMEM;
	for (i = 0; i < engine->en_strings_size; i++) {
		for (string = engine->en_strings[i]; string; string = next) {
			next = string->ds_next;
			string->ds_next = table[string->ds_hash & (size - 1)];
			table[string->ds_hash & (size - 1)] = string;
		}
	}
	dfr_plat_free(engine->en_strings);
	engine->en_strings = table;
	engine->en_strings_size = size;
	return 0;
}

static const char *string_known(const struct dfr_engine *engine, const char *text, u32 hash, u32 size)
{
	const struct dfr_string *string;

	for (string = engine->en_strings[hash & (engine->en_strings_size - 1)]; string;
	     string = string->ds_next)
		if (string->ds_hash == hash && string->ds_size == size &&
		    !memcmp(string->ds_text, text, size))
			return string->ds_text;
	return NULL;
}

const char *dfr_string_find(const struct dfr_engine *engine, const char *text)
{
	u32 size;
	u32 hash = text_hash(text, &size);

	return string_known(engine, text, hash, size);
}

const char *dfr_string_intern(struct dfr_engine *engine, const char *text)
{
	struct dfr_string *string;
	u32 size, slot;
	u32 hash = text_hash(text, &size);
	const char *known = string_known(engine, text, hash, size);

	if (known)
		return known;
	/* If this fails, chains merely become longer. */
	if (engine->en_nstrings >= 2 * engine->en_strings_size)
		dfr_strings_grow(engine);
	string = dfr_plat_alloc_shared(sizeof(*string) + size);
	if (!string)
		return NULL;
	string->ds_hash = hash;
	string->ds_size = size;
	memcpy(string->ds_text, text, size);
	slot = hash & (engine->en_strings_size - 1);
	string->ds_next = engine->en_strings[slot];
	engine->en_strings[slot] = string;
	engine->en_nstrings++;
	return string->ds_text;
}

u32 dfr_string_hash(const char *interned)
{
	return dfr_container(interned, struct dfr_string, ds_text)->ds_hash;
}

void dfr_strings_free(struct dfr_engine *engine)
{
	struct dfr_string *string, *next;
	u32 i;

	for (i = 0; i < engine->en_strings_size; i++) {
		for (string = engine->en_strings[i]; string; string = next) {
			next = string->ds_next;
			dfr_plat_free(string);
		}
	}
	dfr_plat_free(engine->en_strings);
}
