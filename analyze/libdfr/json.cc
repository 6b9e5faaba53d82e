// SPDX-License-Identifier: GPL-2.0
#include "analyze/libdfr/json.h"

#include <cstdio>
#include <string_view>

namespace dfr::lib {
namespace {

// The length of the UTF-8 sequence at the start of `text`, 0 if there is none: no overlong
// forms, no surrogates, nothing beyond U+10FFFF.
size_t utf8_length(std::string_view text) {
	const auto byte = [&](size_t at) {
		return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
	};
	const auto continues = [&](size_t at) { return (byte(at) & 0xc0u) == 0x80; };
	const unsigned first = byte(0), second = byte(1);
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf && continues(1))
		return 2;
	if ((first & 0xf0u) == 0xe0 && continues(1) && continues(2))
		return (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ? 0 : 3;
	if (first >= 0xf0 && first <= 0xf4 && continues(1) && continues(2) && continues(3))
		return (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90) ? 0 : 4;
	return 0;
}

} // namespace

std::string json_text(const std::string& text) {
	std::string out = "\"";
	for (std::string_view rest = text; !rest.empty();) {
		const size_t length = utf8_length(rest);
		const auto byte = static_cast<unsigned char>(rest[0]);
		if (length == 0) {
			out += "\\ufffd";
		} else if (byte < 0x20 || byte == 0x7f) {
			char escape[8];
			std::snprintf(escape, sizeof escape, "\\u%04x", byte);
			out += escape;
		} else {
			if (byte == '"' || byte == '\\')
				out += '\\';
			out += rest.substr(0, length);
		}
		rest.remove_prefix(length == 0 ? 1 : length);
	}
	return out + "\"";
}

JsonObject& JsonObject::raw(const char* name, const std::string& value) {
	if (out_.size() > 1)
		out_ += ", ";
	out_.append("\"").append(name).append("\": ").append(value);
	return *this;
}

} // namespace dfr::lib
