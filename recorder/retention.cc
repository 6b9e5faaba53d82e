// SPDX-License-Identifier: GPL-2.0
//
// Which parts go.
#include "recorder/retention.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "formats/trace/parts.h"

namespace dfr::recorder {
namespace {

struct StoredPart {
	std::string path;
	uint64_t bytes = 0;
	std::chrono::seconds written{0};
};

// Up to `current`, which is the last of them; empty: all.
std::vector<StoredPart> parts_there(const std::string& path, const std::string& current) {
	std::vector<StoredPart> parts;
	for (const auto& [number, name] : trace::parts_of(path)) {
		struct stat about {};
		if (::stat(name.c_str(), &about) == 0)
			parts.push_back({name, static_cast<uint64_t>(about.st_size),
			                 std::chrono::seconds(about.st_mtime)});
		if (name == current)
			break;
	}
	return parts;
}

// Why the oldest of them has to go; empty: it may stay. `left`: what is free on the disk, if that matters.
std::string why_not(const StoredPart& oldest, size_t parts, uint64_t bytes, const Retention& retention,
                    std::chrono::seconds now, std::optional<uint64_t> left) {
	if (retention.parts && parts > retention.parts)
		return "more than " + std::to_string(retention.parts) + " parts";
	if (retention.bytes && bytes > retention.bytes)
		return "more than " + std::to_string(retention.bytes) + " bytes";
	if (retention.age.count() && now - oldest.written > retention.age)
		return "older than " + std::to_string(retention.age.count()) + " s";
	if (left && *left < retention.free)
		return "only " + std::to_string(*left) + " bytes are left on the disk";
	return {};
}

template <typename T> void lower(T& bound, T by) {
	bound = bound == T{} ? by : std::min(bound, by);
}

} // namespace

std::optional<uint64_t> free_space(const std::string& path) {
	struct statvfs about {};
	if (::statvfs(path.c_str(), &about) != 0)
		return std::nullopt;
	return uint64_t{about.f_bavail} * about.f_frsize;
}

bool parse_retention(std::string_view text, Retention& retention) {
	uint64_t parts = 0;
	const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), parts);
	if (failed == std::errc{} && end == text.data() + text.size() && parts) {
		lower(retention.parts, parts);
		return true;
	}
	const std::optional<trace::Rotation> bound = trace::parse_rotation(text);
	if (!bound)
		return false;
	if (bound->bytes)
		lower(retention.bytes, bound->bytes);
	else
		lower(retention.age, bound->time);
	return true;
}

std::vector<RemovedPart> retain(const std::string& path, const std::string& current,
                                const Retention& retention, std::chrono::seconds now) {
	const std::vector<StoredPart> parts = parts_there(path, current);
	std::vector<RemovedPart> removed;
	uint64_t bytes = 0;
	for (const StoredPart& part : parts)
		bytes += part.bytes;
	// Asked once: the file system may give the space back later, when nobody reads the part any more.
	std::optional<uint64_t> left;
	if (retention.free && !parts.empty())
		left = free_space(parts[0].path);
	for (size_t oldest = 0; oldest + 1 < parts.size(); oldest++) {
		const StoredPart& part = parts[oldest];
		const std::string why = why_not(part, parts.size() - oldest, bytes, retention, now, left);
		if (why.empty())
			break;
		const int error = ::unlink(part.path.c_str()) == 0 ? 0 : errno;
		removed.push_back({part.path, why, error});
		if (error)
			break; // else newer ones would go in its place
		bytes -= part.bytes;
		if (left)
			*left += part.bytes;
	}
	return removed;
}

} // namespace dfr::recorder
