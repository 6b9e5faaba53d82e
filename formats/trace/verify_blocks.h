// SPDX-License-Identifier: GPL-2.0
//
// The part of verifying (verify.h) that looks at blocks: each chunk by itself, and
// then the blocks of each CPU beside each other.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "formats/trace/chunk.h"
#include "formats/trace/container.h"
#include "formats/trace/schema.h"
#include "formats/trace/verify.h"

namespace dfr::trace {

class BlockVerifier {
public:
	// `named_at`: by EPID, where the first segment begins that names it; empty: not to be looked at.
	BlockVerifier(Inspection& into, const std::vector<uint64_t>& named_at)
	    : into_(into), named_at_(named_at), shapes_(into.catalog) {}

	// A chunk whose payload is as it was written.
	void chunk(const Segment& segment, std::span<const std::byte> payload);
	// One whose payload is not; `start` may hold its headers nevertheless.
	void damaged_chunk(const Segment& segment, std::span<const std::byte> start);

	// After all chunks: what `ledger`, which stands at `offset`, says that stands in front of it.
	void ledger(const Ledger& ledger, uint64_t offset);
	void chunk_of_index(const Index::Chunk& chunk);
	// Sums and gaps, with the last ledger; where the file was cut, CPUs are whole until `whole_until` at most.
	// `finished`: nothing was recorded after what is in the file.
	void finish(const Ledger& last, bool finished);

private:
	struct Known { // one block
		dfr_block head{};
		uint64_t from = 0, to = 0; // bytes of its chunk's segment
		uint64_t records = 0;      // that can be read
		uint64_t overwritten = 0;  // records of other blocks of the CPU, as its LOSS records tell
		bool whole = false;
	};
	using Highest = std::vector<std::pair<uint64_t, uint64_t>>; // up to which byte which number, growing
	const Highest& highest_of(uint32_t cpu);
	void block(const Segment& segment, const Block& block, Known& known);
	void columns(const Segment& segment, const ChunkHeaders& headers, std::span<const std::byte> body);
	void epid(const Segment& segment, uint32_t cpu, uint32_t epid);
	void sum_of_part(const PartOf& part, uint64_t overwritten, CpuSum& sum);
	void beside(uint32_t cpu, std::vector<Known>& blocks, CpuSum& sum);
	std::vector<TimeSpan> spans(uint32_t cpu, const std::vector<Known>& blocks, uint64_t end) const;

	Inspection& into_;
	const std::vector<uint64_t>& named_at_;
	RecordShapes shapes_;
	std::map<uint32_t, std::vector<Known>> cpus_;
	std::map<uint32_t, Highest> highest_; // of these, once a ledger was held against them
	std::map<uint32_t, Reach> reaches_;   // the furthest that anything tells of each CPU
};

} // namespace dfr::trace
