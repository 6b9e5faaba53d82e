// SPDX-License-Identifier: GPL-2.0
//
// Probes of a recording, made again.
#include "analyze/replay/replayed_probes.h"

#include <algorithm>

#include "analyze/engine/engine_c.h"
#include "formats/d/compile.h"
#include "formats/error.h"

namespace dfr::replay {
namespace {

// Probes with ids up to this one have the same id in replay; create_recorded() fills the gaps.
constexpr uint32_t kIdsKept = 200'000;

} // namespace

ReplayedProbes::ReplayedProbes(engine::EngineSession& session, RecordingTarget& target,
                               const dof::Image& program, const std::string& name)
    : session_(session), target_(target) {
	create_recorded(name);
	create_timers(program);
	session_.probes_added();
}

dfr_probe* ReplayedProbes::of(uint32_t id) const {
	const auto known = probes_.find(id);
	return known == probes_.end() ? nullptr : known->second;
}

// Hosts have each their own, so that their probes have ids of their own.
dfr_provider* ReplayedProbes::provider_of(const trace::Probe& probe) {
	std::vector<std::string> key = {probe.provider};
	key.insert(key.end(), probe.hosts.begin(), probe.hosts.end());
	dfr_provider*& provider = providers_[key];
	if (!provider)
		provider = session_.add_provider(probe.provider, nullptr, nullptr, DFR_PV_TWIN);
	return provider;
}

// Creates the recorded probes with their recorded ids. The engine gives ids without gaps, so probes of
// the provider "not recorded" take the ids in between. Each is a function of its own, because the engine
// looks for probes by function: all of one would be one chain, which each new probe walks.
void ReplayedProbes::create_recorded(const std::string& name) {
	uint32_t next = 4; // the engine has made BEGIN, END and ERROR, with ids 1 to 3
	dfr_provider* holes = nullptr;
	for (const trace::Probe* const probe : target_.recorded()) {
		dfr_provider* const provider = provider_of(*probe);
		if (probe->id <= kIdsKept && next < probe->id && !holes)
			holes = session_.add_provider("not recorded", nullptr, nullptr);
		for (; probe->id <= kIdsKept && next < probe->id; next++)
			session_.add_probe(holes, "-", std::to_string(next), "-", 0, nullptr);
		const uint32_t nargs = probe->nargs.value_or(DFR_NARGS_UNKNOWN);
		dfr_probe* const made =
		    session_.add_probe(provider, probe->module, probe->function, probe->name, nargs, nullptr);
		if (!made)
			throw Error("cannot replay " + name + ": probe " + std::to_string(probe->id) +
			            " is in its catalog twice");
		next = made->pb_id + 1;
		probes_[probe->id] = made;
	}
}

// Creates the timer probes that the program names and the recording does not have.
void ReplayedProbes::create_timers(const dof::Image& program) {
	for (const dof::EcbDesc& ecb : program.ecbs) {
		const std::string& name = ecb.probe.name;
		const auto interval = engine::timer_interval(name);
		const auto same = [&name](const engine::Timer& timer) {
			return name == timer.probe->pb_name;
		};
		if (!interval || std::any_of(timers_.begin(), timers_.end(), same))
			continue;
		const auto recorded = [&name](const trace::Probe* probe) { return probe->name == name; };
		if (std::any_of(target_.recorded().begin(), target_.recorded().end(), recorded))
			continue;
		trace::Probe timer;
		timer.provider = "profile";
		timers_.push_back({session_.add_probe(provider_of(timer), "", "", name, 3, nullptr),
		                   *interval, engine::kNever});
	}
}

// Of a probe that the target knows, in the engine.
uint32_t ReplayedProbes::id_of(const d::ProbeInfo& probe) const {
	if (const auto recorded = probes_.find(probe.id); recorded != probes_.end())
		return recorded->second->pb_id;
	for (const engine::Timer& timer : timers_)
		if (probe.name == timer.probe->pb_name)
			return timer.probe->pb_id;
	return probe.id; // BEGIN, END, ERROR
}

dof::Image ReplayedProbes::for_hosts(const dof::Image& image) const {
	dof::Image here = image;
	here.ecbs.clear();
	for (dof::EcbDesc ecb : image.ecbs) {
		const d::ProbePattern pattern = d::pattern_of(ecb.probe);
		if (pattern.host.empty()) {
			here.ecbs.push_back(std::move(ecb));
			continue;
		}
		if (!target_.elsewhere(pattern.host).empty())
			continue;
		ecb.probe.host.clear();
		target_.match(pattern, [&](const d::ProbeInfo& probe) {
			ecb.probe.id = id_of(probe);
			here.ecbs.push_back(ecb);
			return true;
		});
	}
	return here;
}

} // namespace dfr::replay
