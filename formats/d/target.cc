// SPDX-License-Identifier: GPL-2.0
//
// What every target shares.
#include "formats/d/target.h"

#include <algorithm>
#include <fnmatch.h>
#include <sys/utsname.h>

namespace dfr::d {

std::vector<std::string> running_host() {
	utsname name{};
	::uname(&name);
	return {name.nodename, name.release};
}

std::string Target::elsewhere(const std::string& glob) const {
	const std::vector<std::string> names = host_names();
	const auto meant = [&glob](const std::string& name) {
		return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
	};
	if (glob.empty() || names.empty() || std::ranges::any_of(names, meant))
		return {};
	std::string out = "the host field " + glob + " means another host: this is";
	for (const std::string& name : names)
		out += (&name == &names.front() ? " " : " or ") + name;
	return out;
}

std::string ProbePattern::text() const {
	return id ? std::to_string(id) : fields();
}

std::string ProbePattern::fields() const {
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
