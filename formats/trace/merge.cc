// SPDX-License-Identifier: GPL-2.0
//
// The merger: all events of a source in order of (time, cpu, block sequence,
// offset). It opens a block when the merge reaches the block's lowest time, and
// frees it after its last record, so with an indexed source only the blocks that
// overlap in time are in memory. Records of committed speculations come at their
// own time, not at the time of the commit.
#include <algorithm>
#include <map>
#include <tuple>

#include "formats/trace/decode.h"

namespace dfr::trace {

// One open block; the cursor stands at the record that it gives next.
struct Merger::Input {
	Block block;
	RecordCursor cursor;
	explicit Input(RecordShapes& shapes) : cursor(shapes) {}
	auto key() const {
		const Record& record = cursor.current();
		return std::tuple(record.time, record.cpu, record.seq, record.offset);
	}
};

// The open blocks: a heap with the earliest next record at the front.
struct Merger::Queue {
	std::vector<std::unique_ptr<Input>> heap;
	static bool later(const std::unique_ptr<Input>& a, const std::unique_ptr<Input>& b) {
		return a->key() > b->key();
	}
	void push(std::unique_ptr<Input> input) {
		heap.push_back(std::move(input));
		std::push_heap(heap.begin(), heap.end(), later);
	}
	std::unique_ptr<Input> pop() {
		std::pop_heap(heap.begin(), heap.end(), later);
		std::unique_ptr<Input> first = std::move(heap.back());
		heap.pop_back();
		return first;
	}
};

// All blocks of the source, by (cpu, seq). If it has no index, the blocks are read into `streamed`.
std::vector<BlockRef> Merger::collect(std::vector<Block>& streamed) {
	std::vector<BlockRef> refs = source_.index();
	if (refs.empty()) {
		while (std::optional<Block> block = source_.next()) {
			if (!block_is_sane(block->bytes)) {
				damage_.blocks++;
				continue;
			}
			refs.push_back({block->header(), streamed.size()});
			streamed.push_back(std::move(*block));
		}
	}
	std::sort(refs.begin(), refs.end(), [](const BlockRef& a, const BlockRef& b) {
		return std::tuple(a.head.cpu, a.head.seq) < std::tuple(b.head.cpu, b.head.seq);
	});
	return refs;
}

// Fills in what the block headers tell about each CPU: sequence numbers, gaps, counters.
void Merger::account(const std::vector<BlockRef>& refs) {
	const dfr_block* before = nullptr;
	uint64_t first_lost = 0;
	for (const BlockRef& ref : refs) {
		const dfr_block& head = ref.head;
		if (head.cpu >= cpus_.size())
			cpus_.resize(head.cpu + 1);
		CpuSpan& span = cpus_[head.cpu];
		if (!before || before->cpu != head.cpu) {
			span.first_seq = head.seq;
			span.overwritten = head.record_base;
			first_lost = head.lost;
		} else if (head.seq > before->seq + 1) {
			span.gaps += head.seq - before->seq - 1;
			const uint64_t reached = before->record_base + before->records;
			span.missing += head.record_base > reached ? head.record_base - reached : 0;
		}
		span.last_seq = head.seq;
		span.lost = head.lost > first_lost ? head.lost - first_lost : 0;
		span.blocks++;
		before = &head;
	}
}

void Merger::run(const std::function<bool(const Record&)>& visit) {
	std::vector<Block> streamed;
	std::vector<BlockRef> refs = collect(streamed);
	const bool streams = !streamed.empty();
	account(refs);
	std::sort(refs.begin(), refs.end(), [](const BlockRef& a, const BlockRef& b) {
		return std::tuple(a.head.first_time, a.head.cpu, a.head.seq) <
		       std::tuple(b.head.first_time, b.head.cpu, b.head.seq);
	});

	RecordShapes shapes(source_.catalog());
	Queue queue;
	size_t next_ref = 0;
	const auto open_next = [&] {
		const BlockRef& ref = refs[next_ref++];
		std::optional<Block> block;
		if (streams)
			block = std::move(streamed[ref.handle]);
		else
			block = source_.load(ref);
		auto input = std::make_unique<Input>(shapes);
		if (!block) {
			damage_.blocks++;
			return;
		}
		input->block = std::move(*block);
		if (!input->cursor.open(input->block, damage_, &losses_))
			return;
		if (shapes.may_commit())
			input->cursor.sort();
		if (input->cursor.next())
			queue.push(std::move(input));
	};

	for (;;) {
		while (next_ref < refs.size() &&
		       (queue.heap.empty() ||
		        refs[next_ref].head.first_time <= queue.heap.front()->cursor.current().time))
			open_next();
		if (queue.heap.empty())
			return;
		// Give events of this block as long as no other block, open or not, may have an earlier one.
		std::unique_ptr<Input> input = queue.pop();
		bool more = true;
		do {
			const Record& record = input->cursor.current();
			CpuSpan& span = cpus_[record.cpu];
			if (!span.records++)
				span.first = record.time;
			span.last = std::max(span.last, record.time);
			if (!visit(record))
				return;
			more = input->cursor.next();
		} while (more && (queue.heap.empty() || input->key() < queue.heap.front()->key()) &&
		         (next_ref == refs.size() ||
		          refs[next_ref].head.first_time > input->cursor.current().time));
		if (more)
			queue.push(std::move(input));
	}
}

} // namespace dfr::trace
