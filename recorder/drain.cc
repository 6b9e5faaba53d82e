// SPDX-License-Identifier: GPL-2.0
//
// From a session to a file.
#include "recorder/drain.h"

namespace dfr::recorder {

uint64_t Drain::move() {
	uint64_t moved = 0;
	while (const std::optional<trace::Block> block = session_.next()) {
		// The session read the catalog after it took the block, so the catalog has every entry that
		// the block needs. It is written before the block, so that a file that is cut between the
		// two has no block without its catalog.
		if (!moved)
			writer_.catalog(session_.catalog());
		records_ += block->header().records;
		writer_.block(*block);
		moved++;
	}
	blocks_ += moved;
	return moved;
}

// Syncs the file, then lets the session give back the blocks that it holds.
void Drain::store() {
	writer_.flush();
	session_.stored();
}

// Stores at most once per call, because a CPU may fill its ring faster than the disk takes it, and the
// caller must also get to its checkpoints and signals.
uint64_t Drain::pump() {
	uint64_t moved = move();
	if (session_.storing_is_due()) {
		store();
		moved += move();
	}
	return moved;
}

void Drain::snapshot() {
	writer_.catalog(session_.catalog());
	const std::vector<trace::AggEntry> aggregations = session_.aggregations();
	if (!aggregations.empty() || !session_.catalog().aggregations.empty())
		writer_.aggregations(aggregations);
	writer_.account(session_);
}

void Drain::checkpoint() {
	pump();
	snapshot();
	store();
}

void Drain::finish() {
	session_.flush();
	// A stopped state is drained to the end. One that records on always has more: one pump is enough.
	const bool runs_on = session_.status().activity == DFR_ACTIVE;
	while (pump() != 0 && !runs_on) {
	}
	snapshot();
	writer_.finish();
	session_.stored();
}

} // namespace dfr::recorder
