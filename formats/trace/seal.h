// SPDX-License-Identifier: GPL-2.0
//
// The checksums of a sealed block (formats/abi/block.h): one for each interval between
// restart points, and the block's own for the header and what stands before the first of them. Blocks
// are hostile: only `committed` bytes behind the header are looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/trace/source.h"

namespace dfr::trace {

// Whether a hostile block's header makes sense by itself, and (block_is_sane) whether `bytes` are long
// enough for it. Neither looks at the records.
bool header_is_sane(const dfr_block& head);
bool block_is_sane(std::span<const std::byte> bytes);
// Whether the block is sealed and all of its checksums are right.
bool block_is_verified(std::span<const std::byte> bytes);
// Seals a sane block from a live engine, unless the engine has sealed it already; sets `verified`.
void seal_block(Block& block);

inline uint32_t restart_count(const dfr_block& head) {
	return static_cast<uint32_t>((head.hdr_size - sizeof(dfr_block)) / sizeof(dfr_restart));
}
dfr_restart restart_at(const std::byte* block, uint32_t index);
// An entry is for a place in its own part of the block: one that names another place is damaged, and what it says of
// time and context is not true there.
inline bool is_in_place(const dfr_restart& entry, uint32_t index) {
	return entry.record / DFR_RESTART_BYTES == index;
}

// Sets the checksums in the restart table of a block, if the header says that it is sealed. `body`: the block's bytes
// behind its header. True: with this table the checksums of a sane block are right, its own included.
bool set_checksums(const dfr_block& head, std::span<const std::byte> body, std::span<dfr_restart> table);
// Of a sane block that was sealed: whether the block's own checksum is right, and how many intervals are sound. Where more than
// `most` bytes stand before the first interval, the checksum is not computed, and is not right.
bool own_is_right(std::span<const std::byte> block, uint32_t most = UINT32_MAX);
size_t sound_intervals(std::span<const std::byte> block);
// Of a sane, sealed block: whether an interval from `from` to `to` has the right checksum; from hdr_size to
// the first interval that is the block's own.
bool interval_is_sound(std::span<const std::byte> block, uint32_t from, uint32_t to);

// An interval of a sealed block whose checksum is wrong.
struct DamagedInterval {
	uint32_t from = 0, to = 0; // offsets in the block
	uint64_t records = 0;      // 0: not known
	uint64_t after = 0;        // time of the last record before it; 0: not known
};
std::vector<DamagedInterval> damaged_intervals(std::span<const std::byte> block);

} // namespace dfr::trace
