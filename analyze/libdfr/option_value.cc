// SPDX-License-Identifier: GPL-2.0
//
// Values of options.
#include "analyze/libdfr/option_value.h"

#include <charconv>
#include <string>

namespace dfr::lib {
namespace {

struct Suffix {
	std::string_view name;
	uint64_t factor;
};

constexpr uint64_t kSecond = 1'000'000'000;
constexpr Suffix kTimes[] = {{"", 1},
                             {"ns", 1},
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

// The number in front; `rest` is what follows it, in lower case.
std::optional<uint64_t> number(std::string_view text, std::string& rest) {
	uint64_t value = 0;
	const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
	if (failed != std::errc{})
		return std::nullopt;
	for (const char* at = end; at != text.data() + text.size(); at++)
		rest += *at >= 'A' && *at <= 'Z' ? static_cast<char>(*at + ('a' - 'A')) : *at;
	return value;
}

std::optional<uint64_t> scaled(uint64_t value, const std::string& rest) {
	for (const Suffix& suffix : kTimes)
		if (rest == suffix.name)
			return value > UINT64_MAX / suffix.factor ? std::nullopt
			                                          : std::optional(value * suffix.factor);
	return std::nullopt;
}

} // namespace

std::optional<uint64_t> parse_rate(std::string_view text) {
	std::string rest;
	const auto value = number(text, rest);
	if (value && rest == "hz")
		return *value == 0 ? 0 : kSecond / *value;
	return value ? scaled(*value, rest) : std::nullopt;
}

} // namespace dfr::lib
