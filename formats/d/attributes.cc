// SPDX-License-Identifier: GPL-2.0
//
// The words of stability, and the table of providers.
#include "formats/d/attributes.h"

#include <algorithm>

namespace dfr::d {
namespace {

constexpr std::string_view kStabilities[] = {"Internal", "Private",  "Obsolete", "External",
                                             "Unstable", "Evolving", "Stable",   "Standard"};
constexpr std::string_view kClasses[] = {"Unknown", "CPU", "Platform", "Group", "ISA", "Common"};

struct ProviderStability {
	std::string_view name;
	Attributes attributes;
};

constexpr ProviderStability kProviders[] = {
    {"dtrace", {6, 6, 5}}, {"profile", {5, 5, 5}}, {"syscall", {5, 5, 4}}, {"proc", {5, 5, 5}},
    {"sched", {5, 5, 5}},  {"io", {5, 5, 5}},      {"vfs", {4, 4, 5}},     {"sdt", {1, 1, 0}},
    {"rawtp", {1, 1, 0}},  {"fbt", {1, 1, 0}},     {"kinst", {1, 1, 0}},
};

// Aliases that need no provider.
constexpr std::string_view kOwnProbes[] = {"BEGIN", "END", "ERROR"};

template <typename Words> std::optional<uint8_t> word(std::string_view text, const Words& words) {
	for (size_t i = 0; i < std::size(words); i++) {
		const bool same = text.size() == words[i].size() &&
		                  std::equal(text.begin(), text.end(), words[i].begin(),
		                             [](char a, char b) { return (a | 0x20) == (b | 0x20); });
		if (same)
			return static_cast<uint8_t>(i);
	}
	return std::nullopt;
}

} // namespace

void Attributes::lower(const Attributes& other) {
	name = std::min(name, other.name);
	data = std::min(data, other.data);
	scope = std::min(scope, other.scope);
}

std::string Attributes::text() const {
	return std::string(kStabilities[name]) + "/" + std::string(kStabilities[data]) + "/" +
	       std::string(kClasses[scope]);
}

std::string Attributes::report() const {
	return "\t\tIdentifier Names: " + std::string(kStabilities[name]) +
	       "\n\t\tData Semantics:   " + std::string(kStabilities[data]) +
	       "\n\t\tDependency Class: " + std::string(kClasses[scope]) + "\n";
}

std::optional<Attributes> parse_attributes(std::string_view text) {
	const size_t first = text.find('/');
	const size_t second = first == std::string_view::npos ? first : text.find('/', first + 1);
	if (second == std::string_view::npos)
		return std::nullopt;
	const auto name = word(text.substr(0, first), kStabilities);
	const auto data = word(text.substr(first + 1, second - first - 1), kStabilities);
	const auto scope = word(text.substr(second + 1), kClasses);
	if (!name || !data || !scope)
		return std::nullopt;
	return Attributes{*name, *data, *scope};
}

Attributes provider_attributes(std::string_view provider) {
	for (const std::string_view own : kOwnProbes) {
		if (own == provider)
			return kStable;
	}
	for (const ProviderStability& one : kProviders) {
		if (one.name == provider)
			return one.attributes;
	}
	return kPrivate;
}

Attributes builtin_attributes(std::string_view name) {
	if (name == "curthread")
		return {6, 1, 5};
	if (name == "caller" || name == "uregs" || name == "ipl")
		return {6, 6, 4};
	return kStable;
}

} // namespace dfr::d
