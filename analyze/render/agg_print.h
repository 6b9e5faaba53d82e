// SPDX-License-Identifier: GPL-2.0
//
// Aggregations as text: the default layout, printa() with a format, and the
// compact forms (agghist, aggpack).
#pragma once

#include <span>
#include <string>

#include "analyze/render/aggregations.h"

namespace dfr::render {

struct AggStyle {
	SortOptions sort;
	HistogramStyle histogram;
	bool as_bars = false; // agghist
	bool packed = false;  // aggpack
	bool rawbytes = false;
	unsigned stackindent = 14;
};

// The rows of `variables` in the default layout, without the newline that printa() starts with.
void put_aggregations(std::string& out, Aggregations& store, std::span<const uint32_t> variables,
                      const AggStyle& style, Symboliser& symbols);
// One line of text for each row, by `format`.
void put_aggregations(std::string& out, Aggregations& store, std::span<const uint32_t> variables,
                      const PrintfFormat& format, const AggStyle& style, Symboliser& symbols);

} // namespace dfr::render
