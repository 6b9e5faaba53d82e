// SPDX-License-Identifier: GPL-2.0
//
// BlockSource: where blocks come from. The device, a memory image, surviving
// memory, the in-process engine and a .dfr file each implement it in their own
// room; everything behind it (decoder, merger, renderer, replay, .dfr writer) is
// the same for boot, production and crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/abi/block.h"
#include "formats/trace/catalog.h"

namespace dfr::trace {

// One block, header included, `committed` bytes of records valid.
struct Block {
	std::vector<std::byte> bytes;
	bool verified = false; // its checksum was there and right
	const dfr_block& header() const { return *reinterpret_cast<const dfr_block*>(bytes.data()); }
};

// One key of one aggregation with its value words, merged over CPUs.
struct AggEntry {
	uint32_t varid = 0, kind = 0;
	std::vector<std::byte> key; // as in formats/abi/aggtab.h
	std::vector<uint64_t> words;
	bool approximate = false; // was being updated when the machine died
};

// The tables as the consumer saw them while it rendered the records up to `time`.
struct AggSnapshot {
	uint64_t time = 0;
	std::vector<AggEntry> entries;
};

// What is missing: inside the window it is loss, before it is the horizon.
struct Losses {
	struct Loss {
		uint32_t cause = 0; // enum dfr_loss
		uint32_t probe = 0; // 0: not known
		int32_t cpu = -1;   // -1: not known
		uint64_t count = 0, from = 0, to = 0;
	};
	std::vector<Loss> entries; // by add(): one for each (cause, probe, cpu), in that order
	void add(const Loss& entry);
	uint64_t total() const;
};

// Where a source can give any block at any time: one block's header and the source's own number for it.
struct BlockRef {
	dfr_block head{};
	uint64_t handle = 0;
};

class BlockSource {
public:
	virtual ~BlockSource() = default;

	// May grow between calls of next(); never shrinks.
	virtual const Catalog& catalog() = 0;

	// The next block; nullopt: none now (live) or no more (file, image). Blocks of one CPU
	// come in order of seq; blocks of different CPUs in any order.
	virtual std::optional<Block> next() = 0;

	// Sources that can (a file, a memory image): all blocks, so that a reader in order of time
	// holds a few at once. Empty: this source streams. load() is nullopt for a damaged one.
	virtual std::vector<BlockRef> index() { return {}; }
	virtual std::optional<Block> load(const BlockRef&) { return std::nullopt; }

	// The latest snapshot of aggregations (totals since the last clear).
	virtual std::vector<AggEntry> aggregations() = 0;

	// Earlier ones that a printa() or clear() has looked at, in order of time; nullopt: no more.
	virtual std::optional<AggSnapshot> next_snapshot() { return std::nullopt; }

	virtual Losses losses() = 0;

	// What a reader should know about the source itself ("cut at byte 4711"); empty: fine.
	virtual std::vector<std::string> remarks() { return {}; }

	// Whether something of the source itself is missing or damaged: its answers are partial.
	virtual bool partial() { return false; }

	// "boot.dfr", "/dev/dfr (anonymous)", "memory.elf"
	virtual std::string name() const = 0;
};

// Whether an aggregation of this kind has a value of that many words (and, where they hold its
// parameters, these).
bool words_fit(uint32_t kind, const std::vector<uint64_t>& words);

// Merge the entries of `tab` (a whole table's bytes, hostile) into `into` by (varid, key).
// Returns how many bytes of it made no sense: what they held is missing.
size_t merge_aggregation_table(std::span<const std::byte> tab, std::vector<AggEntry>& into);

} // namespace dfr::trace
