// SPDX-License-Identifier: GPL-2.0
//
// Histograms of quantize(), lquantize() and llquantize() as text: one table for
// each key, or packed into one line (aggpack). The layout is fixed to the
// column; the numbers come from an aggregation's value words (formats/abi/
// aggtab.h), which are hostile: a table of the wrong length prints as empty.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dfr::render {

// What cells are drawn with (encoding=). Where nothing says it, packed ones by the terminal, bars with ASCII.
enum class CellText : uint8_t { kUnset, kAscii, kUtf8 };

struct HistogramStyle {
	bool zoom = false; // aggzoom: the tallest bar is 95 %
	CellText cells = CellText::kUnset;
	int64_t normal = 1;
};

// What a histogram is made of, whichever function filled it.
struct Histogram {
	uint32_t kind = 0; // DFR_ACT_QUANTIZE, _LQUANTIZE, _LLQUANTIZE
	uint64_t arg = 0;
	std::vector<int64_t> counts;
	std::vector<uint64_t> bounds; // of an llquantize: the lower ones of its inner buckets, in order

	// Words as the engine keeps them; lengths that do not fit `kind` give no counts.
	static Histogram from_words(uint32_t kind, std::span<const uint64_t> words);

	std::string label(size_t bucket) const; // "4", "< 0", ">= 10"
	// The buckets that a table shows: [first, last].
	struct BucketRange {
		size_t first = 0, last = 0;
	};
	BucketRange shown() const;
	// Sum of counts weighted by the buckets' values; what sorting compares.
	__int128 weight() const;
	int64_t zero_count() const; // of the bucket that holds 0
};

// Slots of an llquantize, the two outer ones included.
size_t llquantize_slots(uint64_t arg);

void put_histogram(std::string& out, const Histogram& histogram, const HistogramStyle& style);

// One bar of 41 columns with its axis. `total`: what a full bar means.
struct BarScale {
	bool positive = false, negative = false; // counts above 0, below 0 exist
	unsigned __int128 total = 0;             // sum of absolute counts
	unsigned __int128 largest = 0;
};
BarScale scale_of(std::span<const int64_t> counts);
void put_bar(std::string& out, int64_t count, const BarScale& scale, const HistogramStyle& style);
// "value" or "key" right-aligned in `width`, the title, "count".
void put_histogram_header(std::string& out, std::string_view first, unsigned width);

// Whether packed cells are drawn with UTF-8: unless an option says it, all terminals but some old ones show it.
bool packs_utf8(const HistogramStyle& style);
// One cell of a packed histogram: how high `count` stands among `largest`.
void put_packed_cell(std::string& out, int64_t count, unsigned __int128 largest, bool utf8);

} // namespace dfr::render
