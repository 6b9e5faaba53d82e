// SPDX-License-Identifier: GPL-2.0
//
// Numbers, padding, escapes and hex dumps. Pure functions, no state, no locale.
#include "analyze/render/text.h"

#include <charconv>

namespace dfr::render {
namespace {

void put_number(std::string& out, const char* begin, const char* end, unsigned width) {
	const auto length = static_cast<size_t>(end - begin);
	if (length < width)
		out.append(width - length, ' ');
	out.append(begin, length);
}

bool is_printable(unsigned char c) {
	return c >= 0x20 && c < 0x7f;
}

// What trace() still takes for text: printable, white space, bell, backspace.
bool is_texty(unsigned char c) {
	return is_printable(c) || (c >= 0x07 && c <= 0x0d);
}

} // namespace

void put_signed(std::string& out, int64_t value, unsigned width) {
	char digits[24];
	const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
	put_number(out, digits, end, width);
}

void put_unsigned(std::string& out, uint64_t value, unsigned width) {
	char digits[24];
	const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
	put_number(out, digits, end, width);
}

void put_hex(std::string& out, uint64_t value) {
	char digits[24];
	const auto end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
	out.append(digits, static_cast<size_t>(end - digits));
}

void put_right(std::string& out, std::string_view text, unsigned width) {
	if (text.size() < width)
		out.append(width - text.size(), ' ');
	out.append(text);
}

void put_left(std::string& out, std::string_view text, unsigned width) {
	out.append(text);
	if (text.size() < width)
		out.append(width - text.size(), ' ');
}

uint64_t cut_unsigned(uint64_t value, unsigned size) {
	return size == 0 || size >= 8 ? value : value & ((uint64_t{1} << (size * 8)) - 1);
}

int64_t cut_signed(uint64_t value, unsigned size) {
	if (size == 0 || size >= 8)
		return static_cast<int64_t>(value);
	const unsigned shift = 64 - size * 8;
	return static_cast<int64_t>(value << shift) >> shift;
}

void put_escaped(std::string& out, std::string_view text) {
	static constexpr std::string_view kControls = "\a\b\t\n\v\f\r";
	static constexpr std::string_view kLetters = "abtnvfr";
	for (const char c : text) {
		const auto byte = static_cast<unsigned char>(c);
		if (const size_t at = kControls.find(c); at != std::string_view::npos) {
			out += '\\';
			out += kLetters[at];
		} else if (c == '\\' || c == '"') {
			out += '\\';
			out += c;
		} else if (c == '\0') {
			out += "\\0";
		} else if (is_printable(byte)) {
			out += c;
		} else {
			out += '\\';
			out += static_cast<char>('0' + (byte >> 6));
			out += static_cast<char>('0' + ((byte >> 3) & 7));
			out += static_cast<char>('0' + (byte & 7));
		}
	}
}

bool looks_like_text(std::span<const std::byte> bytes) {
	size_t length = 0;
	while (length < bytes.size() && bytes[length] != std::byte{0}) {
		if (!is_texty(static_cast<unsigned char>(bytes[length])))
			return false;
		length++;
	}
	if (length == 0)
		return false;
	for (size_t i = length; i < bytes.size(); i++)
		if (bytes[i] != std::byte{0})
			return false;
	return true;
}

void put_hex_dump(std::string& out, std::span<const std::byte> bytes) {
	static constexpr char kDigits[] = "0123456789abcdef";
	out += '\n';
	out.append(5 + 6, ' ');
	for (unsigned column = 0; column < 16; column++) {
		out += "  ";
		out += kDigits[column];
	}
	out += "  0123456789abcdef\n";
	for (size_t row = 0; row < bytes.size(); row += 16) {
		char offset[24];
		const auto end = std::to_chars(offset, offset + sizeof offset, row, 16).ptr;
		out.append(5, ' ');
		put_number(out, offset, end, 5);
		out += ':';
		for (size_t i = row; i < row + 16; i++) {
			if (i >= bytes.size()) {
				out += "   ";
				continue;
			}
			const auto byte = static_cast<unsigned char>(bytes[i]);
			out += ' ';
			out += kDigits[byte >> 4];
			out += kDigits[byte & 15];
		}
		out += "  ";
		for (size_t i = row; i < row + 16 && i < bytes.size(); i++) {
			const auto byte = static_cast<unsigned char>(bytes[i]);
			out += is_printable(byte) ? static_cast<char>(byte) : '.';
		}
		out += '\n';
	}
}

} // namespace dfr::render
