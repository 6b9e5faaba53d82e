// SPDX-License-Identifier: GPL-2.0
//
// ImageBudget: what all recordings of a dead machine's memory may ask of who reads them, perhaps in a crash kernel that has
// little memory and little time. Any process of that machine may have filled its memory with what looks like ours.
#pragma once

#include <cstdint>
#include <map>

#include "recorder/anchors.h"
#include "recorder/physical_memory.h"

namespace dfr::recorder {

class ImageBudget {
public:
	// `heap`: bytes of our own memory that may be in use at once.
	ImageBudget(const PhysicalMemory& memory, uint64_t heap);

	// All of these: false: that is too much.
	// What anchors of this load list; another load's take nothing from it.
	bool list_pages(const ModuleLoad& load, uint64_t pages);
	// To be read, and in our memory no longer than for that.
	bool read(uint64_t bytes) { return bytes <= heap_ && take(work_, bytes); }
	// To be kept.
	bool keep(uint64_t bytes) { return bytes <= heap_ && take(work_, bytes) && take(heap_, bytes); }
	// What turned out not to be kept.
	void give_back(uint64_t bytes) { heap_ += bytes; }
	// A block that no anchor lists.
	bool read_loose(uint64_t bytes) { return take(loose_, bytes); }
	// A header whose bits are tried.
	bool mend() { return take(mends_, 1); }

private:
	static bool take(uint64_t& left, uint64_t wanted);

	const uint64_t pages_;
	std::map<ModuleLoad, uint64_t> listed_; // pages
	uint64_t work_, heap_, loose_, mends_;
};

// Half of the memory that the machine has to spare.
uint64_t heap_to_spare();

} // namespace dfr::recorder
