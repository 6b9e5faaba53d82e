// SPDX-License-Identifier: GPL-2.0
//
// Scanning for anchors. The magic alone proves nothing: a page counts as an anchor
// if its checksum is right and it was found at the address (self_pfn) that it
// contains. In a raw image that address may differ from the file offset; a
// difference that several anchors share is the displacement of a part of memory.
#include "recorder/anchors.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "formats/trace/crc32c.h"
#include "formats/trace/seal.h"

namespace dfr::recorder {
namespace {

struct Candidate {
	FoundAnchor anchor;
	BootId boot{};
	PanicNote panic;
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

PanicNote read_panic(std::span<const std::byte> page) {
	dfr_anchor_panic record;
	std::memcpy(&record, page.data() + sizeof(dfr_anchor), sizeof(record));
	return {.time = record.time,
	        .cpu = record.cpu,
	        .tid = record.tid,
	        .comm = fixed_text(record.comm, sizeof(record.comm)),
	        .reason = fixed_text(record.reason, sizeof(record.reason))};
}

// nullopt: the page is damaged, or has the magic by accident.
std::optional<Candidate> read_anchor(uint64_t address, std::span<const std::byte> page) {
	Candidate result;
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
	std::copy(std::begin(head.boot_id), std::end(head.boot_id), result.boot.begin());
	result.anchor.runs.resize(head.runs);
	if (head.runs)
		std::memcpy(result.anchor.runs.data(), page.data() + sizeof(head),
		            head.runs * sizeof(dfr_anchor_run));
	if (head.kind == DFR_ANCHOR_PANIC)
		result.panic = read_panic(page);
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

// The displacements that are believed: 0; and in a raw image also those that at least two anchors
// share, or the only one that there is.
std::vector<int64_t> believed(const std::vector<Candidate>& candidates, bool raw) {
	std::map<int64_t, unsigned> votes;
	for (const Candidate& candidate : candidates)
		votes[candidate.displacement]++;
	std::vector<int64_t> result;
	for (const auto& [displacement, count] : votes)
		if (displacement == 0 || (raw && (count >= 2 || votes.size() == 1)))
			result.push_back(displacement);
	std::sort(result.begin(), result.end(), [&](int64_t a, int64_t b) { return votes[a] > votes[b]; });
	return result;
}

void keep(AnchorScan& scan, Candidate&& candidate) {
	FoundAnchor& anchor = candidate.anchor;
	if (anchor.kind == DFR_ANCHOR_PANIC) {
		scan.panics.emplace(candidate.boot, std::move(candidate.panic));
		return;
	}
	anchor.displacement = candidate.displacement;
	const AnchorKey key{.kind = anchor.kind, .cpu = anchor.cpu, .half = anchor.half, .part = anchor.part};
	auto& anchors = scan.recordings[{candidate.boot, anchor.state_id}].anchors;
	const auto place = anchors.find(key);
	if (place == anchors.end())
		anchors.emplace(key, std::move(anchor));
	else if (place->second.generation < anchor.generation)
		place->second = std::move(anchor);
}

} // namespace

AnchorScan scan_anchors(PhysicalMemory& memory) {
	AnchorScan result;
	std::vector<Candidate> candidates;
	memory.scan({.eight = DFR_ANCHOR_WORD0 ^ DFR_ANCHOR_KEY, .four = DFR_BLOCK_MAGIC},
	            [&](uint64_t address, std::span<const std::byte> page) {
		            dfr_block block;
		            std::memcpy(&block, page.data(), sizeof(block));
		            if (trace::header_is_sane(block))
			            result.blocks.push_back({address, block.state_id});
		            if (!has_magic(page))
			            return;
		            if (std::optional<Candidate> candidate = read_anchor(address, page))
			            candidates.push_back(std::move(*candidate));
		            else
			            result.damaged++;
	            });
	result.displacements = believed(candidates, memory.raw());
	for (Candidate& candidate : candidates) {
		if (std::find(result.displacements.begin(), result.displacements.end(),
		              candidate.displacement) == result.displacements.end())
			result.misplaced++;
		else
			keep(result, std::move(candidate));
	}
	return result;
}

} // namespace dfr::recorder
