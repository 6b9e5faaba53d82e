// SPDX-License-Identifier: GPL-2.0
//
// What a recording has that can be allowed or taken out, by the words of `dfr redact
// --keep`, and what the recording is like that keeps only some of it: its catalog and
// the one small program in it. That program says of each EPID which inputs its records
// have and that it recorded them, as replay needs it, and nothing of what the old
// programs said but which firings they left no records of: whether a clause had a
// predicate, may fault or speculates, and which CPU alone was recorded.
// formats/trace/redact.h writes the file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyze/replay/recording_target.h"
#include "formats/trace/redact.h"

namespace dfr::replay {

// One of the words, or an input: "pid", "arg0".
struct Keepable {
	std::string word;
	std::string what;    // for a person: "process and thread numbers"
	bool input = false;  // a field of records; `what` says of how many probes
	uint64_t probes = 0; // of an input
	std::string example; // a probe that has it
};
// All that the recording has; the words first.
std::vector<Keepable> keepable(trace::FileSource& source, RecordingTarget& target);

// `keep`: words, or inputs "[PROBE/]INPUT" where both may be globs. Throws dfr::Error for what the recording does not
// have, and for what needs another word beside it.
trace::Redaction make_redaction(trace::FileSource& source, RecordingTarget& target,
                                const std::vector<std::string>& keep);

// "pid,copyinstr(arg0, 10)": at commas outside of parentheses, brackets and quotes.
std::vector<std::string> split_words(const std::string& text);

} // namespace dfr::replay
