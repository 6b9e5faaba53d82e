// SPDX-License-Identifier: GPL-2.0
//
// D's printf formats: parsed once for each action, applied to each record. The
// compiler has checked them against their arguments; here a conversion that
// does not fit its datum prints the datum as it is, for a recording is hostile.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/render/datum.h"
#include "analyze/render/histogram.h"

namespace dfr::render {

// An aggregation's value, for `%@` conversions and the default layout.
struct AggValue {
	uint32_t kind = 0; // DFR_ACT_COUNT ...
	std::span<const uint64_t> words;
	int64_t normal = 1;
	const std::map<uint32_t, std::vector<uint64_t>>* by_cpu = nullptr; // aggpercpu: the words of each CPU
};

// count, sum, min, max, avg, stddev as one integer.
int64_t scalar_of(const AggValue& value);
int64_t divided(int64_t value, int64_t by); // the least by -1 is itself
bool is_histogram(uint32_t kind);

struct PrintfConversion {
	std::string literal; // text before it
	char letter = 0;     // 0: there is only the literal
	bool alternate = false, zero = false, left = false, plus = false, space = false, group = false;
	bool value = false; // '@'
	bool star_width = false, star_precision = false, pointer_width = false;
	int width = 0;
	int precision = -1;
};

class PrintfFormat {
public:
	static PrintfFormat parse(std::string_view text);

	struct PrintfArguments {
		std::span<const Datum> data;
		std::span<const AggValue> values; // printa
		HistogramStyle style;
		unsigned stackindent = 14; // of %k without a width
	};
	void apply(std::string& out, const PrintfArguments& arguments, Symboliser& symbols) const;

	const std::vector<PrintfConversion>& conversions() const { return conversions_; }

private:
	std::vector<PrintfConversion> conversions_;
};

} // namespace dfr::render
