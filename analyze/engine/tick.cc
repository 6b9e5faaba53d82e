// SPDX-License-Identifier: GPL-2.0
//
// Names of timer probes.
#include "analyze/engine/tick.h"

namespace dfr::engine {
namespace {

struct Unit {
	std::string_view name;
	uint64_t ns;
};

constexpr uint64_t kSecond = 1'000'000'000;
constexpr Unit kUnits[] = {{"ns", 1},
                           {"nsec", 1},
                           {"us", 1000},
                           {"usec", 1000},
                           {"ms", 1'000'000},
                           {"msec", 1'000'000},
                           {"s", kSecond},
                           {"sec", kSecond},
                           {"m", 60 * kSecond},
                           {"min", 60 * kSecond},
                           {"h", 3600 * kSecond},
                           {"hour", 3600 * kSecond},
                           {"d", 86400 * kSecond},
                           {"day", 86400 * kSecond}};
constexpr uint64_t kCountMax = 1'000'000'000'000;

} // namespace

std::optional<uint64_t> time_unit(std::string_view name) {
	for (const Unit& unit : kUnits)
		if (name == unit.name)
			return unit.ns;
	return std::nullopt;
}

std::optional<uint64_t> timer_interval(std::string_view name, std::string_view word) {
	if (name.size() <= word.size() + 1 || name.substr(0, word.size()) != word || name[word.size()] != '-')
		return std::nullopt;
	name.remove_prefix(word.size() + 1);
	uint64_t count = 0;
	size_t digits = 0;
	while (digits < name.size() && name[digits] >= '0' && name[digits] <= '9') {
		count = count * 10 + static_cast<uint64_t>(name[digits++] - '0');
		if (count > kCountMax)
			return std::nullopt;
	}
	if (digits == 0 || count == 0)
		return std::nullopt;
	const std::string_view unit = name.substr(digits);
	if (unit.empty() || unit == "hz") {
		const uint64_t interval = kSecond / count;
		return interval >= kTickMin ? std::optional(interval) : std::nullopt;
	}
	const std::optional<uint64_t> ns = time_unit(unit);
	if (!ns || count > INT64_MAX / *ns || count * *ns < kTickMin)
		return std::nullopt;
	return count * *ns;
}

} // namespace dfr::engine
