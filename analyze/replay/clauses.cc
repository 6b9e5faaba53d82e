// SPDX-License-Identifier: GPL-2.0
//
// Clauses sorted by what fires them.
#include "analyze/replay/clauses.h"

#include <algorithm>

#include "analyze/engine/tick.h"
#include "formats/d/compile.h"

namespace dfr::replay {
namespace {

bool matches_own(const d::ProbePattern& pattern) {
	const char* const names[] = {"BEGIN", "END", "ERROR"};
	for (uint32_t i = 0; i < 3; i++) {
		trace::Probe probe;
		probe.id = i + 1;
		probe.provider = "dtrace";
		probe.name = names[i];
		if (RecordingTarget::matches(pattern, probe))
			return true;
	}
	return false;
}

} // namespace

Clauses clauses_of(const d::Compiled& program, const RecordingTarget& target) {
	Clauses result;
	const auto refuse = [&result](const char* why) {
		if (result.refusal.empty())
			result.refusal = why;
	};
	for (const dof::EcbDesc& ecb : program.image.ecbs) {
		const d::ProbePattern pattern = d::pattern_of(ecb.probe);
		const auto& actions = program.image.body_of(ecb).actions;
		const bool exits = std::any_of(actions.begin(), actions.end(), [](const dof::Action& action) {
			return action.kind == DFR_ACT_EXIT;
		});
		if (exits && pattern.name != "END")
			refuse("a clause may call exit() before the last record");
		if (!pattern.host.empty())
			refuse("a clause names hosts");
		const auto& recorded = target.recorded();
		const bool own = matches_own(pattern);
		if (own &&
		    std::none_of(recorded.begin(), recorded.end(), [&pattern](const trace::Probe* probe) {
			    return RecordingTarget::matches(pattern, *probe);
		    })) {
			result.own.push_back(&ecb);
			continue;
		}
		if (own)
			refuse("a clause is for BEGIN, END or ERROR and for recorded probes");
		if (engine::timer_interval(pattern.name))
			refuse("a timer fires between the records");
		if (pattern.id != 0)
			refuse("a probe is named by its number");
		result.recorded.push_back(&ecb);
	}
	return result;
}

} // namespace dfr::replay
