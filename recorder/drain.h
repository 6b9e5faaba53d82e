// SPDX-License-Identifier: GPL-2.0
//
// Drain: moves what a live session has recorded into a .dfr file, piece by
// piece, and ends the file so that nothing that was committed is missing. dfrd's
// passes are made of it (recording_loop.h); neither signals nor options are its
// business. `dfr record` prints what passes through it and writes the file with
// analyze/cli/recording.h.
#pragma once

#include <chrono>
#include <cstdint>

#include "formats/trace/file.h"
#include "formats/trace/live_source.h"

namespace dfr::recorder {

class Drain {
public:
	Drain(trace::LiveSource& session, trace::FileWriter& writer) : session_(session), writer_(writer) {}

	// Everything that is closed now; returns the number of blocks.
	uint64_t pump();
	// Catalog, blocks, aggregations and losses are on the disk then: a power cut costs no more than
	// what came since, and a crash of the kernel nothing, if the session holds its blocks.
	void checkpoint();
	// The rest, open blocks included, and the end of the file.
	void finish();

	uint64_t blocks() const { return blocks_; }
	uint64_t records() const { return records_; }

private:
	uint64_t move();
	void store();
	void snapshot();
	trace::LiveSource& session_;
	trace::FileWriter& writer_;
	uint64_t blocks_ = 0, records_ = 0;
};

} // namespace dfr::recorder
