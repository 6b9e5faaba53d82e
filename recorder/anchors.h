// SPDX-License-Identifier: GPL-2.0
//
// Anchors found in a memory image: checked, grouped by recording, and of each part
// only the one with the highest generation. memory_image.cc reads what they list.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "formats/abi/anchor.h"
#include "recorder/memory_image.h"
#include "recorder/physical_memory.h"

namespace dfr::recorder {

using BootId = std::array<uint8_t, 16>;

// The load of the module that wrote an anchor. A process may forge the boot, and not the number.
struct ModuleLoad {
	BootId boot{};
	uint64_t number = 0;
	auto operator<=>(const ModuleLoad&) const = default;
};

struct FoundAnchor {
	uint64_t state_id = 0, generation = 0;
	uint32_t kind = 0, cpu = 0, half = 0, part = 0;
	std::vector<dfr_anchor_run> runs;
	int64_t displacement = 0; // raw image: address minus file offset, where this anchor was found
};

// Which part of which thing an anchor lists; the parts of one thing differ only in `part`.
struct AnchorKey {
	uint32_t kind = 0, cpu = 0, half = 0, part = 0;
	auto operator<=>(const AnchorKey&) const = default;
};

struct AnchorGroup {
	std::map<AnchorKey, FoundAnchor> anchors;
	std::set<AnchorKey> disputed; // of which there are others, that list something else
};

// A page that begins with the header of a block.
struct LooseBlock {
	uint64_t address = 0; // in a raw image: the offset in the file
	uint64_t state_id = 0;
};

struct AnchorScan {
	std::map<std::pair<ModuleLoad, uint64_t>, AnchorGroup> recordings; // by load and state
	std::map<ModuleLoad, PanicNote> panics;
	std::vector<LooseBlock> blocks; // that begin a page, whether or not an anchor lists them
	uint64_t more_blocks = 0;       // beyond kBlocksMost, which any process may have made
	static constexpr size_t kBlocksMost = 1 << 20;
	std::vector<uint64_t>
	    vmcoreinfo; // pages that begin like it (dead_kernel.h), one too many at most; addresses as in `blocks`
	std::vector<int64_t> displacements; // those that are believed, the most frequent first
	uint64_t damaged = 0;               // pages with the magic whose checksum is wrong
	uint64_t misplaced = 0;             // anchors at another address than they say: copies,
	std::map<ModuleLoad, uint64_t>
	    astray; // or, with no other of the same thing, in a displaced part of the dump
};

// Adds a remark to `memory` if it cannot be read everywhere.
AnchorScan scan_anchors(PhysicalMemory& memory, const PhysicalMemory::OnProgress& progress = {});

} // namespace dfr::recorder
