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
	Losses losses;
	explicit Input(RecordShapes& shapes) : cursor(shapes) {}
};

// The open blocks: a heap with the earliest next record at the front. What is compared stands in the heap itself.
struct Merger::Queue {
	struct OpenBlock {
		uint64_t time;
		uint32_t cpu, offset;
		uint64_t seq;
		std::unique_ptr<Input> input;
		bool before(const OpenBlock& other) const {
			return time != other.time ? time < other.time
			                          : std::tuple(cpu, seq, offset) <
			                                std::tuple(other.cpu, other.seq, other.offset);
		}
	};
	std::vector<OpenBlock> heap;

	static OpenBlock waiting(std::unique_ptr<Input> input) {
		const Record& record = input->cursor.current();
		return {record.time, record.cpu, record.offset, record.seq, std::move(input)};
	}
	void push(std::unique_ptr<Input> input) {
		heap.push_back(waiting(std::move(input)));
		std::push_heap(heap.begin(), heap.end(),
		               [](const OpenBlock& a, const OpenBlock& b) { return b.before(a); });
	}
	std::unique_ptr<Input> pop() {
		std::unique_ptr<Input> first = std::move(heap.front().input);
		OpenBlock last = std::move(heap.back());
		heap.pop_back();
		if (!heap.empty())
			sift(std::move(last));
		return first;
	}
	// pop(), then push(), if `input` is not to come before all others.
	std::unique_ptr<Input> exchange(std::unique_ptr<Input> input) {
		std::unique_ptr<Input> first = std::move(heap.front().input);
		sift(waiting(std::move(input)));
		return first;
	}

private:
	// Puts it to where it belongs, from the front, whose own has left.
	void sift(OpenBlock one) {
		size_t at = 0;
		for (size_t child = 1; child < heap.size(); child = 2 * at + 1) {
			child += child + 1 < heap.size() && heap[child + 1].before(heap[child]);
			if (!heap[child].before(one))
				break;
			heap[at] = std::move(heap[child]);
			at = child;
		}
		heap[at] = std::move(one);
	}
};

// All blocks of the source, by (cpu, seq). If it has no index, the blocks are read into `streamed_`.
void Merger::collect() {
	refs_ = source_.index();
	if (refs_.empty()) {
		while (std::optional<Block> block = source_.next()) {
			if (!block_is_sane(block->bytes)) {
				damage_.blocks++;
				continue;
			}
			refs_.push_back({block->header(), streamed_.size()});
			streamed_.push_back(std::move(*block));
		}
	}
	// Everything that is counted by CPU has room for those of the catalog.
	const uint32_t cpus = source_.catalog().cpus;
	damage_.blocks += std::erase_if(refs_, [cpus](const BlockRef& ref) { return ref.head.cpu >= cpus; });
	std::sort(refs_.begin(), refs_.end(), [](const BlockRef& a, const BlockRef& b) {
		return std::tuple(a.head.cpu, a.head.seq) < std::tuple(b.head.cpu, b.head.seq);
	});
}

std::optional<Block> Merger::load(const BlockRef& ref) {
	if (!streamed_.empty())
		return ref.handle < streamed_.size() ? std::optional(streamed_[ref.handle]) : std::nullopt;
	std::optional<Block> block = source_.load(ref);
	// A file that was made for it may have another block in the place of the one that it lists.
	const bool listed =
	    block && block->header().cpu == ref.head.cpu && block->header().seq == ref.head.seq;
	return listed ? std::move(block) : std::nullopt;
}

// Records of the firing at `before` may be in the block that is gone.
uint64_t whole_from(const dfr_block& first) {
	return first.before ? first.before + 1 : std::max<uint64_t>(first.open_time, 1);
}

bool Merger::wanted(const dfr_block& head) const {
	return selection_.has(head.cpu) && head.first_time <= selection_.to &&
	       last_time(head) >= selection_.from;
}

bool Merger::CpuSpan::falls_short_of(const Reach& reach) const {
	return last_seq < reach.seq || (last_seq == reach.seq && reached_all && reached < reach.records);
}

// Where blocks that a CPU had before its first one here are missing between two files, because the source's first one is
// whole up to a time at which they had not all been recorded: what it had recorded by then, as a block's header tells it.
std::optional<dfr_block> Merger::before_gap(const dfr_block& first) const {
	const auto earlier = first_file_.before.find(first.cpu);
	const Reach reach = earlier == first_file_.before.end() ? Reach{} : earlier->second;
	if (!first_file_.whole_until || first.before < first_file_.whole_until || first.seq <= reach.seq + 1)
		return std::nullopt;
	dfr_block head{};
	head.seq = reach.seq;
	head.first_time = head.last_time = first_file_.whole_until;
	head.lost = first.lost; // when that was is not known
	head.record_base = reach.records;
	return head;
}

// Fills in what the headers of one CPU's blocks tell: sequence numbers, gaps, counters. What is missing before the horizon
// is not loss, whether or not that is selected.
void Merger::account_cpu(std::span<const BlockRef> refs) {
	const uint64_t from = std::max(selection_.from, horizon());
	CpuSpan& span = cpus_[refs.front().head.cpu];
	const std::optional<dfr_block> front = before_gap(refs.front().head);
	const dfr_block* before = front ? &*front : nullptr;
	const dfr_block* after = nullptr; // the first block after the selection
	const dfr_block* base = nullptr;  // the last block that was opened before the selection
	span.first_seq = refs.front().head.seq;
	span.last_seq = refs.back().head.seq;
	span.reached = refs.back().head.record_base + refs.back().head.records;
	span.reached_all = (refs.back().head.flags & (DFR_BLOCK_CLOSED | DFR_BLOCK_CUT)) == DFR_BLOCK_CLOSED;
	span.overwritten = before ? before->record_base : refs.front().head.record_base;
	span.earliest = refs.front().head.first_time;
	for (const BlockRef& ref : refs) {
		const dfr_block& head = ref.head;
		span.earliest = std::min<uint64_t>(span.earliest, head.first_time);
		span.latest = std::max<uint64_t>({span.latest, head.first_time, head.last_time});
		span.blocks += wanted(head);
		if (head.open_time < from && counts_at_opening(head))
			base = &head;
		if (!after && head.first_time > selection_.to)
			after = &head;
		const bool between = before && before->first_time <= selection_.to && head.before >= from;
		const uint64_t reached = before ? before->record_base + before->records : 0;
		const bool was_cut = before && before->flags & DFR_BLOCK_CUT;
		if (between && !was_cut &&
		    head.record_base > reached) // also if the header of the one before is damaged
			span.missing += head.record_base - reached;
		if (between && head.seq > before->seq) // a hostile file may have a block twice
			span.gaps += head.seq - before->seq - 1;
		// A counter is that of the block's opening.
		if (before && before->first_time <= selection_.to && head.open_time >= from &&
		    head.lost > before->lost) {
			const bool across = before->open_time < from;
			(across ? span.lost_across : span.lost) += head.lost - before->lost;
			if (across)
				span.across_open = before->open_time;
		}
		before = &head;
	}
	// Where the selection begins in the time of which the first block's header says that nothing was recorded, what was
	// lost until then is taken for older.
	const dfr_block& head = refs.front().head;
	if (!base && head.before < from && head.open_time >= from && wanted(head))
		base = &head;
	if (base) {
		span.lost_outside += base->lost;
		span.first_open = base->open_time;
	}
	if (after && before->lost > after->lost)
		span.lost_outside += before->lost - after->lost;
}

void Merger::account() {
	for (CpuSpan& span : cpus_)
		span = {.horizon = span.horizon};
	for (auto first = refs_.begin(), end = first; first != refs_.end(); first = end) {
		while (end != refs_.end() && end->head.cpu == first->head.cpu)
			++end;
		if (selection_.has(first->head.cpu))
			account_cpu({first, end});
		else
			cpus_[first->head.cpu].lost_outside = (end - 1)->head.lost;
	}
}

void Merger::open() {
	opened_ = true;
	collect();
	first_file_ = source_.first_file();
	if (!refs_.empty())
		cpus_.resize(refs_.back().head.cpu + 1u);
	for (size_t i = 0; i < refs_.size(); i++) {
		const dfr_block& head = refs_[i].head;
		const bool starts = i == 0 || refs_[i - 1].head.cpu != head.cpu;
		if (starts && (head.seq > 1 || head.record_base) && !before_gap(head))
			cpus_[head.cpu].horizon = whole_from(head);
	}
	account();
}

void Merger::select(const Selection& selection) {
	selection_ = selection;
	account();
}

// What a silent CPU recorded before the source's first file is in none of its blocks.
uint64_t Merger::horizon() const {
	uint64_t latest = source_.since();
	for (size_t cpu = 0; cpu < cpus_.size(); cpu++)
		if (selection_.has(static_cast<uint32_t>(cpu)))
			latest = std::max(latest, cpus_[cpu].horizon);
	return latest;
}

// What each CPU's latest block before the selection tells: of losses, which the counters have, too; and of stretches of
// thinning that reach into it, although no block in it tells of them, because their CPU has recorded nothing since. And of
// such stretches what the source itself tells.
void Merger::keep_before(RecordShapes& shapes) {
	keep_losses({.entries = {}, .stretches = source_.losses().stretches});
	const BlockRef* last = nullptr;
	for (size_t i = 0; i < refs_.size(); i++) {
		const dfr_block& head = refs_[i].head;
		if (selection_.has(head.cpu) && head.first_time < selection_.from && !wanted(head))
			last = &refs_[i];
		if (i + 1 < refs_.size() && refs_[i + 1].head.cpu == head.cpu)
			continue;
		if (const std::optional<Block> block = last ? load(*last) : std::nullopt)
			keep_losses(losses_in(*block, shapes));
		last = nullptr;
	}
}

// What was lost since the block before the first one is told in a block, and the first one's counter has it, too.
void Merger::CpuSpan::tell(const Losses::Loss& loss, bool before) {
	if (before && first_open && loss.from > first_open)
		lost_since = added(lost_since, loss.count);
	else if (!before && first_open && loss.from <= first_open)
		lost_outside -= std::min(lost_outside, loss.count);
}

// A loss without a date may be anybody's, so it is inside.
void Merger::keep_losses(const Losses& losses) {
	const uint64_t from = std::max(selection_.from, horizon());
	for (const Losses::Stretch& stretch : losses.stretches)
		if (stretch.end_at_most() >= from && stretch.from <= selection_.to)
			losses_.add(stretch);
	for (const Losses::Loss& entry : losses.entries) {
		const bool dated = entry.to != 0;
		const bool outside = dated && (entry.to < from || entry.from > selection_.to);
		(outside ? losses_outside_ : losses_).add(entry);
		if (static_cast<size_t>(entry.cpu) >= cpus_.size())
			continue;
		CpuSpan& span = cpus_[static_cast<size_t>(entry.cpu)];
		const bool before = outside && entry.to < from;
		if (before && entry.from > span.across_open)
			span.lost_across -= std::min(span.lost_across, entry.count);
		if (before || !outside)
			span.tell(entry, before);
	}
}

// Loads a block and goes to its first record; null: it has none that can be read.
std::unique_ptr<Merger::Input> Merger::input_of(const BlockRef& ref, RecordShapes& shapes) {
	auto input = std::make_unique<Input>(shapes);
	std::optional<Block> block = load(ref);
	if (!block) {
		damage_.blocks++;
		return nullptr;
	}
	input->block = std::move(*block);
	if (!input->cursor.open(input->block, damage_, &input->losses))
		return nullptr;
	if (shapes.may_commit())
		input->cursor.sort();
	if (input->cursor.next())
		return input;
	keep_losses(input->losses);
	return nullptr;
}

// Accounts for a record. False: it is outside of the selection.
bool Merger::selected(const Record& record) {
	if (record.time < selection_.from || record.time > selection_.to) {
		left_out_++;
		return false;
	}
	CpuSpan& span = cpus_[record.cpu];
	if (!span.records++)
		span.first = record.time;
	span.last = std::max(span.last, record.time);
	return true;
}

// The run of a merger: the selected blocks in order of their lowest times, and those that are open.
struct Merger::Running {
	explicit Running(const Catalog& catalog) : shapes(catalog) {}
	RecordShapes shapes;
	std::vector<const BlockRef*> refs;
	size_t next = 0; // of `refs`: the first one that was not opened
	Queue queue;
	std::unique_ptr<Input> input; // of the current record

	// Whether a block that is not open may have an earlier record.
	bool opens_before(uint64_t time) const {
		return next < refs.size() && refs[next]->head.first_time <= time;
	}
	// Whether `input`'s next record comes before those of all other open blocks.
	bool is_first() const {
		if (queue.heap.empty())
			return true;
		const Record& record = input->cursor.current();
		const Queue::OpenBlock own{record.time, record.cpu, record.offset, record.seq, nullptr};
		return own.before(queue.heap.front());
	}
};

Merger::Merger(BlockSource& source) : source_(source) {}
Merger::~Merger() = default;

void Merger::start() {
	if (!opened_)
		open();
	running_ = std::make_unique<Running>(source_.catalog());
	keep_before(running_->shapes);
	std::vector<const BlockRef*>& refs = running_->refs;
	for (const BlockRef& ref : refs_)
		if (wanted(ref.head))
			refs.push_back(&ref);
		else if (selection_.has(ref.head.cpu))
			left_out_ += ref.head.records;
	std::sort(refs.begin(), refs.end(), [](const BlockRef* a, const BlockRef* b) {
		return std::tuple(a->head.first_time, a->head.cpu, a->head.seq) <
		       std::tuple(b->head.first_time, b->head.cpu, b->head.seq);
	});
}

// Goes to the earliest record that was not given yet. False: there is none.
bool Merger::advance() {
	Running& run = *running_;
	if (run.input && !run.input->cursor.next()) {
		keep_losses(run.input->losses);
		run.input.reset();
	}
	if (run.input) {
		if (!run.is_first())
			run.input = run.queue.exchange(std::move(run.input));
		if (!run.opens_before(run.input->cursor.current().time))
			return true;
		run.queue.push(std::move(run.input));
	}
	while (run.next < run.refs.size() &&
	       (run.queue.heap.empty() || run.opens_before(run.queue.heap.front().time)))
		if (std::unique_ptr<Input> opened = input_of(*run.refs[run.next++], run.shapes))
			run.queue.push(std::move(opened));
	if (run.queue.heap.empty())
		return false;
	run.input = run.queue.pop();
	return true;
}

const Record* Merger::next() {
	if (!running_)
		start();
	while (advance())
		if (const Record& record = running_->input->cursor.current(); selected(record))
			return &record;
	return nullptr;
}

// Of blocks that were not read to their end: what was lost up to there.
void Merger::finish() {
	if (!running_)
		return;
	if (running_->input)
		keep_losses(running_->input->losses);
	for (const Queue::OpenBlock& waiting : running_->queue.heap)
		keep_losses(waiting.input->losses);
	running_.reset();
}

void Merger::run(const std::function<bool(const Record&)>& visit) {
	start();
	while (const Record* const record = next())
		if (!visit(*record))
			break;
	finish();
}

} // namespace dfr::trace
