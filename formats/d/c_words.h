// SPDX-License-Identifier: GPL-2.0
//
// Words of GNU C that the C library's and the kernel's headers use and D does
// not have. The lexer knows them in preprocessed text only (-C), so that they
// mean nothing in other programs.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/d/lexer.h"

namespace dfr::d {

enum class CWord : uint8_t {
	Plain,         // says nothing about types: left out
	Parenthesized, // the same, and what its parentheses hold
	Attribute,
	Keyword // another spelling of one of D's
};

struct CWordInfo {
	CWord kind = CWord::Plain;
	Tok keyword = Tok::Ident;
};

const CWordInfo* find_c_word(std::string_view text);
// What `((packed, aligned(8)))` says of a layout, added to what was said before.
void read_attribute(std::string_view text, CAttributes& out);

} // namespace dfr::d
