// SPDX-License-Identifier: GPL-2.0
//
// The lexer: D source to tokens, one at a time, from any offset (so a parser
// may go back). Macro variables are replaced here; control lines (#pragma,
// #line) are handed to whoever listens. Probe descriptions have a lexical
// grammar of their own and are read by the parser with probe_text().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/d/diagnostics.h"

namespace dfr::d {

enum class Tok : uint8_t {
	End,
	Int,
	Float,
	String,
	Ident,
	Aggregation,
	// keywords
	Char,
	Const,
	Counter,
	Double,
	Else,
	Enum,
	Extern,
	FloatKw,
	If,
	Import,
	Inline,
	IntKw,
	Long,
	Offsetof,
	Probe,
	Provider,
	Restrict,
	Self,
	Short,
	Signed,
	Sizeof,
	Static,
	StringKw,
	Stringof,
	Struct,
	This,
	Translator,
	Typedef,
	Union,
	Unsigned,
	Userland,
	Void,
	Volatile,
	Xlate,
	Auto,
	Break,
	Case,
	Continue,
	Default,
	Do,
	For,
	Goto,
	Register,
	Return,
	Switch,
	While,
	// punctuation
	LParen,
	RParen,
	LBracket,
	RBracket,
	LBrace,
	RBrace,
	Semicolon,
	Comma,
	Colon,
	Question,
	Dot,
	Arrow,
	Ellipsis,
	Not,
	Tilde,
	Inc,
	Dec,
	Plus,
	Minus,
	Star,
	Slash,
	Percent,
	Shl,
	Shr,
	Lt,
	Le,
	Gt,
	Ge,
	Eq,
	Ne,
	And,
	Xor,
	Or,
	LAnd,
	LXor,
	LOr,
	Assign,
	AddEq,
	SubEq,
	MulEq,
	DivEq,
	ModEq,
	AndEq,
	XorEq,
	OrEq,
	ShlEq,
	ShrEq,
	Bad // reported already
};

// The type that a number's spelling gives it.
enum class IntType : uint8_t { Int, UInt, Long, ULong, LongLong, ULongLong };

// What __attribute__ in a C header says of a layout.
struct CAttributes {
	bool packed = false;
	uint32_t align = 0;   // at least; 0: as the type has it
	uint32_t bytes = 0;   // of the integer: mode(...)
	bool unclear = false; // an alignment that nobody can tell here

	void add(const CAttributes& more) {
		packed |= more.packed;
		align = align > more.align ? align : more.align;
		bytes = more.bytes ? more.bytes : bytes;
		unclear |= more.unclear;
	}
};

struct Token {
	Tok kind = Tok::End;
	Place place;
	uint32_t end = 0;      // offset after it
	std::string_view text; // as written
	uint64_t value = 0;    // Int
	IntType int_type = IntType::Int;
	double real = 0;          // Float
	bool real_single = false; // Float with suffix f
	CAttributes attributes;   // that stood in front of it
	std::string string;       // String: with escapes replaced. Ident after a macro: the name

	std::string_view name() const { return string.empty() ? text : std::string_view(string); }
};

// $-macros of a program. Lookup marks an argument as used.
class Macros {
public:
	void set(std::string name, std::string value);                               // without the "$"
	void set_arguments(std::string program, std::vector<std::string> arguments); // $0, $1...
	void allow_undefined(bool allow) { allow_undefined_ = allow; }               // defaultargs

	struct Replacement {
		std::string text;
		bool defined = true; // false: undefined, but allowed
	};
	std::optional<Replacement> find(std::string_view name);
	// The first argument that nobody asked for, from 1; 0: none.
	unsigned first_unused() const;

private:
	std::map<std::string, std::string, std::less<>> named_;
	std::string program_;
	std::vector<std::string> arguments_;
	std::vector<bool> used_;
	bool allow_undefined_ = false;
};

class Lexer {
public:
	// `control` gets each control line without its "#" and its place.
	using Control = std::function<void(Place, std::string_view)>;
	Lexer(Diagnostics& diagnostics, uint32_t source, Macros& macros, Control control);

	// The text has gone through cpp: it may have words of GNU C (c_words.h).
	void allow_c() { c_words_ = true; }

	// The token at the offset, which moves behind it.
	Token next();
	uint32_t offset() const { return at_; }
	void rewind(uint32_t offset) { at_ = offset; }

	// Whether a comment or string runs into the end: reported.
	bool cut_off() const { return cut_off_; }

	// Skips blanks, comments and control lines; the next character or 0.
	char peek_char();
	Place here() const { return {source_, at_}; }
	uint32_t source() const { return source_; }

	// A probe description at the offset: characters up to a blank, a comma,
	// `/`, `{` or `;`, macros replaced. Empty if none starts here.
	std::string probe_text();
	// Whether the word here is a probe description rather than a declaration.
	bool probe_ahead();

private:
	Token plain();
	std::string_view parentheses();
	void skip_blanks();
	void skip_comment();
	void control_line();
	Token make(Tok kind, uint32_t begin);
	bool backtick_ahead();
	Token word(uint32_t begin);
	Token number(uint32_t begin);
	Token decimal_float(uint32_t begin);
	void to_quote(char quote);
	Token no_quote(uint32_t begin, char quote, std::string hint);
	Token character(uint32_t begin);
	Token string(uint32_t begin);
	Token macro(uint32_t begin);
	std::string_view macro_name();
	bool macro_number(uint32_t begin, std::string_view text, Token& token);
	Token punctuation(uint32_t begin);
	Token integer(uint32_t begin, std::string_view digits, unsigned base, std::string_view suffix);
	static std::string escapes(std::string_view body);
	Token fail(uint32_t begin, std::string_view tag, std::string message, std::string hint = {});
	char at(uint32_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }

	Diagnostics& diagnostics_;
	uint32_t source_;
	std::string_view text_;
	Macros& macros_;
	Control control_;
	uint32_t at_ = 0;
	bool cut_off_ = false;
	bool c_words_ = false;
	uint32_t controlled_ = 0;              // control lines before this offset were handed out
	uint32_t dotted_ = 0, dotted_end_ = 0; // words and dots that were looked over last
};

std::string_view token_name(Tok kind);

inline bool is_word_start(char c) {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool is_word(char c) {
	return is_word_start(c) || (c >= '0' && c <= '9');
}

// Where byte `index` of a string stands that is written at `literal`; `literal`, if it is not written there (a macro).
Place place_inside(const Sources& sources, Place literal, size_t index);

} // namespace dfr::d
