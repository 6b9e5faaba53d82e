// SPDX-License-Identifier: GPL-2.0
//
// Aggregations: what the consumer knows of a state's aggregations. It holds the
// latest snapshot of the engine's tables, what clear() and trunc() left of older
// ones, and each variable's normalisation; it sorts and joins. Text is made in
// agg_print.h.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analyze/render/programs.h"
#include "formats/trace/source.h"

namespace dfr::render {

struct SortOptions {
	bool by_key = false;       // aggsortkey
	bool reverse = false;      // aggsortrev
	unsigned position = 0;     // aggsortpos
	unsigned key_position = 0; // aggsortkeypos
};

// One line: a key, and the value in each of the aggregations that are shown together.
struct AggRow {
	std::vector<Datum> keys;
	std::vector<AggValue> values;
	std::string_view canonical; // the key as the tables have it
};

class Aggregations {
public:
	Aggregations(Programs& programs, Symboliser& symbols) : programs_(programs), symbols_(symbols) {}

	// The engine's totals since its last clear.
	void snapshot(std::vector<trace::AggEntry> entries);

	// That, but what clear() and trunc() have taken out since.
	std::vector<trace::AggEntry> latest() const { return {live_.begin(), live_.end()}; }

	// Joined by key, sorted. Rows borrow: valid until the next change.
	std::vector<AggRow> rows(std::span<const uint32_t> variables, const SortOptions& sort);

	void clear(uint32_t variable);
	void trunc(uint32_t variable); // all keys
	// The n largest (n > 0) or smallest (n < 0) stay.
	void trunc(uint32_t variable, int64_t n, const SortOptions& sort);
	void normalize(uint32_t variable, int64_t by) { normal_[variable] = by == 0 ? 1 : by; }
	void denormalize(uint32_t variable) { normal_.erase(variable); }

	void mark_printed(uint32_t variable) { printed_.insert(variable); }
	// Variables with data that no printa() has shown, by id.
	std::vector<uint32_t> unprinted();
	unsigned cpus() const { return programs_.catalog().cpus; }
	std::string name(uint32_t variable) { return programs_.aggregation_name(variable); }

private:
	struct AggItem {
		uint32_t kind = 0;
		std::vector<Datum> keys;
		std::vector<uint64_t> words;
		std::map<uint32_t, std::vector<uint64_t>> by_cpu; // aggpercpu
	};
	// Keys as comparable bytes: probes become their text, so ids of equal text meet; so do addresses of one
	// function or module, where the key is that.
	using Table = std::map<std::string, AggItem>;

	const std::map<uint32_t, Table>& tables();
	void add(std::map<uint32_t, Table>& tables, const trace::AggEntry& entry);
	std::vector<Datum> keys_of(const trace::AggEntry& entry, std::string& canonical,
	                           std::optional<uint32_t>& cpu);
	int64_t normal(uint32_t variable) const;
	AggValue nothing(uint32_t variable);
	void forget_live(uint32_t variable);

	Programs& programs_;
	Symboliser& symbols_;
	std::deque<trace::AggEntry> live_, carried_;
	std::map<uint32_t, Table> tables_;
	bool stale_ = true;
	std::map<uint32_t, int64_t> normal_;
	std::set<uint32_t> printed_, cleared_;
	std::map<uint32_t, std::vector<uint64_t>> zero_words_; // what nothing() borrows
};

// -1, 0, 1: keys element by element, from `first` on and around.
int compare_keys(std::span<const Datum> a, std::span<const Datum> b, unsigned first);
int compare_values(const AggValue& a, const AggValue& b);
// The value of a key that has none, where `like` is one that has: a minimum or maximum of nothing has no words.
std::vector<uint64_t> empty_words(uint32_t kind, std::span<const uint64_t> like);
// The same, where no key has one: of a function and its parameters.
std::vector<uint64_t> empty_words(uint32_t kind, uint64_t arg);
// b's words into a's, as the engine merges CPUs.
void merge_words(uint32_t kind, std::vector<uint64_t>& a, std::span<const uint64_t> b);

} // namespace dfr::render
