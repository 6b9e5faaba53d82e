// SPDX-License-Identifier: GPL-2.0
//
// Drain: moves the blocks of a live session into a .dfr file, or into parts
// (formats/trace/parts.h), piece by piece, and ends it so that no committed record is missing. dfrd's passes call it
// (recording_loop.h); dfrd handles signals and options. `dfr record` does not use
// it: it prints what it records, and writes its file with analyze/cli/recording.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/trace/live_source.h"
#include "formats/trace/parts.h"
#include "recorder/name_collector.h"
#include "recorder/type_collector.h"

namespace dfr::recorder {

// What a recorder's file needs besides blocks: aggregations, the names and types that were collected, and the ledger with the
// time until when the file is whole.
void account_for(trace::LiveSource& session, trace::FileWriter& file, NameCollector& names,
                 TypeCollector& types, const std::vector<trace::AggEntry>& aggregations,
                 uint64_t whole_until);

class Drain {
public:
	Drain(trace::LiveSource& session, trace::PartsWriter& parts, NameCollector& names,
	      TypeCollector& types)
	    : session_(session), parts_(parts), names_(names), types_(types) {}

	// Moves the blocks that are closed now, and goes on in a next part if that is due; returns how many.
	uint64_t pump();
	// Writes catalog, blocks (the open ones too), aggregations, names and losses to the disk. A power cut then
	// loses only what is recorded afterwards; a kernel crash loses nothing if the session holds its
	// blocks, because the crash dump has those that are not on the disk yet.
	void checkpoint();
	// Moves the rest, open blocks included, and ends the file. If the state records on, the file is whole until this call.
	void finish();

	// After an error: ends the file with what it has. The session keeps the blocks that it holds.
	void give_up(const std::string& why) { parts_.file().give_up(session_, why); }

	uint64_t blocks() const { return blocks_; }
	uint64_t records() const { return records_; }

private:
	uint64_t move();
	void store();
	void rotate();
	uint64_t pump_pass();
	void account(uint64_t whole_until);
	void write_ends();
	trace::LiveSource& session_;
	trace::PartsWriter& parts_;
	NameCollector& names_;
	TypeCollector& types_;
	uint64_t blocks_ = 0, records_ = 0;
};

} // namespace dfr::recorder
