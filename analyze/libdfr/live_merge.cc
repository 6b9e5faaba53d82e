// SPDX-License-Identifier: GPL-2.0
//
// The merge of a running state's CPUs.
#include "analyze/libdfr/live_merge.h"

#include <algorithm>
#include <vector>

namespace dfr::lib {

// Accounts for a block's header as Merger does, but keeps none of them, because a trace may go on for days.
// What is lost between two blocks is not asked of their headers: the engine's own counters have it, and are
// asked at the end.
void LiveMerge::follow(trace::Merger::CpuSpan& span, const dfr_block& head) {
	if (!span.blocks++) {
		span.first_seq = head.seq;
		span.overwritten = head.record_base;
		span.horizon = head.seq > 1 || head.record_base ? trace::whole_from(head) : 0;
		if (span.horizon && trace::counts_at_opening(head)) { // with losses from before it, too
			span.lost_outside = head.lost;
			span.first_open = head.open_time;
		}
		horizon_ = std::max(horizon_, span.horizon);
	} else if (head.seq > span.last_seq) {
		span.gaps += head.seq - span.last_seq - 1;
		if (span.reached_all && head.record_base > span.reached)
			span.missing += head.record_base - span.reached;
	}
	span.last_seq = head.seq;
	span.reached = head.record_base + head.records;
	span.reached_all = (head.flags & (DFR_BLOCK_CLOSED | DFR_BLOCK_CUT)) == DFR_BLOCK_CLOSED;
}

// A ring that overwrites is read when all of its blocks are here, so the horizon is known by then.
void LiveMerge::count(trace::Merger::CpuSpan& span, uint64_t time) const {
	if (time < horizon_)
		return;
	span.first = span.records++ ? std::min(span.first, time) : time;
	span.last = std::max(span.last, time);
}

// Of one block. Takes them into account as Merger does.
void LiveMerge::keep_losses(trace::Losses& losses) {
	for (const trace::Losses::Stretch& stretch : losses.stretches)
		losses_.add(stretch);
	for (const trace::Losses::Loss& entry : losses.entries) {
		const bool before = entry.to && entry.to < horizon_;
		losses_.add(entry);
		(before ? before_ : in_window_).add(entry);
		if (const auto cpu = cpus_.find(static_cast<uint32_t>(entry.cpu)); cpu != cpus_.end())
			cpu->second->span.tell(entry, before);
	}
	losses = {};
}

trace::Merger::Account LiveMerge::account() const {
	trace::Merger::Account account{
	    .cpus = {}, .losses = in_window_, .losses_outside = before_, .damage = damage_};
	if (!cpus_.empty())
		account.cpus.resize(cpus_.rbegin()->first + 1u);
	for (const auto& [id, cpu] : cpus_)
		account.cpus[id] = cpu->span;
	for (const trace::Losses::Stretch& stretch : losses_.stretches)
		if (stretch.end_at_most() >= horizon_)
			account.losses.add(stretch);
	return account;
}

void LiveMerge::add(trace::Block block) {
	if (!trace::block_is_sane(block.bytes)) {
		damage_.blocks++;
		return;
	}
	auto& cpu = cpus_[block.header().cpu];
	if (!cpu)
		cpu = std::make_unique<CpuQueue>(shapes_);
	follow(cpu->span, block.header());
	cpu->blocks.push_back(std::move(block));
}

bool LiveMerge::advance(CpuQueue& cpu) {
	if (cpu.ready)
		return true;
	while (!cpu.blocks.empty()) {
		if (!cpu.opened)
			cpu.opened = cpu.cursor.open(cpu.blocks.front(), damage_, &cpu.losses);
		if (cpu.opened && cpu.cursor.next())
			return cpu.ready = true;
		keep_losses(cpu.losses);
		cpu.opened = false;
		cpu.blocks.pop_front();
	}
	return false;
}

void LiveMerge::run(uint64_t until, const std::function<void(const trace::Record&)>& visit) {
	struct Upcoming {
		uint64_t time;
		uint32_t id;
		CpuQueue* cpu;
		bool operator>(const Upcoming& other) const {
			return time != other.time ? time > other.time : id > other.id;
		}
	};
	std::vector<Upcoming> heap; // the earliest at the front
	for (auto& [id, cpu] : cpus_)
		if (advance(*cpu))
			heap.push_back({key(cpu->cursor.current()), id, cpu.get()});
	std::make_heap(heap.begin(), heap.end(), std::greater<>());
	while (!heap.empty() && heap.front().time <= until) {
		std::pop_heap(heap.begin(), heap.end(), std::greater<>());
		Upcoming& first = heap.back();
		do {
			const trace::Record& record = first.cpu->cursor.current();
			count(first.cpu->span, record.time);
			visit(record);
			first.cpu->ready = false;
			if (advance(*first.cpu))
				first.time = key(first.cpu->cursor.current());
		} while (first.cpu->ready && first.time <= until &&
		         (heap.size() == 1 || heap.front() > first));
		if (first.cpu->ready)
			std::push_heap(heap.begin(), heap.end(), std::greater<>());
		else
			heap.pop_back();
	}
}

} // namespace dfr::lib
