// SPDX-License-Identifier: GPL-2.0
//
// Scanning for anchors. The magic alone proves nothing: a page counts as an anchor
// if its checksum is right and it was found at the address (self_pfn) that it
// contains. In a raw image that address may differ from the file offset; a
// difference that several anchors share is the displacement of a part of memory.
#include "recorder/anchors.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "formats/trace/crc32c.h"
#include "formats/trace/seal.h"
#include "recorder/dead_kernel.h"

namespace dfr::recorder {
namespace {

struct Candidate {
	uint64_t address = 0;
	FoundAnchor anchor;
	ModuleLoad load;
	PanicNote panic;
	dfr_panic_texts texts{};  // of the panic
	int64_t displacement = 0; // the address that it contains, minus the one where it was found
};

bool checksum_is_right(std::span<const std::byte> page, const dfr_anchor& head) {
	std::vector<std::byte> copy(page.begin(), page.end());
	const uint32_t zero = 0;
	std::memcpy(copy.data() + offsetof(dfr_anchor, checksum), &zero, sizeof(zero));
	return trace::crc32c(copy) == head.checksum;
}

std::string fixed_text(const char* text, size_t room) {
	return std::string(text, strnlen(text, room));
}

PanicNote read_panic(std::span<const std::byte> page, dfr_panic_texts& texts) {
	dfr_anchor_panic record;
	std::memcpy(&record, page.data() + sizeof(dfr_anchor), sizeof(record));
	texts = record.texts;
	return {.time = record.time,
	        .broken = record.broken,
	        .cpu = record.cpu,
	        .tid = record.tid,
	        .comm = fixed_text(record.comm, sizeof(record.comm)),
	        .reason = fixed_text(record.reason, sizeof(record.reason))};
}

// The texts stand elsewhere. One that is damaged is left out by name, the others serve.
void read_texts(const PhysicalMemory& memory, Candidate& candidate) {
	PanicNote& panic = candidate.panic;
	struct Text {
		dfr_panic_text which;
		const char* name;
		std::string& into;
	};
	const dfr_panic_texts& texts = candidate.texts;
	for (const Text& text : {Text{DFR_PANIC_REGISTERS, "the registers", panic.registers},
	                         Text{DFR_PANIC_STACK, "the stack", panic.stack},
	                         Text{DFR_PANIC_LOG, "the end of the kernel's log", panic.log}}) {
		const uint64_t at = texts.at[text.which], size = texts.bytes[text.which];
		if (!texts.pfn || !size)
			continue;
		std::vector<std::byte> bytes(std::min<uint64_t>(size, DFR_PANIC_TEXT_MAX));
		const auto stands = [&](int64_t displacement) {
			return memory.read(texts.pfn * kPage + at, bytes, displacement) &&
			       trace::crc32c(bytes) == texts.checksum[text.which];
		};
		if (at + size > DFR_PANIC_TEXT_MAX || texts.pfn > UINT64_MAX / kPage / 2 ||
		    (!stands(candidate.displacement) && std::ranges::none_of(memory.displacements(), stands)))
			panic.damage.push_back(std::string(text.name) + " of the panic could not be read");
		else
			text.into = fixed_text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
	}
}

// nullopt: the page is damaged, or has the magic by accident.
std::optional<Candidate> read_anchor(uint64_t address, std::span<const std::byte> page) {
	Candidate result;
	result.address = address;
	dfr_anchor head;
	std::memcpy(&head, page.data(), sizeof(head));
	if (head.runs > DFR_ANCHOR_RUNS_MAX || !checksum_is_right(page, head))
		return std::nullopt;
	result.anchor = {.state_id = head.state_id,
	                 .generation = head.generation,
	                 .kind = head.kind,
	                 .cpu = head.cpu,
	                 .half = head.half,
	                 .part = head.part};
	std::copy(std::begin(head.boot_id), std::end(head.boot_id), result.load.boot.begin());
	result.load.number = head.load;
	result.anchor.runs.resize(head.runs);
	if (head.runs)
		std::memcpy(result.anchor.runs.data(), page.data() + sizeof(head),
		            head.runs * sizeof(dfr_anchor_run));
	if (head.kind == DFR_ANCHOR_PANIC)
		result.panic = read_panic(page, result.texts);
	result.displacement = static_cast<int64_t>(head.self_pfn * kPage - address);
	return result;
}

bool has_magic(std::span<const std::byte> page) {
	const uint64_t words[] = {DFR_ANCHOR_WORD0, DFR_ANCHOR_WORD1, DFR_ANCHOR_WORD2, DFR_ANCHOR_WORD3};
	for (size_t i = 0; i < std::size(words); i++) {
		uint64_t word;
		std::memcpy(&word, page.data() + 8 * i, sizeof(word));
		if (word != (words[i] ^ DFR_ANCHOR_KEY))
			return false;
	}
	return true;
}

// A raw image has a displacement for each hole in the machine's memory that it leaves out: a few.
constexpr size_t kDisplacementsMost = 64;

// The displacements that are believed: 0 in an image that has addresses; in a raw one those that at least two anchors of a
// load share, or the only one that there is, and 0 if an anchor has it. Each load has a turn, because one that a
// process forged may have more anchors than any other, all of them elsewhere.
std::vector<int64_t> believed(const std::vector<Candidate>& candidates, bool raw) {
	if (!raw)
		return {0};
	std::map<ModuleLoad, std::map<int64_t, unsigned>> votes;
	std::set<int64_t> all;
	for (const Candidate& candidate : candidates) {
		votes[candidate.load][candidate.displacement]++;
		all.insert(candidate.displacement);
	}
	std::map<int64_t, std::pair<size_t, unsigned>>
	    ranks; // the turn, and how many anchors less than the most there can be
	for (const auto& [load, counts] : votes) {
		std::vector<std::pair<unsigned, int64_t>> order; // 0 first, then by the number of anchors
		for (const auto& [displacement, count] : counts)
			if (displacement == 0 || count >= 2 || all.size() == 1)
				order.emplace_back(displacement ? UINT_MAX - count : 0, displacement);
		std::ranges::sort(order);
		for (size_t turn = 0; turn < order.size(); turn++) {
			const std::pair rank{turn, order[turn].first};
			const auto [place, fresh] = ranks.emplace(order[turn].second, rank);
			if (!fresh)
				place->second = std::min(place->second, rank);
		}
	}
	std::vector<int64_t> result;
	for (const auto& [displacement, rank] : ranks)
		result.push_back(displacement);
	std::ranges::stable_sort(result, {}, [&](int64_t displacement) { return ranks[displacement]; });
	result.resize(std::min(result.size(), kDisplacementsMost));
	return result;
}

AnchorKey key_of(const FoundAnchor& anchor) {
	return {.kind = anchor.kind, .cpu = anchor.cpu, .half = anchor.half, .part = anchor.part};
}

// Of each load's panic the last note: an oops is noted first, and the panic that it leads to again.
using Panics = std::map<ModuleLoad, Candidate>;

void keep(AnchorScan& scan, Panics& panics, Candidate&& candidate) {
	FoundAnchor& anchor = candidate.anchor;
	if (anchor.kind == DFR_ANCHOR_PANIC) {
		const auto place = panics.find(candidate.load);
		if (place == panics.end())
			panics.emplace(candidate.load, std::move(candidate));
		else if (place->second.anchor.generation < anchor.generation)
			place->second = std::move(candidate);
		return;
	}
	anchor.displacement = candidate.displacement;
	const AnchorKey key = key_of(anchor);
	AnchorGroup& group = scan.recordings[{candidate.load, anchor.state_id}];
	const auto place = group.anchors.find(key);
	if (place == group.anchors.end()) {
		group.anchors.emplace(key, std::move(anchor));
		return;
	}
	const auto same_run = [](const dfr_anchor_run& a, const dfr_anchor_run& b) {
		return a.pfn == b.pfn && a.pages == b.pages && a.offset == b.offset;
	};
	if (place->second.generation == anchor.generation &&
	    std::ranges::equal(place->second.runs, anchor.runs, same_run))
		return; // its other page
	group.disputed.insert(key);
	if (place->second.generation < anchor.generation)
		place->second = std::move(anchor);
}

// What anchors that stand elsewhere than they say list. In a displaced part of a dump several stand as far away; one alone is a
// copy, as hibernation leaves them in free memory, or a process's.
class Strays {
public:
	void add(const Candidate& candidate) {
		if (strays_.size() < kStraysMost)
			strays_.insert({candidate.displacement, candidate.load, candidate.anchor.state_id,
			                key_of(candidate.anchor)});
	}
	void count(AnchorScan& scan) const {
		std::map<int64_t, size_t> alike;
		for (const auto& stray : strays_)
			alike[std::get<int64_t>(stray)]++;
		for (const auto& [displacement, load, state, key] : strays_) {
			if (alike[displacement] < 2)
				continue;
			const auto recording = scan.recordings.find({load, state});
			const bool there = key.kind == DFR_ANCHOR_PANIC
			                       ? scan.panics.contains(load)
			                       : recording != scan.recordings.end() &&
			                             recording->second.anchors.contains(key);
			if (!there)
				scan.astray[load]++;
		}
	}

private:
	static constexpr size_t kStraysMost = 4096; // a process may have filled its memory with them
	std::set<std::tuple<int64_t, ModuleLoad, uint64_t, AnchorKey>> strays_;
};

} // namespace

AnchorScan scan_anchors(PhysicalMemory& memory, const PhysicalMemory::OnProgress& progress) {
	AnchorScan result;
	Strays strays;
	std::vector<Candidate> candidates;
	const auto found = [&](uint64_t address, std::span<const std::byte> page) {
		dfr_block block;
		std::memcpy(&block, page.data(), sizeof(block));
		if (trace::header_is_sane(block) && result.blocks.size() < AnchorScan::kBlocksMost)
			result.blocks.push_back({address, block.state_id});
		else
			result.more_blocks += trace::header_is_sane(block);
		if (result.vmcoreinfo.size() <= kVmcoreinfoMost &&
		    std::memcmp(page.data(), kVmcoreinfoStart.data(), kVmcoreinfoStart.size()) == 0)
			result.vmcoreinfo.push_back(address);
		if (!has_magic(page))
			return;
		std::optional<Candidate> candidate = read_anchor(address, page);
		if (!candidate) {
			result.damaged++;
		} else if (candidate->displacement &&
		           !memory.raw()) { // at once, because there may be very many
			result.misplaced++;
			strays.add(*candidate);
		} else {
			candidates.push_back(std::move(*candidate));
		}
	};
	uint64_t vmcoreinfo = 0;
	std::memcpy(&vmcoreinfo, kVmcoreinfoStart.data(), sizeof(vmcoreinfo));
	memory.scan({.eight = {DFR_ANCHOR_WORD0 ^ DFR_ANCHOR_KEY, vmcoreinfo}, .four = DFR_BLOCK_MAGIC},
	            found, progress);
	// Of two that say the same the first counts, whichever thread found it.
	std::ranges::sort(candidates, {}, &Candidate::address);
	std::ranges::sort(result.blocks, {}, &LooseBlock::address);
	std::ranges::sort(result.vmcoreinfo);
	result.displacements = believed(candidates, memory.raw());
	memory.believe(result.displacements);
	Panics panics;
	for (Candidate& candidate : candidates) {
		if (std::find(result.displacements.begin(), result.displacements.end(),
		              candidate.displacement) == result.displacements.end()) {
			result.misplaced++;
			strays.add(candidate);
		} else {
			keep(result, panics, std::move(candidate));
		}
	}
	for (auto& [load, candidate] : panics) {
		read_texts(memory, candidate);
		result.panics.emplace(load, std::move(candidate.panic));
	}
	strays.count(result);
	return result;
}

} // namespace dfr::recorder
