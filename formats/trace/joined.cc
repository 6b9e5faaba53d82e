// SPDX-License-Identifier: GPL-2.0
//
// Several files as one source.
#include "formats/trace/joined.h"

#include <algorithm>
#include <map>

#include "formats/trace/batch.h"

namespace dfr::trace {
namespace {

// A state's catalog only grows, so of two files of a state the one with more in it was written later.
size_t length(const Catalog& catalog) {
	return catalog.events.size() + catalog.clocks.size() + catalog.probes.size() + catalog.ecbs.size() +
	       catalog.modules.size() + catalog.dofs.size();
}

// Boot and number identify a kernel's state. The first clock entry is there because engines in processes
// use the same numbers.
using StateKey = std::tuple<std::array<uint8_t, 16>, uint64_t, uint64_t>;
StateKey key_of(const Catalog& catalog) {
	return {catalog.boot_id, catalog.state_id, catalog.clocks.empty() ? 0 : catalog.clocks.front().mono};
}

uint64_t last_time(const std::vector<BlockRef>& refs) {
	uint64_t last = 0;
	for (const BlockRef& ref : refs)
		last = std::max<uint64_t>({last, ref.head.first_time, ref.head.last_time});
	return last;
}

} // namespace

JoinedSource::JoinedSource(std::vector<std::unique_ptr<FileSource>> files) {
	struct Opened {
		std::unique_ptr<FileSource> file;
		std::vector<BlockRef> refs;
		size_t entries = 0;
		uint64_t last = 0;
	};
	std::vector<Opened> all;
	for (auto& file : files) {
		name_ += (all.empty() ? "" : ", ") + file->name();
		Opened one{.file = std::move(file), .refs = {}};
		one.refs = one.file->index();
		one.entries = length(one.file->catalog());
		one.last = last_time(one.refs);
		all.push_back(std::move(one));
	}
	std::stable_sort(all.begin(), all.end(), [](const Opened& a, const Opened& b) {
		return std::tuple(a.entries, a.last) < std::tuple(b.entries, b.last);
	});
	// CPU and sequence number identify a block of a state. A file may have a block as it was before more
	// records were added to it, or with a part of its records (DFR_BLOCK_CUT).
	std::map<std::pair<uint32_t, uint64_t>, std::vector<Copy>> known;
	for (Opened& one : all) {
		for (const BlockRef& ref : one.refs)
			known[{ref.head.cpu, ref.head.seq}].push_back({files_.size(), ref});
		files_.push_back(std::move(one.file));
	}
	const auto worth = [](const Copy& copy) {
		return std::pair(!(copy.ref.head.flags & DFR_BLOCK_CUT), copy.ref.head.committed);
	};
	for (auto& [key, copies] : known) {
		std::stable_sort(copies.begin(), copies.end(),
		                 [&](const Copy& a, const Copy& b) { return worth(a) > worth(b); });
		repeated_ += copies.size() > 1;
		blocks_.push_back(std::move(copies));
	}
}

std::vector<BlockRef> JoinedSource::index() {
	std::vector<BlockRef> refs;
	for (const std::vector<Copy>& copies : blocks_)
		refs.push_back({copies.front().ref.head, refs.size()});
	return refs;
}

std::optional<Block> JoinedSource::load(const BlockRef& ref) {
	if (ref.handle >= blocks_.size())
		return std::nullopt;
	for (const Copy& copy : blocks_[ref.handle]) // a copy of which a part is damaged answers for nothing
		if (std::optional<Block> block = files_[copy.file]->load(copy.ref))
			return block;
	return std::nullopt;
}

std::unique_ptr<StoredColumns> JoinedSource::columns(const BlockRef& ref) {
	if (ref.handle >= blocks_.size())
		return nullptr;
	const Copy& copy = blocks_[ref.handle].front();
	return files_[copy.file]->columns(copy.ref);
}

std::optional<AggSnapshot> JoinedSource::next_snapshot() {
	for (; next_file_ < files_.size(); next_file_++)
		if (std::optional<AggSnapshot> snapshot = files_[next_file_]->next_snapshot())
			return snapshot;
	return std::nullopt;
}

void JoinedSource::names(KnownNames& into) {
	for (const auto& file : files_)
		file->names(into);
}

// Each file has the engine's counters since go, so the highest counts.
Losses JoinedSource::losses() {
	std::map<std::tuple<uint32_t, uint32_t, int32_t>, Losses::Loss> highest;
	for (const auto& file : files_) {
		const Losses losses = file->losses();
		for (const Losses::Loss& entry : losses.entries) {
			Losses::Loss& most = highest[{entry.cause, entry.probe, entry.cpu}];
			if (entry.count >= most.count)
				most = entry;
		}
	}
	Losses all;
	for (const auto& [key, entry] : highest)
		all.add(entry);
	return all;
}

std::map<uint32_t, Reach> JoinedSource::reaches() {
	std::map<uint32_t, Reach> furthest;
	for (const auto& file : files_)
		for (const auto& [cpu, reach] : file->reaches())
			if (reach.seq >= furthest[cpu].seq)
				furthest[cpu] = reach;
	return furthest;
}

bool JoinedSource::lacks_unnoticed(size_t file) const {
	if (file + 1 == files_.size() || !files_[file]->cut())
		return false;
	return std::none_of(
	    files_.begin() + static_cast<std::ptrdiff_t>(file) + 1, files_.end(),
	    [](const auto& later) { return later->reaches().size() >= later->catalog().cpus; });
}

std::vector<std::string> JoinedSource::remarks() {
	std::vector<std::string> all;
	for (size_t i = 0; i < files_.size(); i++) {
		const std::string name = files_.size() > 1 ? files_[i]->name() + ": " : "";
		for (const std::string& remark : files_[i]->remarks())
			all.push_back(name + remark);
		if (lacks_unnoticed(i))
			all.push_back(name + files_[i]->cut()->why);
	}
	return all;
}

bool JoinedSource::partial() {
	for (size_t i = 0; i < files_.size(); i++)
		if (files_[i]->partial() || lacks_unnoticed(i))
			return true;
	return false;
}

std::string JoinedSource::repeats() const {
	if (!repeated_)
		return {};
	return std::to_string(repeated_) + (repeated_ == 1 ? " block is" : " blocks are") +
	       " in several files and counted once";
}

std::vector<std::vector<std::unique_ptr<FileSource>>> group_by_state(const std::vector<std::string>& paths) {
	std::vector<std::vector<std::unique_ptr<FileSource>>> groups;
	std::map<StateKey, size_t> known;
	for (const std::string& path : paths) {
		std::unique_ptr<FileSource> file = open_file(path);
		const auto [at, fresh] = known.try_emplace(key_of(file->catalog()), groups.size());
		if (fresh)
			groups.emplace_back();
		groups[at->second].push_back(std::move(file));
	}
	return groups;
}

} // namespace dfr::trace
