// SPDX-License-Identifier: GPL-2.0
//
// Stability attributes: what a program relies on is as stable as the least
// stable thing it names. Computed for -v, enforced with -x amin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dfr::d {

struct Attributes {
	uint8_t name = 7; // 0 Internal to 7 Standard
	uint8_t data = 7;
	uint8_t scope = 5; // 0 Unknown to 5 Common: the dependency class

	bool operator==(const Attributes&) const = default;
	bool below(const Attributes& other) const {
		return name < other.name || data < other.data || scope < other.scope;
	}
	void lower(const Attributes& other);
	std::string text() const;   // "Stable/Stable/Common"
	std::string report() const; // three lines, as dtrace -v indents them
};

inline constexpr Attributes kStable{6, 6, 5};
inline constexpr Attributes kPrivate{1, 1, 0};

// "Stable/Stable/Common", in any case.
std::optional<Attributes> parse_attributes(std::string_view text);
// Of a probe description that names this provider; a pattern counts as what
// it may match.
Attributes provider_attributes(std::string_view provider);
Attributes builtin_attributes(std::string_view name);

} // namespace dfr::d
