// SPDX-License-Identifier: GPL-2.0
//
// Which recordings an image of a dead machine's memory has, and what of it belongs to each: one is one (boot, state).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "recorder/anchors.h"
#include "recorder/memory_image.h"
#include "recorder/physical_memory.h"

namespace dfr::recorder {

// What a recording is made from.
struct FoundState {
	ModuleLoad load;
	uint64_t state = 0;
	AnchorGroup group;
	std::vector<uint64_t> loose; // where pages begin with the header of a block of this state
	std::optional<PanicNote> panic;
	uint64_t astray = 0;      // anchors of its load that stand elsewhere than they say
	uint64_t other_loads = 0; // of its boot, that have anchors
	bool not_written_back =
	    false;                    // it is of an area of reserved memory of which nothing says that it was
	uint64_t damaged_anchors = 0; // in the whole image,
	uint64_t more_recordings = 0; // as are these, which have anchors and are left out,
	uint64_t more_states = 0;     // and those of which it has blocks and no anchor,
	uint64_t more_blocks = 0;     // and pages with blocks of any state that were not looked at
};

// What belongs to each recording. A state's id tells its boot, so blocks that no anchor lists are given to no other
// boot's recording. Those of a state of which there are no anchors, or anchors of several loads, make a recording too; its
// boot is known if another state of that boot has anchors, or its kernel is there.
std::vector<FoundState> find_states(const PhysicalMemory& memory, AnchorScan& scan,
                                    const std::set<BootId>& of_kernels);

// Gives the boot of a catalog that is lent to its state, of which the image may have no more than the tag. False: that
// state is not there.
bool lend_boot(std::vector<FoundState>& all, const trace::Catalog& lent);

} // namespace dfr::recorder
