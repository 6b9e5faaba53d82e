// SPDX-License-Identifier: GPL-2.0
#include "recorder/extent.h"

#include <algorithm>

namespace dfr::recorder {

namespace {

// Of a page that cannot be read as a whole, because the file was cut within it: what can be.
uint64_t read_pieces(const PhysicalMemory& memory, uint64_t address, std::span<std::byte> into) {
	constexpr size_t kStep = 64;
	uint64_t absent = 0;
	for (; !into.empty(); into = into.subspan(std::min(kStep, into.size())), address += kStep) {
		const std::span piece = into.first(std::min(kStep, into.size()));
		if (memory.read(address, piece))
			continue;
		std::fill(piece.begin(), piece.end(), std::byte{0});
		absent += piece.size();
	}
	return absent;
}

} // namespace

uint64_t read_extent(const PhysicalMemory& memory, const MemoryExtent& extent, std::span<std::byte> into) {
	uint64_t within = extent.within, absent = 0;
	for (const uint64_t frame : extent.frames) {
		const std::span page = into.first(std::min<uint64_t>(into.size(), kPage - within));
		if (!memory.read(frame * kPage + within, page))
			absent += read_pieces(memory, frame * kPage + within, page);
		into = into.subspan(page.size());
		within = 0;
		if (into.empty())
			break;
	}
	std::fill(into.begin(), into.end(), std::byte{0});
	return absent + into.size();
}

namespace {

// Of pages, by two's complement.
uint64_t pages_of(int64_t displacement) {
	return static_cast<uint64_t>(displacement / static_cast<int64_t>(kPage));
}

} // namespace

std::vector<MemoryExtent> moved(const PhysicalMemory& memory, const MemoryExtent& extent) {
	std::vector<MemoryExtent> all;
	for (const int64_t displacement : memory.displacements()) {
		if (displacement == extent.displacement)
			continue;
		MemoryExtent& one = all.emplace_back(extent);
		one.displacement = displacement;
		for (uint64_t& frame : one.frames)
			frame += pages_of(extent.displacement) - pages_of(displacement);
	}
	return all;
}

std::vector<uint64_t> frames_of(const FoundAnchor& anchor, uint64_t limit) {
	std::vector<uint64_t> frames;
	for (const dfr_anchor_run& run : anchor.runs)
		for (uint32_t i = 0; i < run.pages && frames.size() < limit; i++)
			frames.push_back(run.pfn + i - pages_of(anchor.displacement));
	return frames;
}

uint64_t each_unit(const FoundAnchor& anchor, const PhysicalMemory& memory, uint32_t unit, FrameSet& listed,
                   const std::function<void(MemoryExtent)>& visit) {
	const uint64_t pages = std::max<uint64_t>(unit / kPage, 1);
	uint64_t left = memory.bytes() / kPage + 1, again = 0;
	std::vector<uint64_t> frames;
	for (const dfr_anchor_run& run : anchor.runs)
		for (uint32_t i = 0; i < run.pages && left; i++, left--) {
			frames.push_back(run.pfn + i - pages_of(anchor.displacement));
			if (frames.size() < pages)
				continue;
			MemoryExtent extent{.frames = std::move(frames), .displacement = anchor.displacement};
			frames.clear();
			if (!listed.insert(extent.frames[0])) {
				again++;
				continue;
			}
			for (; extent.within < kPage; extent.within += unit)
				visit(extent);
		}
	return again + !frames.empty();
}

MemoryExtent extent_of(const AnchorGroup& group, AnchorKey first, uint64_t limit) {
	MemoryExtent result;
	for (first.part = 0;; first.part++) {
		const auto found = group.anchors.find(first);
		if (found == group.anchors.end())
			return result;
		if (!first.part)
			result.displacement = found->second.displacement;
		const std::vector<uint64_t> frames = frames_of(found->second, limit / kPage);
		result.frames.insert(result.frames.end(), frames.begin(), frames.end());
		if (result.frames.size() > limit / kPage)
			return result;
	}
}

} // namespace dfr::recorder
