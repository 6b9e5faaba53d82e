// SPDX-License-Identifier: GPL-2.0
//
// Names and order of the files of a recorder that rotates.
#include "formats/trace/parts.h"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>
#include <unistd.h>

#include "formats/error.h"
#include "formats/trace/container.h"
#include "formats/trace/joined.h"
#include "formats/trace/output_file.h"
#include "formats/trace/schema.h"

namespace dfr::trace {
namespace {

constexpr uint64_t kSmallest = 256 << 10;
// A part is so many times as large as its catalog, which the next part repeats. It stands in a part twice:
// as it grew, and whole at the end.
constexpr uint64_t kChunksToCatalog = 100, kCatalogCopies = 2;

struct RotationUnit {
	std::string_view name;
	uint64_t bytes, seconds;
};
constexpr RotationUnit kUnits[] = {{"k", 1 << 10, 0}, {"m", 1 << 20, 0}, {"g", 1 << 30, 0}, {"s", 0, 1},
                                   {"min", 0, 60},    {"h", 0, 3600},    {"d", 0, 86400}};

// "flight" and ".dfr" of "/srv/flight.dfr": where a part's number goes in between.
struct NamePieces {
	std::string start, end;
};
NamePieces pieces_of(const std::string& path) {
	const size_t slash = path.rfind('/'), dot = path.rfind('.');
	const bool extended =
	    dot != std::string::npos && dot != 0 && (slash == std::string::npos || dot > slash + 1);
	const size_t at = extended ? dot : path.size();
	return {path.substr(0, at), path.substr(at)};
}

// Of a part's path: "/srv/flight.dfr" and 12 of "/srv/flight-0012.dfr".
struct NumberedName {
	std::string base;
	uint64_t number = 0;
};
// nullopt: it is no part's.
std::optional<NumberedName> numbered_name(const std::string& path) {
	const NamePieces pieces = pieces_of(path);
	const std::string_view numbered = pieces.start;
	const size_t dash = numbered.rfind('-');
	const std::string_view digits =
	    dash == std::string_view::npos ? std::string_view{} : numbered.substr(dash + 1);
	NumberedName name;
	const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), name.number);
	if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size())
		return std::nullopt;
	name.base = std::string(numbered.substr(0, dash)) + pieces.end;
	return part_path(name.base, name.number) == path ? std::optional(name) : std::nullopt;
}

uint64_t new_series() {
	std::random_device random;
	return (static_cast<uint64_t>(random()) << 32 | random()) | 1;
}

// All of them or, if one cannot be replaced, none.
void remove_all(const std::vector<std::pair<uint64_t, std::string>>& parts) {
	for (const auto& [number, name] : parts)
		require_free(name, true);
	for (const auto& [number, name] : parts)
		if (::unlink(name.c_str()) != 0 && errno != ENOENT)
			throw Error::from_errno("cannot remove " + name, "give another name");
}

} // namespace

std::optional<Rotation> parse_rotation(std::string_view text) {
	uint64_t number = 0;
	const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
	const std::string_view name(rest, static_cast<size_t>(text.data() + text.size() - rest));
	const auto unit = std::find_if(std::begin(kUnits), std::end(kUnits),
	                               [&name](const RotationUnit& one) { return one.name == name; });
	if (error != std::errc{} || unit == std::end(kUnits) || !number || number > UINT32_MAX)
		return std::nullopt;
	Rotation rotation{.bytes = number * unit->bytes,
	                  .time = std::chrono::seconds(number * unit->seconds)};
	if (unit->bytes && rotation.bytes < kSmallest)
		return std::nullopt;
	return rotation;
}

std::optional<std::chrono::seconds> parse_time(std::string_view text) {
	const std::optional<Rotation> read = parse_rotation(text);
	if (!read || !read->time.count() || read->time > std::chrono::hours(24 * 365))
		return std::nullopt;
	return read->time;
}

std::optional<uint64_t> parse_size(std::string_view text) {
	const std::optional<Rotation> read = parse_rotation(text);
	if (!read || !read->bytes)
		return std::nullopt;
	return read->bytes;
}

std::string time_stamp() {
	const std::time_t now = std::time(nullptr);
	std::tm local{};
	localtime_r(&now, &local);
	char stamp[32];
	std::strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &local);
	return stamp;
}

bool is_time_stamp(std::string_view text) {
	constexpr std::string_view like = "00000000-000000";
	return std::ranges::equal(text, like,
	                          [](char c, char of) { return of == '0' ? c >= '0' && c <= '9' : c == of; });
}

std::vector<std::string> recordings_in(const std::string& folder) {
	std::vector<std::pair<std::filesystem::file_time_type, std::string>> dated;
	std::error_code error;
	const std::filesystem::directory_iterator end;
	for (std::filesystem::directory_iterator at(folder, error); !error && at != end;
	     at.increment(error)) {
		std::error_code gone;
		if (const auto time = std::filesystem::last_write_time(at->path(), gone);
		    !gone && at->path().extension() == ".dfr")
			dated.emplace_back(time, at->path().string());
	}
	if (error && error != std::errc::no_such_file_or_directory)
		throw Error("cannot read " + folder + ": " + error.message());
	std::ranges::sort(dated);
	std::vector<std::string> found;
	for (auto& [time, path] : dated)
		found.push_back(std::move(path));
	return found;
}

std::string name_with(const std::string& path, const std::string& text) {
	const NamePieces pieces = pieces_of(path);
	return pieces.start + text + pieces.end;
}

std::string part_path(const std::string& path, uint64_t number) {
	char text[32];
	std::snprintf(text, sizeof text, "-%04" PRIu64, number);
	return name_with(path, text);
}

std::string parts_pattern(const std::string& path) {
	return name_with(path, "-*");
}

std::vector<std::pair<uint64_t, std::string>> parts_of(const std::string& path) {
	NamePieces pieces = pieces_of(path);
	pieces.start += '-';
	const std::string folder = path.substr(0, path.rfind('/') + 1); // as it is written
	std::vector<std::pair<uint64_t, std::string>> parts;
	std::error_code error; // a folder that cannot be read: creating a file in it will tell
	const std::filesystem::directory_iterator none;
	for (std::filesystem::directory_iterator at(folder.empty() ? "." : folder, error);
	     !error && at != none; at.increment(error)) {
		const std::string name = folder + at->path().filename().string();
		if (!name.starts_with(pieces.start) || !name.ends_with(pieces.end) ||
		    name.size() < pieces.start.size() + 4 + pieces.end.size())
			continue;
		const char* const end = name.data() + name.size() - pieces.end.size();
		uint64_t number = 0;
		const auto read = std::from_chars(name.data() + pieces.start.size(), end, number);
		if (read.ec == std::errc{} && read.ptr == end && part_path(path, number) == name)
			parts.emplace_back(number, name);
	}
	std::sort(parts.begin(), parts.end());
	return parts;
}

namespace {

// Of a file that has its end mark: whether its last ledger is of a series. The catalog, which may be large, is not read, because
// a recorder asks this of thousands of parts when it starts.
bool has_series(const std::string& path) {
	const ContainerReader file(path);
	const auto read = [&file](uint64_t at, SegmentType type) -> std::vector<std::byte> {
		const std::optional<Segment> segment = file.segment(at);
		if (!segment || segment->type() != type)
			return {};
		return file.payload(*segment).value_or(std::vector<std::byte>{});
	};
	const auto mark = file.size() < kEndBytes ? std::vector<std::byte>{}
	                                          : read(file.size() - kEndBytes, SegmentType::kEnd);
	if (mark.size() != sizeof(EndMark))
		return false;
	EndMark end;
	std::memcpy(&end, mark.data(), sizeof(end));
	const std::vector<std::byte> index = read(end.index, SegmentType::kIndex);
	if (index.empty())
		return false;
	const std::vector<Index::Other> others = decode_index(index).others;
	const auto last = std::find_if(others.rbegin(), others.rend(), [](const Index::Other& other) {
		return other.type == static_cast<uint16_t>(SegmentType::kLosses);
	});
	const auto ledger =
	    last == others.rend() ? std::vector<std::byte>{} : read(last->offset, SegmentType::kLosses);
	return !ledger.empty() && decode_ledger(ledger).part.series;
}

} // namespace

// What was cut off before its first ledger, or has a damaged catalog, says nothing of this.
bool may_be_part(const std::string& path) {
	try {
		if (has_series(path))
			return true;
		const std::unique_ptr<FileSource> file = open_file(path);
		const FileFacts facts = file->facts();
		const auto& events = file->catalog().events;
		return facts.part.series || !facts.accounted || !file->catalog().state_id ||
		       std::ranges::any_of(
		           events, [](const EventMark& mark) { return mark.event == DFR_EVENT_SNAPSHOT; });
	} catch (const Error&) {
		return true; // it is damaged
	}
}

std::string next_part_path(const std::string& path) {
	const std::optional<NumberedName> name = numbered_name(path);
	return name ? part_path(name->base, name->number + 1) : std::string{};
}

std::vector<std::string> later_parts(const std::string& path) {
	const std::optional<NumberedName> name = numbered_name(path);
	std::vector<std::string> later;
	for (const auto& [number, part] : name ? parts_of(name->base) : decltype(parts_of(path)){})
		if (number > name->number)
			later.push_back(part);
	return later;
}

PartsWriter::PartsWriter(std::string path, FileWriter::CatalogNow catalog, PartsOptions options)
    : path_(std::move(path)), catalog_(std::move(catalog)), options_(std::move(options)) {
	if (!options_.rotation) {
		create(path_, options_.old == OldParts::kReplace, {});
		return;
	}
	auto old = parts_of(path_);
	if (options_.old != OldParts::kKeep) // else only their numbers matter
		std::erase_if(old, [](const auto& part) { return !may_be_part(part.second); });
	if (!old.empty() && options_.old == OldParts::kRefuse)
		throw Error("cannot write parts of " + path_ + ": " + old.front().second + " exists",
		            "give another name, or remove the old parts with --replace", EEXIST);
	if (options_.old == OldParts::kReplace)
		remove_all(old);
	const auto left = parts_of(path_); // what is no part has its number all the same
	number_ = left.empty() ? 1 : left.back().first + 1;
	create(part_path(path_, number_), false, first_part(old));
}

// After the newest part that says which one it is, if it is of the same state: this goes on where it ended.
FilePart PartsWriter::first_part(const std::vector<std::pair<uint64_t, std::string>>& old) const {
	for (auto name = old.rbegin(); name != old.rend(); ++name) {
		try {
			const std::unique_ptr<FileSource> file = open_file(name->second);
			const FileFacts facts = file->facts();
			if (!facts.part.series || !same_state(file->catalog(), catalog_()))
				continue;
			FilePart next{.series = facts.part.series,
			              .number = facts.part.number + 1,
			              .since = facts.marked_until,
			              .before = facts.part.before};
			for (const BlockRef& ref : file->index())
				if (Reach& reach = next.before[ref.head.cpu]; ref.head.seq >= reach.seq)
					reach = {ref.head.seq, ref.head.record_base + ref.head.records};
			return next;
		} catch (const Error&) {
			// It cannot be read, or is not there any more: replay will say so.
		}
	}
	return {.series = new_series(), .number = 1};
}

void PartsWriter::create(const std::string& path, bool replace, const FilePart& part) {
	auto next = std::make_unique<FileWriter>(path, replace, catalog_, options_.output(), part);
	if (file_) {
		size_ += file_->size();
		records_ += file_->records();
	}
	file_ = std::move(next);
	paths_.push_back(path);
	begun_ = std::chrono::steady_clock::now();
}

bool PartsWriter::due() {
	const uint64_t chunks = file_->chunk_bytes();
	const uint64_t least = kChunksToCatalog * kCatalogCopies * file_->catalog_bytes();
	if (!options_.rotation || !chunks)
		return false;
	const bool reached = options_.rotation.bytes
	                         ? file_->size() >= options_.rotation.bytes
	                         : std::chrono::steady_clock::now() - begun_ >= options_.rotation.time;
	if (reached && chunks < least)
		least_ = std::max(least_, least);
	return reached && chunks >= least;
}

void PartsWriter::end_part() {
	file_->finish(true);
}

void PartsWriter::begin_part(BlockSource& source) {
	create(part_path(path_, number_ + 1), false, file_->next_part());
	number_++;
	file_->account(source);
}

} // namespace dfr::trace
