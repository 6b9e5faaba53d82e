// SPDX-License-Identifier: GPL-2.0
//
// What all sources of blocks share: the list of losses, and the merge of
// aggregation tables (formats/abi/aggtab.h) from several CPUs into one list.
// Tables are hostile: an entry whose size does not fit ends the walk, and the rest
// of the table is counted as not understood.
#include "formats/trace/source.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "formats/abi/aggtab.h"
#include "formats/abi/dof.h"
#include "formats/trace/batch.h"

namespace dfr::trace {

std::unique_ptr<StoredColumns> BlockSource::columns(const BlockRef&, const WantColumns&) {
	return nullptr;
}
namespace {

auto loss_key(const Losses::Loss& entry) {
	return std::tuple(entry.cause, entry.probe, entry.cpu);
}

// How many value words a kind has; 0: that depends on its parameters, or the kind is not known.
unsigned words_of(uint32_t kind) {
	switch (kind) {
	case DFR_ACT_COUNT:
	case DFR_ACT_SUM:
	case DFR_ACT_MIN:
	case DFR_ACT_MAX: return 1;
	case DFR_ACT_AVG: return 2;
	case DFR_ACT_STDDEV: return 4;
	case DFR_ACT_QUANTIZE: return DFR_QUANTIZE_BUCKETS;
	default: return 0;
	}
}

void add_words(std::vector<uint64_t>& into, const std::vector<uint64_t>& from, size_t first) {
	for (size_t i = first; i < into.size(); i++)
		into[i] += from[i];
}

// False: the two cannot belong to one aggregation.
bool combine(AggEntry& into, const AggEntry& from) {
	if (into.kind != from.kind || into.words.size() != from.words.size())
		return false;
	const auto signed_less = [](uint64_t a, uint64_t b) {
		return static_cast<int64_t>(a) < static_cast<int64_t>(b);
	};
	switch (into.kind) {
	case DFR_ACT_MIN: into.words[0] = std::min(into.words[0], from.words[0], signed_less); break;
	case DFR_ACT_MAX: into.words[0] = std::max(into.words[0], from.words[0], signed_less); break;
	case DFR_ACT_STDDEV: {
		const uint64_t low = into.words[2] + from.words[2];
		into.words[3] += from.words[3] + (low < from.words[2]);
		into.words[2] = low;
		into.words[0] += from.words[0];
		into.words[1] += from.words[1];
		break;
	}
	case DFR_ACT_LQUANTIZE:
	case DFR_ACT_LLQUANTIZE:
		if (into.words[0] != from.words[0])
			return false;
		add_words(into.words, from.words, 1);
		break;
	default: add_words(into.words, from.words, 0);
	}
	return true;
}

// What tells an entry from others.
std::string name_of(const AggEntry& entry) {
	std::string result(reinterpret_cast<const char*>(&entry.varid), sizeof(entry.varid));
	result.append(reinterpret_cast<const char*>(entry.key.data()), entry.key.size());
	return result;
}

dfr_aggent entry_at(std::span<const std::byte> tab, uint64_t at) {
	dfr_aggent entry{};
	if (at <= tab.size() && tab.size() - at >= sizeof(entry))
		std::memcpy(&entry, tab.data() + at, sizeof(entry));
	return entry;
}

// Where entries begin, by the buckets and the chains of a hostile table, in order.
std::vector<uint32_t> entry_starts(std::span<const std::byte> tab, uint32_t buckets) {
	std::vector<uint32_t> starts;
	const uint64_t first = sizeof(dfr_aggtab) + 4ull * buckets;
	std::vector<bool> seen(tab.size() / 8 + 1);
	for (uint32_t i = 0; i < buckets; i++) {
		uint32_t at;
		std::memcpy(&at, tab.data() + sizeof(dfr_aggtab) + 4ull * i, sizeof(at));
		for (; at >= first && at < tab.size() && at % 8 == 0 && !seen[at / 8];
		     at = entry_at(tab, at).next) {
			seen[at / 8] = true;
			starts.push_back(at);
		}
	}
	std::sort(starts.begin(), starts.end());
	return starts;
}

} // namespace

bool words_fit(uint32_t kind, const std::vector<uint64_t>& words) {
	if (kind == DFR_ACT_LQUANTIZE)
		return !words.empty() && words.size() == DFR_LQUANTIZE_LEVELS(words[0]) + 3u;
	if (kind == DFR_ACT_LLQUANTIZE)
		return words.size() >= 3;
	return !words.empty() && words.size() == words_of(kind);
}

Losses::Stretch stretch_of(const Losses::Loss& loss) {
	return {.cpu = loss.cpu,
	        .priority = DFR_THINNED_PRIORITY(loss.probe),
	        .from = loss.from,
	        .to = loss.to,
	        .left_out = loss.count,
	        .detached = (loss.probe & DFR_THINNED_DETACHED) != 0};
}

Losses::Loss loss_of(const Losses::Stretch& stretch) {
	return {.cause = DFR_LOSS_THINNED,
	        .probe = DFR_THINNED(stretch.priority, stretch.detached ? DFR_THINNED_DETACHED : 0),
	        .cpu = stretch.cpu,
	        .count = stretch.left_out,
	        .from = stretch.from,
	        .to = stretch.to};
}

// A stretch is told several times: what came later knows more of it.
void Losses::add(const Stretch& stretch) {
	const auto key = [](const Stretch& one) { return std::tuple(one.cpu, one.priority, one.from); };
	const auto place =
	    std::lower_bound(stretches.begin(), stretches.end(), stretch,
	                     [key](const Stretch& a, const Stretch& b) { return key(a) < key(b); });
	const auto alike = [&stretch](const Stretch& one) {
		return one.cpu == stretch.cpu && one.priority == stretch.priority;
	};
	const auto widen = [&stretch](Stretch& into) {
		const uint64_t end = std::max(into.end_at_most(), stretch.end_at_most());
		into.from = std::min(into.from, stretch.from);
		into.to = !into.to || !stretch.to ? 0 : std::max(into.to, stretch.to);
		into.over_by = into.to || end == UINT64_MAX ? 0 : end;
		into.left_out += stretch.left_out;
		into.detached |= stretch.detached;
	};
	if (place != stretches.end() && key(*place) == key(stretch)) {
		place->to = std::max(place->to, stretch.to);
		if (!place->over_by || (stretch.over_by && stretch.over_by < place->over_by))
			place->over_by = stretch.over_by;
		place->left_out = std::max(place->left_out, stretch.left_out);
		place->detached |= stretch.detached;
		return;
	}
	// Of very many, one that has no room makes one beside it longer.
	const bool full = stretches.size() >= kEntriesMost;
	if (full && place != stretches.begin() && alike(*std::prev(place))) {
		widen(*std::prev(place));
	} else if (full && place != stretches.end() && alike(*place)) {
		widen(*place);
	} else if (full && stretch.cpu != -1) {
		// Its CPU has none of its priority: it is only told that clauses of this priority were off.
		Stretch folded = stretch;
		folded.cpu = -1;
		add(folded);
	} else {
		stretches.insert(place, stretch); // of no CPU: no more than there are priorities
	}
}

void Losses::add(const Loss& entry) {
	if (entry.cause == DFR_LOSS_THINNED)
		return add(stretch_of(entry));
	const auto place =
	    std::lower_bound(entries.begin(), entries.end(), entry,
	                     [](const Loss& a, const Loss& b) { return loss_key(a) < loss_key(b); });
	if (place == entries.end() || loss_key(*place) != loss_key(entry)) {
		// Each goes in front of those behind it: of very many it is only counted that they were lost.
		const Loss folded{entry.cause, 0, entry.cpu, entry.count, entry.from, entry.to};
		if (entries.size() >= kEntriesMost && place != entries.end() &&
		    loss_key(folded) != loss_key(entry))
			return add(folded);
		entries.insert(place, entry);
		return;
	}
	place->count = added(place->count, entry.count);
	place->from = std::min(place->from, entry.from);
	place->to = std::max(place->to, entry.to);
}

void Losses::add(std::vector<Loss> many) {
	std::stable_sort(many.begin(), many.end(),
	                 [](const Loss& a, const Loss& b) { return loss_key(a) < loss_key(b); });
	for (const Loss& entry : many)
		add(entry);
}

uint64_t Losses::total() const {
	uint64_t sum = 0;
	for (const Loss& entry : entries)
		sum = added(sum, entry.count);
	return sum;
}

std::map<int32_t, uint64_t> Losses::by_cpu(uint32_t cause) const {
	std::map<int32_t, uint64_t> sums;
	for (const Loss& entry : entries)
		if (entry.cause == cause)
			sums[entry.cpu] = added(sums[entry.cpu], entry.count);
	return sums;
}

AggregationMerger::AggregationMerger(std::vector<AggEntry>& into) : entries_(into) {
	for (size_t i = 0; i < into.size(); i++)
		places_.emplace(name_of(into[i]), i);
}

// False: it cannot belong to the aggregation of its name.
bool AggregationMerger::merge(AggEntry entry) {
	const auto [place, fresh] = places_.emplace(name_of(entry), entries_.size());
	if (!fresh)
		return combine(entries_[place->second], entry);
	entries_.push_back(std::move(entry));
	return true;
}

size_t merge_aggregation_table(std::span<const std::byte> tab, std::vector<AggEntry>& into) {
	return AggregationMerger(into).add(tab);
}

size_t AggregationMerger::add(std::span<const std::byte> tab) {
	dfr_aggtab head;
	if (tab.size() < sizeof(head))
		return tab.size();
	std::memcpy(&head, tab.data(), sizeof(head));
	uint64_t at = sizeof(head) + 4ull * head.nbuckets;
	at = (at + 7) & ~7ull;
	if (head.magic != DFR_AGGTAB_MAGIC || head.version != 1 || at > tab.size())
		return tab.size();
	const uint64_t end = std::min<uint64_t>(head.used, tab.size());
	size_t senseless = head.used > tab.size() ? head.used - tab.size() : 0;
	std::optional<std::vector<uint32_t>> starts;
	while (at < end) {
		const dfr_aggent entry = entry_at(tab, at);
		const uint64_t size = sizeof(entry) + uint64_t{entry.key_size} + 8ull * entry.words;
		if (entry.key_size % 8 || !entry.words || size > end - at) {
			// Damaged: where the next one is, the buckets and the chains know.
			if (!starts)
				starts = entry_starts(tab.first(end), head.nbuckets);
			const auto next = std::upper_bound(starts->begin(), starts->end(), at);
			const uint64_t to = next == starts->end() ? end : *next;
			senseless += to - at;
			at = to;
			continue;
		}
		if (entry.varid) {
			AggEntry result{.varid = entry.varid, .kind = entry.kind};
			const std::byte* key = tab.data() + at + sizeof(entry);
			result.key.assign(key, key + entry.key_size);
			result.words.resize(entry.words);
			std::memcpy(result.words.data(), key + entry.key_size, 8ull * entry.words);
			if (!words_fit(entry.kind, result.words) || !merge(std::move(result)))
				senseless += size;
		}
		at += size;
	}
	return senseless;
}

} // namespace dfr::trace
