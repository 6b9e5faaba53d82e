// SPDX-License-Identifier: GPL-2.0
//
// KdumpPages: the pages of a kdump-compressed dump (makedumpfile -c, -l, -p, -z, and
// QEMU's dump-guest-memory), by their frames.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "recorder/dump_file.h"

namespace dfr::recorder {

class KdumpPages {
public:
	static bool is_kdump(const DumpFile& file);
	// Throws dfr::Error if the dump's head makes no sense, or is of a kind that cannot be read.
	explicit KdumpPages(std::shared_ptr<const DumpFile> file);

	// How many there can be.
	uint64_t pages() const { return std::min(stored_, described_); }
	// One page of 4096 bytes; false: the dump does not have it, or it is damaged.
	bool read(uint64_t frame, std::span<std::byte> page) const;
	// Whether the dump should have the page, so that not to read it is a loss.
	bool has(uint64_t frame) const { return bit(dumped_, frame); }
	uint64_t frames() const { return 8 * dumped_.size(); } // all are below it
	const std::vector<std::string>& remarks() const { return remarks_; }

private:
	static bool bit(const std::vector<uint8_t>& map, uint64_t frame) {
		return frame / 8 < map.size() && map[frame / 8] >> (frame % 8) & 1;
	}
	std::vector<uint8_t> read_map(uint64_t offset, uint64_t bytes) const;
	void read_bitmaps(uint64_t offset, uint64_t bytes);

	std::shared_ptr<const DumpFile> file_;
	std::vector<uint8_t> memory_, dumped_; // a bit for each frame: it is memory; the dump has it
	std::vector<uint64_t> before_;         // pages that are dumped before each 64 bytes of that
	uint64_t descriptors_ = 0;             // where they begin
	uint64_t stored_ = 0;                  // pages that are dumped by the map
	uint64_t described_ = UINT64_MAX;      // descriptors for which there is room in the file
	bool zeros_left_out_ = false;
	std::vector<std::string> remarks_;
};

} // namespace dfr::recorder
