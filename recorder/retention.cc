// SPDX-License-Identifier: GPL-2.0
//
// Which parts go.
#include "recorder/retention.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "formats/error.h"
#include "formats/trace/container.h"
#include "formats/trace/parts.h"

namespace dfr::recorder {
namespace {

using PartFile = PartAges::PartFile;

// Up to `current`, which is the last of them, if it is still there; empty: all.
std::vector<PartFile> parts_there(const std::string& path, const std::string& current) {
	std::vector<PartFile> parts;
	for (const auto& [number, name] : trace::parts_of(path)) {
		if (!current.empty() && std::pair(name.size(), name) > std::pair(current.size(), current))
			break;
		struct stat about {};
		if (::stat(name.c_str(), &about) == 0)
			parts.push_back({.path = name,
			                 .bytes = static_cast<uint64_t>(about.st_size),
			                 .written = std::chrono::seconds(about.st_mtim.tv_sec) +
			                            std::chrono::nanoseconds(about.st_mtim.tv_nsec),
			                 .ours = name == current});
	}
	return parts;
}

// How much of a series there is; what goes is taken off.
struct SeriesSum {
	size_t parts = 0;
	uint64_t bytes = 0;
	std::optional<uint64_t> left; // on the disk, if that matters
};

// Why one more of them has to go; empty: they may stay.
std::string too_much(const SeriesSum& there, const Retention& retention) {
	if (retention.parts && there.parts > retention.parts)
		return "more than " + std::to_string(retention.parts) + " parts";
	if (retention.bytes && there.bytes > retention.bytes)
		return "more than " + std::to_string(retention.bytes) + " bytes";
	if (there.left && *there.left < retention.free)
		return "only " + std::to_string(*there.left) + " bytes are left on the disk";
	return {};
}

std::chrono::seconds clock_seconds(clockid_t clock) {
	timespec now{};
	::clock_gettime(clock, &now);
	return std::chrono::seconds(now.tv_sec);
}

RemovedPart remove_part(const std::string& path, std::string why) {
	return {path, std::move(why), ::unlink(path.c_str()) == 0 ? 0 : errno};
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

TwoClocks clocks_now() {
	return {.wall = clock_seconds(CLOCK_REALTIME), .steady = clock_seconds(CLOCK_BOOTTIME)};
}

std::chrono::seconds PartAges::first_age(const PartFile& part, const TwoClocks& now,
                                         std::chrono::seconds suspect) const {
	const auto age = now.wall - std::chrono::floor<std::chrono::seconds>(part.written);
	if (own_ && suspect.count() && age > suspect)
		if (const auto own = own_(part.path))
			return *own;
	return std::max(
	    age, std::chrono::seconds(0)); // one of the future has been written before the clock was set back
}

void PartAges::look(const std::vector<PartFile>& parts, const TwoClocks& now, std::chrono::seconds suspect) {
	std::map<std::string, KnownPart> there;
	for (const PartFile& part : parts) {
		KnownPart known{.bytes = part.bytes, .written = part.written, .since = now.steady};
		const auto before = known_.find(part.path);
		const bool same = before != known_.end() && before->second.bytes == part.bytes &&
		                  before->second.written == part.written;
		known.part = part.ours || (same ? before->second.part : trace::may_be_part(part.path));
		if (before == known_.end() && !looked_)
			known.since -= first_age(part, now, suspect);
		else if (same)
			known.since = before->second.since;
		there.emplace(part.path, known);
	}
	known_ = std::move(there);
	looked_ = true;
}

std::chrono::seconds PartAges::of(const std::string& path, const TwoClocks& now) const {
	const auto known = known_.find(path);
	return known == known_.end() ? std::chrono::seconds(0) : now.steady - known->second.since;
}

bool PartAges::is_part(const std::string& path) const {
	const auto known = known_.find(path);
	return known == known_.end() || known->second.part;
}

bool is_cut(const std::string& path) {
	try {
		const trace::ContainerReader reader(path);
		if (reader.size() < trace::kEndBytes)
			return true;
		const auto last = reader.segment(reader.size() - trace::kEndBytes);
		return !last || last->type() != trace::SegmentType::kEnd;
	} catch (const Error&) {
		return false;
	}
}

bool is_empty(const std::string& path) {
	try {
		bool empty = true;
		trace::ContainerReader(path).each_segment([&empty](const trace::Segment& segment) {
			empty &= segment.type() != trace::SegmentType::kChunk &&
			         segment.type() != trace::SegmentType::kAggregations &&
			         segment.type() != trace::SegmentType::kAggregationsAt;
		});
		return empty;
	} catch (const Error&) {
		return false; // it may hold something
	}
}

std::vector<RemovedPart> retain(const RetainedSeries& series, const Retention& retention, PartAges& ages,
                                const TwoClocks& now) {
	std::vector<PartFile> parts = parts_there(series.path, series.current);
	ages.look(parts, now, retention.age);
	std::erase_if(parts, [&ages](const PartFile& part) { return !ages.is_part(part.path); });
	std::vector<RemovedPart> removed;
	if (parts.empty())
		return removed;
	SeriesSum there{.parts = parts.size() - (series.holds ? 0 : 1)};
	for (const PartFile& part : parts)
		there.bytes += part.bytes;
	// Asked once: the file system may give the space back later, when nobody reads the part any more.
	if (retention.free)
		there.left = free_space(parts[0].path);
	parts.pop_back();    // that one stays
	bool failed = false; // then newer ones do not go in its place, where what is left must have no hole
	const auto remove = [&](const PartFile& part, std::string why) {
		removed.push_back(remove_part(part.path, std::move(why)));
		const bool gone = removed.back().error == 0;
		failed = !gone && !series.alone;
		if (failed)
			return;
		// One that stands alone and cannot be removed pushes no other out.
		there.parts--;
		there.bytes -= part.bytes;
		if (there.left && gone)
			*there.left += part.bytes;
	};
	std::vector<PartFile> young;
	for (const PartFile& part : parts)
		// What is left of a recording has no hole.
		if (!failed && (series.alone || young.empty()) && retention.age.count() &&
		    ages.of(part.path, now) > retention.age)
			remove(part, "older than " + std::to_string(retention.age.count()) + " s");
		else
			young.push_back(part);
	if (series.alone && !too_much(there, retention).empty())
		std::stable_partition(young.begin(), young.end(),
		                      [](const PartFile& part) { return is_cut(part.path); });
	for (const PartFile& part : young) {
		std::string why = too_much(there, retention);
		if (why.empty() || failed)
			break;
		remove(part, std::move(why));
	}
	return removed;
}

std::vector<RemovedPart> remove_empty_parts(const std::string& path) {
	std::vector<RemovedPart> removed;
	for (const auto& [number, name] : trace::parts_of(path))
		if (is_cut(name) && is_empty(name) && trace::may_be_part(name))
			removed.push_back(remove_part(name, "it was cut off before anything was in it"));
	return removed;
}

} // namespace dfr::recorder
