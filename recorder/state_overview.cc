// SPDX-License-Identifier: GPL-2.0
//
// Adding up a state's rings.
#include "recorder/state_overview.h"

#include <algorithm>
#include <cstdio>

#include "formats/clock.h"
#include "formats/trace/decode.h"

namespace dfr::recorder {

std::string cost_text(uint32_t spent, uint32_t cpu, uint32_t budget) {
	char text[64];
	std::snprintf(text, sizeof text, "%.2f %% of CPU %u, where it is most", spent / 1e4, cpu);
	return text + (budget ? "; it may take " + std::to_string(budget) + " % of each"
	                      : std::string("; it has no budget"));
}

std::span<const dfr_ioc_seen> newest_run(const DeviceSession::RingList& ring) {
	const std::vector<dfr_ioc_seen>& blocks = ring.blocks;
	// What is newer came while the list was made, in the place of the oldest ones.
	const auto newer = std::ranges::upper_bound(blocks, ring.cpu.newest, {}, &dfr_ioc_seen::seq);
	size_t first = static_cast<size_t>(newer - blocks.begin());
	if (first)
		first--;
	while (first && blocks[first - 1].seq + 1 == blocks[first].seq)
		first--;
	return std::span(blocks).subspan(first);
}

StateOverview look_at_state(const std::string& name) {
	DeviceSession session;
	session.view(name);
	StateOverview state{.status = session.status()};
	for (const uint64_t lost : state.status.loss)
		state.lost += lost;
	state.estimated = state.status.loss[DFR_LOSS_DETACHED];
	const trace::Catalog& catalog = session.catalog();
	for (const trace::EventMark& event : catalog.events) {
		if (event.event == DFR_EVENT_GO && !state.since)
			state.since = event.time;
		state.marks += event.event == DFR_EVENT_MARK;
	}
	state.cost = session.cost();
	state.detached = trace::detached_text(catalog, UINT64_MAX);
	state.from = state.since;
	for (uint32_t cpu = 0; cpu < catalog.cpus; cpu++) {
		const DeviceSession::RingList ring = session.blocks(cpu);
		state.records += ring.cpu.records;
		if (ring.cpu.newest)
			state.room += uint64_t{catalog.blocks} * catalog.block_size;
		for (const dfr_ioc_seen& block : ring.blocks)
			state.bytes += block.committed;
		// The ring begins where the block before its oldest one ended. One that is begun anew meanwhile is the oldest no more.
		for (const dfr_ioc_seen& seen : newest_run(ring))
			if (const auto block = session.look(cpu, seen)) {
				if (seen.seq > 1)
					state.from = std::max<uint64_t>(state.from, block->header().before);
				break;
			}
		if (ring.blocks.empty() && ring.cpu.newest) // somebody has taken all of them
			state.from = std::max<uint64_t>(state.from, ring.cpu.last);
	}
	// After all others, because CPUs go on meanwhile. An exit() in BEGIN is before go.
	state.now = std::max(state.since, std::min(now_ns(), catalog.recording_end()));
	state.from = std::min(state.from, state.now);
	return state;
}

} // namespace dfr::recorder
