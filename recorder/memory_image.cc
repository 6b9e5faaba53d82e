// SPDX-License-Identifier: GPL-2.0
//
// From anchors to recordings: lays the extents of a catalog end to end, finds
// the blocks of every ring, and merges the aggregation tables that hold the
// totals since the last clear. One recording is one (boot, state). Only block
// headers are kept; load() reads a block from the image when a reader asks for it,
// so that large dumps need little memory.
#include "recorder/memory_image.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "formats/abi/aggtab.h"
#include "formats/error.h"
#include "formats/trace/decode.h"
#include "recorder/anchors.h"
#include "recorder/speculations.h"

namespace dfr::recorder {
namespace {

constexpr uint64_t kCatalogMax = 1ull << 30;
constexpr uint64_t kTableMax = 1ull << 31;
constexpr uint64_t kUnsoundNamed = 32; // intervals

std::string plural(uint64_t number, const char* noun) {
	return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string boot_text(const BootId& boot) {
	std::string text;
	for (size_t i = 0; i < boot.size(); i++) {
		char digits[3];
		std::snprintf(digits, sizeof(digits), "%02x", boot[i]);
		text += digits;
		if (i == 3 || i == 5 || i == 7 || i == 9)
			text += '-';
	}
	return text;
}

// The page frames of an anchor's runs, in order; at most `limit`, because a hostile anchor may claim
// any number.
std::vector<uint64_t> frames_of(const FoundAnchor& anchor, uint64_t limit) {
	std::vector<uint64_t> frames;
	for (const dfr_anchor_run& run : anchor.runs)
		for (uint32_t i = 0; i < run.pages && frames.size() < limit; i++)
			frames.push_back(run.pfn + i);
	return frames;
}

// A piece of memory: its page frames in order, and the displacement of the raw image there.
struct FrameList {
	std::vector<uint64_t> frames;
	int64_t displacement = 0;
};

class HarvestedImage : public ImageSource {
public:
	HarvestedImage(std::shared_ptr<const PhysicalMemory> memory, const BootId& boot, AnchorGroup group,
	               std::optional<PanicNote> panic)
	    : memory_(std::move(memory)), group_(std::move(group)), panic_(std::move(panic)), boot_(boot) {
		page_limit_ = memory_->bytes() / kPage + 1;
		remarks_ = memory_->remarks();
		partial_ = !remarks_.empty();
		read_catalog();
		find_blocks();
		leave_out_taken();
		read_tables();
		read_speculations();
		if (panic_)
			note_panic();
	}

	const trace::Catalog& catalog() override { return catalog_; }
	std::string name() const override { return memory_->path(); }
	std::string boot() const override { return boot_text(boot_); }
	const std::optional<PanicNote>& panic() const override { return panic_; }
	uint64_t blocks() const override { return refs_.size(); }
	std::vector<trace::AggEntry> aggregations() override { return aggregations_; }
	trace::Losses losses() override { return {}; } // LOSS records in the blocks tell them
	std::vector<std::string> remarks() override { return remarks_; }
	bool partial() override { return partial_; }
	std::vector<trace::BlockRef> index() override { return refs_; }

	std::optional<trace::Block> next() override {
		while (next_ < refs_.size())
			if (std::optional<trace::Block> block = load(refs_[next_++]))
				return block;
		return std::nullopt;
	}

	std::optional<trace::Block> load(const trace::BlockRef& ref) override {
		if (ref.handle >= places_.size()) {
			const uint64_t extra = ref.handle - places_.size();
			return extra < finished_.size() ? std::optional(finished_[extra]) : std::nullopt;
		}
		trace::Block block;
		block.bytes.resize(ref.head.hdr_size + ref.head.committed);
		if (!read(places_[ref.handle], block.bytes) || !trace::block_is_sane(block.bytes))
			return std::nullopt;
		block.verified = trace::block_is_verified(block.bytes);
		if (!block.verified && ref.head.flags & DFR_BLOCK_SEALED)
			name_damage(block, ref.handle);
		return block;
	}

	// Wall-clock time of the last clock entry: orders several boots.
	uint64_t latest_time() const { return catalog_.clocks.empty() ? 0 : catalog_.clocks.back().real; }

private:
	// Where a block's bytes are: they start at offset `within` of the first frame.
	struct BlockPlace {
		FrameList extent;
		uint32_t within = 0;
	};

	void trouble(std::string remark) {
		remarks_.push_back(std::move(remark));
		partial_ = true;
	}

	bool read(const BlockPlace& place, std::span<std::byte> into) const {
		uint64_t within = place.within;
		for (const uint64_t frame : place.extent.frames) {
			const size_t size = std::min<uint64_t>(into.size(), kPage - within);
			if (!memory_->read(frame * kPage + within, into.first(size),
			                   place.extent.displacement))
				return false;
			into = into.subspan(size);
			within = 0;
			if (into.empty())
				return true;
		}
		return into.empty();
	}

	// The frames of all parts of one thing, laid end to end, up to the first part that is missing.
	FrameList extent_of(uint32_t kind, uint32_t cpu, uint32_t half, uint64_t limit) {
		FrameList result;
		for (uint32_t part = 0;; part++) {
			const auto found =
			    group_.anchors.find({.kind = kind, .cpu = cpu, .half = half, .part = part});
			if (found == group_.anchors.end())
				return result;
			result.displacement = found->second.displacement;
			const std::vector<uint64_t> frames = frames_of(found->second, limit / kPage);
			result.frames.insert(result.frames.end(), frames.begin(), frames.end());
			if (result.frames.size() > limit / kPage)
				return result;
		}
	}

	void read_catalog() {
		const FrameList extent = extent_of(DFR_ANCHOR_CATALOG, 0, 0, kCatalogMax);
		dfr_catalog head{};
		const BlockPlace place{.extent = extent};
		if (extent.frames.empty() || !read(place, std::as_writable_bytes(std::span(&head, 1))))
			return trouble("its catalog is not in the image: records cannot be read");
		const uint64_t there = std::min<uint64_t>(extent.frames.size() * kPage, kCatalogMax);
		if (head.committed > there)
			trouble(plural(head.committed - there, "byte") + " of its catalog are missing");
		std::vector<std::byte> log(std::min<uint64_t>(head.committed, there));
		if (!read(place, log))
			trouble("a part of its catalog is not in the image");
		try {
			if (catalog_.parse(log) != log.size())
				trouble("its catalog ends within an entry");
		} catch (const Error& error) {
			trouble(error.what());
		}
	}

	// Says once of a block which of its intervals are lost. The decoder counts their records.
	void name_damage(const trace::Block& block, uint64_t handle) {
		if (!named_.insert(handle).second)
			return;
		partial_ = true;
		for (const trace::DamagedInterval& lost : trace::damaged_intervals(block.bytes)) {
			if (++unsound_ > kUnsoundNamed)
				return;
			remarks_.push_back("CPU " + std::to_string(block.header().cpu) + ", block " +
			                   std::to_string(block.header().seq) + ": bytes " +
			                   std::to_string(lost.from) + " to " + std::to_string(lost.to) +
			                   " are damaged: " + plural(lost.records, "record") + " after " +
			                   trace::time_text(catalog_, lost.after) +
			                   (unsound_ == kUnsoundNamed ? "; more places are not named" : ""));
		}
	}

	void find_blocks() {
		for (const auto& [key, anchor] : group_.anchors)
			if (key.kind == DFR_ANCHOR_RING)
				find_blocks_of(anchor);
		// Of two that claim one number, the one that is closed is kept, then the one that has more.
		const auto rank = [](const trace::BlockRef& ref) {
			const bool closed = ref.head.flags & DFR_BLOCK_CLOSED;
			return std::tuple(ref.head.cpu, ref.head.seq, !closed, ~ref.head.committed,
			                  ref.handle);
		};
		std::sort(
		    refs_.begin(), refs_.end(),
		    [&](const trace::BlockRef& a, const trace::BlockRef& b) { return rank(a) < rank(b); });
		const auto same = [](const trace::BlockRef& a, const trace::BlockRef& b) {
			return a.head.cpu == b.head.cpu && a.head.seq == b.head.seq;
		};
		refs_.erase(std::unique(refs_.begin(), refs_.end(), same), refs_.end());
		if (damaged_)
			trouble(plural(damaged_, "damaged block"));
		if (absent_)
			trouble(plural(absent_, "block") + " not in the image");
		for (const auto& [version, blocks] : foreign_)
			trouble(plural(blocks, "block") + " of version " + std::to_string(version) +
			        ", which this dfr does not read (it reads version " +
			        std::to_string(DFR_BLOCK_VERSION) + ")");
	}

	// The runs of one anchor, laid end to end, hold whole blocks.
	void find_blocks_of(const FoundAnchor& anchor) {
		const uint64_t size = anchor.runs.empty() ? 0 : anchor.runs[0].offset;
		if (size < DFR_BLOCK_MIN || size > DFR_BLOCK_MAX || (size & (size - 1)))
			return trouble("an anchor of a ring has blocks of " + std::to_string(size) +
			               " bytes");
		const std::vector<uint64_t> frames = frames_of(anchor, page_limit_);
		const uint64_t pages = std::max<uint64_t>(size / kPage, 1);
		for (size_t first = 0; first + pages <= frames.size(); first += pages) {
			BlockPlace place;
			place.extent.displacement = anchor.displacement;
			place.extent.frames.assign(frames.begin() + first, frames.begin() + first + pages);
			for (place.within = 0; place.within < kPage;
			     place.within += static_cast<uint32_t>(size))
				add_block(place, anchor);
		}
	}

	void add_block(const BlockPlace& place, const FoundAnchor& anchor) {
		dfr_block head{};
		if (!read(place, std::as_writable_bytes(std::span(&head, 1)))) {
			absent_++;
			return;
		}
		if (!head.magic || !head.seq)
			return; // never used, or the engine was recycling it when the machine died
		if (head.magic == DFR_BLOCK_MAGIC && head.version != DFR_BLOCK_VERSION) {
			foreign_[head.version]++;
			return;
		}
		// Only the header is checked here; the decoder checks the records.
		if (!trace::header_is_sane(head) || head.state_id != anchor.state_id ||
		    head.cpu != anchor.cpu) {
			damaged_++;
			return;
		}
		refs_.push_back({.head = head, .handle = places_.size()});
		places_.push_back(place);
		if (!(head.flags & DFR_BLOCK_CLOSED))
			open_++;
	}

	// Blocks that a consumer took and gave back are still in memory: older than the ring's blocks, and
	// separated from them by a gap in the sequence numbers. The consumer's file has them; here the gap
	// would be counted as loss, so everything before a CPU's last gap is left out. If blocks are
	// damaged or absent, a gap may come from that instead, so all blocks are kept.
	void leave_out_taken() {
		if (open_)
			remarks_.push_back(plural(open_, "open block") + ", checked by structure only");
		if (damaged_ || absent_)
			return;
		std::vector<trace::BlockRef> kept;
		uint64_t left_out = 0;
		for (auto at = refs_.rbegin(); at != refs_.rend(); ++at) {
			const bool same_cpu = !kept.empty() && kept.back().head.cpu == at->head.cpu;
			const bool gap = same_cpu && kept.back().head.seq != at->head.seq + 1;
			if (gap || (same_cpu && skip_cpu_ == at->head.cpu)) {
				skip_cpu_ = at->head.cpu;
				left_out++;
				continue;
			}
			kept.push_back(*at);
		}
		std::reverse(kept.begin(), kept.end());
		refs_ = std::move(kept);
		if (left_out)
			remarks_.push_back(plural(left_out, "older block") +
			                   " left out that a consumer had taken already");
	}

	std::optional<std::vector<std::byte>> read_table(uint32_t cpu, uint32_t half, dfr_aggtab& head) {
		const FrameList extent = extent_of(DFR_ANCHOR_AGG, cpu, half, kTableMax);
		const BlockPlace place{.extent = extent};
		if (extent.frames.empty())
			return std::nullopt;
		if (!read(place, std::as_writable_bytes(std::span(&head, 1))) ||
		    head.magic != DFR_AGGTAB_MAGIC || head.used > extent.frames.size() * kPage ||
		    head.used < sizeof(head)) {
			trouble("an aggregation table is damaged");
			return std::nullopt;
		}
		std::vector<std::byte> table(head.used);
		if (!read(place, table)) {
			trouble("a part of an aggregation table is not in the image");
			return std::nullopt;
		}
		return table;
	}

	void merge_table(const std::vector<std::byte>& table) {
		if (const size_t senseless = trace::merge_aggregation_table(table, aggregations_))
			trouble(plural(senseless, "byte") + " of an aggregation table could not be read");
	}

	// The base table holds what the engine had merged; halves with a later generation were not merged
	// yet, so they are added here.
	void read_tables() {
		uint64_t merged = 0;
		dfr_aggtab head{};
		if (const auto base = read_table(DFR_AGGTAB_BASE_CPU, 0, head)) {
			merged = head.generation;
			merge_table(*base);
		}
		std::set<std::pair<uint32_t, uint32_t>> halves;
		for (const auto& [key, anchor] : group_.anchors)
			if (key.kind == DFR_ANCHOR_AGG && key.cpu != DFR_AGGTAB_BASE_CPU)
				halves.emplace(key.cpu, key.half);
		for (const auto& [cpu, half] : halves) {
			const auto table = read_table(cpu, half, head);
			if (!table)
				continue;
			if (head.drops)
				dropped_ += head.drops;
			if (head.generation > merged)
				merge_table(*table);
		}
		if (dropped_)
			trouble(plural(dropped_, "update") + " of aggregations lost (table full)");
	}

	// All speculation chunks that have records.
	std::vector<SpeculationChunk> read_chunks() {
		std::vector<SpeculationChunk> chunks;
		uint64_t absent = 0;
		for (const auto& [key, anchor] : group_.anchors) {
			const uint32_t unit = anchor.runs.empty() ? 0 : anchor.runs[0].offset;
			if (key.kind != DFR_ANCHOR_SPEC || unit < DFR_SPEC_CHUNK_MIN || (unit & (unit - 1)) ||
			    unit > DFR_BLOCK_MAX / 2)
				continue;
			const uint64_t pages = std::max<uint64_t>(unit / kPage, 1);
			const std::vector<uint64_t> frames = frames_of(anchor, page_limit_);
			for (size_t first = 0; first + pages <= frames.size(); first += pages) {
				BlockPlace place;
				place.extent.displacement = anchor.displacement;
				place.extent.frames.assign(frames.begin() + first,
				                           frames.begin() + first + pages);
				for (place.within = 0; place.within < kPage; place.within += unit)
					absent += !add_chunk(place, unit, anchor, chunks);
			}
		}
		if (absent)
			trouble(plural(absent, "chunk") + " of speculations not in the image");
		return chunks;
	}

	// False: the image does not have the chunk, so nobody knows whether it has records.
	bool add_chunk(const BlockPlace& place, uint32_t unit, const FoundAnchor& anchor,
	               std::vector<SpeculationChunk>& chunks) {
		SpeculationChunk chunk;
		if (!read(place, std::as_writable_bytes(std::span(&chunk.head, 1))))
			return false;
		if (chunk.head.magic != DFR_SPEC_MAGIC || !chunk.head.used)
			return true;
		std::vector<std::byte> whole(unit);
		if (chunk.head.state_id != anchor.state_id || chunk.head.cpu != anchor.cpu ||
		    chunk.head.used > unit - sizeof(chunk.head) || !read(place, whole)) {
			trouble("a speculation's chunk is damaged");
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
		cursor.collect_groups(&groups);
		for (const trace::BlockRef& ref : refs_) {
			const std::optional<trace::Block> block = load(ref);
			last[ref.head.cpu] = ref.head;
			if (!block || !cursor.open(*block, damage, nullptr))
				continue;
			while (cursor.next()) {
			}
		}
		FinishedCommits commits = finish_commits(std::move(chunks), groups, last, catalog_.state_id);
		for (trace::Block& block : commits.blocks) {
			refs_.push_back(
			    {.head = block.header(), .handle = places_.size() + finished_.size()});
			finished_.push_back(std::move(block));
		}
		if (!commits.blocks.empty())
			remarks_.push_back(
			    plural(commits.blocks.size(), "chunk") +
			    " of speculations whose commit the crash interrupted; they are committed here");
		if (commits.in_flight)
			remarks_.push_back(plural(commits.in_flight, "speculation") + " in flight (" +
			                   plural(commits.in_flight_records, "record") + ", not committed)");
	}

	void note_panic() {
		catalog_.machine["panic"] = panic_->reason;
		catalog_.machine["panic_comm"] = panic_->comm;
		catalog_.events.push_back({.event = DFR_EVENT_PANIC,
		                           .value = static_cast<int32_t>(panic_->cpu),
		                           .time = panic_->time});
	}

	std::shared_ptr<const PhysicalMemory> memory_;
	AnchorGroup group_;
	std::optional<PanicNote> panic_;
	BootId boot_;
	uint64_t page_limit_ = 0;
	trace::Catalog catalog_;
	std::vector<trace::BlockRef> refs_; // by (cpu, seq)
	std::vector<BlockPlace> places_;
	std::vector<trace::Block> finished_; // from finish_commits(); handles from places_.size() up
	std::vector<trace::AggEntry> aggregations_;
	std::vector<std::string> remarks_;
	bool partial_ = false;
	uint64_t damaged_ = 0, absent_ = 0, open_ = 0, dropped_ = 0;
	std::set<uint64_t> named_;             // blocks whose damage was named, by handle
	uint64_t unsound_ = 0;                 // intervals with a wrong checksum
	std::map<uint32_t, uint64_t> foreign_; // blocks of other versions, by version
	uint32_t skip_cpu_ = UINT32_MAX;
	size_t next_ = 0;
};

[[noreturn]] void nothing_found(const PhysicalMemory& memory, const AnchorScan& scan) {
	std::string why = "no recording in " + memory.path() + ": ";
	if (scan.damaged || scan.misplaced)
		why += plural(scan.damaged, "damaged anchor") + " and " + std::to_string(scan.misplaced) +
		       " at another address than they name, and no others";
	else
		why += "none of its " + std::to_string(memory.bytes() >> 20) + " MiB has an anchor";
	for (const std::string& remark : memory.remarks())
		why += "; " + remark;
	throw Error(why,
	            "was dfr.ko loaded and recording when the image was made? Dumps that leave kernel pages "
	            "out (makedumpfile -d 31 keeps them) or that were taken after a reboot hold nothing");
}

} // namespace

std::vector<std::unique_ptr<ImageSource>> open_memory_image(const std::string& path) {
	const auto memory = std::make_shared<PhysicalMemory>(path);
	AnchorScan scan = scan_anchors(*memory);
	if (scan.recordings.empty())
		nothing_found(*memory, scan);
	std::vector<std::unique_ptr<HarvestedImage>> images;
	for (auto& [key, group] : scan.recordings) {
		const auto panic = scan.panics.find(key.first);
		images.push_back(std::make_unique<HarvestedImage>(
		    memory, key.first, std::move(group),
		    panic == scan.panics.end() ? std::nullopt : std::optional(panic->second)));
	}
	std::stable_sort(images.begin(), images.end(), [](const auto& a, const auto& b) {
		const auto rank = [](const HarvestedImage& image) {
			return std::tuple(image.panic().has_value(), image.latest_time(), image.blocks());
		};
		return rank(*a) > rank(*b);
	});
	std::vector<std::unique_ptr<ImageSource>> result;
	for (auto& image : images)
		result.push_back(std::move(image));
	return result;
}

} // namespace dfr::recorder
