// SPDX-License-Identifier: GPL-2.0
//
// The lexer's tables and scanners. No locale, no regular expressions: a small
// program must compile in a few million instructions.
#include "formats/d/lexer.h"

#include <array>
#include <cstdlib>

#include "formats/d/c_words.h"
#include "formats/shown.h"

namespace dfr::d {
namespace {

struct Keyword {
	std::string_view text;
	Tok kind;
};

constexpr Keyword kKeywords[] = {
    {"char", Tok::Char},
    {"const", Tok::Const},
    {"counter", Tok::Counter},
    {"double", Tok::Double},
    {"else", Tok::Else},
    {"enum", Tok::Enum},
    {"extern", Tok::Extern},
    {"float", Tok::FloatKw},
    {"if", Tok::If},
    {"import", Tok::Import},
    {"inline", Tok::Inline},
    {"int", Tok::IntKw},
    {"long", Tok::Long},
    {"offsetof", Tok::Offsetof},
    {"probe", Tok::Probe},
    {"provider", Tok::Provider},
    {"restrict", Tok::Restrict},
    {"self", Tok::Self},
    {"short", Tok::Short},
    {"signed", Tok::Signed},
    {"sizeof", Tok::Sizeof},
    {"static", Tok::Static},
    {"string", Tok::StringKw},
    {"stringof", Tok::Stringof},
    {"struct", Tok::Struct},
    {"this", Tok::This},
    {"translator", Tok::Translator},
    {"typedef", Tok::Typedef},
    {"union", Tok::Union},
    {"unsigned", Tok::Unsigned},
    {"userland", Tok::Userland},
    {"void", Tok::Void},
    {"volatile", Tok::Volatile},
    {"xlate", Tok::Xlate},
    {"auto", Tok::Auto},
    {"break", Tok::Break},
    {"case", Tok::Case},
    {"continue", Tok::Continue},
    {"default", Tok::Default},
    {"do", Tok::Do},
    {"for", Tok::For},
    {"goto", Tok::Goto},
    {"register", Tok::Register},
    {"return", Tok::Return},
    {"switch", Tok::Switch},
    {"while", Tok::While},
};

struct Punctuation {
	std::string_view text;
	Tok kind;
};

// Longest first.
constexpr Punctuation kPunctuation[] = {
    {"<<=", Tok::ShlEq},  {">>=", Tok::ShrEq},   {"...", Tok::Ellipsis}, {"->", Tok::Arrow},
    {"++", Tok::Inc},     {"--", Tok::Dec},      {"<<", Tok::Shl},       {">>", Tok::Shr},
    {"<=", Tok::Le},      {">=", Tok::Ge},       {"==", Tok::Eq},        {"!=", Tok::Ne},
    {"&&", Tok::LAnd},    {"^^", Tok::LXor},     {"||", Tok::LOr},       {"+=", Tok::AddEq},
    {"-=", Tok::SubEq},   {"*=", Tok::MulEq},    {"/=", Tok::DivEq},     {"%=", Tok::ModEq},
    {"&=", Tok::AndEq},   {"^=", Tok::XorEq},    {"|=", Tok::OrEq},      {"(", Tok::LParen},
    {")", Tok::RParen},   {"[", Tok::LBracket},  {"]", Tok::RBracket},   {"{", Tok::LBrace},
    {"}", Tok::RBrace},   {";", Tok::Semicolon}, {",", Tok::Comma},      {":", Tok::Colon},
    {"?", Tok::Question}, {".", Tok::Dot},       {"!", Tok::Not},        {"~", Tok::Tilde},
    {"+", Tok::Plus},     {"-", Tok::Minus},     {"*", Tok::Star},       {"/", Tok::Slash},
    {"%", Tok::Percent},  {"<", Tok::Lt},        {">", Tok::Gt},         {"&", Tok::And},
    {"^", Tok::Xor},      {"|", Tok::Or},        {"=", Tok::Assign},
};

bool is_digit(char c) {
	return c >= '0' && c <= '9';
}
bool is_blank(char c) {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

int digit_value(char c) {
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

bool is_probe_char(char c) {
	return is_word(c) || std::string_view("-:.?*[]!\\$`+@%").find(c) != std::string_view::npos;
}

// What to write in place of a character that begins no token: some come from a word processor or a web page.
std::string meant_for(char32_t code) {
	if (code == 0xa0)
		return "this is a no-break space: write a space";
	if (code == 0x201c || code == 0x201d || code == 0x201e || code == 0xab || code == 0xbb)
		return "this is a typographic quote: write a plain \"";
	if (code == 0x2018 || code == 0x2019 || code == 0x201a)
		return "this is a typographic quote: write a plain '";
	return "D programs are made of ASCII characters; this one has no meaning here";
}

} // namespace

std::string_view token_name(Tok kind) {
	for (const Keyword& keyword : kKeywords) {
		if (keyword.kind == kind)
			return keyword.text;
	}
	for (const Punctuation& punctuation : kPunctuation) {
		if (punctuation.kind == kind)
			return punctuation.text;
	}
	return kind == Tok::End ? "end of program" : "token";
}

void Macros::set(std::string name, std::string value) {
	named_[std::move(name)] = std::move(value);
}

void Macros::set_arguments(std::string program, std::vector<std::string> arguments) {
	program_ = std::move(program);
	arguments_ = std::move(arguments);
	used_.assign(arguments_.size(), false);
}

std::optional<Macros::Replacement> Macros::find(std::string_view name) {
	if (is_digit(name.empty() ? '\0' : name[0])) {
		const unsigned long number = std::strtoul(std::string(name).c_str(), nullptr, 10);
		if (number == 0)
			return Replacement{program_};
		if (number <= arguments_.size()) {
			used_[number - 1] = true;
			return Replacement{arguments_[number - 1]};
		}
	} else if (const auto known = named_.find(name); known != named_.end()) {
		return Replacement{known->second};
	}
	if (allow_undefined_)
		return Replacement{{}, false};
	return std::nullopt;
}

unsigned Macros::first_unused() const {
	for (size_t i = 0; i < used_.size(); i++) {
		if (!used_[i])
			return i + 1;
	}
	return 0;
}

Lexer::Lexer(Diagnostics& diagnostics, uint32_t source, Macros& macros, Control control)
    : diagnostics_(diagnostics), source_(source), text_(diagnostics.sources().text(source)), macros_(macros),
      control_(std::move(control)) {}

Token Lexer::make(Tok kind, uint32_t begin) {
	Token token;
	token.kind = kind;
	token.place = {source_, begin};
	token.end = at_;
	token.text = text_.substr(begin, at_ - begin);
	return token;
}

Token Lexer::fail(uint32_t begin, std::string_view tag, std::string message, std::string hint) {
	diagnostics_.error(tag, {source_, begin}, std::move(message), std::move(hint));
	return make(Tok::Bad, begin);
}

void Lexer::skip_comment() {
	const uint32_t begin = at_;
	at_ += 2;
	while (at_ < text_.size()) {
		if (at(at_) == '*' && at(at_ + 1) == '/') {
			at_ += 2;
			return;
		}
		if (at(at_) == '/' && at(at_ + 1) == '*')
			diagnostics_.error("D_SYNTAX", {source_, at_}, "/* encountered inside a comment",
			                   "comments do not nest: end the first one with */");
		at_++;
	}
	cut_off_ = true;
	diagnostics_.error("D_SYNTAX", {source_, begin}, "end-of-file encountered before matching */",
	                   "end the comment with */");
}

void Lexer::control_line() {
	const uint32_t begin = at_;
	uint32_t end = begin;
	while (end < text_.size() && text_[end] != '\n')
		end += text_[end] == '\\' && at(end + 1) == '\n' ? 2 : 1;
	end = std::min<uint32_t>(end, text_.size());
	at_ = end;
	if (begin >= controlled_) {
		controlled_ = end;
		if (at(begin + 1) != '!')
			control_({source_, begin}, text_.substr(begin + 1, end - begin - 1));
	}
}

void Lexer::skip_blanks() {
	for (;;) {
		const char c = at(at_);
		if (at_ >= text_.size())
			return;
		if (is_blank(c)) {
			at_++;
		} else if (c == '\\' &&
		           (at(at_ + 1) == '\n' || (at(at_ + 1) == '\r' && at(at_ + 2) == '\n'))) {
			at_ += 2;
		} else if (c == '/' && at(at_ + 1) == '*') {
			skip_comment();
		} else if (c == '#') {
			uint32_t before = at_;
			while (before > 0 && (text_[before - 1] == ' ' || text_[before - 1] == '\t'))
				before--;
			if (before > 0 && text_[before - 1] != '\n')
				return;
			control_line();
		} else {
			return;
		}
	}
}

char Lexer::peek_char() {
	skip_blanks();
	return at(at_);
}

// What stands in the parentheses here, if any do; the offset moves behind them.
std::string_view Lexer::parentheses() {
	skip_blanks();
	const uint32_t begin = at_;
	unsigned open = 0;
	if (at(at_) != '(')
		return {};
	do {
		const Token one = plain();
		open += one.kind == Tok::LParen;
		open -= one.kind == Tok::RParen;
	} while (open && at_ < text_.size());
	return text_.substr(begin, at_ - begin);
}

Token Lexer::next() {
	CAttributes attributes;
	for (;;) {
		Token token = plain();
		const CWordInfo* const word =
		    c_words_ && token.kind == Tok::Ident ? find_c_word(token.text) : nullptr;
		if (!word || word->kind == CWord::Keyword) {
			if (word)
				token.kind = word->keyword;
			token.attributes = attributes;
			return token;
		}
		if (word->kind == CWord::Plain)
			continue;
		const std::string_view inside = parentheses();
		if (word->kind == CWord::Attribute)
			read_attribute(inside, attributes);
	}
}

Token Lexer::plain() {
	skip_blanks();
	const uint32_t begin = at_;
	const char c = at(begin);
	if (begin >= text_.size())
		return make(Tok::End, begin);
	if (is_word_start(c) || c == '`')
		return word(begin);
	if (is_digit(c) || (c == '.' && is_digit(at(begin + 1))))
		return number(begin);
	if (c == '"')
		return string(begin);
	if (c == '\'')
		return character(begin);
	if (c == '$')
		return macro(begin);
	if (c == '@') {
		at_++;
		while (is_word(at(at_)) && !(at_ == begin + 1 && is_digit(at(at_))))
			at_++;
		return make(Tok::Aggregation, begin);
	}
	return punctuation(begin);
}

// A module's name may hold dots, but only in front of its backtick. What was looked over is not looked over again.
bool Lexer::backtick_ahead() {
	if (at_ < dotted_ || at_ >= dotted_end_) {
		dotted_ = dotted_end_ = at_;
		while (is_word(at(dotted_end_)) || at(dotted_end_) == '.')
			dotted_end_++;
	}
	return at(dotted_end_) == '`';
}

Token Lexer::word(uint32_t begin) {
	bool scoped = false;
	while (is_word(at(at_)) || at(at_) == '`' ||
	       (at(at_) == '.' && is_word(at(at_ + 1)) && !scoped && backtick_ahead())) {
		scoped |= at(at_) == '`';
		at_++;
	}
	Token token = make(Tok::Ident, begin);
	if (scoped)
		return token;
	for (const Keyword& keyword : kKeywords) {
		if (keyword.text == token.text) {
			token.kind = keyword.kind;
			break;
		}
	}
	return token;
}

Token Lexer::number(uint32_t begin) {
	unsigned base = 10;
	if (at(begin) == '0' && (at(begin + 1) == 'x' || at(begin + 1) == 'X')) {
		base = 16;
		at_ += 2;
		while (digit_value(at(at_)) < 16)
			at_++;
	} else {
		while (is_digit(at(at_)))
			at_++;
		const char next = at(at_);
		const bool exponent = (next == 'e' || next == 'E') &&
		                      (is_digit(at(at_ + 1)) ||
		                       ((at(at_ + 1) == '-' || at(at_ + 1) == '+') && is_digit(at(at_ + 2))));
		if ((next == '.' && at(at_ + 1) != '.') || exponent)
			return decimal_float(begin);
		if (at(begin) == '0' && at_ - begin > 1)
			base = 8;
	}
	const uint32_t suffix = at_;
	while (is_word(at(at_)))
		at_++;
	const uint32_t prefix = base == 16 ? 2 : 0;
	return integer(begin, text_.substr(begin + prefix, suffix - begin - prefix), base,
	               text_.substr(suffix, at_ - suffix));
}

Token Lexer::decimal_float(uint32_t begin) {
	if (at(at_) == '.') {
		at_++;
		while (is_digit(at(at_)))
			at_++;
	}
	if (at(at_) == 'e' || at(at_) == 'E') {
		at_++;
		if (at(at_) == '-' || at(at_) == '+')
			at_++;
		while (is_digit(at(at_)))
			at_++;
	}
	const std::string digits(text_.substr(begin, at_ - begin));
	const uint32_t suffix = at_;
	while (is_word(at(at_)))
		at_++;
	const std::string_view letters = text_.substr(suffix, at_ - suffix);
	Token token = make(Tok::Float, begin);
	token.real_single = letters == "f" || letters == "F";
	if (!letters.empty() && !token.real_single && letters != "l" && letters != "L")
		return fail(suffix, "D_SYNTAX", "invalid suffix of a floating-point constant",
		            "only f, F, l and L may follow");
	token.real = std::strtod(digits.c_str(), nullptr);
	return token;
}

Token Lexer::integer(uint32_t begin, std::string_view digits, unsigned base, std::string_view suffix) {
	unsigned longs = 0;
	bool is_unsigned = false;
	bool digits_bad = digits.empty();
	for (const char c : suffix) {
		if ((c == 'u' || c == 'U') && !is_unsigned)
			is_unsigned = true;
		else if ((c == 'l' || c == 'L') && longs < 2)
			longs++;
		else
			digits_bad = true;
	}
	uint64_t value = 0;
	for (const char c : digits) {
		const unsigned digit = digit_value(c);
		if (digit >= base) {
			digits_bad = true;
			break;
		}
		if (value > (UINT64_MAX - digit) / base)
			return fail(begin, "D_INT_OFLOW",
			            "integer constant " + std::string(text_.substr(begin, at_ - begin)) +
			                " cannot be represented in any built-in integral type",
			            "the greatest is 0xffffffffffffffff");
		value = value * base + digit;
	}
	if (digits_bad)
		return fail(begin, "D_INT_DIGIT",
		            "invalid digit in integer constant " +
		                std::string(text_.substr(begin, at_ - begin)),
		            base == 8 ? "a leading 0 makes a number octal" : "");

	Token token = make(Tok::Int, begin);
	token.value = value;
	static constexpr uint64_t kMaximum[] = {INT32_MAX,  UINT32_MAX, INT64_MAX,
	                                        UINT64_MAX, INT64_MAX,  UINT64_MAX};
	unsigned type = longs * 2 + is_unsigned;
	// Decimal constants keep their sign, others take the first type that fits.
	const unsigned step = base == 10 || is_unsigned ? 2 : 1;
	while (type < 6 && value > kMaximum[type])
		type += step;
	if (type >= 6)
		return fail(begin, "D_INT_OFLOW",
		            "integer constant " + std::string(token.text) +
		                " cannot be represented in any built-in integral type",
		            "append u if it is meant to be unsigned");
	token.int_type = static_cast<IntType>(type);
	return token;
}

// Appends what stands at `at` of a literal, a character or an escape; how many bytes it is written with.
static size_t read_one(std::string_view body, size_t at, std::string& out) {
	if (body[at] != '\\' || at + 1 == body.size()) {
		out.push_back(body[at]);
		return 1;
	}
	const char c = body[at + 1];
	size_t i = at + 2;
	static constexpr std::string_view kNames = "abfnrtv\\\"'";
	static constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\\"'";
	if (const size_t known = kNames.find(c); known != std::string_view::npos) {
		out.push_back(kValues[known]);
	} else if (c == '\n') {
		return 2;
	} else if (c == '\r' && i < body.size() && body[i] == '\n') {
		return 3;
	} else if (c >= '0' && c <= '7') {
		unsigned value = 0;
		for (i = at + 1; i < at + 4 && i < body.size() && body[i] >= '0' && body[i] <= '7'; i++)
			value = value * 8 + (body[i] - '0');
		out.push_back(static_cast<char>(value));
	} else if (c == 'x' && i < body.size() && digit_value(body[i]) < 16) {
		unsigned value = 0;
		for (; i < body.size() && digit_value(body[i]) < 16; i++)
			value = value * 16 + digit_value(body[i]);
		out.push_back(static_cast<char>(value));
	} else {
		out.push_back('\\');
		out.push_back(c);
	}
	return i - at;
}

std::string Lexer::escapes(std::string_view body) {
	std::string out;
	out.reserve(body.size());
	for (size_t i = 0; i < body.size();)
		i += read_one(body, i, out);
	return out;
}

Place place_inside(const Sources& sources, Place literal, size_t index) {
	const std::string_view text = sources.text(literal.source);
	if (literal.offset >= text.size() || text[literal.offset] != '"')
		return literal;
	std::string before;
	uint32_t at = literal.offset + 1;
	while (before.size() < index && at < text.size())
		at += read_one(text, at, before);
	return {literal.source, at};
}

// Goes to the closing quote, or to where the line or the text ends before it.
void Lexer::to_quote(char quote) {
	at_++;
	while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
		if (text_.substr(at_, 3) == "\\\r\n")
			at_ += 3;
		else
			at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 2 : 1;
	}
}

Token Lexer::no_quote(uint32_t begin, char quote, std::string hint) {
	at_ = text_.size();
	cut_off_ = true;
	return fail(begin, "D_SYNTAX", std::string("end-of-file encountered before matching ") + quote,
	            std::move(hint));
}

Token Lexer::string(uint32_t begin) {
	to_quote('"');
	if (at_ >= text_.size())
		return no_quote(begin, '"', "close the string with \"");
	if (text_[at_] == '\n')
		return fail(begin, "D_STR_NL", "newline encountered in string literal",
		            "close the string with \" on its own line, or write \\n");
	at_++;
	Token token = make(Tok::String, begin);
	token.string = escapes(token.text.substr(1, token.text.size() - 2));
	// A string in D ends at its first NUL.
	if (const size_t nul = token.string.find('\0'); nul != std::string::npos)
		token.string.resize(nul);
	return token;
}

Token Lexer::character(uint32_t begin) {
	to_quote('\'');
	if (at_ >= text_.size())
		return no_quote(begin, '\'', "close it with '");
	if (text_[at_] == '\n')
		return fail(begin, "D_CHR_NL", "newline encountered in character constant",
		            "close it with '");
	at_++;
	Token token = make(Tok::Int, begin);
	const std::string bytes = escapes(token.text.substr(1, token.text.size() - 2));
	if (bytes.empty())
		return fail(begin, "D_CHR_NULL", "empty character constant",
		            "write '\\0' for the NUL character");
	if (bytes.size() > 8)
		return fail(begin, "D_CHR_OFLOW", "character constant is too long",
		            "at most 8 characters fit");
	if (bytes.size() == 1) {
		token.value = static_cast<int64_t>(static_cast<signed char>(bytes[0]));
	} else {
		for (const char c : bytes)
			token.value = token.value << 8 | static_cast<unsigned char>(c);
		if (bytes.size() > 4 || token.value > INT32_MAX) // an int has no room for it
			token.int_type = IntType::Long;
	}
	return token;
}

std::string_view Lexer::macro_name() {
	const uint32_t name_at = at_;
	if (is_digit(at(at_))) {
		while (is_digit(at(at_)))
			at_++;
	} else {
		while (is_word(at(at_)))
			at_++;
	}
	return text_.substr(name_at, at_ - name_at);
}

// A macro's value as a number. False: it is none.
bool Lexer::macro_number(uint32_t begin, std::string_view text, Token& token) {
	const bool negative = !text.empty() && text[0] == '-';
	const std::string_view digits = negative || (!text.empty() && text[0] == '+') ? text.substr(1) : text;
	if (digits.empty() || !is_digit(digits[0]))
		return false;
	char* end = nullptr;
	errno = 0;
	const std::string copy(digits);
	const unsigned long long number = std::strtoull(copy.c_str(), &end, 0);
	if (*end != '\0')
		return false;
	if (errno == ERANGE) {
		token =
		    fail(begin, "D_MACRO_OFLOW", "macro integer value " + std::string(text) + " overflows",
		         "at most 64 bits fit");
		return true;
	}
	token.kind = Tok::Int;
	token.value = negative ? -number : number;
	const bool wide = number > INT32_MAX;
	token.int_type = !wide ? IntType::Int : number > INT64_MAX ? IntType::ULong : IntType::Long;
	token.string.clear();
	return true;
}

Token Lexer::macro(uint32_t begin) {
	at_++;
	const bool as_string = at(at_) == '$';
	if (as_string)
		at_++;
	const std::string_view name = macro_name();
	const auto value = name.empty() ? std::nullopt : macros_.find(name);
	if (!value)
		return fail(
		    begin, name.empty() ? "D_SYNTAX" : "D_MACRO_UNDEF",
		    name.empty() ? "syntax error near \"$\""
		                 : (is_digit(name[0]) ? "macro argument " : "macro variable ") +
		                       std::string(text_.substr(begin, at_ - begin)) + " is not defined",
		    name.empty()        ? ""
		    : is_digit(name[0]) ? "give it after the program, or use -x defaultargs"
		    : name == "pid" || name == "target"
		        ? "the recording does not say what it was, or several say it: write the number"
		        : "known: $pid $ppid $pgid $sid $uid $euid $gid $egid $target");
	std::string_view text = value->text;
	Token token = make(Tok::String, begin);
	if (text.size() >= 2 && text.front() == '"' && text.back() == '"' && !as_string) {
		token.string = text.substr(1, text.size() - 2);
		return token;
	}
	token.string = value->text;
	if (as_string)
		return token;
	if (!value->defined) {
		token.kind = Tok::Int;
		token.string.clear();
		return token;
	}
	if (macro_number(begin, text, token))
		return token;
	bool identifier = !text.empty() && (is_word_start(text[0]) || text[0] == '`');
	for (const char c : text)
		identifier &= is_word(c) || c == '`';
	if (identifier) {
		token.kind = Tok::Ident;
		for (const Keyword& keyword : kKeywords) {
			if (keyword.text == text)
				token.kind = keyword.kind;
		}
	}
	return token;
}

Token Lexer::punctuation(uint32_t begin) {
	const std::string_view rest = text_.substr(begin);
	for (const Punctuation& one : kPunctuation) {
		if (rest.starts_with(one.text)) {
			at_ += one.text.size();
			return make(one.kind, begin);
		}
	}
	const Utf8Step step = utf8_step(rest);
	at_ += step.bytes;
	return fail(begin, "D_SYNTAX", "syntax error near \"" + harmless(rest.substr(0, step.bytes)) + "\"",
	            meant_for(step.valid ? step.code : 0));
}

std::string Lexer::probe_text() {
	skip_blanks();
	std::string out;
	for (;;) {
		const char c = at(at_);
		if (c == '$') {
			const uint32_t begin = at_++;
			if (at(at_) == '$')
				at_++;
			const uint32_t name = at_;
			if (is_digit(at(at_))) {
				while (is_digit(at(at_)))
					at_++;
			} else {
				while (is_word(at(at_)))
					at_++;
			}
			const auto value = macros_.find(text_.substr(name, at_ - name));
			if (!value)
				fail(begin, "D_MACRO_UNDEF",
				     "macro variable " + std::string(text_.substr(begin, at_ - begin)) +
				         " is not defined",
				     "give it after the program, or use -x defaultargs");
			else
				out += value->text;
		} else if (is_probe_char(c) && at_ < text_.size()) {
			out.push_back(c);
			at_++;
			if (c == '\\' && at_ < text_.size())
				out.push_back(text_[at_++]);
		} else {
			return out;
		}
	}
}

bool Lexer::probe_ahead() {
	skip_blanks();
	uint32_t ahead = at_;
	bool special = false;
	while (ahead < text_.size() && is_probe_char(text_[ahead])) {
		special |= !is_word(text_[ahead]) && text_[ahead] != '`';
		ahead++;
	}
	if (special)
		return true;
	const uint32_t begin = at_;
	const uint32_t back = at_;
	at_ = ahead;
	const char next = peek_char();
	const bool end = at_ >= text_.size();
	at_ = back;
	if (ahead == begin)
		return false;
	return end || next == '{' || next == '/' || next == ',';
}

} // namespace dfr::d
