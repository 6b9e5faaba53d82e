// SPDX-License-Identifier: GPL-2.0
//
// Reading a recording while it is written.
#include "formats/trace/followed.h"

#include <algorithm>
#include <filesystem>

#include "formats/error.h"
#include "formats/trace/batch.h"
#include "formats/trace/container.h"
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

} // namespace

FollowedSource::FollowedSource(const std::string& path) {
	open({path});
	if (!now_->files().front()->facts().begun)
		throw Error("cannot follow " + path + ": nothing was written in it yet",
		            "try again in a moment");
}

// The file before the last one has records of the time behind its own mark.
void FollowedSource::open(std::vector<std::string> paths) {
	const std::string& last = paths.back();
	std::vector<std::string> read = {last};
	if (paths.size() > 1)
		read.insert(read.begin(), paths[paths.size() - 2]);
	auto groups = group_by_state(read);
	if (groups.size() > 1)
		throw Error("cannot follow " + last + ": it is of another state than " + paths.front(),
		            "the recorder was started anew: follow " + last + " by itself");
	auto now = std::make_unique<JoinedSource>(std::move(groups.front()));
	const auto newest = std::find_if(now->files().begin(), now->files().end(),
	                                 [&last](const auto& file) { return file->name() == last; });
	const FileFacts facts = newest == now->files().end() ? FileFacts{} : (*newest)->facts();
	now_ = std::move(now);
	paths_ = std::move(paths);
	size_ = facts.size;
	goes_on_ = facts.goes_on;
	const uint64_t whole = facts.finished && !facts.goes_on ? UINT64_MAX : facts.marked_until;
	whole_until_ = std::max(whole_until_, whole);
	grow_catalog(catalog_, now_->catalog());
}

// A recorder that was killed leaves a file without its end, or one in which nothing was begun; the next recorder takes
// the number behind it.
void FollowedSource::begin_next() {
	std::string next = next_part_path(paths_.back());
	if (next.empty() && goes_on_)
		throw Error("cannot follow " + paths_.back() +
		                ": its recorder goes on in a next file, and this one's "
		                "name has no number to tell which",
		            "give the parts the names that the recorder gave them");
	while (!next.empty() && std::filesystem::exists(next) && !open_file(next)->facts().begun)
		next = next_part_path(next);
	if (next.empty() || !std::filesystem::exists(next))
		return;
	std::vector<std::string> paths = paths_;
	paths.push_back(next);
	open(std::move(paths));
}

bool FollowedSource::grow() {
	if (ended())
		return false;
	const uint64_t before = whole_until_;
	std::error_code error;
	const uint64_t size = goes_on_ ? size_ : std::filesystem::file_size(paths_.back(), error);
	if (error)
		throw Error("cannot follow " + paths_.back() + ": " + error.message(),
		            "it was removed or renamed: follow its new name");
	if (size != size_)
		open(paths_);
	else
		begin_next();
	return whole_until_ != before;
}

std::unique_ptr<StoredColumns> FollowedSource::columns(const BlockRef& ref) {
	return now_->columns(ref);
}

void FollowedSource::take_all() {
	auto groups = group_by_state(paths_);
	now_ = std::make_unique<JoinedSource>(std::move(groups.front()));
	grow_catalog(catalog_, now_->catalog());
}

} // namespace dfr::trace
