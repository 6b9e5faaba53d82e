// SPDX-License-Identifier: GPL-2.0
#include "analyze/libdfr/json.h"

#include <cstdio>
#include <string_view>

#include "formats/shown.h"

namespace dfr::lib {

std::string json_text(const std::string& text) {
	std::string out = "\"";
	for (std::string_view rest = text; !rest.empty();) {
		const Utf8Step step = utf8_step(rest);
		if (!step.valid) {
			out += "\\ufffd";
		} else if (!step.printed) { // none of these is above 0xffff
			char escape[8];
			std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(step.code));
			out += escape;
		} else {
			if (rest[0] == '"' || rest[0] == '\\')
				out += '\\';
			out += rest.substr(0, step.bytes);
		}
		rest.remove_prefix(step.bytes);
	}
	return out + "\"";
}

std::string json_list(const std::vector<std::string>& items) {
	std::string out = "[";
	for (const std::string& item : items)
		out += (out.size() > 1 ? ", " : "") + item;
	return out + "]";
}

JsonObject& JsonObject::raw(const char* name, const std::string& value) {
	if (out_.size() > 1)
		out_ += ", ";
	out_.append(json_text(name)).append(": ").append(value);
	return *this;
}

} // namespace dfr::lib
