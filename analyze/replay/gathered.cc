// SPDX-License-Identifier: GPL-2.0
//
// Records of several recordings in order of time.
#include "analyze/replay/gathered.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "formats/amounts.h"

namespace dfr::replay {

Gathered::Gathered(const trace::United& all, const Wanted& wanted, bool windowed)
    : all_(all), passes_marks_(wanted.to || wanted.all) {
	std::vector<Selectable> selectable;
	for (const trace::UnitedSource& member : all.members()) {
		parts_.push_back({member, std::make_unique<trace::Merger>(*member.source)});
		parts_.back().merger->open();
		selectable.push_back({*parts_.back().merger, member});
	}
	std::vector<Selected> selected = select(wanted, selectable, windowed);
	for (size_t i = 0; i < parts_.size(); i++)
		parts_[i].selected = std::move(selected[i]);
}

std::string Gathered::prefix(const GatheredPart& part) const {
	return parts_.size() > 1 ? part.member.source->name() + ": " : std::string{};
}

// Of one recording everything is as it is there.
void Gathered::run(const Visit& visit) {
	if (parts_.size() > 1)
		return merge(visit);
	const uint32_t boot = parts_.front().member.boot;
	parts_.front().merger->run([&](const trace::Record& record) { return visit(record, boot); });
}

// What is selected of a recording that grows is read piece by piece, each by a merger of its own. A program that
// commits speculations writes records with times of before, so there it is one piece, at the end. The verdict is
// that of one reading of all of it: what grew meanwhile is not in it.
void Gathered::follow(trace::FollowedSource& source, const Visit& visit,
                      const std::function<bool(uint64_t until)>& await) {
	GatheredPart& part = parts_.front();
	trace::Selection all = part.selected.records, piece = all;
	bool more = true;
	const auto read = [&] {
		trace::Merger merger(source);
		merger.open();
		merger.select(piece);
		uint64_t last = 0;
		merger.run([&](const trace::Record& record) {
			last = record.time;
			return more = visit(record, part.member.boot);
		});
		all.to = more ? piece.to : last;
		piece.from = piece.to + 1;
	};
	all.to = all.from;
	while (more) {
		const bool known = source.whole_until() != 0;
		piece.to = source.whole_until() == UINT64_MAX ? UINT64_MAX : source.whole_until() - known;
		const bool in_order =
		    source.ended() || (known && !trace::RecordShapes(source.catalog()).may_commit());
		if (in_order && piece.from <= piece.to)
			read();
		more = more && !source.ended() && await(all.to);
		while (more && !source.grow())
			more = await(all.to);
	}
	source.take_all();
	part.selected.records = all;
	start_over();
	if (const uint64_t horizon = part.merger->horizon();
	    horizon > all.from && part.selected.reasons.empty() && !source.lacks_files())
		part.selected.reasons.push_back(
		    "before " + trace::time_text(source.catalog(), horizon) +
		    " records of some CPUs are missing (overwritten, or taken earlier)");
	if (!part.merger->scan([](trace::RecordBatch&, uint32_t) { return true; })) {
		start_over(); // what the scan has counted would count twice
		part.merger->run([](const trace::Record&) { return true; });
	}
}

void Gathered::start_over() {
	GatheredPart& part = parts_.front();
	part.merger = std::make_unique<trace::Merger>(*part.member.source);
	part.merger->open();
	part.merger->select(part.selected.records);
}

// In order of time, then CPU, so that records of one firing, which several states of a boot may have, stand
// together.
void Gathered::merge(const Visit& visit) {
	struct Next {
		const GatheredPart* part;
		bool there;
		trace::Record record;
		auto key() const { return std::tuple(record.time, record.cpu, part->member.boot); }
	};
	const auto advance = [](Next& next) {
		const trace::Record* const record = next.part->merger->next();
		next.there = record != nullptr;
		if (record)
			next.record = next.part->member.record(*record);
	};
	std::vector<Next> all;
	for (const GatheredPart& part : parts_) {
		all.push_back({&part, false, {}});
		advance(all.back());
	}
	for (bool more = true; more;) {
		Next* first = nullptr;
		for (Next& next : all)
			if (next.there && (!first || next.key() < first->key()))
				first = &next;
		more = first && visit(first->record, first->part->member.boot);
		if (more)
			advance(*first);
	}
	for (const GatheredPart& part : parts_)
		part.merger->finish();
}

// Not at go if a ring has overwritten its oldest records: that may be a month ago.
std::optional<uint64_t> Gathered::start_of(const GatheredPart& part) const {
	const uint64_t from = part.selected.records.from;
	std::optional<uint64_t> go;
	for (const trace::EventMark& mark : catalog(part).events)
		if (mark.event == DFR_EVENT_GO)
			go = std::min(go.value_or(UINT64_MAX), mark.time);
	if (part.merger->horizon() || !go)
		return from ? std::optional(from) : std::nullopt;
	return std::max(*go, from);
}

std::optional<uint64_t> Gathered::start() const {
	std::optional<uint64_t> earliest;
	for (const GatheredPart& part : parts_) {
		const std::optional<uint64_t> own = part.selected.touched ? start_of(part) : std::nullopt;
		if (own)
			earliest = std::min(earliest.value_or(UINT64_MAX), part.member.time(*own));
	}
	return earliest;
}

std::optional<uint64_t> Gathered::stop() const {
	std::optional<uint64_t> latest;
	for (const GatheredPart& part : parts_) {
		std::optional<uint64_t> own;
		for (const trace::EventMark& mark : catalog(part).events)
			if (mark.event == DFR_EVENT_STOP)
				own = std::max(own.value_or(0), mark.time);
		const auto cut = own ? std::nullopt : part.member.source->cut();
		if (cut)
			own = std::min(cut->whole_until - 1, catalog(part).recording_end());
		if (own && part.selected.touched)
			latest = std::max(latest.value_or(0),
			                  part.member.time(std::min(*own, part.selected.records.to)));
	}
	return latest;
}

bool Gathered::covers(size_t other, size_t one) const {
	const GatheredPart &a = parts_[other], &b = parts_[one];
	return other != one && a.member.host == b.member.host && a.member.boot == b.member.boot &&
	       a.selected.extent.from <= std::max(b.selected.extent.from, b.selected.records.from) &&
	       a.selected.extent.until >= std::min(b.selected.extent.until, b.selected.records.to);
}

bool Gathered::overlap(size_t one, size_t other) const {
	const auto span_of = [](const GatheredPart& part) {
		const trace::Selection& wanted = part.selected.records;
		const Extent& extent = part.selected.extent;
		return std::pair(part.member.time(std::max(extent.earliest, wanted.from)),
		                 part.member.time(std::min(extent.to, wanted.to)));
	};
	const GatheredPart &a = parts_[one], &b = parts_[other];
	const auto [from, to] = span_of(a);
	const auto [start, end] = span_of(b);
	return a.selected.touched && b.selected.touched && from <= end && start <= to;
}

trace::Verdict Gathered::judge(const std::function<trace::Asked(const trace::Catalog&)>& asked) {
	const auto judge_part = [&asked](const GatheredPart& part) {
		trace::BlockSource& source = *part.member.source;
		return trace::judge(source, *part.merger, asked ? asked(source.catalog()) : trace::Asked());
	};
	if (parts_.size() == 1)
		return judge_part(parts_.front());
	trace::Verdict all;
	all.from = UINT64_MAX;
	std::set<std::pair<uint32_t, size_t>> cpus; // by host
	std::set<uint32_t> hosts;
	for (const GatheredPart& part : parts_) {
		if (!part.selected.note.empty())
			all.notes.push_back(prefix(part) + part.selected.note);
		if (!part.selected.touched)
			continue;
		hosts.insert(part.member.host);
		const trace::Verdict one = judge_part(part);
		all.complete &= one.complete;
		all.windowed |= one.windowed;
		all.goes_on |= one.goes_on;
		all.from = std::min(all.from, part.member.time(one.from));
		all.to = std::max(all.to, part.member.time(one.to));
		all.records += one.records;
		all.lost = trace::added(all.lost, one.lost);
		all.estimated = trace::added(all.estimated, one.estimated);
		for (const std::string& reason : one.reasons)
			all.reasons.push_back(prefix(part) + reason);
		for (size_t cpu = 0; cpu < part.merger->cpus().size(); cpu++)
			if (part.merger->cpus()[cpu].blocks)
				cpus.emplace(part.member.host, cpu);
	}
	all.cpus = static_cast<unsigned>(cpus.size());
	all.hosts = static_cast<unsigned>(hosts.size());
	all.clock_error = all_.clock_error();
	return all;
}

uint64_t Gathered::left_out() const {
	uint64_t sum = 0;
	for (const GatheredPart& part : parts_)
		sum += part.merger->left_out();
	return sum;
}

std::vector<std::string> Gathered::reasons() const {
	std::vector<std::string> all;
	for (const GatheredPart& part : parts_)
		for (const std::string& reason : part.selected.reasons)
			all.push_back(prefix(part) + reason);
	for (const GatheredPart& part : parts_) {
		const auto cut = part.selected.touched ? part.member.source->cut() : std::nullopt;
		if (cut && cut->goes_on && passes_marks_ && part.selected.records.to >= cut->whole_until)
			all.push_back(prefix(part) + "after " +
			              trace::time_text(catalog(part), cut->whole_until) +
			              " records of some CPUs are missing (taken later)");
		if (cut && trace::RecordShapes(catalog(part)).may_commit())
			all.push_back(prefix(part) +
			              trace::later_commits_text(catalog(part), cut->whole_until));
	}
	find_holes(all);
	return all;
}

// Times between two recordings of a boot that none of that boot has, as far as --from and --to ask for them: nobody knows
// what fired there.
void Gathered::find_holes(std::vector<std::string>& reasons) const {
	std::vector<const GatheredPart*> parts;
	for (const GatheredPart& part : parts_)
		parts.push_back(&part);
	std::ranges::stable_sort(parts, {}, [](const GatheredPart* part) {
		return std::pair(part->member.boot, part->selected.extent.from);
	});
	const GatheredPart* last = nullptr; // of those of a boot until here the one that goes furthest
	for (const GatheredPart* const part : parts) {
		if (last && last->member.boot == part->member.boot) {
			const uint64_t from =
			    std::max(last->selected.extent.until, last->selected.records.from);
			const uint64_t to = std::min(part->selected.extent.from, part->selected.records.to);
			if (from + 1 < to)
				reasons.push_back(
				    "the recordings leave out " + trace::span_text(catalog(*part), from, to) +
				    " (" + span_text(to - from) + ", between " + last->member.source->name() +
				    " and " + part->member.source->name() + ")");
			if (part->selected.extent.until <= last->selected.extent.until)
				continue;
		}
		last = part;
	}
}

} // namespace dfr::replay
