// SPDX-License-Identifier: GPL-2.0
//
// From blocks to records. BlockDecoder walks the records of one block; Merger
// orders the events of all CPUs by (time, cpu, block sequence, offset). Their input
// is hostile: after damage they go on at the block's next restart point, and count
// what they skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/trace/seal.h"

namespace dfr::trace {

// Which task fired.
struct Context {
	uint32_t task = 0, pid = 0, tid = 0, nspid = 0;
	uint64_t cgroup = 0;
	std::string_view execname;
	bool operator==(const Context&) const = default;
};

// One field's value. Integers in `number` (sign-extended or zero-extended as declared);
// text without its NUL, bytes, and PCs in `bytes`.
struct Value {
	uint64_t number = 0;
	std::span<const std::byte> bytes;
	uint8_t fault = 0; // from a NOTE: the fault of a captured field, or DFR_NOTE_CUT; 0: none
	uint64_t fault_value = 0;
	std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

// One record. Its views point into the block and are valid only until the next record.
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
	uint64_t blocks = 0;  // unusable blocks
	uint64_t regions = 0; // how often the decoder skipped to a restart point
	uint64_t bytes = 0;   // how many bytes it skipped then
	uint64_t records = 0; // and how many records these had, as far as the block tells
	void add(const DecodeDamage& other);
};

// A GROUP record: a part of a speculation was committed into this ring. A GROUP without bytes only
// notes the commit; the records are in other CPUs' rings.
struct GroupMark {
	uint32_t speculation = 0;
	uint64_t commit_time = 0;
};

// How the records of one EPID are laid out. RecordShapes compiles it from the catalog when the EPID is
// first met, because the catalog may grow while records are read.
struct RecordShape {
	const dfr_field* fields = nullptr;
	const Probe* probe = nullptr;
	uint16_t count = 0;
	uint16_t integers = 0;
	bool known = false;
	uint64_t least = 0; // bytes that a record's fields have at least, with their size codes
};

class RecordShapes {
public:
	explicit RecordShapes(const Catalog& catalog) : catalog_(catalog) {}
	const RecordShape* find(uint32_t epid) {
		if (epid < shapes_.size() && shapes_[epid].known) [[likely]]
			return &shapes_[epid];
		return compile(epid);
	}
	// Whether a program may commit speculations; then blocks may hold records out of order of time.
	bool may_commit();

private:
	const RecordShape* compile(uint32_t epid);
	const Catalog& catalog_;
	std::vector<RecordShape> shapes_;
	size_t dofs_seen_ = 0;
	bool may_commit_ = false;
};

// Walks the records of one block; each next() gives one. If the block's checksums were verified, the
// records are walked once. Otherwise a region between two restart points is skipped and counted if its
// checksum is wrong or, in a block that was not sealed, if a walk that gives no records does not end exactly
// at the next restart point.
class RecordCursor {
public:
	explicit RecordCursor(RecordShapes& shapes) : shapes_(shapes) {}

	// The block must stay in memory. False: it is unusable, and is counted. `losses` may be null.
	bool open(const Block& block, DecodeDamage& damage, Losses* losses);
	// From now on next() adds the GROUP records that it meets to `marks`.
	void collect_groups(std::vector<GroupMark>* marks) { group_marks_ = marks; }
	// From now on next() gives the records in order of time, not of place in the block, so that committed
	// records come at their own time.
	void sort();
	bool next();
	const Record& current() const { return record_; }

private:
	// The cursor's place, and all that is needed to decode from there.
	struct DecodeState {
		uint32_t at = 0;        // offset in the block
		uint32_t group_end = 0; // 0: not in a group
		uint32_t speculation = 0;
		uint32_t notes = 0;   // NOTEs met for the next record
		uint32_t records = 0; // of the block before this place
		uint64_t time = 0;
		uint64_t group_time = 0, commit_time = 0;
		bool timed = false; // a long head was seen
		Context context;
	};
	struct Note {
		uint8_t field = 0, code = 0;
		uint64_t value = 0;
	};
	struct TimedState {
		uint64_t time = 0;
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
	std::span<const std::byte> bytes_; // up to end_
	uint32_t records_ = 0;             // by the header
	uint32_t end_ = 0;                 // offset after the last committed byte
	uint32_t region_ = 0;              // offset where the checked region ends
	uint32_t next_restart_ = 0, restarts_ = 0;
	uint32_t step_start_ = 0; // offset of the record that step() decodes
	bool trusting_ = false;   // the checksums were right: regions are not checked
	bool sealed_ = false;     // there are checksums
	bool quiet_ = false;      // walking in advance: losses and groups are not reported
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

// Of which a block tells.
Losses losses_in(const Block& block, RecordShapes& shapes);

class BlockDecoder {
public:
	explicit BlockDecoder(const Catalog& catalog) : shapes_(catalog), cursor_(shapes_) {}
	// Calls visit for each record in order until it returns false. Adds LOSS records to `losses`, which
	// may be null.
	void decode(const Block& block, const std::function<bool(const Record&)>& visit,
	            Losses* losses = nullptr);
	const DecodeDamage& damage() const { return damage_; }

private:
	RecordShapes shapes_;
	RecordCursor cursor_;
	DecodeDamage damage_;
};

// The highest time in a block. A block that was open when it was read does not say it.
inline uint64_t last_time(const dfr_block& head) {
	return head.last_time ? std::max(head.first_time, head.last_time) : UINT64_MAX;
}

// Which records a reader wants: those of these CPUs with a time from `from` to `to`.
struct Selection {
	uint64_t from = 0, to = UINT64_MAX;
	std::vector<bool> cpus; // by CPU; empty: all
	bool has(uint32_t cpu) const { return cpus.empty() || (cpu < cpus.size() && cpus[cpu]); }
};

class RecordBatch; // batch.h

// All events of a source, or those of a selection, in order of (time, cpu, block sequence, offset). Of a
// source with an index only the blocks that overlap in time are in memory, and blocks that the selection
// does not touch are not read; a source without one is read into memory completely.
class Merger {
public:
	explicit Merger(BlockSource& source);
	~Merger();
	Merger(const Merger&) = delete;
	Merger& operator=(const Merger&) = delete;
	// Reads the blocks' headers, for cpus(); run() and next() do it if nobody did.
	void open();
	// After open(), before run().
	void select(const Selection& selection);
	// Gives all records; in place of it, next() gives one after another (null: no more), and finish() ends that.
	void run(const std::function<bool(const Record&)>& visit);
	const Record* next();
	void finish();
	// In place of run(), where the order of records of different CPUs does not matter: gives the selected
	// records of one CPU after the other (batch.h), and accounts for them as run() does. False: the visitor
	// has stopped it, or records are not in order of time, so that run() would give them in another order.
	bool scan(const std::function<bool(RecordBatch&, uint32_t cpu)>& visit);
	// Not if the records may be out of order because a program commits speculations, or the source has no index.
	bool can_scan();
	bool in_order() const { return in_order_; } // false: scan() was in vain
	const Selection& selection() const { return selection_; }
	// The time from which on every CPU of the selection is whole; 0: nothing is missing at its start.
	uint64_t horizon() const;
	// After run(): how many records of the selection's CPUs are older or newer than the selection.
	uint64_t left_out() const { return left_out_; }

	// After run(): what was read of each CPU; judge() makes window and verdict from it.
	struct CpuSpan {
		uint64_t first = 0, last = 0;                   // times
		uint64_t first_seq = 0, last_seq = 0, gaps = 0; // gaps: sequence numbers missing between
		uint64_t reached = 0; // records since go, up to the last block's end
		// That is exact: the last block was closed, and nothing was cut out of it.
		bool reached_all = false;
		// Whether its last blocks are not there, or the last one had more later than it has here: a snapshot has a
		// block as it was then, which may have grown in a file that is not here.
		bool falls_short_of(const Reach& reach) const;
		uint64_t records = 0, blocks = 0;
		uint64_t missing = 0;     // records in those gaps, or that a block should have
		uint64_t overwritten = 0; // records before the first block, which the ring has overwritten
		uint64_t horizon = 0;     // if its first blocks are gone: the time from which on it is whole
		uint64_t earliest = 0, latest = 0; // by the headers of all blocks, whatever is selected
		// By the headers' counters, which do not know causes: records lost between blocks of the
		// selection, and before or after it.
		uint64_t lost = 0, lost_outside = 0;
		uint64_t first_open = 0; // when the block was opened whose counter is in lost_outside
		// Lost before the selection, too, but since then, so that only LOSS records tell it.
		uint64_t lost_since = 0;
		// Takes into account what a LOSS record of this CPU tells, before the selection or in it.
		void tell(const Losses::Loss& loss, bool before);
		// Lost between the openings of the block that the selection begins in, at across_open, and the next one;
		// without what is known to have been lost before the selection.
		uint64_t lost_across = 0, across_open = 0;
	};
	struct Account {
		std::vector<CpuSpan> cpus;
		Losses losses, losses_outside;
		DecodeDamage damage;
	};
	// For judge() only: stands for one that has read all of a source that runs, because a consumer has,
	// block by block as they came.
	Merger(BlockSource& source, Account account) : Merger(source) {
		cpus_ = std::move(account.cpus);
		losses_ = std::move(account.losses);
		losses_outside_ = std::move(account.losses_outside);
		damage_ = account.damage;
	}
	const std::vector<CpuSpan>& cpus() const { return cpus_; }
	CpuSpan span_of(uint32_t cpu) const { return cpu < cpus_.size() ? cpus_[cpu] : CpuSpan{}; }
	const Losses& losses() const { return losses_; }
	// Of the LOSS records that were read: those whose time is outside of the selection.
	const Losses& losses_outside() const { return losses_outside_; }
	const DecodeDamage& damage() const { return damage_; }

private:
	struct Input;
	struct Queue;
	struct Running;
	void collect();
	void account();
	std::optional<dfr_block> before_gap(const dfr_block& first) const;
	void account_cpu(std::span<const BlockRef> refs);
	std::optional<Block> load(const BlockRef& ref);
	bool wanted(const dfr_block& head) const;
	void keep_losses(const Losses& losses);
	void keep_before(RecordShapes& shapes);
	std::unique_ptr<Input> input_of(const BlockRef& ref, RecordShapes& shapes);
	void start();
	bool advance();
	bool selected(const Record& record);
	std::unique_ptr<RecordBatch> chunk_at(std::span<const BlockRef> refs, size_t& blocks);
	std::unique_ptr<RecordBatch> block_at(const BlockRef& ref, RecordShapes& shapes);
	void keep_chunk(const RecordBatch& batch, uint32_t cpu);
	void keep_order(const RecordBatch& batch, uint64_t& newest);

	BlockSource& source_;
	Selection selection_;
	std::unique_ptr<Running> running_;
	bool opened_ = false;
	bool in_order_ = true;        // what scan() has given
	std::vector<BlockRef> refs_;  // by CPU and sequence number
	std::vector<Block> streamed_; // of a source without an index
	std::vector<CpuSpan> cpus_;
	BlockSource::FirstFile first_file_;
	Losses losses_, losses_outside_;
	uint64_t left_out_ = 0;
	DecodeDamage damage_;
};

// Window and verdict of what was read; every answer prints them.
struct Verdict {
	bool complete = true;
	bool windowed = false;     // a ring overwrote its oldest blocks, so answers hold for the window only
	bool goes_on = false;      // or because what comes after it is in a next file
	uint64_t from = 0, to = 0; // the window (mono ns), in which all CPUs are complete
	unsigned cpus = 0;
	uint64_t records = 0, lost = 0;
	uint64_t estimated = 0;           // of these: nobody counts what fires at a detached probe
	std::vector<std::string> reasons; // "1,204 records lost on CPU 2 (ring full)"
	std::vector<std::string>
	    notes; // "b.dfr: nothing of this time": who is not in it, or not in all of it
	unsigned hosts = 1;
	uint64_t clock_error = 0; // of several hosts (united.h), in ns
	bool operator==(const Verdict&) const = default;
};
// Reads all records, which `visit` sees, and judges them; the verdict's number is of those in its window.
Verdict judge_whole(BlockSource& source);
Verdict judge_whole(BlockSource& source, Merger& merger, const std::function<bool(const Record&)>& visit);
// What a question is about: its answer is less than whole where that is missing. What is empty asks for everything.
struct Asked {
	std::function<bool(uint32_t priority)> priority; // of the recording's clauses
	std::function<bool(const Probe& probe)> probe;
};
// About probes: these, and the priorities of the clauses that were for them. The catalog has to stay.
Asked asked_about(const Catalog& catalog, const std::function<bool(const Probe& probe)>& probe);
Verdict judge(BlockSource& source, const Merger& merger, const Asked& asked = {});
// "syscall:::entry, io:::start": what clauses of this priority are for.
std::string clauses_of(const Catalog& catalog, uint32_t priority);
const char* priority_text(uint32_t priority);
// What a file that ends at a mark lacks of a program that commits speculations: a reason for an answer, a note of the file.
std::string later_commits_text(const Catalog& catalog, uint64_t mark);
// Whether some clauses go off before others.
bool may_be_thinned(const Catalog& catalog);
// ", 1,204 firings left out, and more while its probes were detached"
std::string left_out_text(const Losses::Stretch& stretch);
// The time from which on a CPU is whole whose first block is this one, and of which earlier ones are gone.
uint64_t whole_from(const dfr_block& first);
// "syscall:vmlinux:read:entry and 2 other probes detached by the governor from 14:03:02.120 on": those that nothing had
// attached again by `end`; empty: none.
std::string detached_text(const Catalog& catalog, uint64_t end);
// "14:03:02.120": a record's time as local wall-clock time.
std::string time_text(const Catalog& catalog, uint64_t mono);
// "14:03:02.120-14:03:41.003"; with dates if these differ.
std::string span_text(const Catalog& catalog, uint64_t from, uint64_t to);
// "complete: 14:03:02-14:03:41, 4 CPUs, 1,203,441 records"
std::string verdict_line(const Verdict& verdict, const Catalog& catalog);

} // namespace dfr::trace
