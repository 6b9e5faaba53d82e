// SPDX-License-Identifier: GPL-2.0
//
// Merger::scan(): the selected records of one CPU after the other, chunk by chunk.
// A chunk comes as columns if all of it is selected, its blocks are those that the
// source answers with, and they were whole when they were written: the writer
// stores no others as columns. Of all else each block is decoded, so that damage
// is found and counted as run() does it.
#include <algorithm>
#include <cstring>

#include "formats/trace/batch.h"
#include "formats/trace/decode.h"

namespace dfr::trace {
namespace {

template <typename T> T take(const std::byte*& at) {
	T value;
	std::memcpy(&value, at, sizeof value);
	at += sizeof value;
	return value;
}

// A LOSS record, as RecordCursor::loss() reads it.
Losses::Loss loss_of(const ControlPlace& control, uint32_t cpu) {
	const std::byte* at = control.payload.data();
	Losses::Loss loss;
	loss.cause = take<uint8_t>(at);
	loss.probe = take<uint32_t>(at);
	loss.cpu = static_cast<int32_t>(cpu);
	loss.count = take<uint64_t>(at);
	loss.from = take<uint64_t>(at);
	loss.to = take<uint64_t>(at);
	return loss;
}

} // namespace

// The chunk that begins with the first of these blocks, and how many it has; null: it cannot be used.
// In that case `blocks` says how many of the refs belong to it, as far as is known, and at least 1.
std::unique_ptr<RecordBatch> Merger::chunk_at(std::span<const BlockRef> refs, size_t& blocks) {
	blocks = 1;
	const auto same = [](const dfr_block& header, const BlockRef& ref) {
		return !std::memcmp(&header, &ref.head, sizeof header);
	};
	const auto whole = [this](const dfr_block& head) {
		return header_is_sane(head) && head.flags & DFR_BLOCK_SEALED && head.checksum &&
		       selection_.has(head.cpu) && head.first_time >= selection_.from &&
		       head.last_time >= head.first_time && head.last_time <= selection_.to;
	};
	const auto usable = [&](std::span<const dfr_block> headers) {
		while (blocks < refs.size() && refs[blocks].head.cpu == refs[0].head.cpu &&
		       !headers.empty() && refs[blocks].head.seq <= headers.back().seq)
			blocks++;
		return headers.size() == blocks &&
		       std::equal(headers.begin(), headers.end(), refs.begin(), same) &&
		       std::all_of(headers.begin(), headers.end(), whole);
	};
	std::unique_ptr<StoredColumns> stored = source_.columns(refs[0], usable);
	return stored ? RecordBatch::of(std::move(stored), source_.catalog()) : nullptr;
}

// Null: the block has no records that can be read, or none that is selected.
std::unique_ptr<RecordBatch> Merger::block_at(const BlockRef& ref, RecordShapes& shapes) {
	std::optional<Block> block = load(ref);
	if (!block) {
		damage_.blocks++;
		return nullptr;
	}
	auto batch = std::make_unique<RecordBatch>(std::move(*block));
	RecordCursor cursor(shapes);
	Losses losses;
	if (!cursor.open(batch->block(), damage_, &losses))
		return nullptr;
	const dfr_block& head = batch->block().header();
	while (cursor.next()) {
		const Record& record = cursor.current();
		in_order_ = in_order_ && record.time >= head.first_time && record.time <= last_time(head);
		if (selected(record))
			batch->add(record, *source_.catalog().layout_of(record.epid));
	}
	keep_losses(losses);
	return batch->records().empty() ? nullptr : std::move(batch);
}

// Accounts for a chunk of columns as give() and run() do for decoded blocks.
void Merger::keep_chunk(const RecordBatch& batch, uint32_t cpu) {
	CpuSpan& span = cpus_[cpu];
	const auto& records = batch.records();
	if (!span.records && !records.empty())
		span.first = records.front().time;
	span.records += records.size();
	for (const RecordPlace& record : records)
		span.last = std::max(span.last, record.time);
	const auto& controls = batch.controls();
	for (size_t i = 0; i < controls.size();) {
		Losses losses;
		for (const uint32_t block = controls[i].block;
		     i < controls.size() && controls[i].block == block; i++)
			if (controls[i].kind == DFR_CONTROL_LOSS)
				losses.add(loss_of(controls[i], cpu));
		keep_losses(losses);
	}
}

// run() opens blocks by the times in their headers and gives what it finds in them in order of time; so records
// whose order is another one would come, and be put together to firings, in another way there.
void Merger::keep_order(const RecordBatch& batch, uint64_t& newest) {
	for (const RecordPlace& record : batch.records()) {
		in_order_ = in_order_ && record.time >= newest;
		newest = record.time;
	}
}

bool Merger::can_scan() {
	if (!opened_)
		open();
	return streamed_.empty() && !RecordShapes(source_.catalog()).may_commit();
}

bool Merger::scan(const std::function<bool(RecordBatch&, uint32_t)>& visit) {
	if (!can_scan())
		return false;
	RecordShapes shapes(source_.catalog());
	keep_before(shapes);
	uint32_t cpu = 0;
	uint64_t newest = 0;  // of the CPU
	size_t decode_to = 0; // the blocks before this one are not in a chunk that can be used
	for (size_t i = 0, blocks = 1; i < refs_.size(); i += blocks) {
		const dfr_block& head = refs_[i].head;
		blocks = 1;
		if (!wanted(head)) {
			if (selection_.has(head.cpu))
				left_out_ += head.records;
			continue;
		}
		std::unique_ptr<RecordBatch> batch;
		if (i >= decode_to && (batch = chunk_at(std::span(refs_).subspan(i), blocks))) {
			keep_chunk(*batch, head.cpu);
		} else {
			decode_to = std::max(decode_to, i + blocks);
			blocks = 1;
			batch = block_at(refs_[i], shapes);
		}
		if (head.cpu != cpu)
			newest = 0;
		cpu = head.cpu;
		if (batch)
			keep_order(*batch, newest);
		if (!in_order_ || (batch && !visit(*batch, head.cpu)))
			return false;
	}
	return true;
}

} // namespace dfr::trace
