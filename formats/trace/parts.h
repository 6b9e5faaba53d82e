// SPDX-License-Identifier: GPL-2.0
//
// Parts: the files of a recorder that rotates, which goes on in a next file when one
// is large or old enough. Each stands alone: it has a head, a catalog and the names
// of its own, and JoinedSource (joined.h) reads several as one recording. This writes
// them; when a part may end, its caller says, because only that knows a moment at
// which every CPU's records have been given to it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/trace/file.h"

namespace dfr::trace {

// When to go on in a next file; neither: never, all is one file.
struct Rotation {
	uint64_t bytes = 0;
	std::chrono::seconds time{0};
	explicit operator bool() const { return bytes || time.count(); }
};
inline constexpr const char* kRotationText = "a size (256k or more, 64m, 1g) or a time (30s, 10min, 1h, 1d)";
// nullopt: it is not what kRotationText says.
std::optional<Rotation> parse_rotation(std::string_view text);
// Such a text where only a time of up to a year has a meaning, or only a size.
std::optional<std::chrono::seconds> parse_time(std::string_view text);
std::optional<uint64_t> parse_size(std::string_view text);

// "20261121-150233": now, in local time, for a file's name.
std::string time_stamp();
// Whether a text is such a time: what has another name is not ours to remove.
bool is_time_stamp(std::string_view text);
// The recordings (*.dfr) that stand in a folder, by the time when they were written, the latest last; none, if there is no
// such folder. Throws dfr::Error if it cannot be read.
std::vector<std::string> recordings_in(const std::string& folder);
// "/srv/flight.dfr", "-first": "/srv/flight-first.dfr".
std::string name_with(const std::string& path, const std::string& text);
// "/srv/flight.dfr", 12: "/srv/flight-0012.dfr". A shell puts up to 9,999 in order; readers need no order.
std::string part_path(const std::string& path, uint64_t number);
// "/srv/flight-*.dfr": all of them, for a shell.
std::string parts_pattern(const std::string& path);
// Of a part's path: that of the one after it; empty: it is no part's.
std::string next_part_path(const std::string& path);
// The paths of those with higher numbers that there are, in their order; empty, too, if it is no part's.
std::vector<std::string> later_parts(const std::string& path);
// False: the file itself says that it is no part, whatever its name: a recording that was not rotated, and no snapshot.
bool may_be_part(const std::string& path);
// What there is with the name of a part of `path`, by number.
std::vector<std::pair<uint64_t, std::string>> parts_of(const std::string& path);

class PartsWriter {
public:
	// What becomes of parts that are there already: they are an error; they are removed; the new ones are
	// numbered after them, and follow them if they are of the same state.
	enum class OldParts { kRefuse, kReplace, kKeep };
	struct PartsOptions {
		Rotation rotation;
		OldParts old = OldParts::kRefuse;
		std::function<std::unique_ptr<OutputFile>()> output = local_file;
	};
	// Creates the first file: `path` itself, if nothing is to be rotated.
	PartsWriter(std::string path, FileWriter::CatalogNow catalog, PartsOptions options);

	FileWriter& file() { return *file_; } // the part that is being written
	const std::vector<std::string>& paths() const { return paths_; }
	uint64_t size() const { return size_ + file_->size(); }          // of all parts
	uint64_t records() const { return records_ + file_->records(); } // in them

	// Whether the part should end: it is large or old enough, and what the next one would have to repeat of the
	// catalog is at most 1 % of it.
	bool due();
	// How many bytes a part's chunks are at least for that, if one went on that was large or old enough; 0: none did.
	uint64_t least_chunks() const { return least_; }
	// Ends the part, which was accounted with the time until when it is whole: it is on the disk now.
	void end_part();
	// Goes on in a next one, which has the source's ledger from its start, so that it says at once which part it is.
	void begin_part(BlockSource& source);

private:
	FilePart first_part(const std::vector<std::pair<uint64_t, std::string>>& old) const;
	void create(const std::string& path, bool replace, const FilePart& part);

	const std::string path_;
	const FileWriter::CatalogNow catalog_;
	const PartsOptions options_;
	std::unique_ptr<FileWriter> file_;
	std::vector<std::string> paths_;
	uint64_t number_ = 0; // in the file's name
	std::chrono::steady_clock::time_point begun_;
	uint64_t size_ = 0, records_ = 0; // of the parts before this one
	uint64_t least_ = 0;
};

} // namespace dfr::trace
