// SPDX-License-Identifier: GPL-2.0
//
// Reading a recording while it is written.
#include "formats/trace/followed.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "formats/error.h"
#include "formats/trace/batch.h"
#include "formats/trace/container.h"
#include "formats/trace/counted.h"
#include "formats/trace/parts.h"

namespace dfr::trace {
namespace {

// Entries that are there stay where they are, because readers point to them.
void grow_catalog(Catalog& into, Catalog newer) {
	into.probes.merge(newer.probes);
	into.layouts.merge(newer.layouts);
	into.aggregations.merge(newer.aggregations);
	newer.probes = std::move(into.probes);
	newer.layouts = std::move(into.layouts);
	newer.aggregations = std::move(into.aggregations);
	into = std::move(newer);
}

FileFacts facts_of(const JoinedSource& source, const std::string& name) {
	const auto file = std::find_if(source.files().begin(), source.files().end(),
	                               [&name](const auto& one) { return one->name() == name; });
	return file == source.files().end() ? FileFacts{} : (*file)->facts();
}

// Where nothing is rotated, a recording that goes on has no next file.
bool has_next(const FileFacts& facts) {
	return facts.goes_on && facts.part.series;
}

uint64_t readable_until(const FileFacts& facts) {
	const bool to_a_mark = has_next(facts) || (facts.goes_on && facts.marked_until);
	return facts.finished && !to_a_mark ? UINT64_MAX : facts.marked_until;
}

bool is_there(const std::string& path) {
	std::error_code error;
	const bool there = std::filesystem::exists(file_of(path), error);
	if (error)
		throw Error("cannot follow " + path + ": " + error.message());
	return there;
}

} // namespace

FollowedSource::FollowedSource(const std::string& path) {
	if (recordings_of(path).size() > 1)
		throw Error("cannot follow " + path + ": it holds several recordings",
		            "name one of them: " + path + "#1");
	open({path});
	if (!now_->files().front()->facts().begun)
		throw Error("cannot follow " + path + ": nothing was written in it yet",
		            "try again in a moment");
}

// All are of the state that is followed. A name may have been given to another recording since it was read. Those that
// are gone are left out, as a recorder keeps only its newest parts (dfrd --retain); but not the last one.
std::unique_ptr<JoinedSource> FollowedSource::joined(std::vector<std::string> paths,
                                                     const std::map<std::string, uint64_t>& checked) {
	std::vector<std::vector<std::unique_ptr<FileSource>>> groups;
	while (groups.empty()) {
		try {
			groups = group_by_state(paths, checked);
		} catch (const Error&) {
			const std::string last = paths.back();
			const auto gone = [&](const std::string& path) {
				return path != last && !is_there(path);
			};
			std::ranges::copy_if(paths, std::inserter(removed_, removed_.end()), gone);
			if (std::erase_if(paths,
			                  [this](const auto& path) { return removed_.contains(path); }) == 0)
				throw;
		}
	}
	auto all = std::make_unique<JoinedSource>(std::move(groups.front()));
	if (groups.size() > 1 || (now_ && !same_state(catalog_, all->catalog())))
		throw Error("cannot follow " + paths.back() +
		                ": it is of another state than what was read of " + paths_.front(),
		            "the recorder was started anew, or a file was replaced: follow " + paths.back() +
		                " by itself");
	return all;
}

// Of the last file.
void FollowedSource::check_grown(uint64_t whole) const {
	if (whole < last_marked_)
		throw Error("cannot follow " + paths_.back() + ": what was read of it is not in it any more",
		            "it was truncated or replaced: what was said holds for the time before");
}

// Whether a part that is not the last has a mark of its own, not only that of the part before it. One that has gone has
// none to look for.
bool FollowedSource::has_own_mark(const std::string& path) {
	const auto known = own_mark_.find(path);
	if (known != own_mark_.end())
		return known->second;
	try {
		const auto file = open_file(path);
		return own_mark_[path] = file->facts().marked_until > file->facts().part.since;
	} catch (const Error&) {
		return true;
	}
}

// The last file before this one with a mark of its own has records of the time behind it; so have those between, whose
// recorders were killed before their first mark.
void FollowedSource::open(std::vector<std::string> paths) {
	const std::string& last = paths.back();
	std::vector<std::string> read = {last};
	for (size_t i = paths.size() - 1; i > 0; i--) {
		read.insert(read.begin(), paths[i - 1]);
		if (has_own_mark(paths[i - 1]))
			break;
	}
	// Before it is read, so that what comes meanwhile is seen later. Opening tells why there is none.
	std::error_code none;
	const uint64_t file_size = std::filesystem::file_size(file_of(last), none);
	auto now = joined(read, checked_);
	const FileFacts facts = facts_of(*now, last);
	const uint64_t whole = readable_until(facts);
	if (now_ && paths == paths_)
		check_grown(whole);
	last_marked_ = whole;
	now_ = std::move(now);
	paths_ = std::move(paths);
	size_ = file_size; // of which the recording may be the last one
	checked_[paths_.back()] = facts.size;
	goes_on_ = has_next(facts);
	series_ = facts.part.series;
	ended_ = facts.finished && !goes_on_;
	whole_until_ = std::max(whole_until_, whole);
	grow_catalog(catalog_, now_->catalog());
}

// A recorder that was killed leaves a file without its end, or one in which nothing was begun; the next recorder takes
// the number behind it.
// False: it is not there yet.
bool FollowedSource::begin_next() {
	std::string next = next_part_path(paths_.back());
	if (next.empty() && goes_on_)
		throw Error("cannot follow " + paths_.back() +
		                ": its recorder goes on in a next file, and this one's "
		                "name has no number to tell which",
		            "give the parts the names that the recorder gave them");
	while (!next.empty() && is_there(next) && !open_file(next)->facts().begun)
		next = next_part_path(next);
	return !next.empty() && is_there(next) && begin(next);
}

bool FollowedSource::begin(const std::string& next) {
	std::vector<std::string> paths = paths_;
	paths.push_back(next);
	open(std::move(paths));
	return true;
}

// In the earliest later part that is there, where those between were removed, because the recorder keeps only its newest.
bool FollowedSource::begin_later() {
	const auto is_one = [this](const std::string& later) {
		try {
			const auto file = open_file(later);
			return file->facts().part.series == series_ && same_state(catalog_, file->catalog());
		} catch (const Error&) {
			return false; // it only has the name of a part, or was removed as well
		}
	};
	const std::vector<std::string> all =
	    series_ ? later_parts(paths_.back()) : std::vector<std::string>{};
	const auto later = std::ranges::find_if(all, is_one);
	return later != all.end() && begin(*later);
}

void FollowedSource::look() {
	std::error_code error;
	const uint64_t size = goes_on_ ? size_ : std::filesystem::file_size(file_of(paths_.back()), error);
	if (error)
		throw Error("cannot follow " + paths_.back() + ": " + error.message(),
		            "it was removed or renamed: follow its new name");
	if (size != size_)
		open(paths_);
	else if (!begin_next() && goes_on_)
		begin_later();
}

bool FollowedSource::grow() {
	if (ended())
		return false;
	const uint64_t before = whole_until_;
	try {
		look();
	} catch (const Error&) { // of the last file its end was not seen, if that was removed
		if (is_there(paths_.back()) || !begin_later())
			throw;
	}
	return ended_ || whole_until_ != before;
}

std::unique_ptr<StoredColumns> FollowedSource::columns(const BlockRef& ref, const WantColumns& wanted) {
	return now_->columns(ref, wanted);
}

std::vector<std::string> FollowedSource::remarks() {
	std::vector<std::string> all = now_->remarks();
	if (lacks_files()) {
		const size_t more = removed_.size() - 1;
		all.push_back(
		    *removed_.begin() + (more ? " and " + plural(more, "later file") + " were" : " was") +
		    " removed while this was followed: what was read of it is in the answer, what it "
		    "lacked is not known");
	}
	return all;
}

void FollowedSource::take_all() {
	auto all = joined(paths_, {});
	check_grown(readable_until(facts_of(*all, paths_.back())));
	now_ = std::move(all);
	grow_catalog(catalog_, now_->catalog());
}

} // namespace dfr::trace
