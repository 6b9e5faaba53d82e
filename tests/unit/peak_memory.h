// SPDX-License-Identifier: GPL-2.0
//
// By how much what runs makes this process grow, at most: for readers of hostile bytes, which ask for no more
// memory than their input is worth. Under a sanitizer, whose own memory hides that, it is 0.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <functional>
#include <malloc.h>
#include <string>

namespace dfr::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

// In bytes.
inline uint64_t peak_of(const std::function<void()>& run) {
	const auto status = [](const std::string& key) {
		std::ifstream file("/proc/self/status");
		std::string word;
		uint64_t kib = 0;
		while (file >> word)
			if (word == key && file >> kib)
				break;
		REQUIRE(kib);
		return kib * 1024;
	};
	malloc_trim(0);
	std::ofstream("/proc/self/clear_refs") << "5"; // the greatest size begins anew
	const uint64_t before = status("VmRSS:");
	run();
	const uint64_t most = status("VmHWM:");
	return kSanitized ? 0 : most - std::min(before, most);
}

} // namespace dfr::test
