// SPDX-License-Identifier: GPL-2.0
//
// A chunk: whole blocks of one CPU as the payload of a segment.
//
//   [ ChunkHead ][ dfr_block x blocks ][ body, stored bytes ]
//
// The headers are not compressed, so that a reader knows times, sequence numbers
// and losses without unpacking anything. The body is what follows the headers in
// the blocks (restart tables and committed records), encoded as `encoding` says:
// as columns, or, if these do not give back every byte or are not smaller, whole,
// by zstd or plain. Columns do not hold the intervals' checksums, which are made
// again with the blocks; so the head has a checksum of what the engine had made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/abi/block.h"
#include "formats/trace/source.h"

namespace dfr::trace {

enum class ChunkEncoding : uint16_t {
	kPlain = 0,   // bodies one after another
	kZstd = 1,    // the same, compressed
	kColumns = 2, // columns.h
};

struct ChunkHead {
	uint16_t encoding;
	uint16_t cpu;
	uint32_t blocks;
	uint32_t raw;      // bytes of the body when unpacked
	uint32_t stored;   // bytes of the body in the chunk
	uint32_t checksum; // of this head (with this field 0) and the block headers
	uint32_t unpacked; // checksum of the body when unpacked, never 0; 0: there is none
};
static_assert(sizeof(ChunkHead) == 24);

// FileWriter writes a chunk once it has so much of a CPU. Of many CPUs it takes less, because who reads in order of
// time has a chunk of each in memory, as the writer has.
inline constexpr uint32_t kChunkBytes = 512 * 1024;
inline constexpr uint32_t kChunkBytesLeast = 64 * 1024;
inline constexpr uint32_t kOpenChunksBytes = 8 * 1024 * 1024; // of all CPUs
inline constexpr uint32_t chunk_target(size_t cpus) {
	return static_cast<uint32_t>(
	    std::clamp<size_t>(kOpenChunksBytes / std::max<size_t>(cpus, 1), kChunkBytesLeast, kChunkBytes));
}
// Or once it has the least that is worth a chunk, of so long a time (ns): who asks for some seconds of a quiet hour reads
// the chunks in which they lie.
inline constexpr uint64_t kChunkSpan = 30'000'000'000;
// So no chunk has more than this, headers and unpacked bodies together; a head that says more is damaged.
inline constexpr uint32_t kChunkBytesMax = kChunkBytes + DFR_BLOCK_MAX;
// A small file asks for little memory: no body becomes more than so many times as large as it is stored. What writers make
// becomes up to thirty times as large; where it would be more, they store more.
inline constexpr uint32_t kChunkTimesMost = 256;
inline constexpr uint32_t kChunkBlocksMax = kChunkBytesMax / sizeof(dfr_block);

// All `blocks` must be sane and of one CPU; `catalog` has their layouts.
std::vector<std::byte> encode_chunk(std::span<const Block> blocks, const Catalog& catalog);

// decode_chunk_headers() reads head and block headers from the start of a chunk's payload; nullopt:
// damaged. chunk_headers_need() says how many bytes it needs; the head's own size if there is no head yet.
struct ChunkHeaders {
	ChunkHead head{};
	std::vector<dfr_block> blocks;
};
uint64_t chunk_headers_need(std::span<const std::byte> start);
std::optional<ChunkHeaders> decode_chunk_headers(std::span<const std::byte> start, uint64_t payload_size);

// All blocks; nullopt: damaged.
std::optional<std::vector<Block>> decode_chunk(std::span<const std::byte> payload);

} // namespace dfr::trace
