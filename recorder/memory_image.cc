// SPDX-License-Identifier: GPL-2.0
//
// From anchors to recordings: the catalog (catalog_salvage.h), the blocks of every ring
// (ring_blocks.h), and the aggregation tables that hold the totals since the last clear.
// One recording is one (boot, state). What its catalog says that anchors list, and they
// do not, is missing by name.
#include "recorder/memory_image.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "formats/abi/aggtab.h"
#include "formats/abi/tally.h"
#include "formats/dof/image.h"
#include "formats/error.h"
#include "formats/trace/counted.h"
#include "formats/trace/decode.h"
#include "recorder/beside.h"
#include "recorder/catalog_salvage.h"
#include "recorder/dead_kernel.h"
#include "recorder/dead_target.h"
#include "recorder/found_states.h"
#include "recorder/image_budget.h"
#include "recorder/name_collector.h"
#include "recorder/ring_blocks.h"
#include "recorder/speculations.h"
#include "recorder/type_collector.h"

namespace dfr::recorder {
namespace {

using trace::plural;

constexpr uint64_t kCatalogMax = 256ull << 20;
constexpr uint64_t kTableMax = 1ull << 31;
constexpr uint64_t kMissingNamed = 64;
constexpr uint64_t kKeyTakes = 256; // bytes that an entry of an aggregation table takes here, at least

// What anchors of this kind list, by name.
std::string name_of(uint32_t kind, uint32_t cpu, uint32_t half) {
	const std::string of = " of CPU " + std::to_string(cpu);
	switch (kind) {
	case DFR_ANCHOR_CATALOG: return half ? "the catalog's second copy" : "the catalog";
	case DFR_ANCHOR_RING: return "the ring" + of;
	case DFR_ANCHOR_SPEC: return "the speculations" + of;
	case DFR_ANCHOR_TALLY:
		return "the counters of losses" + (cpu == DFR_TALLY_NO_CPU ? " on CPUs without a ring" : of);
	case DFR_ANCHOR_AGG:
		return cpu == DFR_AGGTAB_BASE_CPU
		           ? "the base table of the aggregations"
		           : "the aggregation table" + of + " (half " + std::to_string(half) + ")";
	default: return "memory of kind " + std::to_string(kind);
	}
}

struct TableEntries {
	uint64_t count = 0; // whole or not
	bool sound = true;  // false: behind one of them the table is read by its chains, which may find more
	uint64_t at_most(uint64_t bytes) const { return sound ? count : bytes / (sizeof(dfr_aggent) + 8); }
};

TableEntries entries_in(std::span<const std::byte> table, const dfr_aggtab& head) {
	TableEntries entries;
	for (uint64_t at = (sizeof(head) + 4ull * head.nbuckets + 7) & ~7ull;
	     at < table.size() && table.size() - at >= sizeof(dfr_aggent); entries.count++) {
		dfr_aggent entry;
		std::memcpy(&entry, table.data() + at, sizeof(entry));
		at += sizeof(entry) + uint64_t{entry.key_size} + 8ull * entry.words;
		entries.sound = entries.sound && entry.words && !(entry.key_size % 8) && at <= table.size();
	}
	return entries;
}

bool is_tally(const dfr_tally& tally) {
	return tally.magic == DFR_TALLY_MAGIC || tally.magic == DFR_TALLY_MAGIC_PLAIN;
}

// Leaves the values. False: some are lost, and are 0.
bool take_marks(dfr_tally& tally) {
	bool all = true;
	const auto take = [&all](auto& word) {
		const bool is_marked = (word & DFR_TALLY_MARK_BITS) == DFR_TALLY_MARK;
		all = all && is_marked;
		word = is_marked ? DFR_TALLY_VALUE(word) : 0;
	};
	std::ranges::for_each(tally.loss, take);
	std::ranges::for_each(tally.unused, take);
	for (dfr_tally_thinned& thinned : tally.thinned) {
		take(thinned.now.detached);
		take(thinned.over.detached);
	}
	return all;
}

class HarvestedImage : public ImageSource {
public:
	// `budget`: of all recordings of the image; not kept.
	HarvestedImage(std::shared_ptr<const PhysicalMemory> memory, FoundState found,
	               const trace::Catalog* lent, ImageBudget& budget)
	    : memory_(std::move(memory)), budget_(&budget), group_(std::move(found.group)),
	      panic_(std::move(found.panic)), boot_(found.load.boot), state_(found.state), blocks_(memory_) {
		remarks_ = memory_->remarks();
		partial_ = !remarks_.empty();
		if (group_.anchors.empty())
			trouble(
			    "none of its anchors is in the image: it may be a recording of an earlier boot");
		if (found.astray)
			trouble(plural(found.astray, "anchor") +
			        " of its boot at another address than they name: a part of the dump is "
			        "displaced, and what they list is not read");
		if (!group_.anchors.empty() && !found.load.number)
			remark("its anchors bear no number of their load: they are of an older module, or "
			       "forged");
		if (found.other_loads)
			trouble(plural(found.other_loads, "other load") +
			        " of dfr in its boot left anchors in the image. An unload erases them, so a "
			        "process may have forged these, or the others");
		if (found.not_written_back)
			trouble("its memory was not written back before the reset: of what stood in caches "
			        "only, any block may be missing");
		name_disputed();
		leave_out_beyond_budget(found.load);
		read_catalog(lent);
		find_blocks(found);
		read_tallies();
		read_tables();
		read_speculations();
		note_end();
		if (panic_)
			note_panic();
		else if (found.damaged_anchors)
			remarks_.push_back(plural(found.damaged_anchors, "damaged anchor") +
			                   " in the image: one may have told of a panic");
		if (found.more_recordings)
			trouble(plural(found.more_recordings, "more recording") +
			        " with fewer anchors are in the image and are left out");
		if (found.more_states)
			remarks_.push_back("blocks of " + plural(found.more_states, "more state") +
			                   " without anchors are in the image and are left out");
		budget_ = nullptr;
	}

	const trace::Catalog& catalog() override { return catalog_; }
	std::string name() const override { return memory_->path(); }
	std::string boot() const override { return boot_text(boot_); }
	const std::optional<PanicNote>& panic() const override { return panic_; }
	uint64_t blocks() const override { return refs_.size(); }
	std::vector<trace::AggEntry> aggregations() override { return aggregations_; }
	// Since go; LOSS records in the blocks tell of most of them, with times.
	trace::Losses losses() override { return losses_; }
	std::vector<std::string> remarks() override { return remarks_; }
	bool partial() override { return partial_; }
	uint64_t since() override { return blocks_.whole_after() ? blocks_.whole_after() + 1 : 0; }
	std::vector<trace::BlockRef> index() override { return refs_; }

	// Of the kernel, as the dead one would have named them.
	void names(trace::KnownNames& into) override {
		DeadKernel* const dead = kernel();
		if (!dead)
			return;
		NameCollector collector(*dead);
		for (const auto& refs : {std::span<const trace::BlockRef>(refs_), std::span(blocks_.held())})
			for (const trace::BlockRef& ref : refs)
				if (const std::optional<trace::Block> block = load(ref))
					collector.block(*block, catalog_);
		for (const trace::Block& block : in_flight_)
			collector.block(block, catalog_);
		collector.aggregations(aggregations_, catalog_);
		into.add(collector.fresh());
	}

	// Of the kernel proper; none if they are damaged.
	trace::RecordedTypes types() override {
		DeadKernel* const dead = kernel();
		types::KernelTypes* const known = dead ? dead->types() : nullptr;
		if (!known)
			return {};
		try {
			if (is_compiled_against_other(known->vmlinux().digest()))
				return {};
			DeadTarget target(*known);
			TypeCollector collector(target);
			collector.look(catalog_, SIZE_MAX);
			return collector.fresh().value_or(trace::RecordedTypes{});
		} catch (const Error&) {
			return {};
		}
	}

	std::optional<trace::Block> next() override {
		while (next_ < refs_.size())
			if (std::optional<trace::Block> block = load(refs_[next_++]))
				return block;
		return std::nullopt;
	}

	std::optional<trace::Block> load(const trace::BlockRef& ref) override {
		if (ref.handle < blocks_.places())
			return blocks_.load(ref);
		const uint64_t extra = ref.handle - blocks_.places();
		return extra < finished_.size() ? std::optional(finished_[extra]) : std::nullopt;
	}

	std::unique_ptr<trace::BlockSource> in_flight() override {
		std::vector<trace::BlockRef> refs;
		for (const trace::Block& block : in_flight_)
			refs.push_back({.head = block.header(), .handle = refs.size()});
		return beside(
		    std::move(refs),
		    [blocks = in_flight_](const trace::BlockRef& ref) {
			    return ref.handle < blocks.size() ? std::optional(blocks[ref.handle])
			                                      : std::nullopt;
		    },
		    "only speculations that were not committed when the machine died (of several "
		    "CPUs perhaps discarded)");
	}

	std::unique_ptr<trace::BlockSource> held() override {
		return beside(
		    blocks_.held(), [this](const trace::BlockRef& ref) { return load(ref); },
		    "only blocks that a consumer had taken and not given back when the machine died: "
		    "what stands between them is in its file");
	}

	// `likeliest`: it is of the boot that died, as far as is known.
	void name_by(std::shared_ptr<DeadKernels> kernels, bool likeliest) {
		kernels_ = std::move(kernels);
		likeliest_ = likeliest;
	}
	const BootId& boot_id() const { return boot_; }
	void remark(std::string text) { remarks_.push_back(std::move(text)); }
	void trouble(std::string text) {
		remark(std::move(text));
		partial_ = true;
	}
	// A crafted image may have any number of one kind.
	void trouble(uint64_t& told, const std::string& text) {
		if (++told <= kMissingNamed)
			trouble(text + (told == kMissingNamed ? "; more are not named" : ""));
	}

	// Wall-clock time of the last clock entry: orders several boots.
	uint64_t latest_time() const { return catalog_.clocks.empty() ? 0 : catalog_.clocks.back().real; }

private:
	std::unique_ptr<trace::BlockSource> beside(std::vector<trace::BlockRef> refs, Beside::Load load,
	                                           std::string remark) {
		if (refs.empty())
			return nullptr;
		trace::KnownNames known;
		names(known);
		return std::make_unique<Beside>(name(), catalog_, std::move(refs), std::move(load),
		                                std::move(remark), known, types());
	}

	// Null: none was found.
	DeadKernel* kernel() { return kernels_->of(boot_, catalog_.machine_text("release"), likeliest_); }

	// The kernel took the program, so types of another digest are not those that it had.
	bool is_compiled_against_other(uint64_t digest) const {
		return std::ranges::any_of(catalog_.dofs, [digest](const auto& bytes) {
			try {
				const dof::Image image = dof::read(bytes);
				return image.btf_digest.value_or(digest) != digest;
			} catch (const Error&) {
				return false;
			}
		});
	}

	// The engine never writes two: it erases one before it lists the thing anew.
	void name_disputed() {
		uint64_t told = 0;
		for (const AnchorKey& key : group_.disputed)
			trouble(told, "two anchors of " + name_of(key.kind, key.cpu, key.half) +
			                  " list different memory: the later one counts");
	}

	// Of kinds that a newer module has nothing is read.
	void leave_out_beyond_budget(const ModuleLoad& load) {
		std::erase_if(group_.anchors,
		              [](const auto& one) { return one.first.kind > DFR_ANCHOR_TALLY; });
		const size_t left_out = std::erase_if(group_.anchors, [&](const auto& one) {
			uint64_t pages = 0;
			for (const dfr_anchor_run& run : one.second.runs)
				pages += run.pages;
			return !budget_->list_pages(load, pages);
		});
		if (left_out)
			trouble(plural(left_out, "anchor") +
			        " left out: the image's anchors list more memory than a machine with such an "
			        "image has");
	}

	// Whether so much may be read whole; else what it is of is named.
	bool may_read(uint64_t bytes, const std::string& what) {
		if (budget_->read(bytes))
			return true;
		trouble(what + " is not read: the image's recordings name more memory than it has, or than "
		               "is to spare here");
		return false;
	}

	void read_log(std::vector<std::vector<std::byte>>& logs, const MemoryExtent& extent) {
		if (extent.frames.empty() || !may_read(extent.frames.size() * kPage, "a copy of its catalog"))
			return;
		logs.emplace_back(extent.frames.size() * kPage);
		read_extent(*memory_, extent, logs.back());
	}

	void read_catalog(const trace::Catalog* lent) {
		std::vector<std::vector<std::byte>> logs;
		std::vector<MemoryExtent> copies;
		for (uint32_t half = 0; half < 2; half++)
			read_log(logs,
			         copies.emplace_back(extent_of(
			             group_, {.kind = DFR_ANCHOR_CATALOG, .cpu = 0, .half = half, .part = 0},
			             std::min(kCatalogMax, memory_->bytes()))));
		SalvagedCatalog salvaged = salvage_catalog(logs, state_, boot_);
		if (!salvaged.missing.empty() && memory_->displacements().size() > 1) {
			for (const MemoryExtent& copy : copies)
				for (const MemoryExtent& other : moved(*memory_, copy))
					read_log(logs, other);
			salvaged = salvage_catalog(logs, state_, boot_);
			salvaged.remarks
			    .clear(); // of copies that are read in several ways nobody knows which is damaged
		}
		catalog_ = std::move(salvaged.catalog);
		if (lent && lent->state_id == state_ && lent->boot_id == boot_) {
			lend_catalog(catalog_, *lent);
			remarks_.push_back("what its catalog lacks was lent by another recording");
		}
		for (std::string& remark : salvaged.remarks)
			remarks_.push_back(std::move(remark));
		for (std::string& missing : salvaged.missing)
			trouble(std::move(missing));
		if (const std::string clauses = unreadable_clauses(catalog_); !clauses.empty())
			trouble("records of these clauses cannot be read: " + clauses);
	}

	// False: anchors are missing, or nothing says which ones there were.
	bool name_missing_anchors() {
		std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t> listed;
		for (const auto& [key, anchor] : group_.anchors)
			for (const dfr_anchor_run& run : anchor.runs)
				listed[{key.kind, key.cpu, key.half}] += run.pages;
		bool all = !catalog_.memory.empty();
		uint64_t named = 0;
		for (const auto& [key, wanted] : catalog_.memory) {
			const auto& [kind, cpu, half] = key;
			const auto known = listed.find(key);
			const uint64_t pages = known == listed.end() ? 0 : known->second;
			if (pages >= wanted)
				continue;
			all = false;
			if (named++ < kMissingNamed)
				trouble("anchors of " + name_of(kind, cpu, half) + " are missing, for " +
				        plural(wanted - pages, "page") + " of its " + trace::grouped(wanted));
		}
		if (named > kMissingNamed)
			trouble("anchors of " + std::to_string(named - kMissingNamed) +
			        " more such things are missing");
		return all;
	}

	void find_blocks(const FoundState& found) {
		const bool missing = !name_missing_anchors();
		if (missing && found.more_blocks)
			trouble(plural(found.more_blocks, "more page") +
			        " with blocks of any state were not looked at");
		blocks_.find(group_, catalog_, missing, found.loose, panic_ ? panic_->time : 0, *budget_);
		refs_ = blocks_.refs();
		for (const std::string& remark : blocks_.remarks())
			remarks_.push_back(remark);
		for (const std::string& loss : blocks_.losses())
			trouble(loss);
		// Everything that is counted by CPU has room for those of the catalog.
		if (!catalog_.cpus)
			for (const trace::BlockRef& ref : refs_)
				catalog_.cpus = std::max<uint32_t>(catalog_.cpus, ref.head.cpu + 1u);
	}

	std::optional<std::vector<std::byte>> read_table(uint32_t cpu, uint32_t half, dfr_aggtab& head) {
		MemoryExtent extent =
		    extent_of(group_, {.kind = DFR_ANCHOR_AGG, .cpu = cpu, .half = half, .part = 0},
		              std::min(kTableMax, memory_->bytes()));
		if (extent.frames.empty())
			return std::nullopt;
		settle<dfr_aggtab>(*memory_, extent, [this](const dfr_aggtab& there) {
			return there.magic == DFR_AGGTAB_MAGIC && there.state_id == state_;
		});
		read_extent(*memory_, extent, std::as_writable_bytes(std::span(&head, 1)));
		if (head.magic != DFR_AGGTAB_MAGIC || head.used > extent.frames.size() * kPage ||
		    head.used < sizeof(head) || !std::has_single_bit(head.nbuckets) ||
		    head.state_id != state_ || head.cpu != cpu || head.half != half) {
			trouble(name_of(DFR_ANCHOR_AGG, cpu, half) + " is damaged");
			return std::nullopt;
		}
		if (!may_read(head.used, name_of(DFR_ANCHOR_AGG, cpu, half)))
			return std::nullopt;
		std::vector<std::byte> table(head.used);
		if (const uint64_t absent = read_extent(*memory_, extent, table))
			trouble(plural(absent, "byte") + " of " + name_of(DFR_ANCHOR_AGG, cpu, half) +
			        " are not in the image");
		return table;
	}

	void merge_table(trace::AggregationMerger& merger, const std::vector<std::byte>& table,
	                 const dfr_aggtab& head) {
		const std::string name = name_of(DFR_ANCHOR_AGG, head.cpu, head.half);
		const TableEntries entries = entries_in(table, head);
		const uint64_t takes = entries.at_most(table.size()) * kKeyTakes;
		if (!budget_->keep(takes))
			return trouble(name + " is not read: there is no memory to spare for its keys");
		const size_t before = aggregations_.size();
		const size_t senseless = merger.add(table);
		// Most keys are those of other CPUs, too.
		budget_->give_back(takes - std::min(takes, (aggregations_.size() - before) * kKeyTakes));
		if (senseless)
			trouble(plural(senseless, "byte") + " of " + name + " could not be read");
		// The engine counts an entry when it has published it, so that one more may be there.
		const uint64_t keys = entries.count;
		if (keys != head.entries && keys != head.entries + 1ull)
			trouble(name + " has " + plural(keys, "key") + ", and its head says " +
			        trace::grouped(head.entries));
	}

	// The base table holds what the engine had merged; halves with a later generation were not merged
	// yet, so they are added here. Where both of a CPU's are later, the engine was merging one of them.
	void read_tables() {
		uint64_t merged = 0, dropped = 0;
		dfr_aggtab head{};
		trace::AggregationMerger merger(aggregations_);
		const auto base = read_table(DFR_AGGTAB_BASE_CPU, 0, head);
		if (base) {
			merged = head.generation;
			merge_table(merger, *base, head);
		}
		std::set<std::pair<uint32_t, uint32_t>> halves;
		for (const auto& [key, anchor] : group_.anchors)
			if (key.kind == DFR_ANCHOR_AGG && key.cpu != DFR_AGGTAB_BASE_CPU)
				halves.emplace(key.cpu, key.half);
		std::map<uint32_t, std::vector<uint64_t>> generations; // by CPU
		for (const auto& [cpu, half] : halves) {
			const auto table = read_table(cpu, half, head);
			if (!table)
				continue;
			dropped += head.drops;
			generations[cpu].push_back(head.generation);
			if (head.generation > merged)
				merge_table(merger, *table, head);
		}
		if (base)
			for (const auto& [cpu, of] : generations)
				judge_generations(cpu, of, merged);
		if (dropped && !tallied_) // else the counters tell
			trouble(plural(dropped, "update") + " of aggregations lost (table full)");
		leave_out_unknown();
	}

	// One half is what firings write, one generation after the base table's, the other one is empty and has none. A
	// snapshot takes a CPU's next generation, merges the half of before, empties it, and comes to the base table last.
	void judge_generations(uint32_t cpu, const std::vector<uint64_t>& halves, uint64_t merged) {
		if (halves.size() != 2)
			return;
		const uint64_t latest = std::ranges::max(halves), other = std::ranges::min(halves);
		const std::string tables = "the aggregation tables of CPU " + std::to_string(cpu);
		if (latest != merged + 1 && latest != merged + 2)
			trouble("the generations of " + tables + " and of the base table do not fit");
		else if (other > merged)
			trouble(tables +
			        " were being merged when the machine died: what is in them may count twice");
	}

	// A CPU that came while memory was short may have several, whose counts add up.
	void read_tallies() {
		FrameSet listed;
		for (const auto& [key, anchor] : group_.anchors) {
			if (key.kind != DFR_ANCHOR_TALLY)
				continue;
			const uint32_t cpu = key.cpu;
			each_unit(anchor, *memory_, kPage, listed,
			          [&](const MemoryExtent& extent) { read_tally(extent, cpu); });
		}
	}

	void read_tally(MemoryExtent extent, uint32_t cpu) {
		settle<dfr_tally>(*memory_, extent, [this](const dfr_tally& there) {
			return is_tally(there) && there.state_id == state_;
		});
		dfr_tally tally{};
		const uint64_t absent =
		    read_extent(*memory_, extent, std::as_writable_bytes(std::span(&tally, 1)));
		if (absent || !is_tally(tally) || tally.cpu != cpu || tally.state_id != state_ ||
		    (tally.killed && (cpu != DFR_TALLY_NO_CPU || tally.killed != 1 || !tally.over))) {
			trouble(odd_tallies_, name_of(DFR_ANCHOR_TALLY, cpu, 0) +
			                          (absent ? " are not in the image" : " are damaged"));
			return;
		}
		const bool whole = tally.magic == DFR_TALLY_MAGIC_PLAIN || take_marks(tally);
		if (!whole)
			trouble("a part of " + name_of(DFR_ANCHOR_TALLY, cpu, 0) + " is lost");
		tallied_ = tallied_ || whole;
		if (tally.killed)
			killed_ = tally.over;
		if (cpu != DFR_TALLY_NO_CPU && tally.over)
			take_full(cpu, tally.over);
		for (uint32_t cause = 0; cause < DFR_LOSS_MAX; cause++)
			if (tally.loss[cause])
				losses_.add({.cause = cause,
				             .cpu = static_cast<int32_t>(cpu),
				             .count = tally.loss[cause]});
		for (const uint64_t count : tally.unused) // of causes that a newer module has
			if (count)
				losses_.add({.cause = DFR_LOSS_MAX,
				             .cpu = static_cast<int32_t>(cpu),
				             .count = count});
		for (uint32_t priority = 0; priority < DFR_TALLY_PRIORITIES; priority++)
			for (const dfr_stretch& stretch :
			     {tally.thinned[priority].over, tally.thinned[priority].now})
				if (stretch.from)
					losses_.add({.cpu = static_cast<int32_t>(cpu),
					             .priority = priority,
					             .from = stretch.from,
					             .to = stretch.to,
					             .left_out = stretch.left,
					             .detached = stretch.detached != 0});
	}

	void take_full(uint32_t cpu, uint64_t time) {
		if (catalog_.policy == DFR_BUFPOLICY_FILL && time >= began() &&
		    (!panic_ || time <= panic_->time))
			full_[cpu] = time;
		else
			trouble(odd_tallies_, name_of(DFR_ANCHOR_TALLY, cpu, 0) + " are damaged");
	}

	uint64_t began() const {
		uint64_t time = 0;
		for (const trace::EventMark& mark : catalog_.events)
			if (mark.event == DFR_EVENT_GO)
				time = mark.time;
		return time;
	}

	// Entries of an aggregation that the catalog does not have, or has as another one.
	void leave_out_unknown() {
		if (catalog_.aggregations.empty() && !aggregations_.empty())
			return; // the catalog's loss is told already
		const size_t unknown = std::erase_if(aggregations_, [this](const trace::AggEntry& entry) {
			const auto known = catalog_.aggregations.find(entry.varid);
			return known == catalog_.aggregations.end() || known->second.kind != entry.kind;
		});
		if (unknown)
			trouble(plural(unknown, "key") + " of aggregations that the catalog does not know");
	}

	// All speculation chunks that have records.
	std::vector<SpeculationChunk> read_chunks() {
		std::vector<SpeculationChunk> chunks;
		std::map<uint32_t, uint64_t> absent; // by CPU
		FrameSet listed;
		for (const auto& one : group_.anchors) {
			const FoundAnchor& anchor = one.second;
			const uint32_t unit = anchor.runs.empty() ? 0 : anchor.runs[0].offset;
			if (one.first.kind != DFR_ANCHOR_SPEC || one.first.cpu > UINT16_MAX ||
			    unit < DFR_SPEC_CHUNK_MIN || (unit & (unit - 1)) || unit > DFR_BLOCK_MAX / 2)
				continue;
			uint64_t& missing = absent[one.first.cpu];
			const auto take = [&](const MemoryExtent& extent) {
				missing += !add_chunk(extent, unit, anchor, chunks);
			};
			missing += each_unit(anchor, *memory_, unit, listed, take);
		}
		std::erase_if(absent, [](const auto& one) { return !one.second; });
		for (const auto& [cpu, number] : absent)
			trouble(plural(number, "chunk") + " of speculations of CPU " + std::to_string(cpu) +
			        " not in the image");
		return chunks;
	}

	// False: the image does not have the chunk, so nobody knows whether it has records.
	bool add_chunk(MemoryExtent extent, uint32_t unit, const FoundAnchor& anchor,
	               std::vector<SpeculationChunk>& chunks) {
		settle<dfr_spec_chunk>(*memory_, extent, [this](const dfr_spec_chunk& there) {
			return there.magic == DFR_SPEC_MAGIC && there.state_id == state_;
		});
		SpeculationChunk chunk;
		std::vector<std::byte> whole(unit);
		const uint64_t missing = read_extent(*memory_, extent, whole);
		std::memcpy(&chunk.head, whole.data(), sizeof(chunk.head));
		if (missing == unit || (missing && !chunk.head.magic))
			return false;
		if (!chunk.head.magic || (chunk.head.magic == DFR_SPEC_MAGIC && !chunk.head.used))
			return true;
		if (chunk.head.magic != DFR_SPEC_MAGIC || chunk.head.state_id != anchor.state_id ||
		    chunk.head.cpu != anchor.cpu || chunk.head.used > unit - sizeof(chunk.head)) {
			trouble(odd_chunks_, "a chunk of a speculation of CPU " + std::to_string(anchor.cpu) +
			                         " is damaged");
			return true;
		}
		if (!budget_->keep(sizeof(chunk) + chunk.head.used)) {
			trouble(odd_chunks_, "a chunk of a speculation of CPU " + std::to_string(anchor.cpu) +
			                         " is left out: there is no memory to spare for it");
			return true;
		}
		const auto records = whole.begin() + sizeof(chunk.head);
		chunk.records.assign(records, records + chunk.head.used);
		chunks.push_back(std::move(chunk));
		return true;
	}

	// Finishes commits that the crash interrupted, and remarks on speculations that were not committed.
	void read_speculations() {
		std::vector<SpeculationChunk> chunks = read_chunks();
		if (chunks.empty())
			return;
		trace::RecordShapes plans(catalog_);
		trace::RecordCursor cursor(plans);
		trace::DecodeDamage damage;
		std::vector<trace::GroupMark> groups;
		std::map<uint32_t, dfr_block> last;
		CopiedChunks copied(chunks, plans);
		cursor.collect_groups(&groups);
		for (const trace::BlockRef& ref : refs_) {
			const std::optional<trace::Block> block = load(ref);
			last[ref.head.cpu] = ref.head;
			if (!block || !cursor.open(*block, damage, nullptr))
				continue;
			while (cursor.next())
				if (cursor.current().speculation)
					copied.see(cursor.current());
		}
		copied.take_out(chunks);
		FinishedCommits commits = finish_commits(std::move(chunks), groups, last, catalog_.state_id);
		for (trace::Block& block : commits.blocks) {
			refs_.push_back(
			    {.head = block.header(), .handle = blocks_.places() + finished_.size()});
			finished_.push_back(std::move(block));
		}
		if (!commits.blocks.empty())
			remarks_.push_back(
			    plural(commits.blocks.size(), "chunk") +
			    " of speculations whose commit the crash interrupted; they are committed here");
		in_flight_ = std::move(commits.in_flight_blocks);
		if (commits.in_flight)
			remarks_.push_back(plural(commits.in_flight, "speculation") + " in flight (" +
			                   plural(commits.in_flight_records, "record") + ", not committed)");
	}

	void note_panic() {
		catalog_.machine["panic"] = panic_->reason;
		catalog_.machine["panic_comm"] = panic_->comm;
		for (const auto& [key, text] :
		     {std::pair("panic_registers", &panic_->registers),
		      std::pair("panic_stack", &panic_->stack), std::pair("panic_log", &panic_->log)})
			if (!text->empty())
				catalog_.machine[key] = *text;
		for (const std::string& damage : panic_->damage)
			remarks_.push_back(damage);
		catalog_.events.push_back({.event = DFR_EVENT_PANIC,
		                           .value = static_cast<int32_t>(panic_->cpu),
		                           .time = panic_->time});
	}

	// The marks that the kernel had no time to make in the catalog: of rings that were full, and of a state that the
	// deadman, or an oops inside a firing, has ended.
	void note_end() {
		for (const trace::EventMark& mark : catalog_.events)
			if (mark.event == DFR_EVENT_FULL)
				full_.erase(static_cast<uint32_t>(mark.value));
		for (const auto& [cpu, time] : full_)
			catalog_.events.push_back(
			    {.event = DFR_EVENT_FULL, .value = static_cast<int32_t>(cpu), .time = time});
		const uint64_t broken = panic_ ? panic_->broken : 0;
		const uint64_t ended =
		    broken && killed_ ? std::min(broken, killed_) : std::max(broken, killed_);
		for (const trace::EventMark& mark : catalog_.events)
			if (mark.event == DFR_EVENT_STOP || mark.event == DFR_EVENT_KILLED)
				return;
		if (ended)
			catalog_.events.push_back({.event = DFR_EVENT_KILLED,
			                           .value = broken ? DFR_KILLED_OOPS : DFR_KILLED_COST,
			                           .time = std::max(began(), ended)});
	}

	std::shared_ptr<const PhysicalMemory> memory_;
	ImageBudget* budget_; // while it is read
	AnchorGroup group_;
	std::optional<PanicNote> panic_;
	std::shared_ptr<DeadKernels> kernels_; // of the image
	bool likeliest_ = false;
	BootId boot_;
	uint64_t state_;
	trace::Catalog catalog_;
	RingBlocks blocks_;
	std::vector<trace::BlockRef> refs_;  // by (cpu, seq)
	std::vector<trace::Block> finished_; // from finish_commits(); handles from blocks_.places() up
	std::vector<trace::Block> in_flight_;
	std::vector<trace::AggEntry> aggregations_;
	trace::Losses losses_;
	bool tallied_ = false;
	uint64_t odd_tallies_ = 0, odd_chunks_ = 0;
	std::map<uint32_t, uint64_t> full_; // by CPU, when its ring was, as its counters say
	uint64_t killed_ = 0;               // when the deadman did, as the counters say; 0: it did not
	std::vector<std::string> remarks_;
	bool partial_ = false;
	size_t next_ = 0;
};

// The panic's record stands there all the same, if the module was loaded.
[[noreturn]] void nothing_found(const PhysicalMemory& memory, const AnchorScan& scan) {
	const bool panicked = !scan.panics.empty();
	std::string why = "no recording in " + memory.path() + ": ";
	if (scan.damaged || scan.misplaced)
		why += plural(scan.damaged, "damaged anchor") + " and " + std::to_string(scan.misplaced) +
		       " at another address than they name, and no others of a state";
	else if (panicked)
		why += "dfr.ko was loaded, and no state recorded";
	else
		why += "none of its " + std::to_string(memory.bytes() >> 20) + " MiB has an anchor";
	for (const auto& [load, panic] : scan.panics)
		why += "; boot " + boot_text(load.boot) + " panicked on CPU " + std::to_string(panic.cpu) +
		       " in " + panic.comm + " (" + std::to_string(panic.tid) + "): " + panic.reason;
	for (const std::string& remark : memory.remarks())
		why += "; " + remark;
	throw Error(
	    why,
	    panicked
	        ? "dfrd or dfr record has to run when the machine dies"
	        : "was dfr.ko loaded and recording when the image was made? Dumps that leave kernel pages "
	          "out (makedumpfile -d 31 keeps them) or that were taken after a reboot hold nothing");
}

// The boot that died is the one whose kernel is in the image. One that has panicked may be an earlier one, of which a
// warm reset has left the rest.
void order(std::vector<std::unique_ptr<HarvestedImage>>& images, const std::set<BootId>& of_kernels) {
	std::set<BootId> with_kernel;
	for (const auto& image : images)
		if (of_kernels.contains(image->boot_id()))
			with_kernel.insert(image->boot_id());
	const bool several = with_kernel.size() > 1;
	const auto rank = [&](const HarvestedImage& image) {
		return std::tuple(with_kernel.contains(image.boot_id()), several ? image.latest_time() : 0,
		                  image.panic().has_value(), image.latest_time(), image.blocks());
	};
	std::ranges::stable_sort(images, [&](const auto& a, const auto& b) { return rank(*a) > rank(*b); });
	for (const auto& image : images)
		if (with_kernel.empty() && !of_kernels.empty())
			image->trouble("the kernel in the image is of boot " +
			               boot_text(*of_kernels.begin()) +
			               ", of which there is no recording: this is of another boot");
		else if (several && with_kernel.contains(image->boot_id()))
			image->remark("kernels of " + plural(with_kernel.size(), "boot") +
			              " are in the image: which of them died last is known by their clocks "
			              "only");
}

} // namespace

std::vector<std::unique_ptr<ImageSource>>
open_memory_image(const std::string& path, const trace::Catalog* lent,
                  const std::function<void(uint64_t, uint64_t)>& progress) {
	const auto memory = std::make_shared<PhysicalMemory>(path);
	AnchorScan scan = scan_anchors(*memory, progress);
	const auto kernels = std::make_shared<DeadKernels>(memory, scan.vmcoreinfo, scan.displacements);
	std::vector<FoundState> all = find_states(*memory, scan, kernels->boots());
	if (all.empty())
		nothing_found(*memory, scan);
	if (lent && !lend_boot(all, *lent))
		throw Error("the catalog that is lent is of no state in " + path,
		            "give a recording that was made of the same state, by dfrd or dfr snapshot");
	// The likely ones are read first, while there is room for what anchors list.
	std::ranges::stable_sort(all, std::greater(), [&](const FoundState& found) {
		return std::tuple(kernels->boots().contains(found.load.boot), found.panic.has_value(),
		                  found.group.anchors.size());
	});
	ImageBudget budget(*memory, heap_to_spare());
	std::vector<std::unique_ptr<HarvestedImage>> images;
	std::string without_memory;
	for (FoundState& found : all) {
		const std::string text =
		    "state " + std::to_string(found.state) + " of boot " + boot_text(found.load.boot);
		try {
			images.push_back(
			    std::make_unique<HarvestedImage>(memory, std::move(found), lent, budget));
		} catch (const std::bad_alloc&) { // the others can be saved
			without_memory += (without_memory.empty() ? "" : ", ") + text;
		}
	}
	if (images.empty())
		throw Error("there is no memory to read " + without_memory,
		            "read the image on a machine with more");
	if (!without_memory.empty())
		images[0]->trouble("there is no memory to read " + without_memory);
	order(images, kernels->boots());
	for (const auto& image : images)
		image->name_by(kernels, image->boot_id() == images[0]->boot_id());
	std::vector<std::unique_ptr<ImageSource>> result;
	for (auto& image : images)
		result.push_back(std::move(image));
	return result;
}

} // namespace dfr::recorder
