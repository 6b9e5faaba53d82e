// SPDX-License-Identifier: GPL-2.0
//
// Tables of aggregations: open addressing; half of the slots are free.
#include "analyze/replay/tally.h"

#include <algorithm>
#include <limits>

#include "analyze/engine/engine_c.h"

extern "C" {
#include "kmod/engine/recording/agg.h"
}

namespace dfr::replay {
namespace {

constexpr size_t kSlotsAtFirst = 256;

uint64_t mixed(uint64_t hash, uint64_t word) {
	const auto product = static_cast<unsigned __int128>(hash ^ word) * 0x9e3779b97f4a7c15u;
	return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

} // namespace

Tally::Tally(uint32_t varid, uint32_t kind, uint64_t arg, size_t key_words)
    : varid_(varid), kind_(kind), arg_(arg), key_words_(key_words), value_words_(dfr_agg_words(kind, arg)),
      slots_(kSlotsAtFirst), found_(kLanes) {}

size_t Tally::bytes() const {
	return entries_ * (sizeof(dfr_aggent) + 8 * (key_words_ + value_words_));
}

uint64_t Tally::hash_of(std::span<const uint64_t> key) const {
	uint64_t hash = 0x51ed270b9f1c4d23u;
	for (const uint64_t word : key)
		hash = mixed(hash, word);
	return hash;
}

void Tally::grow() {
	slots_.assign(2 * slots_.size(), 0);
	const size_t mask = slots_.size() - 1;
	for (size_t entry = 0; entry < entries_; entry++) {
		size_t slot = hash_of(key(entry)) & mask;
		while (slots_[slot])
			slot = (slot + 1) & mask;
		slots_[slot] = static_cast<uint32_t>(entry + 1);
	}
}

uint32_t Tally::insert(std::span<const uint64_t* const> keys, size_t at, size_t slot) {
	for (size_t k = 0; k < key_words_; k++)
		keys_.push_back(keys[k][at]);
	words_.resize(words_.size() + value_words_);
	uint64_t& first = words_[entries_ * value_words_];
	if (kind_ == DFR_ACT_MIN)
		first = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
	else if (kind_ == DFR_ACT_MAX)
		first = static_cast<uint64_t>(std::numeric_limits<int64_t>::min());
	else if (kind_ == DFR_ACT_LQUANTIZE || kind_ == DFR_ACT_LLQUANTIZE)
		first = arg_;
	const auto entry = static_cast<uint32_t>(entries_++);
	slots_[slot] = entry + 1;
	if (2 * entries_ > slots_.size())
		grow();
	return entry;
}

// kWords: of a key; or 3 for 3 and more.
template <size_t kWords> uint32_t Tally::entry_of(std::span<const uint64_t* const> keys, size_t at) {
	const size_t words = kWords < 3 ? kWords : key_words_;
	uint64_t hash = 0x51ed270b9f1c4d23u;
	for (size_t k = 0; k < words; k++)
		hash = mixed(hash, keys[k][at]);
	const size_t mask = slots_.size() - 1;
	for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
		if (!slots_[slot])
			return insert(keys, at, slot);
		const size_t entry = slots_[slot] - 1;
		const uint64_t* known = keys_.data() + entry * words;
		bool same = true;
		for (size_t k = 0; k < words; k++)
			same = same && known[k] == keys[k][at];
		if (same)
			return static_cast<uint32_t>(entry);
	}
}

// Often a key is that of the update before.
template <size_t kWords> void Tally::find(std::span<const uint64_t* const> keys, size_t count) {
	const size_t words = kWords < 3 ? kWords : key_words_;
	for (size_t i = 0; i < count; i++) {
		bool again = i > 0;
		for (size_t k = 0; k < words; k++)
			again = again && keys[k][i] == keys[k][i - 1];
		found_[i] = again ? found_[i - 1] : entry_of<kWords>(keys, i);
	}
}

void Tally::add(std::span<const uint64_t* const> keys, const uint64_t* values, const uint64_t* weights,
                size_t count) {
	switch (key_words_) {
	case 0: find<0>(keys, count); break;
	case 1: find<1>(keys, count); break;
	case 2: find<2>(keys, count); break;
	default: find<3>(keys, count);
	}
	uint64_t* const words = words_.data();
	switch (kind_) {
	case DFR_ACT_COUNT:
		for (size_t i = 0; i < count; i++)
			words[found_[i]]++;
		return;
	case DFR_ACT_SUM:
		for (size_t i = 0; i < count; i++)
			words[found_[i]] += values[i];
		return;
	case DFR_ACT_QUANTIZE:
		for (size_t i = 0; i < count; i++)
			words[found_[i] * size_t{DFR_QUANTIZE_BUCKETS} + dfr_quantize_bucket(values[i])] +=
			    weights ? weights[i] : 1;
		return;
	default:
		for (size_t i = 0; i < count; i++)
			dfr_agg_update(reinterpret_cast<u64*>(words + found_[i] * value_words_), kind_,
			               values[i], weights ? weights[i] : 1);
	}
}

} // namespace dfr::replay
