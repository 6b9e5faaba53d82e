// SPDX-License-Identifier: GPL-2.0
//
// Redacting: a new file that holds of another one only what was allowed, for people
// who must hand a recording to somebody else. Every block is made again (remake.h) of
// the fields that stay; of everything else nothing is copied but what is named here.
// Then the new file is read again, and held against what was allowed.
//
// What always stays: when each record was (time since boot), its CPU, level and probe;
// the probes' names; counts of losses; which clause faulted. Who says which fields stay, and makes the catalog
// that goes with them, is analyze/replay/redaction.h.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/trace/file.h"
#include "formats/trace/verify.h"

namespace dfr::trace {

// In the catalog's machine: what is not here though every record has it elsewhere, "inputs pid execname". Replay
// must not take what stands in its place for an answer.
inline constexpr const char* kRedactedKey = "redacted";
std::set<std::string, std::less<>> taken_out_words(const Catalog& catalog); // each of them
// And what stayed, in the words of --keep.
inline constexpr const char* kKeptKey = "kept";

struct Redaction {
	Catalog catalog; // of the new file; its layouts have the fields that stay
	// By EPID: which fields of the old record they are, in the layout's order. An EPID that is not here: none.
	std::map<uint32_t, std::vector<uint16_t>> fields;
	bool pid = false, execname = false, cgroup = false, names = false;
	bool events = false; // the kernel's own, with the processes that ran them; only with `pid`
	std::string text;    // what stays, for whoever reads the file: "pid, arg0"
};

struct RedactResult {
	uint64_t records = 0;
	uint64_t remarks_left_out = 0, segments_left_out = 0; // remarks; segments of what nothing stays of
	bool stopped = false; // `going` wanted no more: the new file is of no use
};

// `output` is replaced. Throws dfr::Error.
RedactResult redact_file(const std::string& path, const std::string& output, const Redaction& redaction,
                         const Going& going = {});

// How the remarks end that the new file has.
inline constexpr std::string_view kRedactRemarks[] = {
    " of each record is here (redact)",
    " on the recording were left out (redact)",
    " are not here (redact)",
};

// What an inspection of the new file has found. It reads both files anew and trusts nothing that redact_file() did.
struct RedactProof {
	std::vector<std::string> wrong; // empty: there is only what was allowed
	uint64_t texts = 0;             // that were taken out, and searched for in every byte of the new file
	bool more_texts = false;        // there were too many: others were not searched for
	bool stopped = false;
};
RedactProof prove_redacted(const std::string& path, const std::string& output, const Redaction& redaction,
                           const Going& going = {});

} // namespace dfr::trace
