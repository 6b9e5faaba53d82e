// SPDX-License-Identifier: GPL-2.0
//
// From blocks to records. BlockDecoder walks the records of one block; Merger
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
struct Record {
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
	void add(const DecodeDamage& other);
};

// A GROUP record: part of a speculation was committed here, or all of it elsewhere.
struct GroupMark {
	uint32_t speculation = 0;
	uint64_t commit_time = 0;
};

// How the records of each EPID are laid out: compiled from the catalog at first sight, which may
// grow meanwhile.
struct RecordShape {
	const dfr_field* fields = nullptr;
	const Probe* probe = nullptr;
	uint16_t count = 0;
	uint16_t integers = 0;
	bool known = false;
};

class RecordShapes {
public:
	explicit RecordShapes(const Catalog& catalog) : catalog_(catalog) {}
	const RecordShape* find(uint32_t epid) {
		if (epid < shapes_.size() && shapes_[epid].known) [[likely]]
			return &shapes_[epid];
		return compile(epid);
	}
	// Whether a program may commit speculations: blocks then hold records out of order.
	bool may_commit();

private:
	const RecordShape* compile(uint32_t epid);
	const Catalog& catalog_;
	std::vector<RecordShape> shapes_;
	size_t dofs_seen_ = 0;
	bool may_commit_ = false;
};

// Walks the records of one block, one call a record. A block whose checksum was there and right is
// walked once; any other is walked from restart point to restart point, and what does not lead
// exactly to the next one is skipped and counted.
class RecordCursor {
public:
	explicit RecordCursor(RecordShapes& shapes) : shapes_(shapes) {}

	// The block must stay where it is. False: it is unusable (counted). loss may be null.
	bool open(const Block& block, DecodeDamage& damage, Losses* losses);
	// GROUP records that next() meets are noted there.
	void collect_groups(std::vector<GroupMark>* marks) { group_marks_ = marks; }
	// From now on in order of time, not of place: committed records come at their own time.
	void sort();
	bool next();
	const Record& current() const { return record_; }

private:
	// Everything that the meaning of the next byte depends on.
	struct DecodeState {
		uint32_t at = 0;        // offset in the block
		uint32_t group_end = 0; // 0: not in a group
		uint32_t speculation = 0;
		uint32_t notes = 0; // pending
		uint64_t time = 0;
		uint64_t group_time = 0, commit_time = 0;
		bool timed = false; // a long head was seen
		Context context;
	};
	struct Note {
		uint8_t field, code;
		uint64_t value;
	};
	struct TimedState {
		uint64_t time;
		DecodeState state;
	};
	enum class Passed { kRecord, kControl, kEnd, kDamage };

	bool next_in_place();
	bool enter_region();
	void find_region(uint32_t from);
	void skip_region();
	bool region_holds();
	Passed step();
	Passed control();
	Passed record(uint32_t epid, uint8_t level);
	bool fields(const RecordShape& shape);
	bool field(const dfr_field& spec, const RecordShape& shape, Value& value);
	bool take(void* to, uint32_t size);
	bool take_bytes(Value& value, uint64_t size);
	bool context();
	bool note();
	bool group();
	void leave_group();
	bool loss();

	RecordShapes& shapes_;
	const std::byte* base_ = nullptr;
	uint32_t end_ = 0;    // offset behind the last committed byte
	uint32_t region_ = 0; // offset where the checked region ends
	uint32_t next_restart_ = 0, restarts_ = 0;
	uint32_t step_start_ = 0; // of the record that step() is at
	bool trusting_ = false;   // the checksum was right: nothing is checked twice
	bool quiet_ = false;      // checking: losses are not counted
	bool sorted_ = false;
	DecodeState state_;
	Record record_;
	DecodeDamage* damage_ = nullptr;
	Losses* losses_ = nullptr;
	std::vector<GroupMark>* group_marks_ = nullptr;
	std::vector<Value> values_;
	std::vector<Note> notes_;
	std::vector<TimedState> places_;
	size_t next_place_ = 0;
};

class BlockDecoder {
public:
	explicit BlockDecoder(const Catalog& catalog) : shapes_(catalog), cursor_(shapes_) {}
	// Calls visit for each record in order until it returns false. loss (optional) gets LOSS records.
	void decode(const Block& block, const std::function<bool(const Record&)>& visit,
	            Losses* losses = nullptr);
	const DecodeDamage& damage() const { return damage_; }

private:
	RecordShapes shapes_;
	RecordCursor cursor_;
	DecodeDamage damage_;
};

// Whether a block's header makes sense for these bytes (a hostile block; nothing else is looked at).
bool header_is_sane(const dfr_block& head);
bool block_is_sane(std::span<const std::byte> bytes);
// Whether it is sealed and its checksum right.
bool block_is_verified(std::span<const std::byte> bytes);
// Seals a sane block that was read from a living engine and not yet sealed by it; verified from now on.
void seal_block(Block& block);

// All events of a source in order of (time, cpu, block sequence, offset). A source with an index is
// read in bounded memory: the blocks that overlap in time. One that streams is buffered until next()
// has no more.
class Merger {
public:
	explicit Merger(BlockSource& source) : source_(source) {}
	void run(const std::function<bool(const Record&)>& visit);

	// After run(): per CPU what was seen, for window and verdict.
	struct CpuSpan {
		uint64_t first = 0, last = 0;                   // times
		uint64_t first_seq = 0, last_seq = 0, gaps = 0; // gaps: missing sequence numbers between
		uint64_t records = 0, blocks = 0;
		uint64_t missing = 0;     // records in those gaps
		uint64_t overwritten = 0; // records before the first block: the ring's horizon
		uint64_t lost = 0;        // by the headers' own counters, since the first block
	};
	const std::vector<CpuSpan>& cpus() const { return cpus_; }
	const Losses& losses() const { return losses_; }
	const DecodeDamage& damage() const { return damage_; }

private:
	struct Input;
	struct Queue;
	std::vector<BlockRef> collect(std::vector<Block>& streamed);
	void account(const std::vector<BlockRef>& refs);

	BlockSource& source_;
	std::vector<CpuSpan> cpus_;
	Losses losses_;
	DecodeDamage damage_;
};

// Window and verdict of what was read: what every answer names.
struct Verdict {
	bool complete = true;
	bool windowed = false;     // a ring overwrote its oldest: answers hold for the window
	uint64_t from = 0, to = 0; // the window (mono ns): where all CPUs are complete
	unsigned cpus = 0;
	uint64_t records = 0, lost = 0;
	std::vector<std::string> reasons; // "1,204 records lost on CPU 2 (ring full)"
};
// "ring full": an enum dfr_loss in words.
const char* loss_text(uint32_t cause);
Verdict judge(BlockSource& source, const Merger& merger);
// "14:03:02": a record's time on the clock of the wall.
std::string time_text(const Catalog& catalog, uint64_t mono);
// "complete: 14:03:02-14:03:41, 4 CPUs, 1,203,441 records"
std::string verdict_line(const Verdict& verdict, const Catalog& catalog);

} // namespace dfr::trace
