// SPDX-License-Identifier: GPL-2.0
//
// From a session to a file.
#include "recorder/drain.h"

namespace dfr::recorder {

uint64_t Drain::move() {
	uint64_t moved = 0;
	while (const std::optional<trace::Block> block = session_.next()) {
		records_ += block->header().records;
		parts_.file().block(*block);
		names_.block(*block, session_.catalog());
		moved++;
	}
	blocks_ += moved;
	return moved;
}

// Syncs the file, then lets the session give back the blocks that it holds.
void Drain::store() {
	parts_.file().flush();
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
	if (parts_.due())
		rotate();
	return moved;
}

// The part that ends has everything up to a moment, and is on the disk before the session forgets what is in it.
void Drain::rotate() {
	snapshot(pump_pass());
	parts_.end_part();
	session_.stored();
	parts_.begin_part(session_);
	names_.new_file();
	types_.new_file();
}

void Drain::snapshot(uint64_t whole_until) {
	const std::vector<trace::AggEntry> aggregations = session_.aggregations();
	if (!aggregations.empty() || !session_.catalog().aggregations.empty())
		parts_.file().aggregations(aggregations);
	names_.aggregations(aggregations, session_.catalog());
	parts_.file().names(names_.fresh());
	types_.look(session_.catalog(), SIZE_MAX);
	if (const auto types = types_.fresh())
		parts_.file().types(*types);
	parts_.file().account(session_, whole_until);
}

// Moves everything that was committed by now, open blocks included. It ends although CPUs may record faster
// than the disk takes it, because what comes later is not waited for. Returns what "now" was.
uint64_t Drain::pump_pass() {
	const uint64_t until = session_.flush();
	move();
	while (session_.storing_is_due() && session_.flushing()) {
		store();
		move();
	}
	return until;
}

void Drain::checkpoint() {
	snapshot(pump_pass());
	store();
}

void Drain::finish() {
	snapshot(pump_pass());
	parts_.file().finish();
	session_.stored();
}

} // namespace dfr::recorder
