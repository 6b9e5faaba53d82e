// SPDX-License-Identifier: GPL-2.0
//
// Retention: how much of a recording in parts (formats/trace/parts.h) stays on the disk. The
// oldest parts go first, never the one that is being written. What went is named, and whoever
// reads what is left is told where it begins.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dfr::recorder {

// Each bound that is not 0 holds.
struct Retention {
	uint64_t bytes = 0, parts = 0; // at most
	std::chrono::seconds age{0};   // written to at most so long ago
	uint64_t free = 0;             // bytes that the file system shall have left
	explicit operator bool() const { return bytes || parts || age.count() || free; }
};
inline constexpr const char* kRetentionText =
    "a number of parts (20), a size (64m, 1g) or an age (10min, 1h, 7d)";
// Adds what one text says; false: it is not what kRetentionText says.
bool parse_retention(std::string_view text, Retention& retention);

// Bytes that a user may still write on the disk of this file or folder; nullopt: not known.
std::optional<uint64_t> free_space(const std::string& path);

struct RemovedPart {
	std::string path, why; // "more than 20 parts"
	int error = 0;         // errno: it could not be removed
};
// Removes parts of `path` until the bounds hold, and only those with lower numbers than `current`, the one that is being
// written (empty: than the last one). `now` is since the epoch.
std::vector<RemovedPart> retain(const std::string& path, const std::string& current,
                                const Retention& retention, std::chrono::seconds now);

} // namespace dfr::recorder
