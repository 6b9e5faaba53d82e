// SPDX-License-Identifier: GPL-2.0
//
// What every target shares.
#include "formats/d/target.h"

namespace dfr::d {

std::string ProbePattern::text() const {
	if (id)
		return std::to_string(id);
	return (host.empty() ? "" : host + ":") + provider + ":" + module + ":" + function + ":" + name;
}

std::vector<std::string> probe_fields(std::string_view text) {
	std::vector<std::string> fields(1);
	for (const char c : text) {
		if (c == ':')
			fields.emplace_back();
		else
			fields.back() += c;
	}
	return fields;
}

} // namespace dfr::d
