// SPDX-License-Identifier: GPL-2.0
//
// Values of options.
#include "analyze/libdfr/option_value.h"

#include <charconv>
#include <string>

#include "analyze/engine/tick.h"

namespace dfr::lib {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

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

} // namespace

std::optional<uint64_t> parse_rate(std::string_view text) {
	std::string rest;
	const auto value = number(text, rest);
	if (value && rest == "hz")
		return *value == 0 ? 0 : kSecond / *value;
	const auto unit = rest.empty() ? 1 : engine::time_unit(rest);
	if (!value || !unit || *value > UINT64_MAX / *unit)
		return std::nullopt;
	return *value * *unit;
}

} // namespace dfr::lib
