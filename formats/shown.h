// SPDX-License-Identifier: GPL-2.0
//
// Texts that somebody else wrote (names and sources in a recording, a host's name, a file's), as they may be
// printed: a terminal obeys some bytes, and a line's end in the middle of a text would begin a line that nobody
// here wrote. What takes them into a line that people read uses this. Not for what a D program prints
// (analyze/render/printf_format.h), which follows D's rules, nor for JSON (analyze/libdfr/json.h).
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace dfr {

// Of a text that is not empty: how many bytes of UTF-8 are a character here.
struct Utf8Step {
	size_t bytes = 1;
	bool valid = false;   // else: the first byte belongs to no character
	bool printed = false; // a character that can be seen, and that moves no others
	char32_t code = 0;    // if it is valid
};
Utf8Step utf8_step(std::string_view text);

// Bytes that are no characters, and characters that are not printed, become \x1b.
std::string harmless(std::string_view text);

// The same as an argument of printf(): good until the end of the statement in which it stands.
const char* shown(std::string_view text, std::string&& room = {});

// Lines that we have put together, with texts in them: ends of lines and tabs stay.
void print_lines(std::FILE* stream, std::string_view lines);

} // namespace dfr
