// SPDX-License-Identifier: GPL-2.0
//
// The merge of a running state's CPUs.
#include "analyze/libdfr/live_merge.h"

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
	for (;;) {
		CpuQueue* first = nullptr;
		for (auto& [id, cpu] : cpus_) {
			if (!advance(*cpu) || key(cpu->cursor.current()) > until)
				continue;
			if (!first || key(cpu->cursor.current()) < key(first->cursor.current()))
				first = cpu.get();
		}
		if (!first)
			return;
		visit(first->cursor.current());
		first->ready = false;
	}
}

} // namespace dfr::lib
