// SPDX-License-Identifier: GPL-2.0
//
// Opens a .dfr: by its index if the end mark is there, else by walking from
// segment to segment up to the cut. Damage is skipped, named in remarks() and
// makes the source partial; the rest of the file is read all the same.
#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "formats/error.h"
#include "formats/trace/batch.h"
#include "formats/trace/chunk.h"
#include "formats/trace/container.h"
#include "formats/trace/decode.h"
#include "formats/trace/file.h"
#include "formats/trace/schema.h"

namespace dfr::trace {
namespace {

constexpr size_t kRemarksKept = 100;

class DfrFile : public FileSource {
public:
	DfrFile(const std::string& path, uint64_t checked) : reader_(path), checked_(checked) {
		facts_.size = reader_.size();
		if (reader_.head_damaged())
			damaged("the file's first 32 bytes are damaged");
		if (reader_.head_cut())
			damaged("cut at byte " + std::to_string(reader_.size()) +
			        ": only a part of its head is there");
		else if (!open_by_index())
			walk();
		facts_.chunks = chunks_.size();
		facts_.begun = !chunks_.empty() || !others_.empty();
		read_catalog();
		const auto decode = [this](std::span<const std::byte> payload) {
			Ledger ledger = decode_ledger(payload);
			facts_.accounted = true;
			return ledger;
		};
		ledger_ = latest(SegmentType::kLosses, decode, "losses");
		facts_.part = ledger_.part;
		facts_.marked_until = std::max(whole_until(), ledger_.part.since);
		if (!cut_.empty()) {
			facts_.whole_until = facts_.marked_until;
			facts_.cut = facts_.whole_until ? cut()->why : cut_;
		}
	}

	const Catalog& catalog() override { return catalog_; }
	std::string name() const override { return reader_.path(); }
	FileFacts facts() const override { return facts_; }
	bool partial() override {
		return partial_before_cut() || (!facts_.cut.empty() && !facts_.whole_until);
	}
	bool partial_before_cut() override { return !remarks_.empty() || ledger_.partial; }
	// The remarks of the source that was recorded, then what is wrong with the file itself.
	std::vector<std::string> remarks() override {
		std::vector<std::string> all = ledger_.remarks;
		all.insert(all.end(), remarks_.begin(), remarks_.end());
		if (more_remarks_)
			all.emplace_back("there is more damage: dfr verify counts it");
		if (!facts_.cut.empty())
			all.push_back(facts_.cut);
		return all;
	}
	// Behind the last sound mark of what is whole; damage in front of it is in remarks_ by itself.
	std::optional<SourceCut> cut() override {
		if (facts_.goes_on && facts_.marked_until)
			return SourceCut{facts_.marked_until, "the recording goes on in a next file", true};
		if (!facts_.whole_until)
			return std::nullopt;
		return SourceCut{facts_.whole_until, cut_ + "; what was recorded before " +
		                                         time_text(catalog_, facts_.whole_until) +
		                                         " had been written"};
	}

	std::optional<Block> next() override {
		while (next_chunk_ < chunks_.size()) {
			if (std::optional<Block> block = take_block(next_chunk_, next_block_)) {
				next_block_++;
				return block;
			}
			next_chunk_++;
			next_block_ = 0;
		}
		return std::nullopt;
	}

	// Who asks reads the file from its beginning.
	std::vector<BlockRef> index() override {
		unpacked_.clear();
		newest_.clear();
		std::vector<BlockRef> result;
		for (size_t i = 0; i < chunks_.size(); i++) {
			const std::optional<ChunkHeaders> headers = headers_of(chunks_[i]);
			if (!headers)
				continue; // headers_of() has added a remark
			// As many as there are, if the chunks are alike; no more than there is room for in the file.
			if (result.empty())
				result.reserve(std::min(headers->blocks.size() * (chunks_.size() - i),
				                        reader_.size() / sizeof(dfr_block)));
			for (size_t b = 0; b < headers->blocks.size(); b++)
				result.push_back({headers->blocks[b], i << 16 | b});
		}
		return result;
	}

	std::optional<Block> load(const BlockRef& ref) override {
		const size_t chunk = ref.handle >> 16, block = ref.handle & 0xffff;
		return chunk < chunks_.size() ? take_block(chunk, block) : std::nullopt;
	}

	// What is damaged is left to load(), which names it.
	std::unique_ptr<StoredColumns> columns(const BlockRef& ref, const WantColumns& wanted) override {
		const size_t chunk = ref.handle >> 16;
		auto result = std::make_unique<StoredColumns>();
		std::optional<ChunkHeaders> headers;
		if (chunk < chunks_.size())
			headers = headers_of(chunks_[chunk]);
		if (!headers || headers->head.encoding != static_cast<uint16_t>(ChunkEncoding::kColumns) ||
		    !wanted(headers->blocks))
			return nullptr;
		auto payload = reader_.payload(chunks_[chunk]);
		if (!payload || payload->size() < headers->head.stored)
			return nullptr;
		result->payload = std::move(*payload);
		result->headers = std::move(headers->blocks);
		result->columns = ChunkColumns::open(
		    std::span<const std::byte>(result->payload).last(headers->head.stored), result->headers);
		return result->columns ? std::move(result) : nullptr;
	}

	std::vector<AggEntry> aggregations() override {
		for (const Segment& segment : others_)
			if (segment.type() == SegmentType::kAggregationsAt)
				check_payload(segment);
		return latest(SegmentType::kAggregations, decode_aggregations, "aggregations");
	}
	std::optional<AggSnapshot> next_snapshot() override {
		while (next_other_ < others_.size()) {
			const Segment& segment = others_[next_other_++];
			if (segment.type() != SegmentType::kAggregationsAt)
				continue;
			if (auto snapshot = snapshot_of(segment))
				return snapshot;
			damaged(range(segment) + " (aggregations) are damaged");
		}
		return std::nullopt;
	}
	void names(KnownNames& into) override {
		UnpackBudget budget;
		for (const Segment& segment : others_) {
			if (segment.type() != SegmentType::kNames)
				continue;
			if (!budget.take(segment.head))
				return damaged(range(segment) + " (names of addresses) " + kTooLarge);
			add_names(segment, into);
		}
	}
	RecordedTypes types() override { return latest(SegmentType::kTypes, decode_types, "types"); }
	KernelEvents kernel_events() override {
		return latest(SegmentType::kKernelEvents, decode_kernel_events, "the kernel's own events");
	}
	Losses losses() override { return ledger_.losses; }
	std::map<uint32_t, Reach> reaches() override { return ledger_.reaches; }
	std::map<uint32_t, PartOf> parts() override { return ledger_.parts; }
	uint64_t since() override { return ledger_.part.since; }

private:
	struct UnpackedChunk {
		std::vector<Block> blocks; // those that were taken are empty
		unsigned times = 0;        // that it was unpacked
		bool damaged = false;
	};
	static constexpr unsigned kUnpackedOften = 4;

	// Nobody reads more than so many, and each is held against those before it.
	void damaged(std::string remark) {
		if (std::find(remarks_.begin(), remarks_.end(), remark) != remarks_.end())
			return;
		if (remarks_.size() < kRemarksKept)
			remarks_.push_back(std::move(remark));
		else
			more_remarks_ = true;
	}

	static std::string range(const Segment& segment) {
		return "bytes " + std::to_string(segment.offset) + " to " + std::to_string(segment.end());
	}

	void keep(const Segment& segment) {
		if (!name_of(segment.type()) && segment.head.flags & kSegmentNeeded)
			damaged(range(segment) + ": " + kNeedsNewer);
		if (segment.type() == SegmentType::kChunk) {
			// They are packed in a way of their own, and their headers are read as stored.
			if (segment.head.flags & kSegmentZstd)
				chunk_is_damaged(segment);
			else
				chunks_.push_back(segment);
		} else if (segment.type() != SegmentType::kIndex && segment.type() != SegmentType::kEnd) {
			others_.push_back(segment);
		}
	}

	// False: there is no end mark, or the index that it points to is damaged.
	bool open_by_index() {
		if (reader_.size() < sizeof(FileHead) + kEndBytes)
			return false;
		const std::optional<Segment> end = reader_.segment(reader_.size() - kEndBytes);
		if (!end || end->type() != SegmentType::kEnd || end->head.stored != sizeof(EndMark))
			return false;
		const auto mark_bytes = reader_.payload(*end);
		if (!mark_bytes)
			return false;
		EndMark mark;
		std::memcpy(&mark, mark_bytes->data(), sizeof(mark));
		const std::optional<Segment> at = reader_.segment(mark.index);
		if (mark.size != reader_.size() || !at || at->type() != SegmentType::kIndex)
			return false;
		const auto payload = reader_.payload(*at);
		if (!payload)
			return false;
		try {
			const Index index = decode_index(*payload);
			if (!follow(index))
				return false;
			facts_.goes_on = index.goes_on;
		} catch (const Error&) {
			return false;
		}
		facts_.finished = true;
		return true;
	}

	// False: segments that the index names share bytes, so it is none that a writer made. Each of very many could hold
	// all behind it.
	bool follow(const Index& index) {
		std::vector<Segment> named;
		std::vector<std::pair<uint64_t, const char*>> missing;
		const auto find = [&](uint64_t offset, const char* what) {
			if (const std::optional<Segment> segment = reader_.segment(offset))
				named.push_back(*segment);
			else
				missing.emplace_back(offset, what);
		};
		for (const Index::Other& other : index.others)
			find(other.offset, "the catalog, aggregations or losses");
		for (const Index::Chunk& chunk : index.chunks)
			find(chunk.offset, "records");
		std::vector<Segment> sorted = named;
		std::sort(sorted.begin(), sorted.end(),
		          [](const Segment& a, const Segment& b) { return a.offset < b.offset; });
		const auto shared =
		    std::adjacent_find(sorted.begin(), sorted.end(),
		                       [](const Segment& a, const Segment& b) { return a.end() > b.offset; });
		if (shared != sorted.end())
			return false;
		for (const Segment& segment : named)
			keep(segment);
		for (const auto& [offset, what] : missing)
			damaged(std::string("a segment of ") + what + " at byte " + std::to_string(offset) +
			        " is damaged");
		return true;
	}

	void walk() {
		uint64_t at = sizeof(FileHead);
		bool ended = false;
		while (at < reader_.size()) {
			if (const std::optional<Segment> segment = reader_.segment(at)) {
				keep(*segment);
				ended = segment->type() == SegmentType::kEnd;
				if (segment->type() == SegmentType::kIndex || ended)
					check_payload(*segment);
				at = segment->end();
				continue;
			}
			const std::optional<uint64_t> found = reader_.find_head(at + 8);
			if (!found)
				break;
			damaged("bytes " + std::to_string(at) + " to " + std::to_string(*found) +
			        " are damaged");
			at = *found;
			if (!reader_.segment(at))
				break; // the file ends within this segment's payload
		}
		if (at < reader_.size())
			cut_ = "cut at byte " + std::to_string(reader_.size()) + ": what starts at byte " +
			       std::to_string(at) + " is not whole";
		else if (!ended)
			cut_ = "cut at byte " + std::to_string(reader_.size()) + ": it was not finished";
		else
			damaged("the end mark or the index is damaged");
	}

	void check_payload(const Segment& segment) {
		if (!reader_.stored(segment))
			damaged(range(segment) + " are damaged");
	}

	// Reads the last whole catalog that is sound; if there is none, all parts in order.
	void read_catalog() {
		for (auto segment = others_.rbegin(); segment != others_.rend(); ++segment) {
			if (segment->type() != SegmentType::kCatalog ||
			    !(segment->head.flags & kSegmentWhole))
				continue;
			Catalog whole;
			CatalogReader reader(whole);
			if (add_catalog(*segment, reader)) {
				reader.end();
				catalog_ = std::move(whole);
				check_parts();
				return;
			}
		}
		UnpackBudget budget;
		CatalogReader parts(catalog_);
		for (const Segment& segment : others_) {
			if (segment.type() != SegmentType::kCatalog || segment.head.flags & kSegmentWhole)
				continue;
			if (!budget.take(segment.head)) {
				damaged(range(segment) + " (catalog) " + kTooLarge);
				break;
			}
			add_catalog(segment, parts);
		}
		parts.end();
	}

	// Checks also the parts that are not needed, so that their damage is reported.
	void check_parts() {
		for (const Segment& segment : others_)
			if (segment.type() == SegmentType::kCatalog && !(segment.head.flags & kSegmentWhole))
				check_payload(segment);
	}

	bool add_catalog(const Segment& segment, CatalogReader& into) {
		const auto payload = reader_.payload(segment);
		if (!payload) {
			damaged(range(segment) + " (catalog) are damaged");
			return false;
		}
		try {
			into.part(*payload);
			return true;
		} catch (const Error& error) {
			damaged(range(segment) + ": " + error.what());
			return false;
		}
	}

	void add_names(const Segment& segment, KnownNames& into) {
		try {
			if (const auto payload = reader_.payload(segment))
				return into.add(decode_names(*payload));
		} catch (const Error&) {
			// As if its checksum were wrong.
		}
		damaged(range(segment) + " (names of addresses) are damaged");
	}

	// The last sound payload of this type. The checksums of those before it are checked too, so that damage is reported.
	template <typename Decode>
	auto latest(SegmentType type, const Decode& decode, const char* what) -> decltype(decode({})) {
		std::optional<decltype(decode({}))> result;
		for (auto segment = others_.rbegin(); segment != others_.rend(); ++segment) {
			if (segment->type() != type || (result && segment->end() <= checked_))
				continue;
			bool sound = true;
			try {
				if (result)
					sound = reader_.stored(*segment).has_value();
				else if (const auto payload = reader_.payload(*segment))
					result = decode(*payload);
				else
					sound = false;
			} catch (const Error&) {
				sound = false;
			}
			if (!sound)
				damaged(range(*segment) + " (" + what + ") are damaged");
		}
		return result.value_or(decltype(decode({})){});
	}

	// What a ledger says of the records in front of it stays true, so the last one that says it counts.
	uint64_t whole_until() {
		uint64_t time = ledger_.whole_until;
		UnpackBudget budget;
		for (auto segment = others_.rbegin(); !time && segment != others_.rend(); ++segment) {
			if (segment->type() != SegmentType::kLosses)
				continue;
			if (!budget.take(segment->head)) {
				damaged(range(*segment) + " (losses) " + kTooLarge);
				break;
			}
			try {
				if (const auto payload = reader_.payload(*segment))
					time = decode_ledger(*payload).whole_until;
			} catch (const Error&) { // latest() has named it
			}
		}
		return time;
	}

	std::optional<AggSnapshot> snapshot_of(const Segment& segment) {
		const auto payload = reader_.payload(segment);
		AggSnapshot snapshot;
		if (!payload || payload->size() < sizeof snapshot.time)
			return std::nullopt;
		std::memcpy(&snapshot.time, payload->data(), sizeof snapshot.time);
		try {
			snapshot.entries =
			    decode_aggregations(std::span(*payload).subspan(sizeof snapshot.time));
			return snapshot;
		} catch (const Error&) {
			return std::nullopt;
		}
	}

	void chunk_is_damaged(const Segment& segment) { damaged(range(segment) + " (records) are damaged"); }

	std::optional<ChunkHeaders> headers_of(const Segment& segment) {
		std::vector<std::byte> start(std::min<uint64_t>(segment.head.stored, sizeof(ChunkHead)));
		for (int round = 0; round < 2; round++) {
			start.resize(reader_.read(segment.payload(), start));
			const uint64_t need = chunk_headers_need(start);
			if (start.size() >= need || need > segment.head.stored)
				break;
			start.resize(need);
		}
		std::optional<ChunkHeaders> headers = decode_chunk_headers(start, segment.head.stored);
		if (!headers)
			chunk_is_damaged(segment);
		return headers;
	}

	// nullopt: damaged, or there are no more. The last unpacked chunk of each CPU stays in memory, because the
	// merger reads the CPUs' blocks in turns; but each block leaves it with the first who asks, because nobody
	// reads a block twice as a rule. Else the chunk is unpacked again.
	std::optional<Block> take_block(size_t number, size_t block) {
		UnpackedChunk& chunk = unpacked_[number];
		const bool taken = block < chunk.blocks.size() && chunk.blocks[block].bytes.empty();
		if ((chunk.blocks.empty() || taken) && !unpack(number, chunk))
			return std::nullopt;
		if (block >= chunk.blocks.size())
			return std::nullopt;
		return std::exchange(chunk.blocks[block], {});
	}

	// A chunk makes room for the next one of its CPU, but not where their blocks come in turns: each block would be as
	// much work as a chunk.
	bool unpack(size_t number, UnpackedChunk& chunk) {
		if (chunk.damaged)
			return false;
		const auto payload = reader_.payload(chunks_[number]);
		std::optional<std::vector<Block>> blocks;
		if (payload)
			blocks = decode_chunk(*payload);
		if (!blocks) {
			chunk.damaged = true;
			chunk_is_damaged(chunks_[number]);
			return false;
		}
		chunk.blocks = std::move(*blocks);
		if (chunk.blocks.empty())
			return false;
		chunk.times++;
		size_t& newest = newest_.try_emplace(chunk.blocks.front().header().cpu, number).first->second;
		UnpackedChunk& before = unpacked_[std::exchange(newest, number)];
		if (&before != &chunk && before.times < kUnpackedOften)
			before.blocks = {};
		return true;
	}

	ContainerReader reader_;
	const uint64_t checked_;
	Catalog catalog_;
	Ledger ledger_;
	FileFacts facts_;
	std::vector<Segment> chunks_, others_;
	std::vector<std::string> remarks_;
	bool more_remarks_ = false; // than kRemarksKept
	std::string cut_;           // how the file ends without its end mark; empty: it has one
	std::map<size_t, UnpackedChunk> unpacked_; // by their number
	std::map<uint32_t, size_t> newest_;        // by CPU: which was unpacked last
	size_t next_chunk_ = 0, next_block_ = 0, next_other_ = 0;
};

} // namespace

std::unique_ptr<FileSource> open_file(const std::string& path, uint64_t checked) {
	return std::make_unique<DfrFile>(path, checked);
}

void require_begun(const FileSource& file) {
	if (!file.facts().begun)
		throw Error(file.name() + " was cut or is damaged: nothing in it can be read",
		            "dfr verify " + file.name() + " says where it is wrong");
}

} // namespace dfr::trace
