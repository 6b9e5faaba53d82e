// SPDX-License-Identifier: GPL-2.0
//
// Retention: how much of a recording in parts (formats/trace/parts.h) stays on the disk. The
// oldest parts go first, never the one that is being written. What went is named, and whoever
// reads what is left is told where it begins. Snapshots are a series too, of which each stands alone: those that
// were cut off go before whole ones.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
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

// Now: the time since the epoch, as somebody has set it, and by a clock that nobody sets.
struct TwoClocks {
	std::chrono::seconds wall{0}, steady{0};
};
TwoClocks clocks_now();

// How long ago parts were written, whoever sets the clock meanwhile. What is there at the first look is as old as the clock
// says, or as old as the file itself says; what comes or changes later is new then, and ages by the steady clock.
class PartAges {
public:
	// The age of a file that the clock makes old; nullopt: it does not know.
	using OwnAge = std::function<std::optional<std::chrono::seconds>(const std::string& path)>;
	explicit PartAges(OwnAge own = nullptr) : own_(std::move(own)) {}

	struct PartFile {
		std::string path;
		uint64_t bytes = 0;
		std::chrono::nanoseconds written{0}; // by the clock of the file system
		bool ours = false;                   // it is known to be a part
	};
	// Takes note of the parts that there are now. `suspect`: the clock may make a file so old, without being asked.
	void look(const std::vector<PartFile>& parts, const TwoClocks& now, std::chrono::seconds suspect);
	std::chrono::seconds of(const std::string& path, const TwoClocks& now) const;
	// False: it only has the name of a part (trace::may_be_part(), asked when it was new or had changed).
	bool is_part(const std::string& path) const;

private:
	struct KnownPart {
		uint64_t bytes = 0;
		std::chrono::nanoseconds written{0};
		std::chrono::seconds since{0}; // by the steady clock
		bool part = true;
	};
	std::chrono::seconds first_age(const PartFile& part, const TwoClocks& now,
	                               std::chrono::seconds suspect) const;
	OwnAge own_;
	std::map<std::string, KnownPart> known_;
	bool looked_ = false;
};

// Of a part that can be read: it has no end mark; it has neither records nor aggregations.
bool is_cut(const std::string& path);
bool is_empty(const std::string& path);

struct RemovedPart {
	std::string path, why; // "more than 20 parts"
	int error = 0;         // errno: it could not be removed
};
struct RetainedSeries {
	std::string path;
	// The one that is being written: only parts with lower numbers are removed. Empty: none is, and the last one stays.
	std::string current;
	bool holds = true;  // that one has something in it; else it counts only then
	bool alone = false; // each stands alone: those that were cut off go before whole ones
};
// Removes parts until the bounds hold.
std::vector<RemovedPart> retain(const RetainedSeries& series, const Retention& retention, PartAges& ages,
                                const TwoClocks& now);
// Removes parts that were cut off before anything was in them: starts that fail push no whole ones out.
// Nobody may be writing one.
std::vector<RemovedPart> remove_empty_parts(const std::string& path);

} // namespace dfr::recorder
