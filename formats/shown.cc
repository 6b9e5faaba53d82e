// SPDX-License-Identifier: GPL-2.0
#include "formats/shown.h"

namespace dfr {
namespace {

// Characters that are valid and not printed: controls, marks that turn the direction of what follows, ends of lines
// and paragraphs, and what has no width.
bool is_printed(char32_t code) {
	return code >= 0x20 && (code < 0x7f || code > 0x9f) && code != 0x61c && code != 0xfeff &&
	       (code < 0x200b || code > 0x200f) && (code < 0x2028 || code > 0x202e) &&
	       (code < 0x2060 || code > 0x206f) && (code < 0xfff9 || code > 0xfffb);
}

void put_hex(std::string& out, char byte) {
	constexpr const char* kDigits = "0123456789abcdef";
	const auto value = static_cast<unsigned char>(byte);
	out += "\\x";
	out += kDigits[value >> 4];
	out += kDigits[value & 15];
}

// `kept`: these, too.
void put_harmless(std::string& out, std::string_view text, std::string_view kept) {
	while (!text.empty()) {
		const Utf8Step step = utf8_step(text);
		if (step.printed || kept.find(text[0]) != std::string_view::npos)
			out += text.substr(0, step.bytes);
		else
			for (const char byte : text.substr(0, step.bytes))
				put_hex(out, byte);
		text.remove_prefix(step.bytes);
	}
}

} // namespace

// No overlong forms, no surrogates, nothing beyond U+10FFFF.
Utf8Step utf8_step(std::string_view text) {
	const auto first = static_cast<unsigned char>(text[0]);
	if (first < 0x80)
		return {1, true, is_printed(first), first};
	const size_t bytes = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
	if (bytes == 0 || bytes > text.size())
		return {};
	char32_t code = first & (0xff >> (bytes + 1));
	for (size_t i = 1; i < bytes; i++) {
		const auto next = static_cast<unsigned char>(text[i]);
		if ((next & 0xc0) != 0x80)
			return {};
		code = code << 6 | (next & 0x3f);
	}
	constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
	if (code < kLeast[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return {};
	return {bytes, true, is_printed(code), code};
}

std::string harmless(std::string_view text) {
	std::string out;
	out.reserve(text.size());
	put_harmless(out, text, {});
	return out;
}

const char* shown(std::string_view text, std::string&& room) {
	put_harmless(room, text, {});
	return room.c_str();
}

void print_lines(std::FILE* stream, std::string_view lines) {
	std::string out;
	out.reserve(lines.size());
	put_harmless(out, lines, "\n\t");
	std::fwrite(out.data(), 1, out.size(), stream);
}

} // namespace dfr
