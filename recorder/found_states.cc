// SPDX-License-Identifier: GPL-2.0
//
// States from anchors and from blocks that no anchor lists; a boot from a state's id.
#include "recorder/found_states.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "formats/abi/reserved.h"
#include "formats/trace/crc32c.h"

namespace dfr::recorder {
namespace {

uint32_t tag_of(const BootId& boot) {
	uint32_t tag;
	std::memcpy(&tag, boot.data(), sizeof(tag));
	return tag;
}

// All that a state's id has of its boot.
BootId only_tag(uint32_t tag) {
	BootId part{};
	std::memcpy(part.data(), &tag, sizeof(tag));
	return part;
}

// Pages of any process may look like blocks, so of states without anchors no more than these, those with the most blocks,
// are recordings: nobody is to fill the disk on which a crash kernel stores them.
constexpr size_t kUnanchoredStates = 64;

// Likewise of those with anchors, of which a process may have forged some.
constexpr size_t kAnchoredMost = 256;

// Leaves so many, the largest of each load first and those of boots whose kernels are there in front; returns how many others
// there were.
size_t drop_small(std::map<std::pair<ModuleLoad, uint64_t>, AnchorGroup>& recordings,
                  const std::set<BootId>& of_kernels) {
	if (recordings.size() <= kAnchoredMost)
		return 0;
	using LoadAndState = std::pair<ModuleLoad, uint64_t>;
	std::map<ModuleLoad, std::vector<std::pair<size_t, LoadAndState>>>
	    by_load; // with the number of anchors
	for (const auto& [key, group] : recordings)
		by_load[key.first].emplace_back(group.anchors.size(), key);
	std::vector<std::tuple<bool, size_t, size_t, LoadAndState>> order;
	for (auto& [load, all] : by_load) {
		std::ranges::sort(all, std::greater());
		for (size_t turn = 0; turn < all.size(); turn++)
			order.emplace_back(!of_kernels.contains(load.boot), turn, SIZE_MAX - all[turn].first,
			                   all[turn].second);
	}
	std::ranges::sort(order);
	for (const auto& one : std::span(order).subspan(kAnchoredMost))
		recordings.erase(std::get<LoadAndState>(one));
	return order.size() - kAnchoredMost;
}

// What the image, if it is an area of reserved memory (formats/abi/reserved.h), says of being written back. One of its two heads
// may be damaged.
std::optional<uint32_t> written_back(const PhysicalMemory& memory) {
	std::optional<uint32_t> said;
	for (const uint64_t at : {memory.begin(), memory.begin() + memory.bytes() - kPage}) {
		dfr_reserved_head head;
		if (!memory.read(at, std::as_writable_bytes(std::span(&head, 1))))
			continue;
		const uint32_t checksum = std::exchange(head.checksum, 0);
		if (head.magic != DFR_RESERVED_MAGIC ||
		    checksum != trace::crc32c(std::as_bytes(std::span(&head, 1))))
			continue;
		if (head.written_back == DFR_RESERVED_WRITTEN_BACK)
			return head.written_back;
		said = head.written_back;
	}
	return said;
}

// Which load a state without anchors is of: what all those have in common whose boots have its tag.
ModuleLoad common(const std::set<ModuleLoad>& loads, uint32_t tag) {
	const ModuleLoad& first = *loads.begin();
	if (loads.size() == 1)
		return first;
	return {.boot = first.boot == loads.rbegin()->boot ? first.boot : only_tag(tag)};
}

} // namespace

std::string boot_text(const BootId& boot) {
	std::string text;
	for (size_t i = 0; i < boot.size(); i++) {
		char digits[3];
		std::snprintf(digits, sizeof(digits), "%02x", boot[i]);
		text += digits;
		if (i == 3 || i == 5 || i == 7 || i == 9)
			text += '-';
	}
	return text;
}

std::vector<FoundState> find_states(const PhysicalMemory& memory, AnchorScan& scan,
                                    const std::set<BootId>& of_kernels) {
	constexpr size_t kDisputed =
	    SIZE_MAX; // loads have anchors of one state: which of them has its blocks is not known
	const size_t dropped = drop_small(scan.recordings, of_kernels);
	std::map<uint64_t, size_t> by_state;
	std::vector<FoundState> all;
	std::map<uint32_t, std::set<ModuleLoad>> loads; // by what of their boots is in a state's id
	std::set<uint64_t> strangers;                   // states whose ids do not tell their boot
	for (auto& [key, group] : scan.recordings) {
		const auto& [load, state] = key;
		const uint32_t tag = tag_of(load.boot);
		loads[tag].insert(load);
		if (tag != static_cast<uint32_t>(state >> 32))
			strangers.insert(state);
		else if (const auto [place, first] = by_state.emplace(state, all.size()); !first)
			place->second = kDisputed;
		all.push_back({.load = load, .state = state, .group = std::move(group)});
	}
	for (const auto& [load, panic] : scan.panics)
		loads[tag_of(load.boot)].insert(load);
	for (const BootId& boot : of_kernels)
		loads.try_emplace(tag_of(boot), std::set<ModuleLoad>{{.boot = boot}});
	std::vector<LooseBlock> unanchored;
	for (const LooseBlock& block : scan.blocks) {
		const auto place = by_state.find(block.state_id);
		if (place != by_state.end() && place->second != kDisputed)
			all[place->second].loose.push_back(block.address);
		else if (!strangers.contains(block.state_id) || loads.contains(block.state_id >> 32))
			unanchored.push_back(block);
	}
	std::ranges::stable_sort(unanchored, {}, &LooseBlock::state_id);
	std::vector<std::span<const LooseBlock>> states; // blocks of one state each
	for (size_t first = 0, end = 0; first < unanchored.size(); first = end) {
		while (end < unanchored.size() && unanchored[end].state_id == unanchored[first].state_id)
			end++;
		states.emplace_back(unanchored.data() + first, end - first);
	}
	std::ranges::stable_sort(states, std::greater(), [](const auto& blocks) { return blocks.size(); });
	const size_t taken = std::min(states.size(), kUnanchoredStates);
	for (const std::span<const LooseBlock> blocks : std::span(states).first(taken)) {
		const auto tag = static_cast<uint32_t>(blocks[0].state_id >> 32);
		const auto known = loads.find(tag);
		FoundState& found = all.emplace_back();
		found.load = known == loads.end() ? ModuleLoad{only_tag(tag)} : common(known->second, tag);
		found.state = blocks[0].state_id;
		for (const LooseBlock& block : blocks)
			found.loose.push_back(block.address);
	}
	const std::optional<uint32_t> said = written_back(memory);
	for (FoundState& found : all) {
		found.more_recordings = dropped;
		found.more_states = states.size() - taken;
		found.more_blocks = scan.more_blocks;
		found.damaged_anchors = scan.damaged;
		for (const ModuleLoad& other : loads[tag_of(found.load.boot)])
			found.other_loads +=
			    other.boot == found.load.boot && other.number != found.load.number;
		if (const auto astray = scan.astray.find(found.load); astray != scan.astray.end())
			found.astray = astray->second;
		if (const auto panic = scan.panics.find(found.load); panic != scan.panics.end())
			found.panic = panic->second;
		const bool by_panic = found.panic && said == 0U;
		found.not_written_back = said && said != DFR_RESERVED_WRITTEN_BACK && !by_panic;
	}
	return all;
}

bool lend_boot(std::vector<FoundState>& all, const trace::Catalog& lent) {
	bool wanted = false;
	for (FoundState& found : all) {
		if (found.state == lent.state_id && found.load.boot == only_tag(tag_of(lent.boot_id)))
			found.load.boot = lent.boot_id; // nothing in the image tells more of it
		wanted = wanted || (found.state == lent.state_id && found.load.boot == lent.boot_id);
	}
	return wanted;
}

} // namespace dfr::recorder
