// SPDX-License-Identifier: GPL-2.0
//
// Catalogs of several recordings as one.
#include "formats/trace/united_catalog.h"

#include <algorithm>

namespace dfr::trace {
namespace {

// Ids beyond it are no engine's.
constexpr uint32_t kIdsMost = 1u << 28;

} // namespace

// What all of them say alike.
void CatalogUniter::add_machine(const Catalog& from) {
	if (first_)
		into_.machine = from.machine;
	else
		std::erase_if(into_.machine, [&from](const auto& pair) {
			const auto there = from.machine.find(pair.first);
			return there == from.machine.end() || there->second != pair.second;
		});
}

void CatalogUniter::add_events(const Catalog& from, const UnitedSource& member) {
	for (EventMark mark : from.events) {
		mark.time = member.time(mark.time);
		into_.events.push_back(mark);
	}
	into_.add_clocks(from.clocks);
}

// The id that was wanted, if nobody has it; else the first one after all that are known. Where a crafted recording has
// taken the last one that an engine would give, it is one between.
uint32_t CatalogUniter::free_id(uint32_t wanted) {
	if (wanted < kIdsMost && !into_.probes.count(wanted))
		return wanted;
	const auto last = into_.probes.lower_bound(kIdsMost);
	if (last == into_.probes.begin())
		return kOwnProbes + 1;
	if (const uint32_t behind = std::prev(last)->first + 1; behind < kIdsMost)
		return behind;
	while (into_.probes.count(between_)) // ends, because no file has so many probes
		between_++;
	return between_;
}

// Their ids in the answer, by their ids. Probes of one name on one host are one probe.
std::map<uint32_t, uint32_t> CatalogUniter::add_probes(const Catalog& from, uint32_t of,
                                                       const United::Host* host) {
	std::map<uint32_t, uint32_t> ids;
	for (const auto& [id, probe] : from.probes) {
		if (id <= kOwnProbes) {
			into_.probes.emplace(id, probe);
			ids[id] = id;
			continue;
		}
		const auto [known, fresh] =
		    probes_.try_emplace({of, probe.provider, probe.module, probe.function, probe.name}, 0);
		if (fresh) {
			known->second = free_id(id);
			Probe& added = into_.probes[known->second] = probe;
			added.id = known->second;
			if (host)
				added.hosts = {host->name, host->release};
		} else if (Probe& added = into_.probes[known->second]; added.nargs != probe.nargs) {
			added.nargs.reset();
		}
		ids[id] = known->second;
	}
	return ids;
}

void CatalogUniter::add(const UnitedSource& member, const United::Host* host) {
	const Catalog& from = member.source->catalog();
	add_machine(from);
	add_events(from, member);
	if (first_) {
		into_.state_id = from.state_id;
		into_.boot_id = from.boot_id;
		into_.state_name = from.state_name;
		into_.policy = from.policy;
	}
	first_ = false;
	into_.cpus = std::max(into_.cpus, from.cpus);
	into_.strsize = std::max(into_.strsize, from.strsize);
	const auto first_dof = static_cast<uint32_t>(into_.dofs.size());
	into_.dofs.insert(into_.dofs.end(), from.dofs.begin(), from.dofs.end());
	into_.sources.insert(into_.sources.end(), from.sources.begin(), from.sources.end());
	into_.sources.resize(into_.dofs.size());
	const std::map<uint32_t, uint32_t> probes = add_probes(from, member.host, host);
	std::map<uint32_t, uint32_t> layouts;
	for (const auto& [id, layout] : from.layouts) {
		Layout added = layout;
		layouts[id] = added.id = next_layout_++;
		added.dof = layout.dof < from.dofs.size() ? layout.dof + first_dof : UINT32_MAX;
		into_.layouts.emplace(added.id, std::move(added));
	}
	const size_t first = into_.ecbs.size();
	into_.ecbs.resize(first + from.ecbs.size());
	for (const Ecb& ecb : from.ecbs) {
		const auto probe = probes.find(ecb.probe);
		const auto layout = layouts.find(ecb.layout);
		if (!ecb.epid || probe == probes.end() || layout == layouts.end())
			continue;
		const auto epid = static_cast<uint32_t>(first) + ecb.epid;
		into_.ecbs[epid - 1] = {
		    .epid = epid, .probe = probe->second, .layout = layout->second, .priority = ecb.priority};
		into_.known_ecbs++;
	}
}

} // namespace dfr::trace
