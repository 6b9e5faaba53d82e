// SPDX-License-Identifier: GPL-2.0
//
// From a file to a part of it.
#include "formats/trace/cut.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "formats/error.h"
#include "formats/trace/bytes.h"
#include "formats/trace/container.h"
#include "formats/trace/counted.h"
#include "formats/trace/remake.h"
#include "formats/trace/schema.h"

namespace dfr::trace {
namespace {

// What the new file's ledger says: all that the old one's says, and what was cut.
class CutLedger final : public BlockSource {
public:
	CutLedger(FileSource& source, std::vector<std::string> cut, std::map<uint32_t, PartOf> parts,
	          Losses losses)
	    : source_(source), cut_(std::move(cut)), parts_(std::move(parts)), losses_(std::move(losses)) {}
	const Catalog& catalog() override { return source_.catalog(); }
	std::optional<Block> next() override { return std::nullopt; }
	std::vector<AggEntry> aggregations() override { return {}; }
	Losses losses() override { return losses_; }
	std::vector<std::string> remarks() override {
		std::vector<std::string> all = source_.remarks();
		all.insert(all.end(), cut_.begin(), cut_.end());
		return all;
	}
	bool partial() override { return true; }
	std::map<uint32_t, PartOf> parts() override { return parts_; }
	std::string name() const override { return source_.name(); }

private:
	FileSource& source_;
	std::vector<std::string> cut_;
	std::map<uint32_t, PartOf> parts_;
	Losses losses_;
};

// The whole recording has what was before the span, so the new file is whole from the span's start on.
FilePart part_from(FilePart part, uint64_t from) {
	part.since = std::max(part.since, from);
	return part;
}

uint64_t last_time_of(const dfr_block& head) {
	return head.last_time ? std::max(head.first_time, head.last_time) : UINT64_MAX;
}

class Cutter {
public:
	Cutter(const std::string& path, const std::string& output, const Cut& cut)
	    : path_(path), cut_(cut), source_(open_file(path)), catalog_(source_->catalog()),
	      shapes_(source_->catalog()),
	      writer_(
	          output, true, [this]() -> const Catalog& { return catalog_; }, local_file(),
	          part_from(source_->facts().part, cut.span.from)) {
		// What came later would make the window longer than what is here.
		const auto later = [&](const EventMark& mark) { return mark.time > cut.span.to; };
		if (std::any_of(catalog_.events.begin(), catalog_.events.end(), [&](const EventMark& mark) {
			    return mark.event == DFR_EVENT_PANIC && later(mark);
		    }))
			for (const char* const key : kPanicKeys)
				catalog_.machine.erase(key);
		std::erase_if(catalog_.events, later);
	}
	CutResult run(const Going& going);

private:
	struct CpuBlocks { // of one CPU: the blocks that are in the new file, by sequence number
		uint64_t first = 0, last = 0;
	};
	void count_parts(const std::vector<BlockRef>& refs);
	void find_blocks(const std::vector<BlockRef>& refs);
	bool wanted(const dfr_block& head) const;
	Losses losses(const std::vector<BlockRef>& refs);
	uint64_t whole_until() const;
	void block(const Block& block, const CpuBlocks& range);
	void kernel_events();
	void others();
	void look_for_more(const Segment& segment, std::span<const std::byte> payload);

	const std::string& path_;
	const Cut& cut_;
	std::unique_ptr<FileSource> source_;
	Catalog catalog_;
	RecordShapes shapes_;
	FileWriter writer_;
	std::map<uint32_t, CpuBlocks> ranges_;
	std::map<uint32_t, PartOf> parts_; // by CPU
	DecodeDamage damage_;              // of blocks that were made again
	std::vector<std::string> remarks_;
	CutResult result_;
};

// What the whole recording had of each CPU. If it is a part itself, it says that.
void Cutter::count_parts(const std::vector<BlockRef>& refs) {
	std::map<uint32_t, uint64_t> firsts; // sequence numbers
	const std::map<uint32_t, Reach> before = source_->facts().part.before;
	for (const BlockRef& ref : refs) {
		const dfr_block& head = ref.head;
		const auto [first, fresh] = firsts.try_emplace(head.cpu, head.seq);
		PartOf& part = parts_[head.cpu];
		const auto earlier = before.find(head.cpu);
		if (fresh || head.seq < first->second)
			part.overwritten =
			    head.record_base -
			    (earlier == before.end()
			         ? 0
			         : std::min<uint64_t>(head.record_base, earlier->second.records));
		first->second = std::min<uint64_t>(first->second, head.seq);
		part.committed = std::max<uint64_t>(part.committed, head.record_base + head.records);
	}
	for (const auto& [cpu, reach] : source_->reaches())
		if (reach.seq)
			parts_[cpu].committed = std::max(parts_[cpu].committed, reach.records);
	for (const auto& [cpu, part] : source_->parts())
		parts_[cpu] = part;
}

// All blocks from a CPU's first one in the span to its last, so that none seems to be missing between.
void Cutter::find_blocks(const std::vector<BlockRef>& refs) {
	for (const BlockRef& ref : refs) {
		const dfr_block& head = ref.head;
		if (!cut_.span.has(head.cpu) || head.first_time > cut_.span.to ||
		    last_time_of(head) < cut_.span.from)
			continue;
		CpuBlocks& range = ranges_[head.cpu];
		range.first = range.first ? std::min<uint64_t>(range.first, head.seq) : head.seq;
		range.last = std::max<uint64_t>(range.last, head.seq);
	}
}

void Cutter::block(const Block& block, const CpuBlocks& range) {
	uint64_t early = 0;
	uint32_t seen = 0; // up to this offset: a block that becomes too large is made once more
	Remade remade =
	    remake_block(block, shapes_, [&](const Record& record) -> std::optional<RemadeRecord> {
		    const bool first = record.offset > std::exchange(seen, std::max(seen, record.offset));
		    if (!cut_.wants(record, catalog_)) {
			    early += first && record.time < cut_.span.from;
			    return std::nullopt;
		    }
		    const RecordShape* const shape = shapes_.find(record.epid);
		    return RemadeRecord{.epid = record.epid,
		                        .context = record.context,
		                        .layout = {shape->fields, shape->count},
		                        .fields = record.fields};
	    });
	result_.records += remade.kept;
	result_.left_out += remade.left_out;
	if (!remade.left_out)
		return writer_.block(block); // with its damage, if it has some
	parts_[block.header().cpu].cut += remade.left_out;
	damage_.add(remade.damage);
	dfr_block head = remade.block.header();
	if (early && head.seq == range.first) {
		// The CPU is whole from the span's start, and not before.
		head.before = std::max<uint64_t>(head.before, cut_.span.from - 1);
		head.record_base += head.seq == 1 && !head.record_base ? early : 0;
		change_head(remade.block, head);
	}
	writer_.block(remade.block);
}

// Those of the kernel's tracer have a time, a CPU and a process, and are of no probe.
void Cutter::kernel_events() {
	const KernelEvents all = source_->kernel_events();
	KernelEvents kept = all.only([this](const KernelEvents::Event& event) {
		return cut_.probes.empty() && cut_.span.has(event.cpu) && event.time >= cut_.span.from &&
		       event.time <= cut_.span.to && (cut_.pids.empty() || cut_.pids.contains(event.pid));
	});
	if (const size_t left_out = all.events.size() - kept.events.size())
		kept.remarks.push_back(plural(left_out, "event") +
		                       " of the kernel's own were left out (cut)");
	writer_.kernel_events(kept);
}

// Catalog and ledger are made anew, of what this dfr knows of them: a newer one's may have more.
void Cutter::look_for_more(const Segment& segment, std::span<const std::byte> payload) {
	const bool catalog = segment.type() == SegmentType::kCatalog;
	if (catalog && !(segment.head.flags & kSegmentWhole))
		return; // a piece of it, which stands for nothing alone
	size_t known = 0;
	try {
		if (catalog) {
			Catalog whole;
			decode_catalog(payload, whole);
			CatalogMark nothing;
			known = encode_catalog(whole, nothing).size();
		} else {
			known = encode_ledger(decode_ledger(payload)).size();
		}
	} catch (const Error&) {
		return; // it is damaged, and remarks() says so
	}
	const std::string remark =
	    std::string("the ") + name_of(segment.type()) +
	    " is a newer dfr's, and what this one does not know of it was left out (cut)";
	if (payload.size() > known && std::ranges::find(remarks_, remark) == remarks_.end())
		remarks_.push_back(remark);
}

// Aggregations count the whole recording. What this dfr does not know is passed on, unless it must be known.
void Cutter::others() {
	const ContainerReader reader(path_);
	reader.each_segment([&](const Segment& segment) {
		switch (segment.type()) {
		case SegmentType::kAggregations:
		case SegmentType::kAggregationsAt: result_.aggregations_left_out = true; break;
		case SegmentType::kCatalog:
		case SegmentType::kLosses:
			if (const auto payload = reader.payload(segment))
				look_for_more(segment, *payload);
			break;
		case SegmentType::kChunk:
		case SegmentType::kKernelEvents:
		case SegmentType::kIndex:
		case SegmentType::kEnd: break;
		default:
			if (!name_of(segment.type()) && segment.head.flags & kSegmentNeeded)
				throw Error("cannot cut " + path_ +
				                ": it has what this dfr does not know and "
				                "must know",
				            "cut it with a newer dfr");
			if (const auto payload = reader.payload(segment)) {
				writer_.pass_on(segment.head, *payload);
				break;
			}
			const char* const name = name_of(segment.type());
			remarks_.push_back("bytes " + std::to_string(segment.offset) + " to " +
			                   std::to_string(segment.end()) + " (" +
			                   (name ? name : "of a newer dfr") +
			                   ") are damaged and were left out (cut)");
		}
	});
}

bool Cutter::wanted(const dfr_block& head) const {
	const auto range = ranges_.find(head.cpu);
	return range != ranges_.end() && head.seq >= range->second.first && head.seq <= range->second.last;
}

// What the whole recording's ledger has, and the stretches of thinning that only blocks from before the span tell of.
Losses Cutter::losses(const std::vector<BlockRef>& refs) {
	Losses all = source_->losses();
	std::map<uint32_t, const BlockRef*> last; // by CPU: before the span
	for (const BlockRef& ref : refs) {
		const BlockRef*& latest = last[ref.head.cpu];
		if (cut_.span.has(ref.head.cpu) && ref.head.first_time < cut_.span.from &&
		    !wanted(ref.head) && (!latest || ref.head.seq > latest->head.seq))
			latest = &ref;
	}
	for (const auto& [cpu, ref] : last)
		if (const std::optional<Block> block = ref ? source_->load(*ref) : std::nullopt)
			for (const Losses::Stretch& stretch : losses_in(*block, shapes_).stretches)
				all.add(stretch);
	return all;
}

// Up to when the new file has what was wanted, if the recording went on then; else 0.
uint64_t Cutter::whole_until() const {
	const FileFacts facts = source_->facts();
	const uint64_t to = cut_.span.to, end = source_->catalog().recording_end();
	const bool ended = facts.finished && !facts.goes_on && end != UINT64_MAX;
	if (to < (ended ? end : facts.marked_until - (facts.marked_until > 0)))
		return to + 1;
	return facts.goes_on ? facts.marked_until : 0;
}

CutResult Cutter::run(const Going& going) {
	const std::vector<BlockRef> refs = source_->index();
	count_parts(refs);
	find_blocks(refs);
	size_t done = 0;
	std::set<std::pair<uint32_t, uint64_t>> seen; // by CPU and number: what a file has twice counts once
	for (const BlockRef& ref : refs) {
		if (going && !going(done++, refs.size())) {
			result_.stopped = true;
			return result_;
		}
		const std::pair<uint32_t, uint64_t> number(ref.head.cpu, ref.head.seq);
		if (seen.contains(number))
			continue;
		if (!wanted(ref.head)) {
			seen.insert(number);
			parts_[ref.head.cpu].cut += ref.head.records;
			continue;
		}
		const std::optional<Block> loaded = source_->load(ref);
		if (!loaded || !block_is_sane(loaded->bytes))
			continue; // its number is missing then, and remarks() says why
		block(*loaded, ranges_[ref.head.cpu]);
		seen.insert(number);
	}
	kernel_events();
	others();
	remarks_.insert(remarks_.begin(), "only " + cut_.text + " is here (cut)");
	if (result_.aggregations_left_out)
		remarks_.emplace_back(
		    "aggregations were left out, because they count the whole recording (cut)");
	if (damage_.regions)
		remarks_.push_back(plural(damage_.bytes, "damaged byte") + " in " +
		                   plural(damage_.regions, "place") + ", with " +
		                   plural(damage_.records, "record") +
		                   ", of blocks of which a part was wanted (cut)");
	CutLedger ledger(*source_, std::move(remarks_), std::move(parts_), losses(refs));
	// It keeps its place among the parts of a recorder that rotates.
	const uint64_t until = whole_until();
	writer_.account(ledger, until);
	writer_.finish(until != 0);
	return result_;
}

} // namespace

bool Cut::wants(const Record& record, const Catalog& catalog) const {
	if (!span.has(record.cpu) || record.time < span.from || record.time > span.to)
		return false;
	if (!pids.empty() && !pids.contains(record.context.pid))
		return false;
	const Ecb* const ecb = probes.empty() ? nullptr : catalog.ecb(record.epid);
	return probes.empty() || (ecb && probes.contains(ecb->probe));
}

CutResult cut_file(const std::string& path, const std::string& output, const Cut& cut, const Going& going) {
	return Cutter(path, output, cut).run(going);
}

} // namespace dfr::trace
