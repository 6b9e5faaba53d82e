// SPDX-License-Identifier: GPL-2.0
//
// From blocks to events. BlockDecoder walks the records of one block; Merger
// orders the events of all CPUs by (time, cpu, block sequence, offset). Both
// trust nothing: damage skips to the block's next restart point and is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/trace/source.h"

namespace dfr::trace {

// Who fired.
struct Context {
	uint32_t task = 0, pid = 0, tid = 0;
	std::string_view execname;
};

// One field's value. Integers in `number` (sign-extended or zero-extended as declared);
// text without its NUL, bytes, and PCs in `bytes`.
struct Value {
	uint64_t number = 0;
	std::span<const std::byte> bytes;
	uint8_t fault = 0; // NOTE: enum dfr_fault of a captured field; DFR_NOTE_CUT
	uint64_t fault_value = 0;
	std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

// One record. Views point into the block: valid during the visit only.
struct Event {
	uint64_t time = 0;
	uint32_t cpu = 0;
	uint32_t epid = 0;
	uint8_t level = 0; // enum dfr_level
	Context context;
	std::span<const Value> fields;
	// A committed speculation's record: its id and the time of the commit; else 0.
	uint32_t speculation = 0;
	uint64_t commit_time = 0;
	uint64_t seq = 0;    // of its block
	uint32_t offset = 0; // in its block
};

struct DecodeDamage {
	uint64_t blocks = 0;  // unusable
	uint64_t regions = 0; // skipped to a restart point
	uint64_t bytes = 0;
};

class BlockDecoder {
public:
	explicit BlockDecoder(const Catalog& catalog) : catalog_(catalog) {}
	// Calls visit for each record in order until it returns false. loss (optional) gets LOSS records.
	void decode(const Block& block, const std::function<bool(const Event&)>& visit, Losses* losses = nullptr);
	const DecodeDamage& damage() const { return damage_; }

private:
	const Catalog& catalog_;
	DecodeDamage damage_;
	std::vector<Value> values_;
};

// All events of a source in order of time. Bounded memory: one block for each CPU.
class Merger {
public:
	explicit Merger(BlockSource& source) : source_(source) {}
	void run(const std::function<bool(const Event&)>& visit);

	// After run(): per CPU what was seen, for window and verdict.
	struct CpuSpan {
		uint64_t first = 0, last = 0; // times
		uint64_t first_seq = 0, last_seq = 0, gaps = 0; // gaps: missing sequence numbers between
		uint64_t records = 0, blocks = 0;
	};
	const std::vector<CpuSpan>& cpus() const { return cpus_; }
	const Losses& losses() const { return losses_; }
	const DecodeDamage& damage() const { return damage_; }

private:
	BlockSource& source_;
	std::vector<CpuSpan> cpus_;
	Losses losses_;
	DecodeDamage damage_;
};

// Window and verdict of what was read: what every answer names.
struct Verdict {
	bool complete = true;
	bool windowed = false; // a ring overwrote its oldest: answers hold for the window
	uint64_t from = 0, to = 0; // the window (mono ns): where all CPUs are complete
	unsigned cpus = 0;
	uint64_t records = 0, lost = 0;
	std::vector<std::string> reasons; // "1,204 records lost on CPU 2 (ring full)"
};
Verdict judge(BlockSource& source, const Merger& merger);
// "complete: 14:03:02-14:03:41, 4 CPUs, 1,203,441 records"
std::string verdict_line(const Verdict& verdict, const Catalog& catalog);

} // namespace dfr::trace
