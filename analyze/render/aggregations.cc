// SPDX-License-Identifier: GPL-2.0
//
// Tables of aggregations: decoding keys, merging, sorting, clear and trunc. Keys
// and words come from a kernel, a dead machine or a file, and are checked.
#include "analyze/render/aggregations.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "analyze/render/histogram.h"
#include "analyze/render/text.h"
#include "formats/abi/aggtab.h"
#include "formats/abi/dof.h"
#include "formats/trace/key.h"

namespace dfr::render {
namespace {

const std::string& probe_text(const trace::Probe& probe, uint32_t which) {
	switch (which) {
	case 0: return probe.provider;
	case 1: return probe.module;
	case 2: return probe.function;
	default: return probe.name;
	}
}

int sign(int value) {
	return value < 0 ? -1 : value > 0;
}

int compare_numbers(uint64_t a, uint64_t b) {
	return a < b ? -1 : a > b;
}

int compare_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
	const int common =
	    a.empty() || b.empty() ? 0 : std::memcmp(a.data(), b.data(), std::min(a.size(), b.size()));
	return common != 0 ? sign(common) : compare_numbers(a.size(), b.size());
}

int compare_datum(const Datum& a, const Datum& b) {
	switch (a.kind) {
	case DatumKind::String:
	case DatumKind::Bytes: return compare_bytes(a.bytes, b.bytes);
	case DatumKind::Stack:
	case DatumKind::UserStack: {
		if (a.pid != b.pid)
			return compare_numbers(a.pid, b.pid);
		for (size_t i = 0; i < std::min(frames_of(a), frames_of(b)); i++)
			if (const int order = compare_numbers(frame_of(a, i), frame_of(b, i)))
				return order;
		return compare_numbers(frames_of(a), frames_of(b));
	}
	case DatumKind::Integer:
		return compare_numbers(cut_unsigned(a.number, a.size), cut_unsigned(b.number, b.size));
	default: return a.pid != b.pid ? compare_numbers(a.pid, b.pid) : compare_numbers(a.number, b.number);
	}
}

// func(), mod() and their kin: what counts is the name, not the address.
bool is_named(const Datum& datum) {
	return datum.kind == DatumKind::Symbol || datum.kind == DatumKind::Module ||
	       datum.kind == DatumKind::UserSymbol || datum.kind == DatumKind::UserModule;
}

// What the engine leaves in a minimum or maximum that was cleared.
bool is_untouched(const trace::AggEntry& entry) {
	if (entry.words.size() != 1)
		return false;
	const auto value = static_cast<int64_t>(entry.words[0]);
	return (entry.kind == DFR_ACT_MIN && value == std::numeric_limits<int64_t>::max()) ||
	       (entry.kind == DFR_ACT_MAX && value == std::numeric_limits<int64_t>::min());
}

} // namespace

std::vector<uint64_t> empty_words(uint32_t kind, std::span<const uint64_t> like) {
	if (kind == DFR_ACT_MIN || kind == DFR_ACT_MAX)
		return {};
	std::vector<uint64_t> empty(like.size());
	if ((kind == DFR_ACT_LQUANTIZE || kind == DFR_ACT_LLQUANTIZE) && !like.empty())
		empty[0] = like[0];
	return empty;
}

std::vector<uint64_t> empty_words(uint32_t kind, uint64_t arg) {
	size_t buckets = DFR_QUANTIZE_BUCKETS;
	if (!is_histogram(kind)) // as a number they are 0
		return {};
	if (kind != DFR_ACT_QUANTIZE)
		buckets = 1 + (kind == DFR_ACT_LQUANTIZE ? DFR_LQUANTIZE_LEVELS(arg) + size_t{2}
		                                         : llquantize_slots(arg));
	std::vector<uint64_t> words(buckets);
	if (kind != DFR_ACT_QUANTIZE)
		words[0] = arg;
	return words;
}

int compare_keys(std::span<const Datum> a, std::span<const Datum> b, unsigned first) {
	const size_t count = std::min(a.size(), b.size());
	for (size_t i = 0; i < count; i++) {
		const size_t at = (i + first) % count;
		if (const int order = compare_datum(a[at], b[at]))
			return order;
	}
	return compare_numbers(a.size(), b.size());
}

int compare_values(const AggValue& a, const AggValue& b) {
	if (!is_histogram(a.kind)) {
		const int64_t left = scalar_of({a.kind, a.words, 1}), right = scalar_of({b.kind, b.words, 1});
		return left < right ? -1 : left > right;
	}
	if (a.words.data() == b.words.data()) // as two keys that the aggregation does not have
		return 0;
	const Histogram left = Histogram::from_words(a.kind, a.words);
	const Histogram right = Histogram::from_words(b.kind, b.words);
	if (left.weight() != right.weight())
		return left.weight() < right.weight() ? -1 : 1;
	return left.zero_count() < right.zero_count() ? -1 : left.zero_count() > right.zero_count();
}

void merge_words(uint32_t kind, std::vector<uint64_t>& a, std::span<const uint64_t> b) {
	if (a.empty()) { // a minimum or maximum of nothing yet
		a.assign(b.begin(), b.end());
		return;
	}
	if (a.size() != b.size())
		return; // b is nothing, or damage
	if (kind == DFR_ACT_MIN || kind == DFR_ACT_MAX) {
		const auto left = static_cast<int64_t>(a[0]), right = static_cast<int64_t>(b[0]);
		a[0] = static_cast<uint64_t>(kind == DFR_ACT_MIN ? std::min(left, right)
		                                                 : std::max(left, right));
		return;
	}
	if (kind == DFR_ACT_STDDEV && a.size() == 4) {
		const uint64_t low = a[2];
		a[0] += b[0];
		a[1] += b[1];
		a[2] += b[2];
		a[3] += b[3] + (a[2] < low ? 1 : 0);
		return;
	}
	const size_t first = kind == DFR_ACT_LQUANTIZE || kind == DFR_ACT_LLQUANTIZE ? 1 : 0;
	for (size_t i = first; i < a.size(); i++)
		a[i] += b[i];
}

void Aggregations::snapshot(std::vector<trace::AggEntry> entries) {
	live_.assign(std::make_move_iterator(entries.begin()), std::make_move_iterator(entries.end()));
	stale_ = true;
}

std::vector<Datum> Aggregations::keys_of(const trace::AggEntry& entry, std::string& canonical,
                                         std::optional<uint32_t>& cpu) {
	std::vector<Datum> keys;
	const trace::Catalog& catalog = programs_.catalog();
	const auto variable = catalog.aggregations.find(entry.varid);
	if (variable == catalog.aggregations.end())
		return keys;
	const Programs::Keys& known = programs_.keys_of(entry.varid);
	std::span<const std::byte> rest = entry.key;
	dof::Action action;
	for (size_t i = 0; i < variable->second.keys.size(); i++) {
		const dfr_field& field = variable->second.keys[i];
		action.kind = i < known.kinds.size() ? known.kinds[i] : uint32_t{DFR_ACT_DIFEXPR};
		trace::KeyElement element;
		if (!trace::take_key_element(field, rest, element))
			break;
		const uint64_t number = element.number;
		std::span<const std::byte> bytes = element.bytes;
		const auto probe = field.kind == DFR_FIELD_PROBETEXT
		                       ? catalog.probes.find(static_cast<uint32_t>(number))
		                       : catalog.probes.end();
		if (probe != catalog.probes.end())
			bytes = std::as_bytes(std::span(probe_text(probe->second, field.size)));
		if (known.by_cpu && i + 1 == variable->second.keys.size()) {
			cpu = static_cast<uint32_t>(number);
			break;
		}
		set_datum(keys.emplace_back(), action, field, number, bytes);
		if (is_named(keys.back())) {
			canonical.append(std::to_string(keys.back().pid))
			    .append(name_of(keys.back(), symbols_));
			canonical += '\0';
			continue;
		}
		// A text is one key, whether it was recorded as such or is a probe's.
		if (field.kind != DFR_FIELD_PROBETEXT && field.kind != DFR_FIELD_STRING)
			canonical.append(reinterpret_cast<const char*>(&number), sizeof number);
		const uint64_t size = bytes.size();
		canonical.append(reinterpret_cast<const char*>(&size), sizeof size);
		canonical.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
	}
	return keys;
}

void Aggregations::add(std::map<uint32_t, Table>& tables, const trace::AggEntry& entry) {
	std::string canonical;
	std::optional<uint32_t> cpu;
	auto keys = keys_of(entry, canonical, cpu);
	Table& table = tables[entry.varid];
	const bool nothing = cleared_.count(entry.varid) && is_untouched(entry);
	const auto words = nothing ? std::vector<uint64_t>{} : entry.words;
	const auto [at, fresh] = table.try_emplace(std::move(canonical));
	AggItem& item = at->second;
	if (fresh) {
		item = {entry.kind, std::move(keys), words, {}};
	} else {
		merge_words(item.kind, item.words, words);
		// One name may stand for several addresses, and rows of one value are in the order of these: the
		// least one, because which of them comes first differs from answer to answer.
		if (compare_keys(keys, item.keys, 0) < 0)
			item.keys = std::move(keys);
	}
	if (cpu)
		merge_words(entry.kind, item.by_cpu[*cpu], words);
}

const std::map<uint32_t, Aggregations::Table>& Aggregations::tables() {
	if (!stale_)
		return tables_;
	tables_.clear();
	for (const trace::AggEntry& entry : carried_)
		add(tables_, entry);
	for (const trace::AggEntry& entry : live_)
		add(tables_, entry);
	stale_ = false;
	return tables_;
}

int64_t Aggregations::normal(uint32_t variable) const {
	const auto at = normal_.find(variable);
	return at == normal_.end() ? 1 : at->second;
}

// What a key shows that the aggregation has not: of its own kind, an empty distribution for quantize().
AggValue Aggregations::nothing(uint32_t variable) {
	const Programs::Keys& known = programs_.keys_of(variable);
	if (!known.function)
		return {DFR_ACT_COUNT, {}, 1};
	const auto [words, fresh] = zero_words_.try_emplace(variable);
	if (fresh)
		words->second = empty_words(known.function, known.arg);
	return {known.function, words->second, 1};
}

std::vector<AggRow> Aggregations::rows(std::span<const uint32_t> variables, const SortOptions& sort) {
	const auto& all = tables();
	std::map<std::string_view, AggRow> joined;
	for (size_t v = 0; v < variables.size(); v++) {
		const auto table = all.find(variables[v]);
		if (table == all.end())
			continue;
		for (const auto& [canonical, item] : table->second) {
			AggRow& row = joined[canonical];
			row.keys = item.keys;
			row.canonical = canonical;
			row.values.resize(variables.size());
			row.values[v] = {item.kind, item.words, normal(variables[v]),
			                 item.by_cpu.empty() ? nullptr : &item.by_cpu};
		}
	}
	std::vector<AggRow> rows;
	rows.reserve(joined.size());
	for (auto& [canonical, row] : joined) {
		for (size_t v = 0; v < variables.size(); v++) {
			if (row.values[v].kind != 0)
				continue;
			row.values[v] = nothing(variables[v]);
		}
		rows.push_back(std::move(row));
	}
	const size_t position = variables.empty() ? 0 : std::min<size_t>(sort.position, variables.size() - 1);
	std::stable_sort(rows.begin(), rows.end(), [&](const AggRow& a, const AggRow& b) {
		int order = sort.by_key ? compare_keys(a.keys, b.keys, sort.key_position) : 0;
		for (size_t v = 0; order == 0 && v < variables.size(); v++) {
			const size_t at = (v + position) % variables.size();
			order = compare_values(a.values[at], b.values[at]);
		}
		if (order == 0)
			order = compare_keys(a.keys, b.keys, sort.key_position);
		return sort.reverse ? order > 0 : order < 0;
	});
	return rows;
}

void Aggregations::forget_live(uint32_t variable) {
	const auto same = [variable](const trace::AggEntry& entry) { return entry.varid == variable; };
	std::erase_if(live_, same);
	std::erase_if(carried_, same);
	stale_ = true;
}

void Aggregations::clear(uint32_t variable) {
	cleared_.insert(variable);
	std::deque<trace::AggEntry> kept;
	const auto collect = [&](const std::deque<trace::AggEntry>& entries) {
		for (const trace::AggEntry& entry : entries) {
			if (entry.varid != variable)
				continue;
			kept.push_back(entry);
			kept.back().words = empty_words(entry.kind, entry.words);
		}
	};
	collect(carried_);
	collect(live_);
	// A key that was carried and is live stands twice; merging zeroes is harmless, growing is not.
	std::set<std::vector<std::byte>> seen;
	forget_live(variable);
	for (trace::AggEntry& entry : kept)
		if (seen.insert(entry.key).second)
			carried_.push_back(std::move(entry));
}

void Aggregations::trunc(uint32_t variable) {
	forget_live(variable);
}

void Aggregations::trunc(uint32_t variable, int64_t n, const SortOptions& sort) {
	if (n == 0)
		return trunc(variable);
	SortOptions by_value;
	by_value.key_position = sort.key_position;
	const uint32_t one[] = {variable};
	const auto sorted = rows(one, by_value);
	const uint64_t wanted = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
	const size_t count = static_cast<size_t>(std::min<uint64_t>(wanted, sorted.size()));
	const size_t from = n > 0 ? sorted.size() - count : 0;
	std::set<std::string> stay;
	for (size_t i = from; i < from + count; i++)
		stay.emplace(sorted[i].canonical);
	std::map<std::vector<std::byte>, trace::AggEntry> kept;
	const auto collect = [&](const std::deque<trace::AggEntry>& entries) {
		for (const trace::AggEntry& entry : entries) {
			std::string canonical;
			std::optional<uint32_t> cpu;
			if (entry.varid != variable)
				continue;
			keys_of(entry, canonical, cpu);
			if (!stay.count(canonical))
				continue;
			const auto [at, fresh] = kept.try_emplace(entry.key, entry);
			if (!fresh)
				merge_words(entry.kind, at->second.words, entry.words);
		}
	};
	collect(carried_);
	collect(live_);
	forget_live(variable);
	for (auto& [key, entry] : kept)
		carried_.push_back(std::move(entry));
}

std::vector<uint32_t> Aggregations::unprinted() {
	std::vector<uint32_t> left;
	for (const auto& [variable, table] : tables())
		if (!printed_.count(variable) && !table.empty())
			left.push_back(variable);
	return left;
}

} // namespace dfr::render
