// SPDX-License-Identifier: GPL-2.0
//
// Verifying a .dfr: everything in it is read and held against everything else that
// tells of it. Segments are found by walking, not by the index; blocks are held
// against their checksums, their headers, the columns that they came from and the
// blocks beside them; the catalog, the ledger and the index against the blocks.
// Damage ends nothing: the file is read to its end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "formats/trace/decode.h"

namespace dfr::trace {

// Something that is wrong.
struct Finding {
	uint64_t from = 0, to = 0; // bytes of the file; `to` is 0: the file as a whole
	int32_t cpu = -1;          // -1: of no CPU, or not known
	uint64_t block = 0;        // its sequence number; 0: of no block
	std::string what;
	// "bytes 4096 to 8192, CPU 2, block 17: ..."
	std::string text() const;
};

// Where the records of one CPU are: committed is the sum of the others.
struct CpuSum {
	uint32_t cpu = 0;
	uint64_t committed = 0;
	uint64_t in_file = 0; // and can be read
	uint64_t earlier =
	    0; // before this file: in a part before it, or taken earlier from rings that overwrite nothing
	uint64_t overwritten =
	    0; // by a ring, before the first block that is there, or taken earlier: nothing tells which
	uint64_t lost = 0;    // by a ring, because nobody took the block in time
	uint64_t cut = 0;     // taken out by dfr cut
	uint64_t missing = 0; // nobody has counted why
};

struct TimeSpan {
	uint64_t from = 0, to = 0; // mono ns, both ends belong to it
};

struct Inspection {
	static constexpr size_t kMostFindings = 1000;
	uint64_t bytes = 0, segments = 0, chunks = 0, blocks = 0, intervals = 0, records = 0;
	uint64_t unsealed = 0; // blocks without checksums
	uint64_t unknown = 0;  // segments of a newer writer, of which only the checksum was looked at
	std::vector<Finding> findings;
	uint64_t more = 0;           // findings beyond kMostFindings
	std::vector<CpuSum> cpus;    // by CPU
	std::vector<TimeSpan> whole; // when every CPU has all of its records
	Catalog catalog;             // as readers take it
	Verdict verdict;             // of an answer over all of it
	bool sound() const { return findings.empty(); }
	void add(Finding finding) {
		if (findings.size() < kMostFindings)
			findings.push_back(std::move(finding));
		else
			more++;
	}
};

// Called now and then with how many bytes were read; false: go no further, which is a finding.
using Going = std::function<bool(uint64_t read, uint64_t size)>;

// Throws dfr::Error if the file cannot be read at all.
Inspection verify_file(const std::string& path, const Going& going = {});

} // namespace dfr::trace
