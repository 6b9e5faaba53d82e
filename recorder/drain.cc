// SPDX-License-Identifier: GPL-2.0
//
// From a session to a file.
#include "recorder/drain.h"

namespace dfr::recorder {

void account_for(trace::LiveSource& session, trace::FileWriter& file, NameCollector& names,
                 TypeCollector& types, const std::vector<trace::AggEntry>& aggregations,
                 uint64_t whole_until) {
	if (!aggregations.empty() || !session.catalog().aggregations.empty())
		file.aggregations(aggregations);
	names.aggregations(aggregations, session.catalog());
	file.names(names.fresh());
	types.look(session.catalog(), SIZE_MAX);
	if (const auto kernel_types = types.fresh())
		file.types(*kernel_types);
	file.account(session, whole_until);
}

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
	account(pump_pass());
	parts_.end_part();
	session_.stored();
	parts_.begin_part(session_);
	names_.new_file();
	types_.new_file();
}

void Drain::account(uint64_t whole_until) {
	account_for(session_, parts_.file(), names_, types_, session_.aggregations(), whole_until);
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
	account(pump_pass());
	store();
}

// Of CPUs of which this recorder has had no block: a recorder before it may have been killed with some that it had taken.
void Drain::write_ends() {
	parts_.file().flush(); // what waits for its chunk is not counted yet
	const std::map<uint32_t, trace::Reach> had = parts_.file().next_part().before;
	for (uint32_t cpu = 0; cpu < session_.catalog().cpus; cpu++)
		if (!had.contains(cpu))
			if (const std::optional<trace::Block> end = session_.end_of_cpu(cpu))
				parts_.file().block(*end);
}

void Drain::finish() {
	// Asked first: what ends during the pass may have recorded behind it.
	const bool goes_on = trace::end_is_to_come(session_.status());
	const uint64_t until = pump_pass();
	if (!goes_on)
		write_ends();
	account(until);
	parts_.file().finish(goes_on);
	session_.stored();
}

} // namespace dfr::recorder
