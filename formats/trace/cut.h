// SPDX-License-Identifier: GPL-2.0
//
// Cutting: a new file of some of the records of another one. Blocks of which all
// records are wanted are copied; others are made again (remake.h) and say so. The
// ledger says what was cut, so that no answer over the new file is called complete.
#pragma once

#include <set>
#include <string>

#include "formats/trace/file.h"
#include "formats/trace/verify.h"

namespace dfr::trace {

// Facts of the machine (Catalog::machine) that say more about the event of a panic, and go with it.
inline constexpr const char* kPanicKeys[] = {"panic", "panic_comm", "panic_registers", "panic_stack",
                                             "panic_log"};

struct Cut {
	Selection span;            // times and CPUs
	std::set<uint32_t> probes; // by id; empty: all
	std::set<uint32_t> pids;   // empty: all
	std::string text;          // what remains, for whoever reads the file: "pid 5"
	bool wants(const Record& record, const Catalog& catalog) const;
};

struct CutResult {
	uint64_t records = 0;  // in the new file
	uint64_t left_out = 0; // of blocks that were looked into
	bool aggregations_left_out = false;
	bool stopped = false; // `going` wanted no more: the new file is of no use
};

// `output` is replaced. Segments of a newer writer are passed on. Throws dfr::Error.
CutResult cut_file(const std::string& path, const std::string& output, const Cut& cut,
                   const Going& going = {});

} // namespace dfr::trace
