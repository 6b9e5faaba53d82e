// SPDX-License-Identifier: GPL-2.0
//
// Choosing the unit.
#include "formats/amounts.h"

#include <cstdio>
#include <ctime>

namespace dfr {

std::string span_text(uint64_t ns) {
	char text[32];
	const double s = static_cast<double>(ns) / 1e9;
	if (s < 0.1)
		std::snprintf(text, sizeof text, "%.3f ms", s * 1e3);
	else if (s < 120)
		std::snprintf(text, sizeof text, "%.1f s", s);
	else if (s < 7200)
		std::snprintf(text, sizeof text, "%.0f min", s / 60);
	else
		std::snprintf(text, sizeof text, "%.1f h", s / 3600);
	return text;
}

std::string bytes_text(uint64_t bytes) {
	char text[32];
	if (bytes < 10 << 20)
		std::snprintf(text, sizeof text, "%.1f KiB", static_cast<double>(bytes) / 1024);
	else
		std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
	return text;
}

std::string local_time_text(int64_t seconds) {
	const auto at = static_cast<std::time_t>(seconds);
	char text[32] = "";
	std::tm local{};
	if (localtime_r(&at, &local))
		std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
	return text;
}

} // namespace dfr
