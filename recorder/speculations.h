// SPDX-License-Identifier: GPL-2.0
//
// Speculations of a dead machine. Chunks (formats/abi/spec.h) whose commit() had
// been called but not finished are put into blocks of their own, as the engine
// would have put them into the ring; the others stay apart, in flight. Where
// chunks are is the image's business.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "formats/abi/spec.h"
#include "formats/trace/decode.h"

namespace dfr::recorder {

struct SpeculationChunk {
	dfr_spec_chunk head{};
	std::vector<std::byte> records; // head.used bytes
};

struct FinishedCommits {
	std::vector<trace::Block> blocks; // by (cpu, seq), seq behind the ring's last
	uint64_t in_flight = 0;           // speculations that nobody had committed
	uint64_t in_flight_records = 0;
};

// `groups`: what the rings say was committed; `last`: the newest block header of each CPU.
FinishedCommits finish_commits(std::vector<SpeculationChunk> chunks,
                               const std::vector<trace::GroupMark>& groups,
                               const std::map<uint32_t, dfr_block>& last, uint64_t state_id);

} // namespace dfr::recorder
