// SPDX-License-Identifier: GPL-2.0
//
// Replay: runs a D program over a recording. Each recorded firing (the records of
// one time on one CPU) becomes one firing of the same probe in an engine in this
// process; where the program reads an input, it gets the captured value. The
// consumer and renderer of live tracing read that engine's rings and aggregations.
// Without a program, render_recording() prints what the recorded program printed.
//
// Several recordings get one answer: their firings in order of time (gathered.h).
// A program runs over the window, in which every CPU is whole, or over what was asked
// for (wanted.h). BEGIN fires at its start, END after its last record or at exit().
// A tick probe that was not recorded fires by the times of the records.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/render/renderer.h"
#include "analyze/replay/recording_target.h"
#include "analyze/replay/wanted.h"
#include "formats/d/compile.h"
#include "formats/trace/followed.h"
#include "formats/trace/united.h"

namespace dfr::replay {

// A reason of the verdict.
inline constexpr const char* kInterrupted = "ended by a signal before all records were read";

struct Answer {
	trace::Verdict verdict;
	int exit_status = 0;
	uint64_t firings = 0;
	bool by_columns = false, by_threads = false;
};

// How a program is answered: by columns if it can be (by_columns.h), else by a firing for each record; or, for
// tests, as this says.
enum class Way { kAny, kColumns, kRows };

struct ReplayOptions {
	render::Style style;
	std::function<void(const std::string&)> message;
	Wanted wanted;
	bool strict = false; // throw if the recording can answer only in part
	Way way = Way::kAny; // kColumns: throw if it cannot be
	// That may answer together (by_threads.h); the answer is the same with any number of them.
	unsigned threads = 1;
	std::function<bool()> interrupted; // called now and then: true ends the replay; may be null
	// The only recording, if it is still being written: it is answered as it comes. await() waits a moment
	// for more; false: no more is wanted.
	trace::FollowedSource* followed = nullptr;
	std::function<bool()> await = nullptr;
};

// Prints what the recorded program printed.
Answer render_recording(trace::BlockSource& source, render::Output& output, render::Symboliser& symbols,
                        const ReplayOptions& options);

// Runs `program`, which was compiled against `target`, which is of the same recordings.
Answer replay_program(const trace::United& all, RecordingTarget& target, const d::Compiled& program,
                      render::Output& output, render::Symboliser& symbols, const ReplayOptions& options);

} // namespace dfr::replay
