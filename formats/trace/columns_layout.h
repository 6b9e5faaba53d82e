// SPDX-License-Identifier: GPL-2.0
//
// What both directions of columns.h share: how symbols are numbered, and which
// restart table a block gets if the engine has written it.
//
//   [ varint size of the directory, unpacked and stored ][ directory ][ frames ]
//   directory: varints
//     symbols: count, each symbol
//     counts: items, times, contexts, tasks, texts, bytes
//     sizes of the pieces that are no columns: controls, tables, texts, bytes
//     EPIDs: count, each: EPID, records, fields, each: kind and sign, size
//     frames: as FrameWriter::pack() writes them
//     heads of columns: of each block its items, and 1 if its restart table is
//       kept; order; times; contexts; of the tasks each member; of the EPIDs
//       each field; lengths of texts; lengths of bytes
//   in the frames: the columns as their heads stand, then the other pieces
#pragma once

#include <vector>

#include "formats/abi/block.h"
#include "formats/trace/columns.h"
#include "formats/trace/seal.h"

namespace dfr::trace {

inline uint64_t symbol_code(const OrderSymbol& symbol) {
	return uint64_t{symbol.id} << 5 | symbol.control << 4 | symbol.level << 2 | symbol.is_long << 1 |
	       symbol.same;
}
inline OrderSymbol symbol_of(uint64_t code) {
	return {.id = static_cast<uint32_t>(code >> 5),
	        .control = (code & 16) != 0,
	        .level = static_cast<uint8_t>(code >> 2 & 3),
	        .is_long = (code & 2) != 0,
	        .same = (code & 1) != 0};
}

// Bytes behind the kind of a control record that is no context.
inline size_t control_bytes(uint32_t kind) {
	switch (kind) {
	case DFR_CONTROL_NOTE: return 10;
	case DFR_CONTROL_GROUP: return 16;
	case DFR_CONTROL_LOSS: return 29;
	default: return 0;
	}
}

// Where a walk through a block is, as far as restart points, times and contexts go; made again in
// both directions.
struct RestartWalk {
	explicit RestartWalk(const dfr_block& head) : table(restart_count(head)) {}
	// Before the record at this offset.
	void at(uint32_t offset) {
		if (offset < due || held)
			return;
		const uint32_t entry = offset / DFR_RESTART_BYTES;
		due = (entry + 1) * DFR_RESTART_BYTES;
		if (entry < table.size())
			table[entry] = {.time = time,
			                .record = offset,
			                .context = context,
			                .records = records,
			                .checksum = 0};
	}

	std::vector<dfr_restart> table;
	uint64_t time = 0;    // of the last record; 0 before the first
	uint32_t context = 0; // offset of the context record that holds
	uint32_t records = 0; // before here
	uint32_t due = 0;
	bool held = false; // no restart point can be here: in a group, between a note and its record
};

} // namespace dfr::trace
