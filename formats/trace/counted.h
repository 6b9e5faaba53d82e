// SPDX-License-Identifier: GPL-2.0
//
// Numbers of things, as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace dfr::trace {

// "1,203,441"
inline std::string grouped(uint64_t number) {
	std::string digits = std::to_string(number);
	for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
		digits.insert(at, ",");
	return digits;
}

// "1 record", "1,204 records"
inline std::string plural(uint64_t number, const char* noun) {
	return grouped(number) + " " + noun + (number == 1 ? "" : "s");
}

} // namespace dfr::trace
