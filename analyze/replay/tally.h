// SPDX-License-Identifier: GPL-2.0
//
// Tally: one aggregation that is counted outside of the engine: a table from keys,
// which are words, to the value words of formats/abi/aggtab.h. Values change as in
// the engine (kmod/engine/recording/agg.c), whose functions do the rarer ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dfr::replay {

class Tally {
public:
	static constexpr size_t kLanes = 1024; // updates of one call at most

	// `kind`: DFR_ACT_COUNT ...; `arg`: its parameters, which make sense.
	Tally(uint32_t varid, uint32_t kind, uint64_t arg, size_t key_words);

	// Update i has key word k in keys[k][i]. `values` is null for count(), `weights` where all are 1.
	void add(std::span<const uint64_t* const> keys, const uint64_t* values, const uint64_t* weights,
	         size_t count);

	uint32_t varid() const { return varid_; }
	uint32_t kind() const { return kind_; }
	uint64_t arg() const { return arg_; }
	size_t key_words() const { return key_words_; }
	size_t entries() const { return entries_; }
	std::span<const uint64_t> key(size_t entry) const {
		return std::span(keys_).subspan(entry * key_words_, key_words_);
	}
	std::span<const uint64_t> words(size_t entry) const {
		return std::span(words_).subspan(entry * value_words_, value_words_);
	}
	// What the engine's table would take for it, about.
	size_t bytes() const;

private:
	template <size_t kWords> void find(std::span<const uint64_t* const> keys, size_t count);
	template <size_t kWords> uint32_t entry_of(std::span<const uint64_t* const> keys, size_t at);
	uint32_t insert(std::span<const uint64_t* const> keys, size_t at, size_t slot);
	void grow();
	uint64_t hash_of(std::span<const uint64_t> key) const;

	uint32_t varid_, kind_;
	uint64_t arg_;
	size_t key_words_, value_words_;
	size_t entries_ = 0;
	std::vector<uint64_t> keys_, words_;
	std::vector<uint32_t> slots_; // 1 + entry; 0: free. A power of two.
	std::vector<uint32_t> found_; // the entry of each update
};

} // namespace dfr::replay
