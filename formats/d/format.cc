// SPDX-License-Identifier: GPL-2.0
//
// The parser of format strings.
#include "formats/d/format.h"

namespace dfr::d {
namespace {

constexpr std::string_view kKinds = "aAcCdieEfgGIkoupPsSTxXY";
constexpr int kMostWidth = 1 << 16;

int number(std::string_view text, size_t& at) {
	int value = 0;
	while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
		if (value < kMostWidth)
			value = value * 10 + (text[at] - '0');
		at++;
	}
	return value < kMostWidth ? value : kMostWidth;
}

bool read_flag(Conversion& out, char c) {
	switch (c) {
	case '#': out.alternate = true; return true;
	case '0': out.zero = true; return true;
	case '-': out.minus = true; return true;
	case '+': out.plus = true; return true;
	case ' ': out.space = true; return true;
	case '\'': out.group = true; return true;
	case '@': out.aggregation = true; return true;
	case '?': out.pointer_width = true; return true;
	default: return false;
	}
}

} // namespace

std::string Conversion::text() const {
	std::string out = "%";
	out += alternate ? "#" : "";
	out += zero ? "0" : "";
	out += minus ? "-" : "";
	out += plus ? "+" : "";
	out += space ? " " : "";
	out += group ? "'" : "";
	out += aggregation ? "@" : "";
	out += pointer_width ? "?" : "";
	out += dynamic_width ? "*" : width ? std::to_string(*width) : "";
	if (dynamic_precision)
		out += ".*";
	else if (precision)
		out += "." + std::to_string(*precision);
	out += size;
	if (kind)
		out += kind;
	return out;
}

Format parse_format(std::string_view text) {
	Format format;
	Conversion part;
	unsigned count = 0;
	for (size_t i = 0; i < text.size();) {
		if (text[i] != '%') {
			part.literal += text[i++];
			continue;
		}
		if (i + 1 < text.size() && text[i + 1] == '%') {
			part.literal += '%';
			i += 2;
			continue;
		}
		count++;
		part.at = format.error_at = i;
		const std::string which = "format conversion #" + std::to_string(count);
		i++;
		while (i < text.size() && read_flag(part, text[i]))
			i++;
		if (i < text.size() && text[i] == '*') {
			part.dynamic_width = true;
			i++;
		} else if (i < text.size() && text[i] >= '1' && text[i] <= '9') {
			part.width = number(text, i);
			if (i < text.size() && text[i] == '$') {
				format.error =
				    which + " uses positional arguments (%n$), which D does not have";
				return format;
			}
		}
		if (i < text.size() && text[i] == '.') {
			i++;
			if (i < text.size() && text[i] == '*') {
				part.dynamic_precision = true;
				i++;
			} else {
				part.precision = number(text, i);
			}
		}
		// The aggregation mark may stand behind the width, too.
		if (i < text.size() && (text[i] == '@' || text[i] == '?'))
			read_flag(part, text[i++]);
		while (i < text.size() &&
		       (text[i] == 'h' || text[i] == 'l' || text[i] == 'L' || text[i] == 'w') &&
		       part.size.size() < 2)
			part.size += text[i++];
		if (i >= text.size()) {
			format.error = which + " is incomplete: the format ends inside it";
			return format;
		}
		if (kKinds.find(text[i]) == std::string_view::npos) {
			format.error = which + " (%" + std::string(1, text[i]) + ") is undefined";
			return format;
		}
		part.kind = text[i++];
		format.parts.push_back(std::move(part));
		part = Conversion{};
	}
	if (!part.literal.empty())
		format.parts.push_back(std::move(part));
	return format;
}

} // namespace dfr::d
