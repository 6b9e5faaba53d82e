// SPDX-License-Identifier: GPL-2.0
//
// BlockSource: where blocks come from. The device, a memory image, the in-process
// engine and a .dfr file implement it, each in its own folder. All that reads from
// it (decoder, merger, renderer, replay, .dfr writer) is the same for boot,
// production and crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/abi/block.h"
#include "formats/trace/catalog.h"
#include "formats/trace/kernel_events.h"
#include "formats/trace/names.h"
#include "formats/trace/recorded_types.h"

namespace dfr::trace {

// One block: the header, then `committed` bytes of records.
struct Block {
	std::vector<std::byte> bytes;
	bool verified = false; // the block was sealed and its checksums are right
	const dfr_block& header() const { return *reinterpret_cast<const dfr_block*>(bytes.data()); }
};

// One key of one aggregation with its value words, merged over CPUs.
struct AggEntry {
	uint32_t varid = 0, kind = 0;
	std::vector<std::byte> key; // as in formats/abi/aggtab.h
	std::vector<uint64_t> words;
};

// The aggregations as the consumer had them when it rendered the records up to `time`.
struct AggSnapshot {
	uint64_t time = 0;
	std::vector<AggEntry> entries;
};

// Counts that a file tells, added up: as many as the number can say where the sum has no room, never few.
inline uint64_t added(uint64_t a, uint64_t b) {
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

// Records that are missing. judge() counts those inside the window; what is missing before it is not loss.
struct Losses {
	struct Loss {
		uint32_t cause = 0; // enum dfr_loss
		uint32_t probe = 0; // 0: not known
		int32_t cpu = -1;   // -1: not known
		uint64_t count = 0, from = 0, to = 0;
	};
	// The clauses of a priority were off on a CPU, because the budget was short: thinned.
	struct Stretch {
		int32_t cpu = -1;
		uint32_t priority = 0;     // enum dfr_priority
		uint64_t from = 0, to = 0; // to 0: nothing tells when it was over
		uint64_t over_by =
		    0; // if `to` is 0: it was over by then, as a later file tells; 0: none does
		uint64_t left_out = 0; // firings
		bool detached = false; // more of them: for a part of it nobody counted
		uint64_t end_at_most() const { return to ? to : over_by ? over_by : UINT64_MAX; }
	};
	static constexpr size_t kEntriesMost = 32'768; // of what does not come in their order
	std::vector<Loss> entries;      // add() keeps one for each (cause, probe, cpu), in that order
	std::vector<Stretch> stretches; // the same for (cpu, priority, from)
	void add(const Loss& entry);
	void add(const Stretch& stretch);
	void add(std::vector<Loss> many); // hostile ones too: takes no longer than to sort them
	uint64_t total() const;           // of `entries`
	std::map<int32_t, uint64_t> by_cpu(uint32_t cause) const; // of `entries`
};
// Of a LOSS record whose cause is DFR_LOSS_THINNED; as one, of a stretch.
Losses::Stretch stretch_of(const Losses::Loss& loss);
Losses::Loss loss_of(const Losses::Stretch& stretch);
// Whether a LOSS record may have this cause and, in place of the probe, this word.
inline bool loss_is_sane(uint32_t cause, uint32_t probe) {
	return cause < DFR_LOSS_MAX ||
	       (cause == DFR_LOSS_THINNED && !(probe & ~uint32_t{DFR_THINNED_KNOWN}) &&
	        DFR_THINNED_PRIORITY(probe) < DFR_PRIORITIES);
}

// Up to where a recording has had a CPU's blocks: the last one's number, and the CPU's records since go up
// to its end.
struct Reach {
	uint64_t seq = 0, records = 0;
};

// Of a part of a recording: what the whole one had of a CPU, and how much of that was taken out.
struct PartOf {
	uint64_t committed = 0, overwritten = 0,
	         cut = 0; // records; the others are those of CpuSum (verify.h)
};

// Which file of a recorder that rotates (parts.h), and what it knows of those before it.
struct FilePart {
	uint64_t series = 0; // the same number in all of them; 0: it is no part
	uint32_t number = 0; // from 1
	uint64_t since = 0;  // until then they, or a consumer's, have every record; 0: not known
	std::map<uint32_t, Reach> before = {}; // by CPU, up to where they have its blocks
};

// Whether the block's counter of losses is as old as its opening. What no firing has opened may have the time of its CPU's
// last one, and what was lost since then is in its counter; so has what stands for a CPU of which there is no other block.
// A firing whose records begin in the block before has that time, too, and its next record comes first here.
inline bool counts_at_opening(const dfr_block& head) {
	return head.committed && (head.open_time > head.before || head.first_time == head.before);
}

// Names one block of a source with an index: its header, and the source's own number for it.
struct BlockRef {
	dfr_block head{};
	uint64_t handle = 0;
};

struct StoredColumns; // batch.h

class BlockSource {
public:
	virtual ~BlockSource() = default;

	// May grow between calls of next(); never shrinks.
	virtual const Catalog& catalog() = 0;

	// The next block; nullopt: none now (live), or no more (file, image). Blocks of one CPU come in order
	// of seq; blocks of different CPUs in any order.
	virtual std::optional<Block> next() = 0;

	// All blocks, if the source can load() any of them at any time (a file, a memory image), so that a
	// reader in order of time needs only a few in memory. Empty: the source only has next(). load()
	// returns nullopt for a damaged block.
	virtual std::vector<BlockRef> index() { return {}; }
	virtual std::optional<Block> load(const BlockRef&) { return std::nullopt; }

	// The chunk in which an indexed block stands, if it is stored as columns; null: it is not, is damaged, or
	// is not wanted by its blocks' headers, in which case no more than these was read.
	using WantColumns = std::function<bool(std::span<const dfr_block>)>;
	virtual std::unique_ptr<StoredColumns> columns(const BlockRef&, const WantColumns& wanted);

	// The latest snapshot of aggregations (totals since the last clear).
	virtual std::vector<AggEntry> aggregations() = 0;

	// The earlier snapshots that a printa() or clear() used, in order of time; nullopt: no more.
	virtual std::optional<AggSnapshot> next_snapshot() { return std::nullopt; }

	virtual Losses losses() = 0;

	// By CPU: what was written of it, so that a reader sees when its last blocks, or all, are not there.
	virtual std::map<uint32_t, Reach> reaches() { return {}; }

	// By CPU, if the source is a part that was cut out of a recording; else empty.
	virtual std::map<uint32_t, PartOf> parts() { return {}; }

	// Adds what the addresses in it are called, as far as the source itself knows.
	virtual void names(KnownNames&) {}

	// The types of the kernel that was recorded, as far as the source itself holds them; else empty().
	virtual RecordedTypes types() { return {}; }

	// Events of the kernel's own tracer that are beside the blocks; else empty().
	virtual KernelEvents kernel_events() { return {}; }

	// What a reader should know about the source itself ("cut at byte 4711"); empty: nothing.
	virtual std::vector<std::string> remarks() { return {}; }

	// Of one that other files come before: until when they have every record, so that this one alone is whole from then
	// on; 0: none does, or that is not known.
	virtual uint64_t since() { return 0; }

	// Of one that has several files: until when the first of them has every record (0: not known), and what came before it,
	// by CPU. A CPU whose first block here follows on a later record has lost those between two files, and not to its ring.
	struct FirstFile {
		uint64_t whole_until = 0;
		std::map<uint32_t, Reach> before = {};
	};
	virtual FirstFile first_file() { return {}; }

	// Of a recording that was not ended: up to when it is whole all the same, and what became of it.
	struct SourceCut {
		uint64_t whole_until = 0;
		std::string why;
		bool goes_on = false; // what is later was not lost, but is in a next file
	};
	virtual std::optional<SourceCut> cut() { return std::nullopt; }

	// True: something of the source itself is missing or damaged, so answers from it are partial; not for what a
	// cut() after whole_until took.
	virtual bool partial() { return false; }

	// "boot.dfr", "/dev/dfr (anonymous)", "memory.elf"
	virtual std::string name() const = 0;
};

// Whether an aggregation of this kind can have these value words: their number and, for lquantize(),
// the parameters in the first word.
bool words_fit(uint32_t kind, const std::vector<uint64_t>& words);

// Merges aggregation tables into a list, by (varid, key). While it lives, nobody else changes the list.
class AggregationMerger {
public:
	explicit AggregationMerger(std::vector<AggEntry>& into);
	// The entries of `tab`, the bytes of a whole table, hostile. Returns how many bytes made no sense; their entries are
	// missing.
	size_t add(std::span<const std::byte> tab);

private:
	bool merge(AggEntry entry);
	std::vector<AggEntry>& entries_;
	std::unordered_map<std::string, size_t> places_;
};
// The same of one table.
size_t merge_aggregation_table(std::span<const std::byte> tab, std::vector<AggEntry>& into);

} // namespace dfr::trace
