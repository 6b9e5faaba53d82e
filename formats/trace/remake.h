// SPDX-License-Identifier: GPL-2.0
//
// Makes blocks from records, as the engine writes them: what dfr cut and dfr redact
// leave of a block, and what several cuts of a block have together. Times, groups of
// committed speculations, notes and losses stay.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "formats/trace/decode.h"

namespace dfr::trace {

// A record as it is to stand in the new block: `fields` has a value for each of `layout`.
struct RemadeRecord {
	uint32_t epid = 0;
	Context context;
	std::span<const dfr_field> layout;
	std::span<const Value> fields;
};

// nullopt: the record is left out. What it gives must stay until the next call.
using Remake = std::function<std::optional<RemadeRecord>(const Record&)>;

struct Remade {
	Block block;           // sealed; its header says DFR_BLOCK_CUT if a record is missing, or was before
	uint64_t kept = 0;     // records
	uint64_t left_out = 0; // records
	uint64_t out_in_front = 0; // records left out before the first that was kept
	DecodeDamage damage;       // of the old block
};

// Gives a block that was made again another header, and seals it.
void change_head(Block& block, dfr_block head);

// Throws dfr::Error if what remains does not fit into a block.
Remade remake_block(const Block& block, RecordShapes& shapes, const Remake& wanted);

// What is known of a block of what two cuts (DFR_BLOCK_CUT) of one block have, without reading them; the records
// that both have are counted twice.
dfr_block joined_head(const dfr_block& one, const dfr_block& other);
// And the block: each record once. A cut keeps or leaves out all records that are alike, so of those each has all or
// none. nullopt: not all of both can be read, or it does not fit into a block.
std::optional<Block> join_cuts(const Block& one, const Block& other, RecordShapes& shapes);

} // namespace dfr::trace
