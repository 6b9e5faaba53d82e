// SPDX-License-Identifier: GPL-2.0
//
// Replay: a D program run over a recording. Each recorded firing (the records of
// one time on one CPU) becomes one firing of the same probe in an engine of our
// own, with the captured inputs as its world; rings and aggregations of that
// engine go to the same consumer and renderer as live. Without a program, what
// the recorded program said is rendered.
//
// BEGIN fires at the recording's start, END after its last record or at exit().
// A tick that was not recorded is fired by the recording's clock.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/render/renderer.h"
#include "analyze/replay/recording_target.h"
#include "formats/d/compile.h"
#include "formats/trace/decode.h"

namespace dfr::replay {

struct Answer {
	trace::Verdict verdict;
	int exit_status = 0;
	uint64_t firings = 0;
};

struct ReplayOptions {
	render::Style style;
	std::function<void(const std::string&)> message;
	bool strict = false;               // refuse what the recording can answer only in part
	std::function<bool()> interrupted; // asked now and then; null: never
};

// What the recorded program said.
Answer render_recording(trace::BlockSource& source, render::Output& output, render::Symboliser& symbols,
                        const ReplayOptions& options);

// What `program`, compiled against `target`, says.
Answer replay_program(trace::BlockSource& source, RecordingTarget& target, const d::Compiled& program,
                      render::Output& output, render::Symboliser& symbols, const ReplayOptions& options);

} // namespace dfr::replay
