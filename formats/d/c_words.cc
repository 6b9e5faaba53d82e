// SPDX-License-Identifier: GPL-2.0
//
// Words of GNU C: the table, and the attributes that change a layout.
#include "formats/d/c_words.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace dfr::d {
namespace {

struct Entry {
	std::string_view text;
	CWordInfo info;
};

constexpr Entry kWords[] = {
    {"__attribute__", {CWord::Attribute, {}}}, {"__attribute", {CWord::Attribute, {}}},
    {"__asm__", {CWord::Parenthesized, {}}}, {"__asm", {CWord::Parenthesized, {}}},
    {"__extension__", {}}, {"__inline", {}}, {"__inline__", {}}, {"_Noreturn", {}}, {"__thread", {}},
    {"__const", {CWord::Keyword, Tok::Const}}, {"__const__", {CWord::Keyword, Tok::Const}},
    {"__volatile", {CWord::Keyword, Tok::Volatile}}, {"__volatile__", {CWord::Keyword, Tok::Volatile}},
    {"__restrict", {CWord::Keyword, Tok::Restrict}}, {"__restrict__", {CWord::Keyword, Tok::Restrict}},
    {"__signed", {CWord::Keyword, Tok::Signed}}, {"__signed__", {CWord::Keyword, Tok::Signed}},
};

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// "__packed__" is "packed".
std::string_view bare(std::string_view word) {
	return word.size() > 4 && word.starts_with("__") && word.ends_with("__") ? word.substr(2, word.size() - 4) : word;
}

// GCC's greatest alignment, which `aligned` alone asks for.
constexpr uint32_t kMostAligned = 16;

uint32_t alignment(std::string_view text) {
	if (text.empty() || text[0] != '(')
		return kMostAligned;
	const unsigned long given = std::strtoul(std::string(text.substr(1)).c_str(), nullptr, 0);
	return given <= UINT32_MAX && (given & (given - 1)) == 0 ? given : 0; // an expression: as if it were not there
}

// The bytes of the integer that mode(...) names.
uint32_t mode_bytes(std::string_view text) {
	const size_t begin = std::min(text.find_first_not_of("( "), text.size());
	size_t end = begin;
	while (end < text.size() && is_word(text[end]))
		end++;
	const std::string_view mode = bare(text.substr(begin, end - begin));
	return mode == "QI" || mode == "byte" ? 1 : mode == "HI" ? 2 : mode == "SI" ? 4 : mode == "DI" || mode == "word" || mode == "pointer" ? 8 : 0;
}

} // namespace

const CWordInfo* find_c_word(std::string_view text) {
	if (!text.starts_with('_'))
		return nullptr;
	for (const Entry& one : kWords) {
		if (one.text == text)
			return &one.info;
	}
	return nullptr;
}

void read_attribute(std::string_view text, CAttributes& out) {
	for (size_t i = 0; i < text.size(); i++) {
		const size_t begin = i;
		while (i < text.size() && is_word(text[i]))
			i++;
		const std::string_view word = bare(text.substr(begin, i - begin));
		const std::string_view rest = text.substr(std::min(text.find_first_not_of(' ', i), text.size()));
		if (word == "packed")
			out.packed = true;
		else if (word == "aligned")
			out.align = std::max(out.align, alignment(rest));
		else if (word == "mode")
			out.bytes = mode_bytes(rest);
	}
}

} // namespace dfr::d
