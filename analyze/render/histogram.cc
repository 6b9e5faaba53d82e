// SPDX-License-Identifier: GPL-2.0
//
// Histograms as text. Bars are computed in integers, so that rounding is the
// same on every machine: int(40 * count / total + 0.5) is exact here.
#include "analyze/render/histogram.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "analyze/render/printf_format.h"
#include "analyze/render/text.h"
#include "formats/abi/aggtab.h"
#include "formats/abi/dof.h"

namespace dfr::render {
namespace {

constexpr unsigned kBar = 40;
constexpr size_t kMostBounds = UINT16_MAX; // an entry of a table has no more words (formats/abi/aggtab.h)
constexpr std::string_view kTitle = "------------- Distribution -------------";
static_assert(kTitle.size() == kBar);

unsigned __int128 magnitude(int64_t value) {
	return value < 0 ? -static_cast<__int128>(value) : static_cast<__int128>(value);
}

int64_t quantize_value(size_t bucket) {
	const auto k = static_cast<int>(bucket) - DFR_QUANTIZE_ZERO;
	if (k == 0)
		return 0;
	return k > 0 ? int64_t{1} << (k - 1) : -(int64_t{1} << (-k - 1));
}

// The lower bounds of llquantize's inner buckets, in order, no more than so many.
std::vector<uint64_t> llquantize_bounds(uint64_t arg, size_t most) {
	const uint64_t factor = DFR_LLQUANTIZE_FACTOR(arg), steps = DFR_LLQUANTIZE_NSTEPS(arg);
	const unsigned low = DFR_LLQUANTIZE_LOW(arg), high = DFR_LLQUANTIZE_HIGH(arg);
	std::vector<uint64_t> bounds;
	if (factor < 2 || steps == 0 || low > high || high > 63)
		return bounds;
	unsigned __int128 power = 1;
	constexpr auto kLimit = std::numeric_limits<uint64_t>::max();
	for (unsigned order = 0; order <= high; order++) {
		const unsigned __int128 next = power * factor;
		if (power > kLimit || next > (static_cast<unsigned __int128>(1) << 64))
			return {};
		if (order >= low) {
			const auto nominal = next < steps ? next : static_cast<unsigned __int128>(steps);
			const auto width = next / nominal;
			for (auto value = power; value < next; value = (value / width + 1) * width) {
				if (bounds.size() == most)
					return bounds;
				bounds.push_back(static_cast<uint64_t>(value));
			}
		}
		power = next;
	}
	return bounds;
}

std::string number(int64_t value) {
	std::string text;
	put_signed(text, value);
	return text;
}

std::string unsigned_number(uint64_t value) {
	std::string text;
	put_unsigned(text, value);
	return text;
}

// F^(order), saturated.
uint64_t power_of(uint64_t factor, unsigned order) {
	unsigned __int128 power = 1;
	for (unsigned i = 0; i < order; i++) {
		power *= factor;
		if (power > std::numeric_limits<uint64_t>::max())
			return std::numeric_limits<uint64_t>::max();
	}
	return static_cast<uint64_t>(power);
}

std::string lquantize_label(uint64_t arg, size_t bucket, size_t buckets) {
	const int64_t base = DFR_LQUANTIZE_BASE(arg);
	const int64_t step = DFR_LQUANTIZE_STEP(arg);
	if (bucket == 0)
		return "< " + number(base);
	const int64_t bound = base + static_cast<int64_t>(bucket - 1) * step;
	return bucket + 1 == buckets ? ">= " + number(bound) : number(bound);
}

std::string llquantize_label(const Histogram& histogram, size_t bucket) {
	const uint64_t arg = histogram.arg, factor = DFR_LLQUANTIZE_FACTOR(arg);
	if (bucket == 0)
		return "< " + unsigned_number(power_of(factor, DFR_LLQUANTIZE_LOW(arg)));
	if (bucket + 1 == histogram.counts.size())
		return ">= " + unsigned_number(power_of(factor, DFR_LLQUANTIZE_HIGH(arg) + 1));
	return bucket - 1 < histogram.bounds.size() ? unsigned_number(histogram.bounds[bucket - 1]) : "?";
}

// The value that stands for a bucket when histograms are compared.
__int128 bucket_value(const Histogram& histogram, size_t bucket) {
	const size_t buckets = histogram.counts.size();
	if (histogram.kind == DFR_ACT_QUANTIZE)
		return quantize_value(bucket);
	if (histogram.kind == DFR_ACT_LQUANTIZE) {
		const int64_t base = DFR_LQUANTIZE_BASE(histogram.arg);
		const int64_t step = DFR_LQUANTIZE_STEP(histogram.arg);
		const auto bound = base + (static_cast<__int128>(bucket) - 1) * step;
		return bucket == 0             ? static_cast<__int128>(base) - 1
		       : bucket + 1 == buckets ? bound + 1
		                               : bound;
	}
	const uint64_t factor = DFR_LLQUANTIZE_FACTOR(histogram.arg);
	if (bucket == 0)
		return static_cast<__int128>(power_of(factor, DFR_LLQUANTIZE_LOW(histogram.arg))) - 1;
	if (bucket + 1 == buckets)
		return static_cast<__int128>(power_of(factor, DFR_LLQUANTIZE_HIGH(histogram.arg) + 1)) + 1;
	return bucket - 1 < histogram.bounds.size() ? static_cast<__int128>(histogram.bounds[bucket - 1]) : 0;
}

// int(cells * |count| / total + 0.5); with zoom the total is largest / 0.95.
unsigned bar_length(int64_t count, const BarScale& scale, bool zoom, unsigned cells) {
	const auto height = magnitude(count);
	if (zoom) {
		if (scale.largest == 0)
			return 0;
		return static_cast<unsigned>((height * cells * 190 + scale.largest * 100) /
		                             (scale.largest * 200));
	}
	if (scale.total == 0)
		return 0;
	return static_cast<unsigned>((height * cells * 2 + scale.total) / (scale.total * 2));
}

// U+2588 is a full cell, U+2589 to U+258F are seven to one eighths of one.
void put_block(std::string& out, unsigned eighths) {
	out += "\xe2\x96";
	out += static_cast<char>(0x90 - eighths);
}

void put_utf8_bar(std::string& out, int64_t count, const BarScale& scale, bool zoom) {
	auto eighths = magnitude(count) * kBar * 8;
	if (zoom)
		eighths = scale.largest == 0 ? 0 : eighths * 95 / (scale.largest * 100);
	else
		eighths = scale.total == 0 ? 0 : eighths / scale.total;
	unsigned cells = 0;
	out += '|';
	for (; eighths >= 8; eighths -= 8, cells++)
		put_block(out, 8);
	if (eighths != 0) {
		put_block(out, static_cast<unsigned>(eighths));
		cells++;
	}
	out.append(kBar - std::min(cells, kBar), ' ');
}

} // namespace

size_t llquantize_slots(uint64_t arg) {
	const size_t bounds = llquantize_bounds(arg, kMostBounds + 1).size();
	return bounds > kMostBounds ? 2 : bounds + 2;
}

Histogram Histogram::from_words(uint32_t kind, std::span<const uint64_t> words) {
	Histogram histogram;
	histogram.kind = kind;
	size_t expected = DFR_QUANTIZE_BUCKETS;
	if (kind != DFR_ACT_QUANTIZE) {
		if (words.empty())
			return histogram;
		histogram.arg = words[0];
		words = words.subspan(1);
		if (kind == DFR_ACT_LLQUANTIZE)
			histogram.bounds = llquantize_bounds(histogram.arg, words.size());
		expected = 2 + (kind == DFR_ACT_LQUANTIZE ? DFR_LQUANTIZE_LEVELS(histogram.arg)
		                                          : histogram.bounds.size());
	}
	if (words.size() == expected)
		histogram.counts.assign(words.begin(), words.end());
	return histogram;
}

std::string Histogram::label(size_t bucket) const {
	if (kind == DFR_ACT_QUANTIZE)
		return number(quantize_value(bucket));
	if (kind == DFR_ACT_LQUANTIZE)
		return lquantize_label(arg, bucket, counts.size());
	return llquantize_label(*this, bucket);
}

Histogram::BucketRange Histogram::shown() const {
	const auto filled = [](int64_t count) { return count != 0; };
	const auto first = std::find_if(counts.begin(), counts.end(), filled);
	if (first == counts.end()) {
		if (kind == DFR_ACT_QUANTIZE)
			return {DFR_QUANTIZE_ZERO - 1, DFR_QUANTIZE_ZERO + 1};
		const size_t rows = kind == DFR_ACT_LQUANTIZE ? 3 : 2;
		return {0, std::min(rows, counts.size()) - 1};
	}
	const auto last = std::find_if(counts.rbegin(), counts.rend(), filled);
	const auto from = static_cast<size_t>(first - counts.begin());
	const auto to = counts.size() - 1 - static_cast<size_t>(last - counts.rbegin());
	return {from == 0 ? 0 : from - 1, std::min(to + 1, counts.size() - 1)};
}

__int128 Histogram::weight() const {
	__int128 total = 0;
	for (size_t i = 0; i < counts.size(); i++)
		if (counts[i] != 0)
			total += bucket_value(*this, i) * counts[i];
	return total;
}

int64_t Histogram::zero_count() const {
	if (counts.empty())
		return 0;
	if (kind == DFR_ACT_QUANTIZE)
		return counts[DFR_QUANTIZE_ZERO];
	if (kind == DFR_ACT_LLQUANTIZE)
		return counts[0];
	const int64_t base = DFR_LQUANTIZE_BASE(arg), step = DFR_LQUANTIZE_STEP(arg);
	if (step == 0 || base > 0)
		return counts[0];
	const auto bucket = static_cast<size_t>(-base / step) + 1;
	return counts[std::min(bucket, counts.size() - 1)];
}

BarScale scale_of(std::span<const int64_t> counts) {
	BarScale scale;
	for (const int64_t count : counts) {
		scale.positive |= count > 0;
		scale.negative |= count < 0;
		scale.total += magnitude(count);
		scale.largest = std::max(scale.largest, magnitude(count));
	}
	return scale;
}

void put_bar(std::string& out, int64_t count, const BarScale& scale, const HistogramStyle& style) {
	if (!scale.negative && style.cells == CellText::kUtf8)
		return put_utf8_bar(out, count, scale, style.zoom);
	const bool both = scale.negative && scale.positive;
	const unsigned cells = both ? kBar / 2 : kBar;
	const unsigned length = std::min(bar_length(count, scale, style.zoom, cells), cells);
	const bool left = scale.negative && count <= 0;
	if (left) {
		out.append(cells - length, ' ').append(length, '@');
		out += '|';
		out.append(both ? cells : 0, ' ');
		return;
	}
	out.append(both ? cells : 0, ' ');
	out += '|';
	out.append(length, '@').append(cells - length, ' ');
}

void put_histogram_header(std::string& out, std::string_view first, unsigned width) {
	put_right(out, first, width);
	out += ' ';
	put_right(out, kTitle, 41);
	out += ' ';
	put_left(out, "count", 9);
	out += '\n';
}

void put_histogram(std::string& out, const Histogram& histogram, const HistogramStyle& style) {
	out += '\n';
	put_histogram_header(out, "value", 16);
	if (histogram.counts.empty())
		return;
	const auto [first, last] = histogram.shown();
	const auto rows = std::span(histogram.counts).subspan(first, last - first + 1);
	const BarScale scale = scale_of(rows);
	for (size_t i = first; i <= last; i++) {
		put_right(out, histogram.label(i), 16);
		out += ' ';
		put_bar(out, histogram.counts[i], scale, style);
		out += ' ';
		put_left(out, number(style.normal == 0 ? 0 : divided(histogram.counts[i], style.normal)), 9);
		out += '\n';
	}
}

bool packs_utf8(const HistogramStyle& style) {
	const char* const terminal = std::getenv("TERM");
	const std::string_view name = terminal ? terminal : "";
	if (style.cells != CellText::kUnset)
		return style.cells == CellText::kUtf8;
	return name != "dumb" && name != "sun" && name != "sun-color";
}

void put_packed_cell(std::string& out, int64_t count, unsigned __int128 largest, bool utf8) {
	static constexpr std::string_view kUp = "__xxxxXX", kDown = "vvvvVV";
	if (count == 0 || largest == 0) {
		out += ' ';
		return;
	}
	const bool negative = count < 0;
	const size_t levels = negative ? kDown.size() : kUp.size();
	const auto level = static_cast<size_t>((magnitude(count) * levels + largest - 1) / largest);
	const size_t at = std::clamp<size_t>(level, 1, levels) - 1;
	if (negative) {
		out += kDown[at];
	} else if (utf8) {
		out += "\xe2\x96";
		out += static_cast<char>(0x81 + at);
	} else {
		out += kUp[at];
	}
}

} // namespace dfr::render
