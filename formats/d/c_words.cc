// SPDX-License-Identifier: GPL-2.0
//
// Words of GNU C: the table, and the attributes that change a layout.
#include "formats/d/c_words.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>
#include <string>

namespace dfr::d {
namespace {

struct WordEntry {
	std::string_view text;
	CWordInfo info;
};

constexpr WordEntry kWords[] = {
    {"__attribute__", {CWord::Attribute, {}}},
    {"__attribute", {CWord::Attribute, {}}},
    {"__asm__", {CWord::Parenthesized, {}}},
    {"__asm", {CWord::Parenthesized, {}}},
    {"__extension__", {}},
    {"__inline", {}},
    {"__inline__", {}},
    {"_Noreturn", {}},
    {"__thread", {}},
    {"__const", {CWord::Keyword, Tok::Const}},
    {"__const__", {CWord::Keyword, Tok::Const}},
    {"__volatile", {CWord::Keyword, Tok::Volatile}},
    {"__volatile__", {CWord::Keyword, Tok::Volatile}},
    {"__restrict", {CWord::Keyword, Tok::Restrict}},
    {"__restrict__", {CWord::Keyword, Tok::Restrict}},
    {"__signed", {CWord::Keyword, Tok::Signed}},
    {"__signed__", {CWord::Keyword, Tok::Signed}},
};

// "__packed__" is "packed".
std::string_view bare(std::string_view word) {
	return word.size() > 4 && word.starts_with("__") && word.ends_with("__")
	           ? word.substr(2, word.size() - 4)
	           : word;
}

// GCC's greatest alignment, which `aligned` alone asks for.
constexpr uint32_t kMostAligned = 16;

// A constant expression of C as headers write them for an alignment: numbers, + - * / << | & and parentheses,
// sizeof and alignof of a basic type.
class Constant {
public:
	explicit Constant(std::string_view text) : text_(text) {}

	// What the parentheses at the front hold; nothing if it is more than this knows.
	std::optional<uint64_t> value() {
		const uint64_t found = unary();
		return good_ ? std::optional(found) : std::nullopt;
	}

private:
	struct Operator {
		std::string_view text;
		unsigned level;
	};

	void blanks() {
		while (at_ < text_.size() &&
		       std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
			at_++;
	}

	bool accept(std::string_view what) {
		blanks();
		const bool here = text_.substr(at_).starts_with(what);
		at_ += here ? what.size() : 0;
		return here;
	}

	std::string_view word() {
		blanks();
		const size_t begin = at_;
		while (at_ < text_.size() && is_word(text_[at_]))
			at_++;
		return text_.substr(begin, at_ - begin);
	}

	uint64_t fail() {
		good_ = false;
		return 0;
	}

	uint64_t binary(unsigned level) {
		static constexpr Operator kOperators[] = {{"|", 0}, {"&", 1}, {"<<", 2}, {"+", 3},
		                                          {"-", 3}, {"*", 4}, {"/", 4}};
		uint64_t left = level > 4 ? unary() : binary(level + 1);
		for (bool more = level <= 4; more && good_;) {
			more = false;
			for (const Operator& one : kOperators) {
				if (one.level != level || !accept(one.text))
					continue;
				const uint64_t right = binary(level + 1);
				left = one.text == "|"    ? left | right
				       : one.text == "&"  ? left & right
				       : one.text == "+"  ? left + right
				       : one.text == "-"  ? left - right
				       : one.text == "*"  ? left * right
				       : one.text == "<<" ? (right < 64 ? left << right : fail())
				       : right            ? left / right
				                          : fail();
				more = true;
				break;
			}
		}
		return left;
	}

	uint64_t unary() {
		if (accept("(")) {
			const bool deep = ++depth_ > 64;
			const uint64_t inner = deep ? fail() : binary(0);
			depth_--;
			return good_ && accept(")") ? inner : fail();
		}
		const std::string_view name = word();
		if (name.empty())
			return fail();
		if (name == "sizeof" || bare(name) == "alignof" || name == "_Alignof")
			return accept("(") ? type_size() : fail();
		const std::string number(name);
		char* end = nullptr;
		const uint64_t found = std::strtoull(number.c_str(), &end, 0);
		return end != number.c_str() &&
		               std::string_view(end).find_first_not_of("uUlL") == std::string_view::npos
		           ? found
		           : fail();
	}

	// On the machines that D runs on, a basic type's alignment is its size.
	uint64_t type_size() {
		uint64_t size = 0;
		unsigned longs = 0;
		for (std::string_view one = word(); !one.empty(); one = word()) {
			if (one == "long")
				longs++;
			else if (one == "char")
				size = 1;
			else if (one == "short")
				size = 2;
			else if (one == "double")
				size = 8;
			else if (one == "float")
				size = 4;
			else if (one == "int" || one == "unsigned" || one == "signed")
				size = size ? size : 4;
			else if (one == "void")
				continue;
			else
				return fail();
		}
		if (longs)
			size = size == 8 ? 16 : 8;
		while (accept("*"))
			size = 8;
		return size && accept(")") ? size : fail();
	}

	std::string_view text_;
	size_t at_ = 0;
	unsigned depth_ = 0;
	bool good_ = true;
};

// What aligned asks for; nothing if that is not known.
std::optional<uint32_t> alignment(std::string_view text) {
	if (text.empty() || text[0] != '(')
		return kMostAligned;
	const auto given = Constant(text).value();
	return given && std::has_single_bit(*given) && *given <= UINT32_MAX ? std::optional<uint32_t>(*given)
	                                                                    : std::nullopt;
}

// The bytes of the integer that mode(...) names.
uint32_t mode_bytes(std::string_view text) {
	const size_t begin = std::min(text.find_first_not_of("( "), text.size());
	size_t end = begin;
	while (end < text.size() && is_word(text[end]))
		end++;
	const std::string_view mode = bare(text.substr(begin, end - begin));
	return mode == "QI" || mode == "byte"                        ? 1
	       : mode == "HI"                                        ? 2
	       : mode == "SI"                                        ? 4
	       : mode == "DI" || mode == "word" || mode == "pointer" ? 8
	                                                             : 0;
}

} // namespace

const CWordInfo* find_c_word(std::string_view text) {
	if (!text.starts_with('_'))
		return nullptr;
	for (const WordEntry& one : kWords) {
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
		if (i < text.size() && text[i] == '"') { // what deprecated("...") says
			for (i++; i < text.size() && text[i] != '"'; i++)
				i += text[i] == '\\';
			continue;
		}
		const std::string_view word = bare(text.substr(begin, i - begin));
		const std::string_view rest =
		    text.substr(std::min(text.find_first_not_of(' ', i), text.size()));
		if (word == "packed")
			out.packed = true;
		else if (word == "aligned") {
			const auto given = alignment(rest);
			out.unclear |= !given;
			out.align = std::max(out.align, given.value_or(0));
		} else if (word == "mode")
			out.bytes = mode_bytes(rest);
	}
}

} // namespace dfr::d
