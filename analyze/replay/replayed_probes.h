// SPDX-License-Identifier: GPL-2.0
//
// The probes of a recording in an engine of this process: those that were recorded, with
// their recorded ids as far as that can be, and the timers that the program names. Every
// engine of one replay gets the same probes with the same ids.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyze/engine/engine_session.h"
#include "analyze/engine/tick.h"
#include "analyze/replay/recording_target.h"
#include "formats/dof/image.h"

namespace dfr::replay {

class ReplayedProbes {
public:
	ReplayedProbes(engine::EngineSession& session, RecordingTarget& target, const dof::Image& program,
	               const std::string& name);

	// By recorded id; null: it is not one of the recording.
	dfr_probe* of(uint32_t id) const;
	std::vector<engine::Timer>& timers() { return timers_; }
	// The program as the engine must have it: in place of each clause for some hosts one for each probe of theirs,
	// because the engine's own idea of the host is the machine that replays.
	dof::Image for_hosts(const dof::Image& image) const;

private:
	void create_recorded(const std::string& name);
	void create_timers(const dof::Image& program);
	dfr_provider* provider_of(const trace::Probe& probe);
	uint32_t id_of(const d::ProbeInfo& probe) const;

	engine::EngineSession& session_;
	RecordingTarget& target_;
	std::map<uint32_t, dfr_probe*> probes_;
	std::vector<engine::Timer> timers_;
	std::map<std::vector<std::string>, dfr_provider*>
	    providers_; // by name, and host if there are several
};

} // namespace dfr::replay
