// SPDX-License-Identifier: GPL-2.0
//
// Blocks against their checksums, their headers, their columns and each other.
#include "formats/trace/verify_blocks.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "formats/trace/columns.h"
#include "formats/trace/counted.h"

namespace dfr::trace {
namespace {

// The highest time that a header tells of.
uint64_t last_of(const dfr_block& head) {
	return std::max(head.first_time, head.last_time);
}

std::string numbers(uint64_t first, uint64_t last) {
	return first == last ? "block " + std::to_string(first)
	                     : "blocks " + std::to_string(first) + " to " + std::to_string(last);
}

// The parts of both in which both hold.
std::vector<TimeSpan> common(const std::vector<TimeSpan>& a, const std::vector<TimeSpan>& b) {
	std::vector<TimeSpan> both;
	for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
		const TimeSpan span{std::max(a[i].from, b[j].from), std::min(a[i].to, b[j].to)};
		if (span.from <= span.to)
			both.push_back(span);
		(a[i].to < b[j].to ? i : j)++;
	}
	return both;
}

} // namespace

void BlockVerifier::epid(const Segment& segment, uint32_t cpu, uint32_t epid) {
	const auto at = [&](const char* what) {
		into_.add({.from = segment.offset,
		           .to = segment.end(),
		           .cpu = static_cast<int32_t>(cpu),
		           .what = "records of EPID " + std::to_string(epid) + what});
	};
	if (!into_.catalog.layout_of(epid))
		at(", which the catalog does not explain");
	else if (epid < named_at_.size() && named_at_[epid] > segment.offset)
		at(" stand before the catalog's entry that explains them");
}

// Walks the records and holds them against the header.
void BlockVerifier::block(const Segment& segment, const Block& block, Known& known) {
	const dfr_block& head = known.head;
	Finding finding{.from = segment.offset,
	                .to = segment.end(),
	                .cpu = static_cast<int32_t>(head.cpu),
	                .block = head.seq};
	const auto wrong = [&](std::string what) {
		finding.what = std::move(what);
		into_.add(finding);
		known.whole = false;
	};
	known.whole = true;
	if (!header_is_sane(head))
		return wrong("its header makes no sense");
	if (head.state_id != into_.catalog.state_id)
		wrong("it is of state " + std::to_string(head.state_id) + ", the catalog of state " +
		      std::to_string(into_.catalog.state_id));
	if (head.cpu >= into_.catalog.cpus)
		wrong("it is of CPU " + std::to_string(head.cpu) + ", the catalog has " +
		      plural(into_.catalog.cpus, "CPU"));
	if (!(head.flags & DFR_BLOCK_SEALED)) {
		into_.unsealed++;
	} else if (!block.verified) {
		for (const DamagedInterval& damage : damaged_intervals(block.bytes))
			wrong("the checksum of its bytes " + std::to_string(damage.from) + " to " +
			      std::to_string(damage.to) + " is wrong" +
			      (damage.records ? " (" + plural(damage.records, "record") + ")" : ""));
		if (known.whole)
			wrong("its checksum is wrong");
	}
	for (uint32_t i = 0; i < restart_count(head); i++)
		into_.intervals += restart_at(block.bytes.data(), i).record != 0;
	RecordCursor cursor(shapes_);
	DecodeDamage damage;
	Losses losses;
	uint64_t earliest = UINT64_MAX, latest = 0;
	if (cursor.open(block, damage, &losses)) {
		while (cursor.next()) {
			known.records++;
			earliest = std::min(earliest, cursor.current().time);
			latest = std::max(latest, cursor.current().time);
		}
	}
	for (const Losses::Loss& loss : losses.entries)
		if (loss.cause == DFR_LOSS_OVERWRITTEN)
			known.overwritten = added(known.overwritten, loss.count);
	const bool closed = head.last_time != 0;
	if (damage.regions && known.whole) // else it has been said
		wrong(plural(damage.bytes, "byte") + " of records cannot be read");
	if (!damage.regions && closed && known.records != head.records)
		wrong("it has " + plural(known.records, "record") + ", its header says " +
		      grouped(head.records));
	if (known.records && (earliest < head.first_time || (closed && latest > head.last_time)))
		wrong("records are outside of the times that its header says");
}

// What readers of single columns take from them, against the blocks that are made of all of them.
void BlockVerifier::columns(const Segment& segment, const ChunkHeaders& headers,
                            std::span<const std::byte> body) {
	const auto wrong = [&](const std::string& what) {
		into_.add({.from = segment.offset,
		           .to = segment.end(),
		           .cpu = static_cast<int32_t>(headers.head.cpu),
		           .what = what});
	};
	std::optional<ChunkColumns> chunk = ChunkColumns::open(body, headers.blocks);
	const std::optional<RecordPlaces> places = chunk ? chunk->records() : std::nullopt;
	const auto blocks = chunk ? chunk->blocks() : std::nullopt;
	if (!places || !blocks)
		return wrong("its columns cannot be read");
	for (const EpidColumns& columns : chunk->epids()) {
		if (columns.records)
			epid(segment, headers.head.cpu, columns.epid);
		for (const FieldColumn& field : columns.fields) {
			const auto values = chunk->integers(field);
			if (!values || (field.kind == DFR_FIELD_INT && !within(field, *values)))
				wrong("a column of EPID " + std::to_string(columns.epid) +
				      " has values outside of what its head says");
		}
	}
	const auto tasks = chunk->tasks();
	size_t at = 0;
	bool same = true;
	for (const Block& block : *blocks) {
		RecordCursor cursor(shapes_);
		DecodeDamage damage;
		if (!cursor.open(block, damage, nullptr))
			continue;
		while (same && cursor.next()) {
			const Record& record = cursor.current();
			const RecordPlace* const place =
			    at < places->records.size() ? &places->records[at] : nullptr;
			const Task task =
			    place && tasks && place->task < tasks->size() ? (*tasks)[place->task] : Task{};
			same = place && place->epid < chunk->epids().size() && place->time == record.time &&
			       place->level == record.level &&
			       chunk->epids()[place->epid].epid == record.epid &&
			       task.pid == record.context.pid && task.tid == record.context.tid;
			at++;
		}
		if (damage.regions)
			return; // block() has said it
	}
	if (!same || at != places->records.size())
		wrong("its columns do not say what its blocks say");
}

void BlockVerifier::chunk(const Segment& segment, std::span<const std::byte> payload) {
	const std::optional<ChunkHeaders> headers = decode_chunk_headers(payload, payload.size());
	const std::optional<std::vector<Block>> blocks = headers ? decode_chunk(payload) : std::nullopt;
	if (!blocks)
		return damaged_chunk(segment, payload);
	into_.chunks++;
	if (static_cast<ChunkEncoding>(headers->head.encoding) == ChunkEncoding::kColumns)
		columns(segment, *headers, payload.last(headers->head.stored));
	for (const Block& one : *blocks) {
		Known known{.head = one.header(), .from = segment.offset, .to = segment.end()};
		block(segment, one, known);
		into_.blocks++;
		into_.records += known.records;
		cpus_[known.head.cpu].push_back(known);
	}
}

void BlockVerifier::damaged_chunk(const Segment& segment, std::span<const std::byte> start) {
	Finding finding{
	    .from = segment.offset, .to = segment.end(), .what = "records are damaged, also their headers"};
	if (const auto headers = decode_chunk_headers(start, segment.head.stored);
	    headers && !headers->blocks.empty()) {
		uint64_t records = 0;
		for (const dfr_block& head : headers->blocks) {
			records += head.records;
			cpus_[head.cpu].push_back(
			    {.head = head, .from = segment.offset, .to = segment.end()});
		}
		finding.cpu = headers->head.cpu;
		finding.what = plural(records, "record") + " in " +
		               numbers(headers->blocks.front().seq, headers->blocks.back().seq) +
		               " are damaged";
	}
	into_.add(finding);
}

// A recording of a day has a ledger for each second, and as many blocks.
const BlockVerifier::Highest& BlockVerifier::highest_of(uint32_t cpu) {
	const auto [place, fresh] = highest_.try_emplace(cpu);
	Highest& highest = place->second;
	if (!fresh)
		return highest;
	for (const Known& known : cpus_[cpu])
		highest.emplace_back(known.from, known.head.seq);
	std::sort(highest.begin(), highest.end());
	for (size_t i = 1; i < highest.size(); i++)
		highest[i].second = std::max(highest[i].second, highest[i - 1].second);
	return highest;
}

void BlockVerifier::ledger(const Ledger& ledger, uint64_t offset) {
	for (const auto& [cpu, reach] : ledger.reaches) {
		if (!reach.seq)
			continue; // it never recorded
		Reach& furthest = reaches_[cpu];
		if (reach.seq >= furthest.seq)
			furthest = {reach.seq, std::max(reach.records, furthest.records)};
		const Highest& highest = highest_of(cpu);
		const auto behind =
		    std::lower_bound(highest.begin(), highest.end(), std::pair(offset, uint64_t{0}));
		const uint64_t in_front = behind == highest.begin() ? 0 : std::prev(behind)->second;
		const uint64_t all = highest.empty() ? 0 : highest.back().second;
		if (in_front < reach.seq && all >= reach.seq)
			into_.add({.from = offset,
			           .to = offset + sizeof(SegmentHead),
			           .cpu = static_cast<int32_t>(cpu),
			           .what = "the ledger counts blocks that stand behind it"});
	}
}

void BlockVerifier::chunk_of_index(const Index::Chunk& chunk) {
	Reach& furthest = reaches_[chunk.cpu];
	furthest.seq = std::max(furthest.seq, chunk.last_seq);
}

// Sorts the blocks of a CPU, leaves out copies, and holds each against the one before it.
void BlockVerifier::beside(uint32_t cpu, std::vector<Known>& blocks, CpuSum& sum) {
	std::stable_sort(blocks.begin(), blocks.end(), [](const Known& a, const Known& b) {
		return std::tuple(a.head.seq, b.records) < std::tuple(b.head.seq, a.records);
	});
	std::vector<Finding> gaps;
	uint64_t in_gaps = 0;
	size_t kept = 0;
	for (const Known& known : blocks) {
		const dfr_block& head = known.head;
		Finding finding{
		    .from = known.from, .to = known.to, .cpu = static_cast<int32_t>(cpu), .block = head.seq};
		const auto wrong = [&](std::string what) {
			finding.what = std::move(what);
			into_.add(finding);
		};
		if (kept && blocks[kept - 1].head.seq == head.seq) {
			wrong("it is in the file twice");
			continue;
		}
		sum.in_file += known.records;
		if (kept) {
			const dfr_block& before = blocks[kept - 1].head;
			const uint64_t reached = before.record_base + before.records;
			const uint64_t more =
			    head.record_base - std::min<uint64_t>(head.record_base, reached);
			const bool was_cut = before.flags & DFR_BLOCK_CUT;
			if (was_cut && head.seq - before.seq == 1) {
				sum.cut += more;
			} else if (head.seq - before.seq > 1) {
				in_gaps += more;
				finding.what = numbers(before.seq + 1, head.seq - 1) +
				               " before it are not there (" + plural(more, "record") + ")";
				gaps.push_back(finding);
			} else if (before.last_time && head.record_base != reached) {
				wrong("it begins with the CPU's record " + grouped(head.record_base) +
				      ", the block before it ended with " + grouped(reached));
			} else if (before.last_time && head.before != before.last_time) {
				wrong("it says another time than the block before it for when that ended");
			}
			if (head.lost < before.lost)
				wrong("it counts fewer lost records than the block before it");
		}
		blocks[kept++] = known;
	}
	blocks.resize(kept);
	sum.lost = std::min(sum.lost, in_gaps);
	if (in_gaps > sum.lost || (!gaps.empty() && !in_gaps)) // else the ring has overwritten them
		for (Finding& gap : gaps)
			into_.add(std::move(gap));
}

// When a CPU has all of its records.
std::vector<TimeSpan> BlockVerifier::spans(uint32_t cpu, const std::vector<Known>& blocks,
                                           uint64_t end) const {
	std::vector<TimeSpan> result;
	bool open = false;
	uint64_t from = 0; // if open
	uint64_t last = 0; // of the block before
	uint64_t seq = 0;
	for (const Known& known : blocks) {
		const dfr_block& head = known.head;
		if (open && (head.seq != seq + 1 || !known.whole)) {
			// Until the block that is damaged nothing is missing.
			const uint64_t to =
			    head.seq == seq + 1 && head.first_time ? head.first_time - 1 : last;
			if (from <= to)
				result.push_back({from, to});
			open = false;
		}
		if (known.whole && !open) {
			open = true;
			from = head.seq == 1 && !head.record_base ? 0
			       : head.before                      ? head.before + 1
			                                          : head.open_time;
		}
		seq = head.seq;
		last = last_of(head);
	}
	const auto reach = reaches_.find(cpu);
	const bool goes_on = reach != reaches_.end() && reach->second.seq > seq;
	if (const uint64_t to = goes_on ? last : end; open && from <= to)
		result.push_back({from, to});
	return result;
}

// In a part of a recording the headers do not tell what was cut at its ends, so its ledger does.
void BlockVerifier::sum_of_part(const PartOf& part, uint64_t overwritten, CpuSum& sum) {
	sum.overwritten = part.overwritten;
	sum.cut = part.cut;
	const auto beyond = [&sum](uint64_t committed) {
		const uint64_t told[] = {sum.in_file, sum.earlier, sum.overwritten, sum.cut};
		for (const uint64_t count : told)
			committed -= std::min(committed, count);
		return committed;
	};
	sum.lost = std::min(overwritten, beyond(part.committed));
	sum.committed = part.committed;
	uint64_t rest = part.committed;
	bool fits = true;
	for (const uint64_t count : {sum.in_file, sum.earlier, part.overwritten, part.cut}) {
		fits = fits && count <= rest;
		rest -= std::min(rest, count);
	}
	if (!fits) {
		into_.add({.cpu = static_cast<int32_t>(sum.cpu),
		           .what = "the ledger says that the CPU recorded " +
		                   plural(part.committed, "record") + ", which is less than there were"});
		sum.earlier = sum.overwritten = sum.lost = sum.cut = 0;
		sum.committed = sum.in_file;
	}
}

void BlockVerifier::finish(const Ledger& last, bool finished) {
	const bool sound = into_.sound();
	for (const auto& [cpu, reach] : reaches_)
		cpus_.try_emplace(cpu); // of which nothing may be left
	std::map<int32_t, uint64_t> counted = last.losses.by_cpu(DFR_LOSS_OVERWRITTEN);
	uint64_t begin = UINT64_MAX, end = 0;
	for (const auto& [cpu, part] : last.parts)
		cpus_.try_emplace(cpu); // of which nothing was wanted
	into_.whole = {{0, finished ? UINT64_MAX : last.whole_until - (last.whole_until != 0)}};
	for (auto& [cpu, blocks] : cpus_) {
		CpuSum sum{.cpu = cpu};
		// Where counters are not those of a CPU, its own blocks tell what was overwritten.
		uint64_t overwritten = counted[static_cast<int32_t>(cpu)], told = 0;
		for (const Known& known : blocks)
			told = added(told, known.overwritten);
		overwritten = std::max(overwritten, told);
		sum.lost = overwritten;
		beside(cpu, blocks, sum);
		Reach there;
		if (!blocks.empty()) {
			const dfr_block& head = blocks.back().head;
			there = {head.seq, head.record_base + head.records};
		}
		const auto before = last.part.before.find(cpu);
		const uint64_t in_front = blocks.empty() ? UINT64_MAX : blocks.front().head.record_base;
		if (before != last.part.before.end())
			sum.earlier = std::min(before->second.records, in_front);
		sum.overwritten = blocks.empty() ? 0 : in_front - sum.earlier;
		for (const Known& known : blocks) {
			begin = std::min<uint64_t>(begin, known.head.first_time);
			end = std::max(end, last_of(known.head));
		}
		const Reach reach = reaches_[cpu];
		const auto part = last.parts.find(cpu);
		if (part != last.parts.end())
			sum_of_part(part->second, overwritten, sum);
		else
			sum.committed =
			    std::max({there.records, reach.records,
			              sum.in_file + sum.earlier + sum.overwritten + sum.lost + sum.cut});
		if (into_.catalog.policy != DFR_BUFPOLICY_RING) { // of a damaged file it may have been here
			const uint64_t in_front_of_all = std::exchange(sum.overwritten, 0);
			sum.earlier += sound ? in_front_of_all : 0;
		}
		sum.missing =
		    sum.committed - sum.in_file - sum.earlier - sum.overwritten - sum.lost - sum.cut;
		if (reach.seq > there.seq)
			into_.add({.cpu = static_cast<int32_t>(cpu),
			           .what = numbers(there.seq + 1, reach.seq) + " are not there (" +
			                   plural(reach.records - std::min(reach.records, there.records),
			                          "record") +
			                   ")"});
		if (!blocks.empty() || part == last.parts.end()) // else what is here is whole without it
			into_.whole = common(into_.whole, spans(cpu, blocks, UINT64_MAX));
		into_.cpus.push_back(sum);
	}
	for (const EventMark& mark : into_.catalog.events) {
		if (mark.event == DFR_EVENT_GO)
			begin = std::min(begin, mark.time);
		end = std::max(end, mark.time);
	}
	begin = std::max(begin, last.part.since); // what a CPU recorded before it is in the files before
	into_.whole = common(into_.whole, {{begin, std::max(begin, end)}});
}

} // namespace dfr::trace
