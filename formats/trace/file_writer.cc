// SPDX-License-Identifier: GPL-2.0
//
// FileWriter: buffers blocks by CPU until they fill a chunk (chunk_target()), and ends
// the file with a whole catalog, the index and the end mark. Before each segment it
// writes what is new in the catalog, so that a file that is cut has no block without
// the entries that explain it. Bytes once written are never changed.
#include <algorithm>
#include <cstring>
#include <map>

#include "formats/error.h"
#include "formats/trace/chunk.h"
#include "formats/trace/container.h"
#include "formats/trace/decode.h"
#include "formats/trace/file.h"
#include "formats/trace/schema.h"

namespace dfr::trace {

struct FileWriter::Impl {
	struct OpenChunk {
		std::vector<Block> blocks;
		size_t bytes = 0;
	};

	Impl(const std::string& path, bool replace, CatalogNow catalog_now, std::unique_ptr<OutputFile> file,
	     FilePart which)
	    : now(std::move(catalog_now)), container(path, replace, std::move(file)), part(std::move(which)) {
	}

	const Catalog& write_catalog() {
		const Catalog& catalog = now();
		CatalogMark after = mark;
		const std::vector<std::byte> payload = encode_catalog(catalog, after);
		if (!payload.empty())
			append(SegmentType::kCatalog, 0, payload);
		mark = std::move(after); // not if append() has thrown
		return catalog;
	}

	void append(SegmentType type, uint16_t flags, std::span<const std::byte> payload) {
		const uint64_t offset = container.append(type, flags, payload, true);
		index.others.push_back({.offset = offset, .type = static_cast<uint16_t>(type)});
		if (type == SegmentType::kCatalog)
			catalog_bytes += container.size() - offset;
	}

	void other(SegmentType type, std::span<const std::byte> payload) {
		write_catalog();
		append(type, 0, payload);
	}

	void write_chunk(OpenChunk& full) {
		if (full.blocks.empty())
			return;
		const dfr_block& first = full.blocks.front().header();
		const dfr_block& last = full.blocks.back().header();
		Index::Chunk entry{.cpu = first.cpu,
		                   .blocks = static_cast<uint32_t>(full.blocks.size()),
		                   .first_seq = first.seq,
		                   .last_seq = last.seq,
		                   .first_time = UINT64_MAX};
		for (const Block& block : full.blocks) {
			entry.first_time = std::min<uint64_t>(entry.first_time, block.header().first_time);
			entry.last_time = std::max<uint64_t>(entry.last_time, block.header().last_time);
			entry.records += block.header().records;
		}
		const Catalog& catalog = write_catalog();
		entry.offset =
		    container.append(SegmentType::kChunk, 0, encode_chunk(full.blocks, catalog), false);
		index.chunks.push_back(entry);
		chunk_bytes += container.size() - entry.offset;
		records += entry.records;
		reaches[entry.cpu] = {last.seq, last.record_base + last.records};
		full.blocks.clear();
		full.bytes = 0;
	}

	void write_all() {
		for (auto& [cpu, blocks] : pending)
			write_chunk(blocks);
	}

	CatalogNow now;
	ContainerWriter container;
	CatalogMark mark; // of what is in the file
	std::map<uint32_t, OpenChunk> pending;
	Index index;
	uint64_t records = 0, chunk_bytes = 0, catalog_bytes = 0;
	std::map<uint32_t, Reach> reaches; // by CPU
	FilePart part;
	uint64_t whole_until = 0; // the last mark
	std::string gave_up;      // what the ledger says of it
	uint64_t damaged = 0;     // blocks that made no sense and were left out
	bool finished = false;
};

FileWriter::FileWriter(const std::string& path, bool replace, CatalogNow catalog,
                       std::unique_ptr<OutputFile> file, FilePart part)
    : impl_(std::make_unique<Impl>(path, replace, std::move(catalog), std::move(file), std::move(part))) {}

FileWriter::~FileWriter() = default;

void FileWriter::catalog() {
	impl_->write_catalog();
}

void FileWriter::block(const Block& block) {
	if (!block_is_sane(block.bytes)) {
		impl_->damaged++;
		return;
	}
	Impl::OpenChunk& pending = impl_->pending[block.header().cpu];
	const auto used = block.bytes.begin() + block.header().hdr_size + block.header().committed;
	pending.blocks.push_back({.bytes = {block.bytes.begin(), used}, .verified = block.verified});
	pending.bytes += pending.blocks.back().bytes.size();
	// An open block does not say when it ends.
	const uint64_t begins = pending.blocks.front().header().first_time, ends = block.header().last_time;
	const bool spans = pending.bytes >= kChunkBytesLeast && ends > begins && ends - begins >= kChunkSpan;
	if (spans || pending.bytes >= chunk_target(impl_->pending.size()))
		impl_->write_chunk(pending);
}

void FileWriter::aggregations(const std::vector<AggEntry>& entries) {
	impl_->other(SegmentType::kAggregations, encode_aggregations(entries));
}

void FileWriter::snapshot(const AggSnapshot& snapshot) {
	std::vector<std::byte> payload(sizeof snapshot.time);
	std::memcpy(payload.data(), &snapshot.time, sizeof snapshot.time);
	const std::vector<std::byte> entries = encode_aggregations(snapshot.entries);
	payload.insert(payload.end(), entries.begin(), entries.end());
	impl_->other(SegmentType::kAggregationsAt, payload);
}

void FileWriter::names(const AddressNames& names) {
	if (!names.empty())
		impl_->other(SegmentType::kNames, encode_names(names));
}

void FileWriter::types(const RecordedTypes& types) {
	if (!types.empty())
		impl_->other(SegmentType::kTypes, encode_types(types));
}

void FileWriter::kernel_events(const KernelEvents& events) {
	if (!events.empty())
		impl_->other(SegmentType::kKernelEvents, encode_kernel_events(events));
}

void FileWriter::account(BlockSource& source, uint64_t whole_until) {
	impl_->write_all();
	// A source that was read from a file may know of blocks that are not there any more.
	std::map<uint32_t, Reach> furthest = impl_->reaches;
	for (const auto& [cpu, reach] : source.reaches())
		if (Reach& known = furthest[cpu]; reach.seq > known.seq)
			known = reach;
	Ledger ledger{.losses = source.losses(),
	              .remarks = source.remarks(),
	              .partial = source.partial(),
	              .whole_until = whole_until,
	              .reaches = std::move(furthest),
	              .parts = source.parts(),
	              .part = impl_->part};
	impl_->whole_until = whole_until;
	if (!impl_->gave_up.empty()) {
		ledger.remarks.push_back(impl_->gave_up);
		ledger.partial = true;
	}
	if (impl_->damaged) {
		ledger.remarks.push_back(std::to_string(impl_->damaged) +
		                         " blocks were damaged and are not in this file");
		ledger.partial = true;
	}
	impl_->other(SegmentType::kLosses, encode_ledger(ledger));
}

void FileWriter::pass_on(const SegmentHead& head, std::span<const std::byte> payload) {
	impl_->write_catalog();
	impl_->append(static_cast<SegmentType>(head.type), head.flags & ~kSegmentZstd, payload);
}

void FileWriter::give_up(BlockSource& source, const std::string& why) {
	if (impl_->finished)
		return;
	uint64_t left = 0;
	for (const auto& [cpu, chunk] : impl_->pending)
		for (const Block& block : chunk.blocks)
			left += block.header().records;
	impl_->pending.clear();
	impl_->gave_up = "recording ended early: " + why;
	if (left)
		impl_->gave_up += "; " + std::to_string(left) + " records could not be written";
	account(source);
	finish();
}

void FileWriter::flush() {
	impl_->write_all();
	impl_->container.sync();
}

void FileWriter::require_there() {
	impl_->container.require_there();
}

void FileWriter::finish(bool goes_on) {
	if (impl_->finished)
		return;
	impl_->write_all();
	impl_->index.goes_on = goes_on;
	CatalogMark from_scratch;
	impl_->append(SegmentType::kCatalog, kSegmentWhole, encode_catalog(impl_->now(), from_scratch));
	const std::vector<std::byte> index = encode_index(impl_->index);
	EndMark end{.index = impl_->container.append(SegmentType::kIndex, 0, index, true), .size = 0};
	end.size = impl_->container.size() + kEndBytes;
	impl_->container.append(SegmentType::kEnd, 0, std::as_bytes(std::span(&end, 1)), false);
	impl_->container.sync();
	impl_->container.close();
	impl_->finished = true;
}

uint64_t FileWriter::unusable() const {
	return impl_->damaged;
}
uint64_t FileWriter::size() const {
	return impl_->container.size();
}

uint64_t FileWriter::records() const {
	return impl_->records;
}

uint64_t FileWriter::chunk_bytes() const {
	return impl_->chunk_bytes;
}

uint64_t FileWriter::catalog_bytes() const {
	return impl_->catalog_bytes;
}

FilePart FileWriter::next_part() const {
	FilePart next{.series = impl_->part.series,
	              .number = impl_->part.number + 1,
	              .since = impl_->whole_until,
	              .before = impl_->part.before};
	for (const auto& [cpu, reach] : impl_->reaches)
		next.before[cpu] = reach;
	return next;
}

uint64_t copy_to_file(BlockSource& source, FileWriter& writer) {
	uint64_t blocks = 0;
	writer.kernel_events(source.kernel_events());
	while (const std::optional<Block> block = source.next()) {
		writer.block(*block);
		blocks++;
	}
	writer.aggregations(source.aggregations());
	KnownNames names;
	source.names(names);
	writer.names(names.all());
	writer.types(source.types());
	writer.account(source);
	return blocks;
}

} // namespace dfr::trace
