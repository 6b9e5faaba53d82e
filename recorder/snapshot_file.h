// SPDX-License-Identifier: GPL-2.0
//
// A snapshot as a file: what `dfr snapshot` does when somebody asks, and dfrd in mode flight when something
// triggers it. The file says why it was taken.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "formats/trace/catalog.h"
#include "formats/trace/decode.h"
#include "recorder/snapshot.h"

namespace dfr::recorder {

struct SnapshotFile {
	uint64_t trigger = 0; // its time
	uint64_t blocks = 0, records = 0, bytes = 0;
	uint64_t overtaken = 0; // blocks that were overwritten before they could be copied
};

// Copies the kept state's records into a file, which is on the disk when this returns. `reason`: why, for the file;
// empty: nothing is said. `going`: as of Snapshot::take(). `events`: stand in the file, too.
SnapshotFile write_snapshot(const std::string& state, const SnapshotSpan& span, const std::string& reason,
                            const std::string& path, bool replace, const std::function<bool()>& going,
                            const trace::KernelEvents& events = {});

struct JudgedSnapshot {
	trace::Verdict verdict;
	trace::Catalog catalog;
	std::chrono::nanoseconds before{}; // how long before the trigger its window begins
	uint64_t until = 0;                // it has all records before this time
};
// What the file itself says, which is what everybody will see.
JudgedSnapshot judge_snapshot(const std::string& path, uint64_t trigger);

} // namespace dfr::recorder
