// SPDX-License-Identifier: GPL-2.0
//
// How many of a fuzzer's inputs got past the checks of structure, into what the
// fuzzer is there for. With DFR_FUZZ_STATISTICS in the environment it is printed
// when the fuzzer ends.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace dfr::fuzz {

struct Statistics {
	const char* what; // what those that passed are
	uint64_t inputs = 0, passed = 0;

	explicit Statistics(const char* passing) : what(passing) {}
	void count(bool pass) {
		inputs++;
		passed += pass;
	}
	~Statistics() {
		if (std::getenv("DFR_FUZZ_STATISTICS") && inputs)
			std::fprintf(stderr, "statistics: %llu inputs, %llu %s (%.1f%%)\n",
			             static_cast<unsigned long long>(inputs),
			             static_cast<unsigned long long>(passed), what,
			             100.0 * static_cast<double>(passed) / static_cast<double>(inputs));
	}
	Statistics(const Statistics&) = delete;
	Statistics& operator=(const Statistics&) = delete;
};

} // namespace dfr::fuzz
