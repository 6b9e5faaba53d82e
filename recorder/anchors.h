// SPDX-License-Identifier: GPL-2.0
//
// Anchors found in a memory image: checked, grouped by recording, the highest
// generation of each part only. Says where things are; memory_image.cc reads
// them.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "formats/abi/anchor.h"
#include "recorder/memory_image.h"
#include "recorder/physical_memory.h"

namespace dfr::recorder {

using BootId = std::array<uint8_t, 16>;

struct FoundAnchor {
	uint64_t state_id = 0, generation = 0;
	uint32_t kind = 0, cpu = 0, half = 0, part = 0;
	std::vector<dfr_anchor_run> runs;
	int64_t displacement = 0; // of the part of a raw image that it stands in
};

// What an anchor is for; parts of one thing differ in `part` alone.
struct AnchorKey {
	uint32_t kind = 0, cpu = 0, half = 0, part = 0;
	auto operator<=>(const AnchorKey&) const = default;
};

struct AnchorGroup {
	std::map<AnchorKey, FoundAnchor> anchors;
};

struct AnchorScan {
	std::map<std::pair<BootId, uint64_t>, AnchorGroup> recordings; // by boot and state
	std::map<BootId, PanicNote> panics;
	std::vector<int64_t> displacements; // that raw images have, the commonest first
	uint64_t damaged = 0;               // pages with the magic whose checksum is wrong
	uint64_t misplaced = 0;             // copies that stand elsewhere than they say
};

AnchorScan scan_anchors(const PhysicalMemory& memory);

} // namespace dfr::recorder
