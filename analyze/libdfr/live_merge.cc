// SPDX-License-Identifier: GPL-2.0
//
// The merge of a running state's CPUs.
#include "analyze/libdfr/live_merge.h"

#include <algorithm>
#include <vector>

namespace dfr::lib {

void LiveMerge::add(trace::Block block) {
	if (!trace::block_is_sane(block.bytes)) {
		damage_.blocks++;
		return;
	}
	auto& cpu = cpus_[block.header().cpu];
	if (!cpu)
		cpu = std::make_unique<CpuQueue>(shapes_);
	cpu->blocks.push_back(std::move(block));
}

bool LiveMerge::advance(CpuQueue& cpu) {
	if (cpu.ready)
		return true;
	while (!cpu.blocks.empty()) {
		if (!cpu.opened)
			cpu.opened = cpu.cursor.open(cpu.blocks.front(), damage_, &losses_);
		if (cpu.opened && cpu.cursor.next())
			return cpu.ready = true;
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
			visit(first.cpu->cursor.current());
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
