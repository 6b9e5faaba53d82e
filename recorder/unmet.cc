// SPDX-License-Identifier: GPL-2.0
//
// The parameter has one line for each: what is off, a tab, why.
#include "recorder/unmet.h"

#include <fstream>

namespace dfr::recorder {

std::vector<Unmet> unmet(const std::string& path) {
	std::vector<Unmet> found;
	std::ifstream file(path);
	std::string line;
	while (std::getline(file, line)) {
		const size_t tab = line.find('\t');
		if (tab != std::string::npos)
			found.push_back({line.substr(0, tab), line.substr(tab + 1)});
	}
	return found;
}

std::string off_of(std::string_view provider, std::string_view name, const std::vector<Unmet>& all) {
	for (const Unmet& one : all) {
		const bool whole = one.off == provider || one.off.starts_with(std::string(provider) + ":");
		const bool returns = name == "return" && one.off.starts_with("returns of functions");
		if (!provider.empty() && (whole || returns))
			return "off on this kernel: " + one.off + ": " + one.why;
	}
	return {};
}

} // namespace dfr::recorder
