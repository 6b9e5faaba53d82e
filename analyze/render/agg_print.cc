// SPDX-License-Identifier: GPL-2.0
//
// Aggregations as text, to the column.
#include "analyze/render/agg_print.h"

#include <algorithm>

#include "analyze/render/text.h"
#include "formats/abi/dof.h"

namespace dfr::render {
namespace {

constexpr unsigned kMostCpus = 4096;    // that a file may claim
constexpr size_t kTextMost = 256 << 20; // of one printa()

unsigned integer_width(unsigned size) {
	return size == 8 ? 16 : size == 4 ? 8 : size == 2 ? 5 : 3;
}

// Keys of 4 bytes print signed, smaller ones unsigned.
int64_t key_number(const Datum& key) {
	return key.size >= 4 ? cut_signed(key.number, key.size)
	                     : static_cast<int64_t>(cut_unsigned(key.number, key.size));
}

void put_key(std::string& out, const Datum& key, const AggStyle& style, Symboliser& symbols) {
	switch (key.kind) {
	case DatumKind::Integer:
	case DatumKind::Float: out += ' '; return put_signed(out, key_number(key), integer_width(key.size));
	case DatumKind::Bytes:
		if (style.rawbytes || !looks_like_text(key.bytes))
			return put_hex_dump(out, key.bytes);
		[[fallthrough]];
	case DatumKind::String: {
		const std::string text(key.text().substr(0, key.text().find('\0')));
		if (style.rawbytes) // with its end
			return put_hex_dump(out, std::as_bytes(std::span(text.c_str(), text.size() + 1)));
		out += "  ";
		return put_left(out, text, 50);
	}
	case DatumKind::Stack:
	case DatumKind::UserStack: return put_stack(out, key, style.stackindent, symbols);
	case DatumKind::None: return;
	default: out += "  "; return put_left(out, name_of(key, symbols), 50);
	}
}

void put_default_value(std::string& out, const AggValue& value, const AggStyle& style) {
	if (is_histogram(value.kind)) {
		HistogramStyle histogram = style.histogram;
		histogram.normal = value.normal;
		return put_histogram(out, Histogram::from_words(value.kind, value.words), histogram);
	}
	out += ' ';
	if (value.kind == DFR_ACT_STDDEV)
		return put_unsigned(out, static_cast<uint64_t>(scalar_of(value)), 16);
	put_signed(out, scalar_of(value), 16);
}

// aggpercpu: each CPU of the machine, those without a value too.
void put_by_cpu(std::string& out, const AggValue& value, unsigned cpus, const AggStyle& style) {
	const std::vector<uint64_t> none = empty_words(value.kind, value.words);
	const auto put = [&](unsigned cpu, const std::vector<uint64_t>& words) {
		out += "\n    [CPU ";
		put_unsigned(out, cpu);
		out += ']';
		put_default_value(out, {value.kind, words, value.normal}, style);
	};
	unsigned next = 0;
	const size_t most = out.size() + kTextMost;
	const auto put_none_to = [&](unsigned end) {
		for (; next < std::min({end, cpus, kMostCpus}) && out.size() < most; next++)
			put(next, none);
	};
	for (const auto& [cpu, words] : *value.by_cpu) {
		put_none_to(cpu);
		put(cpu, words);
		next = cpu + 1;
	}
	put_none_to(cpus);
}

void put_row(std::string& out, const AggRow& row, unsigned cpus, const AggStyle& style, Symboliser& symbols) {
	for (const Datum& key : row.keys)
		put_key(out, key, style, symbols);
	for (const AggValue& value : row.values) {
		put_default_value(out, value, style);
		if (value.by_cpu)
			put_by_cpu(out, value, cpus, style);
	}
	out += '\n';
}

// -- agghist and aggpack: keys in a narrow form.

unsigned packed_width(const Datum& key) {
	return key.kind == DatumKind::Integer ? integer_width(key.size) : 16;
}

void put_packed_key(std::string& out, const Datum& key, Symboliser& symbols) {
	std::string text;
	if (key.kind == DatumKind::Integer)
		put_signed(text, key_number(key));
	else if (key.is_address())
		text = name_of(key, symbols);
	else
		text = key.text().substr(0, key.text().find('\0'));
	out += ' ';
	put_right(out, text, packed_width(key));
}

unsigned packed_width(const AggRow& row) {
	unsigned width = 0;
	for (const Datum& key : row.keys)
		width += packed_width(key) + 1;
	return width;
}

bool has_bars(std::span<const AggRow> rows) {
	if (rows.empty() || rows[0].values.size() != 1 || rows[0].keys.empty())
		return false;
	return rows[0].values[0].kind == DFR_ACT_COUNT || rows[0].values[0].kind == DFR_ACT_SUM;
}

void put_bars(std::string& out, std::span<const AggRow> rows, const AggStyle& style, Symboliser& symbols) {
	std::vector<int64_t> counts;
	for (const AggRow& row : rows)
		counts.push_back(scalar_of({row.values[0].kind, row.values[0].words, 1}));
	const BarScale scale = scale_of(counts);
	out += '\n';
	put_histogram_header(out, "key", packed_width(rows[0]));
	for (size_t i = 0; i < rows.size(); i++) {
		for (const Datum& key : rows[i].keys)
			put_packed_key(out, key, symbols);
		out += ' ';
		put_bar(out, counts[i], scale, style.histogram);
		out += ' ';
		std::string count;
		put_signed(count, scalar_of(rows[i].values[0]));
		put_left(out, count, 9);
		out += '\n';
	}
}

bool can_pack(std::span<const AggRow> rows) {
	if (rows.empty() || rows[0].values.size() != 1)
		return false;
	const uint32_t kind = rows[0].values[0].kind;
	return kind == DFR_ACT_QUANTIZE || kind == DFR_ACT_LQUANTIZE;
}

void put_packed(std::string& out, std::span<const AggRow> rows, const AggStyle& style, Symboliser& symbols) {
	std::vector<Histogram> histograms;
	size_t first = SIZE_MAX, last = 0;
	for (const AggRow& row : rows) {
		histograms.push_back(Histogram::from_words(row.values[0].kind, row.values[0].words));
		if (histograms.back().counts.empty())
			return;
		const auto [from, to] = histograms.back().shown();
		first = std::min(first, from);
		last = std::max(last, to);
	}
	for (const Histogram& histogram : histograms)
		last = std::min(last, histogram.counts.size() - 1);
	const bool utf8 = packs_utf8(style.histogram);
	const std::string low = histograms[0].label(first), high = histograms[0].label(last);
	out += '\n';
	put_right(out, "key", std::max(packed_width(rows[0]), 3u));
	out += ' ';
	const auto low_width = static_cast<unsigned>(std::max<size_t>(low.size(), 3));
	const auto high_width = static_cast<unsigned>(std::max<size_t>(high.size(), 3));
	put_right(out, "min", low_width);
	out += " .";
	out.append(last - first + 1, '-');
	out += ". ";
	put_left(out, "max", high_width);
	out += " | count\n";
	for (size_t r = 0; r < rows.size(); r++) {
		std::string keys;
		for (const Datum& key : rows[r].keys)
			put_packed_key(keys, key, symbols);
		put_right(out, keys, 3);
		out += ' ';
		put_right(out, low, low_width);
		out += " :";
		const auto shown = std::span(histograms[r].counts).subspan(first, last - first + 1);
		const BarScale scale = scale_of(shown);
		__int128 total = 0;
		for (const int64_t count : shown)
			total += count;
		for (const int64_t count : shown)
			put_packed_cell(out, count, style.histogram.zoom ? scale.largest : scale.total, utf8);
		out += ": ";
		put_left(out, high, high_width);
		out += " | ";
		put_signed(out, static_cast<int64_t>(total / std::max<int64_t>(rows[r].values[0].normal, 1)));
		out += '\n';
	}
}

// A file may give each row any text again.
template <typename Put> void each_row(std::string& out, std::span<const AggRow> rows, Put put) {
	const size_t begin = out.size();
	for (size_t i = 0; i < rows.size(); i++) {
		if (out.size() - begin > kTextMost) {
			out += "(";
			put_unsigned(out, rows.size() - i);
			out += " more keys are not printed: they take too much text)\n";
			return;
		}
		put(rows[i]);
	}
}

} // namespace

void put_aggregations(std::string& out, Aggregations& store, std::span<const uint32_t> variables,
                      const AggStyle& style, Symboliser& symbols) {
	const auto rows = store.rows(variables, style.sort);
	if (style.as_bars && has_bars(rows))
		return put_bars(out, rows, style, symbols);
	if (style.packed && can_pack(rows))
		return put_packed(out, rows, style, symbols);
	each_row(out, rows, [&](const AggRow& row) { put_row(out, row, store.cpus(), style, symbols); });
}

void put_aggregations(std::string& out, Aggregations& store, std::span<const uint32_t> variables,
                      const PrintfFormat& format, const AggStyle& style, Symboliser& symbols) {
	each_row(out, store.rows(variables, style.sort), [&](const AggRow& row) {
		format.apply(out, {row.keys, row.values, style.histogram, style.stackindent}, symbols);
	});
}

} // namespace dfr::render
