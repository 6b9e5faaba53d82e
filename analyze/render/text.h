// SPDX-License-Identifier: GPL-2.0
//
// Small pieces of text appended to a string: numbers, padding, escapes, hex
// dumps. What printf(3) would do, without its format parsing, because records
// are printed by the million. Not D's printf: see printf_format.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dfr::render {

// Right-aligned in `width` columns; never cut.
void put_signed(std::string& out, int64_t value, unsigned width = 0);
void put_unsigned(std::string& out, uint64_t value, unsigned width = 0);
void put_hex(std::string& out, uint64_t value);
void put_right(std::string& out, std::string_view text, unsigned width);
void put_left(std::string& out, std::string_view text, unsigned width);

// `value` as an integer of `size` bytes.
uint64_t cut_unsigned(uint64_t value, unsigned size);
int64_t cut_signed(uint64_t value, unsigned size);

// %C and %S: what does not print becomes \n, \t, ... or \ooo.
void put_escaped(std::string& out, std::string_view text);

// Printable text, followed by nothing or by nothing but NULs.
bool looks_like_text(std::span<const std::byte> bytes);
// Newline, header, rows of 16 bytes.
void put_hex_dump(std::string& out, std::span<const std::byte> bytes);

} // namespace dfr::render
