// SPDX-License-Identifier: GPL-2.0
//
// From a session to a file.
#include "recorder/drain.h"

namespace dfr::recorder {

uint64_t Drain::move() {
	uint64_t moved = 0;
	while (const std::optional<trace::Block> block = session_.next()) {
		// The catalog was read after the block was taken, so it knows all that the block needs;
		// it must stand before it in the file, for a file that is cut in between.
		if (!moved)
			writer_.catalog(session_.catalog());
		records_ += block->header().records;
		writer_.block(*block);
		moved++;
	}
	blocks_ += moved;
	return moved;
}

// What the engine held back for want of a disk may go.
void Drain::store() {
	writer_.flush();
	session_.stored();
}

// One store at most: a CPU may fill its ring faster than a disk takes it, and whoever pumps has other things to do.
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
	// Everything of a state that stands still; one that runs on always has more.
	const bool runs_on = session_.status().activity == DFR_ACTIVE;
	while (pump() != 0 && !runs_on) {
	}
	snapshot();
	writer_.finish();
	session_.stored();
}

} // namespace dfr::recorder
