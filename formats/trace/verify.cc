// SPDX-License-Identifier: GPL-2.0
//
// The walk over a file that is verified, and what is not of blocks (verify_blocks.cc).
#include "formats/trace/verify.h"

#include <algorithm>
#include <cstring>

#include "formats/error.h"
#include "formats/trace/counted.h"
#include "formats/trace/file.h"
#include "formats/trace/verify_blocks.h"

namespace dfr::trace {
namespace {

constexpr uint64_t kNowhere = UINT64_MAX;

class FileVerifier {
public:
	FileVerifier(const std::string& path, const Going& going)
	    : path_(path), going_(going), reader_(path) {}
	Inspection run();

private:
	void wrong(const Segment& segment, std::string what) {
		found_.add({.from = segment.offset, .to = segment.end(), .what = std::move(what)});
	}
	void wrong(uint64_t from, uint64_t to, std::string what) {
		found_.add({.from = from, .to = to, .what = std::move(what)});
	}
	void keep_going(uint64_t read); // throws after a signal
	void walk();
	void other(const Segment& segment);
	void read(const Segment& segment, std::span<const std::byte> payload);
	void read_catalog(const Segment& segment, std::span<const std::byte> payload);
	void end(std::span<const std::byte> payload, const Segment& segment);
	void check_catalog();
	void check_parts(const Catalog& whole);
	void check_index();
	void chunks(BlockVerifier& blocks);
	void judge_all();

	const std::string& path_;
	const Going& going_;
	ContainerReader reader_;
	Inspection found_;
	std::vector<Segment> chunks_, others_;
	std::optional<Segment> last_; // the last segment
	std::optional<Catalog> whole_;
	Catalog parts_;
	CatalogReader part_reader_{parts_};
	bool parts_sound_ = true;
	std::vector<uint64_t> named_at_; // by EPID
	UnpackBudget catalogs_;          // what parts_ may take
	std::vector<Segment> ledgers_;   // that can be read: only one at a time is in memory
	uint64_t snapshot_ = 0;          // time of the last one
	std::optional<Index> index_;
	uint64_t index_at_ = kNowhere, index_named_at_ = kNowhere;
	bool ended_ = false;
};

void FileVerifier::keep_going(uint64_t read) {
	if (going_ && !going_(read, reader_.size()))
		throw Error("ended by a signal; nothing is said of " + path_);
}

// From segment to segment; behind what is none, on to the next head.
void FileVerifier::walk() {
	uint64_t at = sizeof(FileHead);
	while (at < reader_.size()) {
		keep_going(0);
		if (const std::optional<Segment> segment = reader_.segment(at)) {
			found_.segments++;
			last_ = segment;
			if (segment->type() == SegmentType::kChunk)
				chunks_.push_back(*segment);
			else
				other(*segment);
			at = segment->end();
			continue;
		}
		const uint64_t found = reader_.find_head(at + 8).value_or(reader_.size());
		wrong(at, found,
		      found < reader_.size()
		          ? "no whole segment is here"
		          : "the file is cut, or its end is damaged: no whole segment is here");
		at = found;
		parts_sound_ = false; // it may have been one
	}
	if (reader_.head_cut())
		wrong(0, reader_.size(), "only a part of the file's head is here");
	else if (reader_.head_damaged())
		wrong(0, sizeof(FileHead), "the file's head is damaged");
}

void FileVerifier::other(const Segment& segment) {
	const char* const name = name_of(segment.type());
	const auto payload = reader_.payload(segment);
	if (segment.type() != SegmentType::kIndex && segment.type() != SegmentType::kEnd)
		others_.push_back(segment);
	if (!payload) {
		parts_sound_ = parts_sound_ && segment.type() != SegmentType::kCatalog;
		return wrong(segment, std::string(name ? name : "a segment of a type that is not known") +
		                          ": damaged");
	}
	if (!name) {
		found_.unknown++;
		if (segment.head.flags & kSegmentNeeded)
			wrong(segment, kNeedsNewer);
		return;
	}
	try {
		read(segment, *payload);
	} catch (const Error& error) {
		parts_sound_ = parts_sound_ && segment.type() != SegmentType::kCatalog;
		wrong(segment, std::string(name) + ": " + error.what());
	}
}

void FileVerifier::read(const Segment& segment, std::span<const std::byte> payload) {
	switch (segment.type()) {
	case SegmentType::kCatalog: return read_catalog(segment, payload);
	case SegmentType::kAggregations: decode_aggregations(payload); return;
	case SegmentType::kAggregationsAt: {
		uint64_t time;
		if (payload.size() < sizeof time)
			return wrong(segment, "aggregations: they have no time");
		std::memcpy(&time, payload.data(), sizeof time);
		if (time < snapshot_)
			wrong(segment, "aggregations: they are older than those before them");
		snapshot_ = std::max(snapshot_, time);
		decode_aggregations(payload.subspan(sizeof time));
		return;
	}
	case SegmentType::kNames: decode_names(payload); return;
	case SegmentType::kTypes: decode_types(payload); return;
	case SegmentType::kKernelEvents: decode_kernel_events(payload); return;
	case SegmentType::kLosses:
		decode_ledger(payload);
		ledgers_.push_back(segment);
		return;
	case SegmentType::kIndex:
		index_ = decode_index(payload);
		index_at_ = segment.offset;
		return;
	case SegmentType::kEnd: return end(payload, segment);
	case SegmentType::kChunk: break;
	}
}

void FileVerifier::read_catalog(const Segment& segment, std::span<const std::byte> payload) {
	if (segment.head.flags & kSegmentWhole) {
		Catalog whole;
		decode_catalog(payload, whole);
		whole_ = std::move(whole);
		return;
	}
	if (!catalogs_.take(segment.head))
		throw Error(kTooLarge);
	const uint64_t state = parts_.state_id;
	const bool first = parts_.block_size == 0;
	part_reader_.part(payload);
	if (!first && parts_.state_id != state)
		wrong(segment, "catalog: it is of another state than the one before it");
	for (size_t i = named_at_.size(); i <= parts_.ecbs.size(); i++)
		named_at_.push_back(kNowhere);
	for (const uint32_t epid : part_reader_.epids())
		if (named_at_[epid] == kNowhere)
			named_at_[epid] = segment.offset;
}

void FileVerifier::end(std::span<const std::byte> payload, const Segment& segment) {
	EndMark mark;
	if (payload.size() != sizeof(mark))
		return wrong(segment, "end mark: its size is wrong");
	std::memcpy(&mark, payload.data(), sizeof(mark));
	index_named_at_ = mark.index;
	ended_ = segment.end() == reader_.size();
	if (mark.size != reader_.size())
		wrong(segment, "end mark: it says that the file has " + grouped(mark.size) +
		                   " bytes, it has " + grouped(reader_.size()));
}

// What names what: EPIDs a probe and a layout, layouts a program.
void FileVerifier::check_catalog() {
	const Catalog& catalog = found_.catalog;
	if (!whole_ && parts_.block_size == 0 && !chunks_.empty())
		wrong(0, 0, "no catalog can be read, so nothing explains the records");
	for (const Ecb& ecb : catalog.ecbs) {
		if (!ecb.epid)
			continue;
		if (!catalog.probes.contains(ecb.probe))
			wrong(0, 0,
			      "the catalog does not say which probe EPID " + std::to_string(ecb.epid) +
			          " is of");
		if (!catalog.layouts.contains(ecb.layout))
			wrong(0, 0, "the catalog has no layout for EPID " + std::to_string(ecb.epid));
	}
	for (const auto& [id, layout] : catalog.layouts)
		if (layout.dof >= catalog.dofs.size())
			wrong(0, 0,
			      "the catalog does not have the program that layout " + std::to_string(id) +
			          " is of");
	if (whole_ && parts_sound_)
		check_parts(*whole_);
}

// The whole catalog at the end has all that the parts have.
void FileVerifier::check_parts(const Catalog& whole) {
	bool same = parts_.block_size == 0 || parts_.state_id == whole.state_id;
	for (const Ecb& ecb : parts_.ecbs) {
		const Ecb* const there = ecb.epid ? whole.ecb(ecb.epid) : nullptr;
		same = same &&
		       (!ecb.epid || (there && there->probe == ecb.probe && there->layout == ecb.layout));
	}
	for (const auto& [id, probe] : parts_.probes) {
		const auto there = whole.probes.find(id);
		same = same && there != whole.probes.end() && there->second.text() == probe.text();
	}
	for (const auto& [id, layout] : parts_.layouts) {
		const auto there = whole.layouts.find(id);
		same = same && there != whole.layouts.end() &&
		       there->second.fields.size() == layout.fields.size();
	}
	if (!same || whole.dofs.size() < parts_.dofs.size())
		wrong(0, 0, "the catalog at the end does not have what the parts before it have");
}

// Whether the index says what is there.
void FileVerifier::check_index() {
	if (!ended_)
		return wrong(0, 0, "the file has no end mark: it was cut, or not finished");
	if (!index_ || index_named_at_ != index_at_)
		return wrong(0, 0, "the end mark does not lead to an index that can be read");
	std::map<uint64_t, const Segment*> there;
	for (const auto* const segments : {&chunks_, &others_})
		for (const Segment& segment : *segments)
			there[segment.offset] = &segment;
	const auto take = [&](uint64_t offset, SegmentType type) {
		const auto at = there.find(offset);
		const bool known = at != there.end() && at->second->type() == type;
		if (!known)
			wrong(offset, offset + sizeof(SegmentHead),
			      "the index has " + std::string(name_of(type) ? name_of(type) : "a segment") +
			          " here, the file does not");
		else
			there.erase(at);
	};
	for (const Index::Other& other : index_->others)
		take(other.offset, static_cast<SegmentType>(other.type));
	for (const Index::Chunk& chunk : index_->chunks)
		take(chunk.offset, SegmentType::kChunk);
	for (const auto& [offset, segment] : there)
		wrong(*segment, "the index does not have this segment, so replay does not read it");
}

void FileVerifier::chunks(BlockVerifier& blocks) {
	uint64_t read = 0;
	for (const Segment& segment : chunks_) {
		keep_going(read);
		read += segment.end() - segment.offset;
		if (const auto payload = reader_.payload(segment)) {
			blocks.chunk(segment, *payload);
			continue;
		}
		std::vector<std::byte> start(segment.head.stored);
		start.resize(reader_.read(segment.payload(), start));
		blocks.damaged_chunk(segment, start);
	}
}

void FileVerifier::judge_all() {
	const auto source = open_file(path_);
	Merger merger(*source);
	uint64_t records = 0;
	source->aggregations();
	while (source->next_snapshot())
		;
	found_.verdict = judge_whole(*source, merger, [&](const Record&) {
		if (++records % 65536 == 0)
			keep_going(reader_.size());
		return true;
	});
}

Inspection FileVerifier::run() {
	found_.bytes = reader_.size();
	walk();
	part_reader_.end();
	found_.catalog = whole_ ? *whole_ : parts_;
	check_catalog();
	check_index();
	named_at_.resize(parts_sound_ ? found_.catalog.ecbs.size() + 1 : 0, kNowhere);
	BlockVerifier blocks(found_, named_at_);
	chunks(blocks);
	Ledger last;
	uint64_t whole_until = 0; // what one of them said stays true
	for (const Segment& segment : ledgers_) {
		keep_going(reader_.size());
		const auto payload = reader_.payload(segment);
		if (!payload)
			continue; // the file has changed meanwhile
		last = decode_ledger(*payload);
		blocks.ledger(last, segment.offset);
		whole_until = std::max(whole_until, last.whole_until);
	}
	last.whole_until = whole_until;
	if (index_)
		for (const Index::Chunk& chunk : index_->chunks)
			blocks.chunk_of_index(chunk);
	blocks.finish(last, ended_ && !(index_ && index_->goes_on && whole_until));
	judge_all();
	return std::move(found_);
}

} // namespace

std::string Finding::text() const {
	std::string where;
	if (to)
		where = "bytes " + std::to_string(from) + " to " + std::to_string(to);
	if (cpu >= 0)
		where += (where.empty() ? "CPU " : ", CPU ") + std::to_string(cpu);
	if (block)
		where += (where.empty() ? "block " : ", block ") + std::to_string(block);
	return (where.empty() ? where : where + ": ") + what;
}

Inspection verify_file(const std::string& path, const Going& going) {
	return FileVerifier(path, going).run();
}

} // namespace dfr::trace
