// SPDX-License-Identifier: GPL-2.0
//
// The format strings of printf() and its kin, taken apart: for the compiler,
// which checks arguments, and for the renderer, which prints them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dfr::d {

struct Conversion {
	std::string literal;            // what is printed before it
	char kind = 0;                  // 'd', 's', ...; 0: the end of the format, only a literal
	size_t at = 0;                  // of its % in the format
	bool alternate = false;         // #
	bool zero = false;              // 0
	bool minus = false;             // -
	bool plus = false;              // +
	bool space = false;             // ' '
	bool group = false;             // '
	bool aggregation = false;       // @
	bool pointer_width = false;     // ?
	bool dynamic_width = false;     // *
	bool dynamic_precision = false; // .*
	std::optional<int> width;
	std::optional<int> precision;
	std::string size; // "h", "hh", "l", "ll", "L", "w"

	// "%-8lld", for messages.
	std::string text() const;
};

struct Format {
	std::vector<Conversion> parts; // %% is in the literals
	std::string error;             // not empty: the format is wrong, and why
	size_t error_at = 0;           // the conversion that is
};

Format parse_format(std::string_view text);

} // namespace dfr::d
