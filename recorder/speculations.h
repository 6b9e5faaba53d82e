// SPDX-License-Identifier: GPL-2.0
//
// Speculations of a dead machine. Chunks (formats/abi/spec.h) whose commit() had
// been called but not finished are put into blocks of their own, with the bytes
// that the engine would have put into the ring; the others are counted as in
// flight. memory_image.cc finds the chunks.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "formats/abi/spec.h"
#include "formats/trace/decode.h"

namespace dfr::recorder {

struct SpeculationChunk {
	dfr_spec_chunk head{};
	std::vector<std::byte> records; // head.used bytes
};

// The engine copies chunks into the ring and frees them then, so that a dead memory has them in one place at least:
// those that it has in both are taken out here. A record is told from all others by its CPU, time and EPID.
class CopiedChunks {
public:
	CopiedChunks(std::span<const SpeculationChunk> chunks, trace::RecordShapes& shapes);
	void see(const trace::Record& record); // of a ring
	void take_out(std::vector<SpeculationChunk>& chunks) const;

private:
	struct FirstRecord {
		uint32_t cpu = 0, speculation = 0, epid = 0;
		uint64_t time = 0;
		auto operator<=>(const FirstRecord&) const = default;
	};
	struct Sighted {
		std::vector<size_t> chunks; // which begin with it
		bool in_ring = false;
	};
	std::map<FirstRecord, Sighted> first_;
};

struct FinishedCommits {
	std::vector<trace::Block> blocks; // by (cpu, seq); seq goes on after the ring's last block
	uint64_t in_flight = 0;           // speculations that were not committed
	uint64_t in_flight_records = 0;
	// Theirs: as if each chunk had been committed when its last record was made. Numbered by themselves.
	std::vector<trace::Block> in_flight_blocks;
};

// `groups`: the GROUP records in the rings, which say what was committed and when; `last`: each CPU's
// newest block header.
FinishedCommits finish_commits(std::vector<SpeculationChunk> chunks,
                               const std::vector<trace::GroupMark>& groups,
                               std::map<uint32_t, dfr_block> last, uint64_t state_id);

} // namespace dfr::recorder
