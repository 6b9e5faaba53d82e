// SPDX-License-Identifier: GPL-2.0
//
// D's printf. Integers are formatted here (their size and sign come from the
// datum, not from the format), floating point by snprintf, dates by strftime in
// the consumer's local time.
#include "analyze/render/printf_format.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>

#include "analyze/render/names.h"
#include "analyze/render/text.h"
#include "formats/abi/dof.h"

namespace dfr::render {
namespace {

// Hostile formats may ask for any width; nobody reads more than this.
constexpr int kWidthMax = 4096;
constexpr size_t kConversionsMax = 1000; // what comes behind them prints as it stands
constexpr size_t kTextMax = 1 << 20;     // of one application, but for the conversion that comes to it

bool is_digit(char c) {
	return c >= '0' && c <= '9';
}

int parse_number(std::string_view text, size_t& at) {
	int value = 0;
	while (at < text.size() && is_digit(text[at]))
		value = std::min(value * 10 + (text[at++] - '0'), kWidthMax);
	return value;
}

void parse_flags(std::string_view text, size_t& at, PrintfConversion& conversion) {
	for (; at < text.size(); at++) {
		switch (text[at]) {
		case '#': conversion.alternate = true; break;
		case '0': conversion.zero = true; break;
		case '-': conversion.left = true; break;
		case '+': conversion.plus = true; break;
		case ' ': conversion.space = true; break;
		case '\'': conversion.group = true; break;
		case '?': conversion.pointer_width = true; break;
		case '@': conversion.value = true; break;
		default: return;
		}
	}
}

void parse_width(std::string_view text, size_t& at, PrintfConversion& conversion) {
	if (at < text.size() && text[at] == '*') {
		conversion.star_width = true;
		at++;
	} else {
		conversion.width = parse_number(text, at);
	}
	parse_flags(text, at, conversion); // '?' and '@' may follow a width
	if (at >= text.size() || text[at] != '.')
		return;
	at++;
	conversion.precision = 0;
	if (at < text.size() && text[at] == '*') {
		conversion.star_precision = true;
		at++;
	} else {
		conversion.precision = parse_number(text, at);
	}
	parse_flags(text, at, conversion);
}

struct Padding {
	int width = 0;
	bool left = false;
};

void put_padded(std::string& out, std::string_view text, Padding padding) {
	const auto width = static_cast<unsigned>(std::max(padding.width, 0));
	padding.left ? put_left(out, text, width) : put_right(out, text, width);
}

std::string group_thousands(std::string digits) {
	for (size_t at = digits.size(); at > 3;) {
		at -= 3;
		digits.insert(at, ",");
	}
	return digits;
}

constexpr size_t kDigitsMost = 24; // of 64 bits, and a sign

// In front of `end`; returns the first one.
char* put_digits(char* end, uint64_t value, char letter) {
	const auto put = [&](unsigned base, const char* table) {
		do {
			*--end = table[value % base];
			value /= base;
		} while (value != 0);
		return end;
	};
	switch (letter) {
	case 'o': return put(8, "01234567");
	case 'x':
	case 'p': return put(16, "0123456789abcdef");
	case 'X': return put(16, "0123456789ABCDEF");
	default: return put(10, "0123456789");
	}
}

// Without flags that change its text, as most are.
bool is_plain(const PrintfConversion& conversion) {
	return conversion.precision < 0 && !conversion.alternate && !conversion.group && !conversion.zero &&
	       !conversion.plus && !conversion.space;
}

// Sign, prefix, zeros and digits, as C's printf orders them.
void put_integer(std::string& out, const PrintfConversion& conversion, uint64_t magnitude, bool negative,
                 bool is_signed) {
	const char letter = conversion.letter;
	char room[kDigitsMost];
	char* const end = room + sizeof room;
	char* start = put_digits(end, magnitude, letter);
	if (is_plain(conversion)) {
		if (is_signed && negative)
			*--start = '-';
		return put_padded(out, {start, static_cast<size_t>(end - start)},
		                  {conversion.width, conversion.left});
	}
	std::string digits(start, static_cast<size_t>(end - start));
	if (conversion.precision == 0 && magnitude == 0)
		digits.clear();
	if (conversion.group && (letter == 'd' || letter == 'i' || letter == 'u'))
		digits = group_thousands(std::move(digits));
	if (conversion.precision > static_cast<int>(digits.size()))
		digits.insert(0, static_cast<size_t>(conversion.precision) - digits.size(), '0');
	std::string prefix;
	if (is_signed)
		prefix = negative ? "-" : conversion.plus ? "+" : conversion.space ? " " : "";
	if (conversion.alternate && magnitude != 0 && (letter == 'x' || letter == 'X'))
		prefix = letter == 'x' ? "0x" : "0X";
	if (conversion.alternate && letter == 'o' && (digits.empty() || digits[0] != '0'))
		prefix = "0";
	const size_t length = prefix.size() + digits.size();
	if (conversion.zero && !conversion.left && conversion.precision < 0 &&
	    length < static_cast<size_t>(conversion.width))
		digits.insert(0, static_cast<size_t>(conversion.width) - length, '0');
	put_padded(out, prefix + digits, {conversion.width, conversion.left});
}

void put_integer_datum(std::string& out, const PrintfConversion& conversion, const Datum& datum) {
	const bool decimal = conversion.letter == 'd' || conversion.letter == 'i';
	const bool as_signed = conversion.letter == 'i' || (conversion.letter == 'd' && datum.is_signed);
	if (!decimal || !as_signed)
		return put_integer(out, conversion, cut_unsigned(datum.number, datum.size), false, decimal);
	const int64_t value = cut_signed(datum.number, datum.size);
	const uint64_t magnitude = value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
	put_integer(out, conversion, magnitude, value < 0, true);
}

double float_of(const Datum& datum) {
	if (datum.kind == DatumKind::Integer)
		return datum.is_signed ? static_cast<double>(cut_signed(datum.number, datum.size))
		                       : static_cast<double>(cut_unsigned(datum.number, datum.size));
	if (datum.size == 4)
		return std::bit_cast<float>(static_cast<uint32_t>(datum.number));
	return std::bit_cast<double>(datum.number);
}

void put_float(std::string& out, const PrintfConversion& conversion, const Datum& datum) {
	std::string format = "%";
	format += conversion.alternate ? "#" : "";
	format += conversion.zero ? "0" : "";
	format += conversion.left ? "-" : "";
	format += conversion.plus ? "+" : "";
	format += conversion.space ? " " : "";
	format += "*.*";
	format += conversion.letter;
	const double value = float_of(datum);
	const int needed =
	    std::snprintf(nullptr, 0, format.c_str(), conversion.width, conversion.precision, value);
	if (needed < 0)
		return;
	const size_t at = out.size();
	out.resize(at + static_cast<size_t>(needed) + 1);
	std::snprintf(&out[at], static_cast<size_t>(needed) + 1, format.c_str(), conversion.width,
	              conversion.precision, value);
	out.pop_back();
}

std::string clock_text(char letter, int64_t seconds) {
	const auto time = static_cast<time_t>(seconds);
	struct tm parts {};
	if (!localtime_r(&time, &parts))
		return "?";
	char text[96];
	const char* const layout = letter == 'Y' ? "%Y %b %e %T" : "%a, %d %b %Y %T %Z";
	return std::string(text, std::strftime(text, sizeof text, layout, &parts));
}

// Keeps the last one: most lines are of the second of the line before, and making it is a sixth of a line's cost.
const std::string& time_text(char letter, int64_t nanoseconds) {
	struct Last {
		char letter = 0;
		int64_t seconds = 0;
		std::string text;
	};
	thread_local Last last;
	// Round towards the past, so that times before 1970 are right too.
	int64_t seconds = nanoseconds / 1'000'000'000;
	if (nanoseconds % 1'000'000'000 < 0)
		seconds--;
	if (last.letter != letter || last.seconds != seconds)
		last = {letter, seconds, clock_text(letter, seconds)};
	return last.text;
}

std::string_view until_nul(std::string_view text) {
	return text.substr(0, text.find('\0'));
}

// Any datum as plain text: %s of whatever it is.
std::string plain_text(const Datum& datum, Symboliser& symbols) {
	std::string text;
	switch (datum.kind) {
	case DatumKind::String:
	case DatumKind::Bytes: return std::string(until_nul(datum.text()));
	case DatumKind::Integer:
		datum.is_signed ? put_signed(text, cut_signed(datum.number, datum.size))
		                : put_unsigned(text, cut_unsigned(datum.number, datum.size));
		return text;
	case DatumKind::Stack:
	case DatumKind::UserStack: put_stack(text, datum, 0, symbols); return text;
	case DatumKind::Float:
	case DatumKind::None: return text;
	default: return name_of(datum, symbols);
	}
}

void put_text(std::string& out, const PrintfConversion& conversion, std::string_view text) {
	if (conversion.precision > 0) // 0 is no limit
		text = text.substr(0, static_cast<size_t>(conversion.precision));
	put_padded(out, text, {conversion.width, conversion.left});
}

// %a and %A of a plain number; a sym() datum knows itself what it is.
std::string address_name(const PrintfConversion& conversion, const Datum& datum, Symboliser& symbols) {
	if (datum.kind != DatumKind::Integer)
		return plain_text(datum, symbols);
	const SymbolName symbol =
	    conversion.letter == 'a' ? symbols.kernel(datum.number) : symbols.user(datum.pid, datum.number);
	return address_text(symbol, datum.number, true);
}

void put_character(std::string& out, const PrintfConversion& conversion, const Datum& datum) {
	const char c = static_cast<char>(datum.number);
	std::string text;
	if (conversion.letter == 'C')
		put_escaped(text, {&c, 1});
	else
		text = c;
	put_padded(out, text, {conversion.width, conversion.left});
}

void put_datum(std::string& out, const PrintfConversion& conversion, const Datum& datum, unsigned stackindent,
               Symboliser& symbols) {
	const bool number = datum.kind == DatumKind::Integer || datum.kind == DatumKind::Float;
	switch (conversion.letter) {
	case 'a':
	case 'A': return put_text(out, conversion, address_name(conversion, datum, symbols));
	case 'c':
	case 'C':
		if (number)
			return put_character(out, conversion, datum);
		break;
	case 'd':
	case 'i':
	case 'o':
	case 'u':
	case 'x':
	case 'X':
	case 'p':
		if (number || datum.is_address())
			return put_integer_datum(out, conversion, datum);
		break;
	case 'e':
	case 'E':
	case 'f':
	case 'g':
	case 'G':
		if (number)
			return put_float(out, conversion, datum);
		break;
	case 'k':
		if (datum.kind == DatumKind::Stack || datum.kind == DatumKind::UserStack)
			return put_stack(out, datum, conversion.left ? conversion.width : stackindent,
			                 symbols);
		break;
	case 'I': return put_text(out, conversion, symbols.host(plain_text(datum, symbols)));
	case 'P': return put_text(out, conversion, service_name(static_cast<uint16_t>(datum.number)));
	case 'S': {
		std::string text;
		put_escaped(text, plain_text(datum, symbols));
		return put_text(out, conversion, text);
	}
	case 'T':
	case 'Y':
		return put_text(out, conversion,
		                time_text(conversion.letter, static_cast<int64_t>(datum.number)));
	default: break;
	}
	if (datum.kind == DatumKind::String)
		return put_text(out, conversion, until_nul(datum.text()));
	put_text(out, conversion, plain_text(datum, symbols));
}

void put_value(std::string& out, const PrintfConversion& conversion, const AggValue& value,
               const HistogramStyle& style, Symboliser& symbols) {
	if (is_histogram(value.kind)) {
		HistogramStyle own = style;
		own.normal = value.normal;
		return put_histogram(out, Histogram::from_words(value.kind, value.words), own);
	}
	put_datum(out, conversion, integer(static_cast<uint64_t>(scalar_of(value)), 8, true), 0, symbols);
}

unsigned __int128 square_root(unsigned __int128 value) {
	unsigned __int128 root = 0;
	for (unsigned __int128 bit = static_cast<unsigned __int128>(1) << 126; bit != 0; bit >>= 2) {
		if (value >= root + bit) {
			value -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

int64_t stddev_of(std::span<const uint64_t> words, int64_t normal) {
	if (words[0] == 0)
		return 0;
	const auto divisor =
	    static_cast<unsigned __int128>(normal < 0 ? -static_cast<__int128>(normal) : normal);
	const auto squares = (static_cast<unsigned __int128>(words[3]) << 64) | words[2];
	const auto mean_square = squares / divisor / divisor / words[0];
	const __int128 average =
	    static_cast<__int128>(static_cast<int64_t>(words[1])) / normal / static_cast<__int128>(words[0]);
	const auto square = static_cast<unsigned __int128>(average * average);
	return mean_square > square ? static_cast<int64_t>(square_root(mean_square - square)) : 0;
}

} // namespace

int64_t divided(int64_t value, int64_t by) {
	return static_cast<int64_t>(static_cast<__int128>(value) / by);
}

bool is_histogram(uint32_t kind) {
	return kind == DFR_ACT_QUANTIZE || kind == DFR_ACT_LQUANTIZE || kind == DFR_ACT_LLQUANTIZE;
}

int64_t scalar_of(const AggValue& value) {
	const int64_t normal = value.normal == 0 ? 1 : value.normal;
	if (value.words.empty())
		return 0;
	if (value.kind == DFR_ACT_AVG && value.words.size() == 2) {
		const auto count = static_cast<int64_t>(value.words[0]);
		return count == 0 ? 0 : divided(divided(static_cast<int64_t>(value.words[1]), normal), count);
	}
	if (value.kind == DFR_ACT_STDDEV && value.words.size() == 4)
		return stddev_of(value.words, normal);
	return divided(static_cast<int64_t>(value.words[0]), normal);
}

PrintfFormat PrintfFormat::parse(std::string_view text) {
	PrintfFormat format;
	PrintfConversion conversion;
	for (size_t at = 0; at < text.size();) {
		if (format.conversions_.size() == kConversionsMax) {
			conversion.literal += text.substr(at);
			break;
		}
		if (text[at] != '%') {
			conversion.literal += text[at++];
			continue;
		}
		if (++at < text.size() && text[at] == '%') {
			conversion.literal += text[at++];
			continue;
		}
		parse_flags(text, at, conversion);
		parse_width(text, at, conversion);
		while (at < text.size() && std::strchr("hlLw", text[at]))
			at++;
		if (at >= text.size())
			break;
		conversion.letter = text[at++];
		if (conversion.pointer_width && conversion.width == 0)
			conversion.width = 16;
		format.conversions_.push_back(std::move(conversion));
		conversion = {};
	}
	if (!conversion.literal.empty())
		format.conversions_.push_back(std::move(conversion));
	return format;
}

void PrintfFormat::apply(std::string& out, const PrintfArguments& arguments, Symboliser& symbols) const {
	size_t next = 0, next_value = 0;
	const size_t begin = out.size();
	static const Datum kNone;
	const auto take = [&]() -> const Datum& {
		return next < arguments.data.size() ? arguments.data[next++] : kNone;
	};
	for (const PrintfConversion& parsed : conversions_) {
		if (out.size() - begin > kTextMax) {
			out += " (longer text is not printed)\n";
			return;
		}
		out += parsed.literal;
		if (parsed.letter == 0)
			continue;
		std::optional<PrintfConversion> starred;
		const PrintfConversion* use = &parsed;
		if (parsed.star_width || parsed.star_precision) {
			PrintfConversion& conversion = starred.emplace(parsed);
			use = &conversion;
			if (parsed.star_width) {
				const auto width = cut_signed(take().number, 4);
				conversion.left |= width < 0;
				conversion.width = static_cast<int>(
				    std::min<int64_t>(width < 0 ? -width : width, kWidthMax));
			}
			if (parsed.star_precision)
				conversion.precision = static_cast<int>(
				    std::clamp<int64_t>(cut_signed(take().number, 4), -1, kWidthMax));
		}
		if (!parsed.value) {
			put_datum(out, *use, take(), arguments.stackindent, symbols);
			continue;
		}
		if (arguments.values.empty())
			continue;
		put_value(out, *use, arguments.values[std::min(next_value, arguments.values.size() - 1)],
		          arguments.style, symbols);
		next_value++;
	}
}

} // namespace dfr::render
