// SPDX-License-Identifier: GPL-2.0
//
// Several files as one source.
#include "formats/trace/joined.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <set>

#include "formats/trace/batch.h"
#include "formats/trace/container.h"
#include "formats/trace/counted.h"
#include "formats/trace/decode.h"
#include "formats/trace/redact.h"
#include "formats/trace/remake.h"

namespace dfr::trace {
namespace {

// A state's catalog only grows, so of two files of a state the one with more in it was written later. What only a
// snapshot's file has does not count.
size_t length(const Catalog& catalog) {
	const auto of_state = [](const EventMark& mark) { return mark.event != DFR_EVENT_SNAPSHOT; };
	return static_cast<size_t>(std::ranges::count_if(catalog.events, of_state)) + catalog.clocks.size() +
	       catalog.probes.size() + catalog.ecbs.size() + catalog.modules.size() + catalog.dofs.size();
}

// Boot and number identify a kernel's state. The first clock entry is there because engines in processes
// use the same numbers.
using StateKey = std::tuple<std::array<uint8_t, 16>, uint64_t, uint64_t>;
StateKey key_of(const Catalog& catalog) {
	return {catalog.boot_id, catalog.state_id, catalog.clocks.empty() ? 0 : catalog.clocks.front().mono};
}

std::string parts_text(uint32_t first, uint32_t last) {
	return first == last ? "part " + std::to_string(first) + " is"
	                     : "parts " + std::to_string(first) + " to " + std::to_string(last) + " are";
}

using StretchKey = std::tuple<int32_t, uint32_t, uint64_t>;
StretchKey key_of(const Losses::Stretch& stretch) {
	return {stretch.cpu, stretch.priority, stretch.from};
}

// A recorder tells in each file which clauses are off when it marks it. A harvest's mark is another's.
uint64_t told_at(const FileFacts& facts) {
	return facts.part.series || !facts.part.since ? facts.marked_until : 0;
}

// Of each file's stretches of thinning that went on when it was marked: by when they were over, because a later file does
// not tell of them any more; 0: none says that.
std::vector<std::map<StretchKey, uint64_t>>
ends_of_stretches(const std::vector<std::unique_ptr<FileSource>>& files, const std::vector<Losses>& losses) {
	std::vector<std::map<StretchKey, uint64_t>> ends(files.size());
	std::vector<uint64_t> told;
	for (const auto& file : files)
		told.push_back(told_at(file->facts()));
	for (size_t i = files.size(); i-- > 0;) {
		size_t next = told[i] ? i + 1 : files.size();
		while (next < files.size() && told[next] <= told[i])
			next++;
		for (const Losses::Stretch& stretch : losses[i].stretches) {
			if (stretch.to)
				continue;
			uint64_t& end = ends[i][key_of(stretch)];
			if (next == files.size())
				continue;
			const auto later = ends[next].find(key_of(stretch));
			end = later == ends[next].end() ? told[next] : later->second;
		}
	}
	return ends;
}

// Whether each CPU of which there was anything is there from its first block on.
bool has_all_before(FileSource& file) {
	std::map<uint32_t, uint64_t> first; // sequence numbers
	for (const BlockRef& ref : file.index()) {
		uint64_t& seq = first.try_emplace(ref.head.cpu, UINT64_MAX).first->second;
		seq = std::min<uint64_t>(seq, ref.head.seq);
	}
	for (const auto& [cpu, reach] : file.reaches())
		if (reach.seq)
			first.try_emplace(cpu, reach.seq + 1);
	return std::ranges::all_of(first, [](const auto& one) { return one.second == 1; });
}

uint64_t last_time(const std::vector<BlockRef>& refs) {
	uint64_t last = 0;
	for (const BlockRef& ref : refs)
		last = std::max<uint64_t>({last, ref.head.first_time, ref.head.last_time});
	return last;
}

// Both are parts of what one boot has. An event that both have is one; what is alike in one of them is as often in the whole.
KernelEvents joined_events(const KernelEvents& one, const KernelEvents& other) {
	const auto parts_of = [](const KernelEvents& of, const KernelEvents::Event& event) {
		return std::tuple(event.time, event.cpu, event.pid, std::string_view(of.texts[event.name]),
		                  std::string_view(of.texts[event.text]));
	};
	std::multiset<decltype(parts_of(one, {}))> known;
	KernelEventsBuilder all;
	const auto add = [&all](const auto& parts) {
		std::apply([&all](const auto&... part) { all.add(part...); }, parts);
	};
	for (const KernelEvents::Event& event : one.events)
		add(*known.insert(parts_of(one, event)));
	for (const KernelEvents::Event& event : other.events)
		if (const auto same = known.find(parts_of(other, event)); same != known.end())
			known.erase(same);
		else
			add(parts_of(other, event));
	std::ranges::stable_sort(all.events.events, {}, &KernelEvents::Event::time);
	all.events.lost = std::max(one.lost, other.lost);
	return std::move(all.events);
}

} // namespace

struct JoinedSource::OpenedFile {
	std::unique_ptr<FileSource> file;
	std::vector<BlockRef> refs;
	size_t entries = 0;
	uint64_t last = 0;
	FileFacts facts;
};

// The files of one recorder by their numbers, in the places that they have among the others.
void JoinedSource::put_parts_in_order(std::vector<OpenedFile>& all) {
	std::map<uint64_t, std::vector<size_t>> series;
	for (size_t i = 0; i < all.size(); i++)
		if (all[i].facts.part.series)
			series[all[i].facts.part.series].push_back(i);
	for (const auto& [number, places] : series) {
		std::vector<OpenedFile> parts;
		for (const size_t place : places)
			parts.push_back(std::move(all[place]));
		std::stable_sort(parts.begin(), parts.end(), [](const OpenedFile& a, const OpenedFile& b) {
			return a.facts.part.number < b.facts.part.number;
		});
		for (size_t i = 0; i < places.size(); i++)
			all[places[i]] = std::move(parts[i]);
	}
}

// A harvest lacks what a consumer had taken, and knows when the last record of that was: the consumer's file has a mark
// behind it, or the block that ended with it. A cut says by itself that it is a part.
void JoinedSource::find_taken(const std::vector<OpenedFile>& all) {
	for (const OpenedFile& harvest : all) {
		const FilePart& part = harvest.facts.part;
		if (part.series || !part.since || all.size() == 1 || !harvest.file->parts().empty())
			continue;
		const auto has_taken = [&](const OpenedFile& other) {
			return &other != &harvest &&
			       (other.facts.marked_until >= part.since ||
			        std::ranges::any_of(other.refs, [&part](const BlockRef& ref) {
				        return ref.head.last_time == part.since - 1;
			        }));
		};
		if (std::ranges::none_of(all, has_taken))
			missing_files_.push_back(
			    harvest.file->name() + ": what a consumer had taken before " +
			    time_text(harvest.file->catalog(), part.since) + " is in no other file");
	}
}

JoinedSource::JoinedSource(std::vector<std::unique_ptr<FileSource>> files) {
	const bool begun =
	    std::any_of(files.begin(), files.end(), [](const auto& file) { return file->facts().begun; });
	std::vector<OpenedFile> all;
	for (auto& file : files) {
		if (begun && !file->facts().begun) {
			const bool empty = file->facts().size <= sizeof(FileHead);
			(empty ? not_begun_ : missing_files_)
			    .push_back(file->name() +
			               (empty ? ": nothing was recorded in it"
			                      : ": it was cut or is damaged, and nothing in it can be read"));
			continue;
		}
		name_ += (all.empty() ? "" : ", ") + file->name();
		OpenedFile one{.file = std::move(file), .refs = {}, .facts = {}};
		one.refs = one.file->index();
		one.facts = one.file->facts();
		one.entries = length(one.file->catalog());
		one.last = last_time(one.refs);
		all.push_back(std::move(one));
	}
	std::ranges::stable_sort(all, {}, [](const OpenedFile& one) {
		// Where nothing is recorded but in aggregations, only how a file ends tells.
		const bool last_of_state = one.facts.finished && !one.facts.goes_on;
		return std::tuple(one.entries, one.last, last_of_state, one.facts.marked_until);
	});
	put_parts_in_order(all);
	find_taken(all);
	// CPU and sequence number identify a block of a state. A file may have a block as it was before more
	// records were added to it, or with a part of its records (DFR_BLOCK_CUT).
	size_t blocks = 0;
	for (const OpenedFile& one : all)
		blocks += one.refs.size();
	copies_.reserve(blocks);
	for (OpenedFile& one : all) {
		for (const BlockRef& ref : one.refs)
			copies_.push_back({files_.size(), ref});
		one.refs = {};
		files_.push_back(std::move(one.file));
	}
	find_missing_parts();
	const auto order = [](const Copy& copy) {
		const dfr_block& head = copy.ref.head;
		return std::tuple(head.cpu, head.seq, head.flags & DFR_BLOCK_CUT, ~head.committed);
	};
	std::stable_sort(copies_.begin(), copies_.end(),
	                 [&](const Copy& a, const Copy& b) { return order(a) < order(b); });
	// Of cuts, those that are alike are one.
	const auto copy = [](const Copy& a, const Copy& b) {
		return a.ref.head.flags & DFR_BLOCK_CUT &&
		       !std::memcmp(&a.ref.head, &b.ref.head, sizeof a.ref.head);
	};
	const auto alike = std::unique(copies_.begin(), copies_.end(), copy);
	repeated_ = static_cast<uint64_t>(copies_.end() - alike);
	copies_.erase(alike, copies_.end());
	for (size_t i = 0; i < copies_.size(); i++) {
		const bool first_again = same_block(i) && !(i > 1 && same_block(i - 1));
		joined_ += first_again && of_cuts(i - 1);
		repeated_ += first_again && !of_cuts(i - 1);
	}
}

bool JoinedSource::same_block(size_t copy) const {
	const auto key = [this](size_t at) {
		return std::tuple(copies_[at].ref.head.cpu, copies_[at].ref.head.seq);
	};
	return copy > 0 && copy < copies_.size() && key(copy) == key(copy - 1);
}

bool JoinedSource::of_cuts(size_t copy) const {
	return copies_[copy].ref.head.flags & DFR_BLOCK_CUT && same_block(copy + 1);
}

// The first file's; what is in front of a cut may be in another file.
uint64_t JoinedSource::since() {
	uint64_t least = UINT64_MAX;
	for (const auto& file : files_) {
		if (file->parts().empty())
			return file->since();
		least = std::min(least, file->since());
	}
	return least;
}

std::vector<BlockRef> JoinedSource::index() {
	std::vector<BlockRef> refs;
	refs.reserve(copies_.size());
	for (size_t i = 0; i < copies_.size(); i++)
		if (!same_block(i))
			refs.push_back({copies_[i].ref.head, i});
		else if (of_cuts(refs.back().handle))
			refs.back().head = joined_head(refs.back().head, copies_[i].ref.head);
	return refs;
}

// Of a block that was cut, what all files have of it together. One that cannot be read would be missed by nobody.
std::optional<Block> JoinedSource::join(size_t copy) {
	RecordShapes shapes(catalog());
	std::optional<Block> all = files_[copies_[copy].file]->load(copies_[copy].ref);
	while (all && same_block(++copy)) {
		const std::optional<Block> more = files_[copies_[copy].file]->load(copies_[copy].ref);
		all = more ? join_cuts(*all, *more, shapes) : std::nullopt;
	}
	return all;
}

std::optional<Block> JoinedSource::load(const BlockRef& ref) {
	if (ref.handle >= copies_.size())
		return std::nullopt;
	size_t at = ref.handle;
	if (of_cuts(at))
		return join(at);
	do { // a copy of which a part is damaged answers for nothing, and a cut for no whole block
		const Copy& copy = copies_[at];
		if (std::optional<Block> block = files_[copy.file]->load(copy.ref))
			return block;
	} while (same_block(++at) && !(copies_[at].ref.head.flags & DFR_BLOCK_CUT));
	return std::nullopt;
}

std::unique_ptr<StoredColumns> JoinedSource::columns(const BlockRef& ref, const WantColumns& wanted) {
	if (ref.handle >= copies_.size())
		return nullptr;
	const Copy& copy = copies_[ref.handle];
	return files_[copy.file]->columns(copy.ref, wanted);
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

// Each has those of the whole state, as far as it was known when the file was written.
RecordedTypes JoinedSource::types() {
	for (auto file = files_.rbegin(); file != files_.rend(); ++file)
		if (RecordedTypes known = (*file)->types(); !known.empty())
			return known;
	return {};
}

// One boot has one set of them, of which cuts have a part each.
KernelEvents JoinedSource::kernel_events() {
	std::vector<std::pair<std::string, KernelEvents>> sets; // and whose
	for (const auto& file : files_)
		if (KernelEvents kept = file->kernel_events(); !kept.empty())
			sets.emplace_back(file->name(), std::move(kept));
	KernelEvents all;
	for (const auto& [name, kept] : sets)
		all = joined_events(all, kept);
	std::map<std::string_view, size_t> having; // so many of them have that remark
	for (const auto& [name, kept] : sets)
		for (const std::string_view remark :
		     std::set<std::string_view>(kept.remarks.begin(), kept.remarks.end()))
			having[remark]++;
	std::set<std::string> remarks;
	for (const auto& [name, kept] : sets)
		for (const std::string& remark : kept.remarks) {
			const bool shared = having[remark] == sets.size();
			if (remarks.insert(shared ? remark : name + ": " + remark).second)
				all.remarks.push_back(shared ? remark : name + ": " + remark);
		}
	return all;
}

// Each file has the engine's counters since go, a harvest by CPU, others their sums: of each cause those of the file that has most.
Losses JoinedSource::losses() {
	Losses all;
	std::map<uint32_t, std::pair<uint64_t, std::vector<Losses::Loss>>> most; // by cause: sum, entries
	std::vector<Losses> by_file;
	for (const auto& file : files_)
		by_file.push_back(file->losses());
	const auto ends = ends_of_stretches(files_, by_file);
	for (size_t i = 0; i < files_.size(); i++) {
		const Losses& losses = by_file[i];
		std::map<uint32_t, std::pair<uint64_t, std::vector<Losses::Loss>>> own;
		for (const Losses::Loss& entry : losses.entries) {
			auto& [sum, entries] = own[entry.cause];
			sum = added(sum, entry.count);
			entries.push_back(entry);
		}
		for (auto& [cause, counted] : own)
			if (counted.first >= most[cause].first)
				most[cause] = std::move(counted);
		for (Losses::Stretch stretch : losses.stretches) {
			const auto end = ends[i].find(key_of(stretch));
			stretch.over_by = end == ends[i].end() ? 0 : end->second;
			all.add(stretch);
		}
	}
	for (const auto& [cause, counted] : most)
		for (const Losses::Loss& entry : counted.second)
			all.add(entry);
	return all;
}

std::map<uint32_t, Reach> JoinedSource::reaches() {
	std::map<uint32_t, Reach> furthest;
	const auto add = [&furthest](const std::map<uint32_t, Reach>& reaches) {
		for (const auto& [cpu, reach] : reaches)
			if (Reach& known = furthest[cpu];
			    std::tuple(reach.seq, reach.records) >= std::tuple(known.seq, known.records))
				known = reach;
	};
	for (size_t i = 0; i < files_.size(); i++) {
		add(files_[i]->reaches());
		// What came before the first file is not of this recording; and where one was cut, those before it may
		// have been too.
		if (i && files_[i]->parts().empty())
			add(files_[i]->facts().part.before);
	}
	return furthest;
}

// A cut lacks what was not wanted of what it is whole in; and what a state recorded before a file that is no part of a
// series is in no count.
BlockSource::FirstFile JoinedSource::first_file() {
	const FileFacts facts = files_.front()->facts();
	if (files_.size() == 1 || !files_.front()->parts().empty() ||
	    (!facts.part.series && !has_all_before(*files_.front())))
		return {};
	return {.whole_until = facts.marked_until, .before = facts.part.before};
}

// Numbers that are not here, between two that are. Which records they had, the blocks around them tell (judge()).
void JoinedSource::find_missing_parts() {
	std::map<uint64_t, const FileSource*> last; // by series
	for (const auto& file : files_) {
		const FilePart part = file->facts().part;
		const FileSource*& before = last[part.series];
		const FileFacts facts = before ? before->facts() : FileFacts{};
		if (part.series && before && part.number > facts.part.number + 1)
			missing_files_.push_back(parts_text(facts.part.number + 1, part.number - 1) +
			                         " not here, with what was recorded from " +
			                         time_text(catalog(), facts.marked_until) + " to " +
			                         time_text(catalog(), part.since) + " (between " +
			                         before->name() + " and " + file->name() + ")");
		before = file.get();
	}
}

bool JoinedSource::lacks_unnoticed(size_t file) const {
	if (file + 1 == files_.size() || files_[file]->facts().cut.empty())
		return false;
	return std::none_of(
	    files_.begin() + static_cast<std::ptrdiff_t>(file) + 1, files_.end(),
	    [](const auto& later) { return later->reaches().size() >= later->catalog().cpus; });
}

// A snapshot may know of a later time than a part that was killed, and that one's records are newer.
std::optional<BlockSource::SourceCut> JoinedSource::cut() {
	std::optional<SourceCut> furthest = newest().cut();
	for (const auto& file : files_) {
		std::optional<SourceCut> cut = file->cut();
		if (furthest && cut && cut->whole_until > furthest->whole_until)
			furthest = std::move(cut);
	}
	return furthest;
}

std::vector<std::string> JoinedSource::remarks() {
	std::vector<std::string> all;
	for (size_t i = 0; i < files_.size(); i++) {
		const std::string name = files_.size() > 1 ? files_[i]->name() + ": " : "";
		const bool healed = i + 1 < files_.size() && !lacks_unnoticed(i);
		const std::string cut = files_[i]->facts().cut;
		for (const std::string& remark : files_[i]->remarks())
			if (!healed || remark != cut)
				all.push_back(name + remark);
	}
	all.insert(all.end(), missing_files_.begin(), missing_files_.end());
	return all;
}

bool JoinedSource::partial() {
	if (!missing_files_.empty())
		return true;
	for (size_t i = 0; i < files_.size(); i++)
		if (i + 1 == files_.size() ? files_[i]->partial()
		                           : files_[i]->partial_before_cut() || lacks_unnoticed(i))
			return true;
	return false;
}

bool same_state(const Catalog& one, const Catalog& other) {
	return key_of(one) == key_of(other) && one.machine_text(kKeptKey) == other.machine_text(kKeptKey);
}

std::vector<std::string> JoinedSource::notes() const {
	std::vector<std::string> notes;
	if (repeated_)
		notes.push_back(std::to_string(repeated_) + (repeated_ == 1 ? " block is" : " blocks are") +
		                " in several files and counted once");
	if (joined_)
		notes.push_back(plural(joined_, "block") + " of which several files have parts " +
		                (joined_ == 1 ? "was" : "were") + " put together");
	notes.insert(notes.end(), not_begun_.begin(), not_begun_.end());
	return notes;
}

// A file in which nothing was begun does not say whose it is: it goes to the first recording.
std::vector<std::vector<std::unique_ptr<FileSource>>>
group_by_state(const std::vector<std::string>& paths, const std::map<std::string, uint64_t>& checked) {
	std::vector<std::vector<std::unique_ptr<FileSource>>> groups;
	std::vector<std::unique_ptr<FileSource>> not_begun;
	std::vector<std::string> recordings;
	for (const std::string& path : paths)
		std::ranges::move(recordings_of(path), std::back_inserter(recordings));
	for (const std::string& path : recordings) {
		const auto known = checked.find(path);
		std::unique_ptr<FileSource> file =
		    open_file(path, known == checked.end() ? 0 : known->second);
		if (!file->facts().begun) {
			not_begun.push_back(std::move(file));
			continue;
		}
		const auto group = std::ranges::find_if(groups, [&file](const auto& one) {
			return same_state(one.front()->catalog(), file->catalog());
		});
		if (group == groups.end())
			groups.emplace_back().push_back(std::move(file));
		else
			group->push_back(std::move(file));
	}
	if (groups.empty())
		groups.emplace_back();
	std::move(not_begun.begin(), not_begun.end(), std::back_inserter(groups.front()));
	return groups;
}

} // namespace dfr::trace
