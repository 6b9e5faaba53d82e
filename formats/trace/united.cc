// SPDX-License-Identifier: GPL-2.0
//
// Several recordings as one: who they are of, and their clocks. united_catalog.cc
// puts their catalogs together.
#include "formats/trace/united.h"

#include <algorithm>
#include <fnmatch.h>

#include "formats/error.h"
#include "formats/trace/united_catalog.h"

namespace dfr::trace {
namespace {

// Readings of clocks that are so close may be of the same setting: they are not read at one moment.
constexpr int64_t kClockApart = 1'000'000;

// The boot before the system has a name is the kernel's "(none)".
bool is_named(const std::string& host) {
	return !host.empty() && host != "(none)";
}

// Readings are anybody's, so what is reckoned with them wraps.
int64_t difference(uint64_t a, uint64_t b) {
	return static_cast<int64_t>(a - b);
}
int64_t plus(int64_t a, int64_t b) {
	return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t negated(int64_t a) {
	return difference(0, static_cast<uint64_t>(a));
}

uint64_t moved(uint64_t time, int64_t by) {
	const uint64_t sum = time + static_cast<uint64_t>(by);
	if (by < 0)
		return sum > time ? 0 : sum;
	return sum < time ? UINT64_MAX : sum;
}

// How the boot's clock that also counts sleep differs from the clock of records.
int64_t slept(const Clock& clock) {
	return clock.boot ? difference(clock.boot, clock.mono) : 0;
}

// How wall time differs from the clock that also counts sleep: it changes when somebody sets the clock.
int64_t setting(const Clock& clock) {
	return plus(difference(clock.real, clock.mono), negated(slept(clock)));
}

} // namespace

struct United::Boot {
	std::vector<size_t> members;
	std::array<uint8_t, 16> id{};
	bool known = false; // its id is that of a kernel's boot
	Host host;
	uint32_t host_number = 0;
	uint64_t clock_error = 0;
};

uint64_t UnitedSource::time(uint64_t own) const {
	if (clock.empty())
		return own;
	const auto later =
	    std::upper_bound(clock.begin(), clock.end(), own,
	                     [](uint64_t time, const ClockPiece& piece) { return time < piece.own; });
	return moved(own, (later == clock.begin() ? *later : *(later - 1)).offset);
}

uint64_t UnitedSource::own_time(uint64_t time, bool ends) const {
	if (clock.empty() || time == UINT64_MAX)
		return time;
	size_t best = 0;
	for (size_t i = 1; i < clock.size(); i++)
		if (moved(clock[i].own, clock[i].offset) <= time)
			best = i;
	const auto next = best + 1 < clock.size() ? std::optional(clock[best + 1].own) : std::nullopt;
	return time_by_piece(moved(time, negated(clock[best].offset)), next, ends);
}

Record UnitedSource::record(const Record& own) const {
	Record record = own;
	record.epid += first_epid - 1;
	if (boot)
		record.context.task =
		    (own.context.task & ((1u << United::kTaskBits) - 1)) | boot << United::kTaskBits;
	if (clock.empty())
		return record;
	record.time = time(own.time);
	if (own.commit_time)
		record.commit_time = time(own.commit_time);
	return record;
}

United::United(const std::vector<BlockSource*>& sources) : single_(sources.size() == 1) {
	for (BlockSource* const source : sources)
		members_.push_back({.source = source, .clock = {}});
	std::vector<Boot> boots = find_boots();
	find_hosts(boots);
	boots_ = boots.size();
	if (single_)
		return;
	if (boots.size() > 1)
		set_clocks(boots);
	unite_catalogs();
}

// States of one boot have its id. Engines in processes say the id of the boot that they run in, but their
// threads and CPUs are not those of the kernel, so each is for itself.
std::vector<United::Boot> United::find_boots() {
	std::vector<Boot> boots;
	for (size_t i = 0; i < members_.size(); i++) {
		const Catalog& catalog = members_[i].source->catalog();
		const bool known = catalog.boot_id != decltype(catalog.boot_id){} &&
		                   catalog.machine_text("engine") != "process";
		auto boot = std::find_if(boots.begin(), boots.end(), [&](const Boot& one) {
			return known && one.known && one.id == catalog.boot_id;
		});
		if (boot == boots.end())
			boot = boots.insert(
			    boot, {.members = {}, .id = catalog.boot_id, .known = known, .host = {}});
		boot->members.push_back(i);
		if (Host& host = boot->host; !is_named(host.name))
			host.name = catalog.machine_text("host");
		if (boot->host.release.empty())
			boot->host.release = catalog.machine_text("release");
		if (boot->host.machine_id.empty())
			boot->host.machine_id = catalog.machine_text("machineid");
	}
	if (boots.size() > kBootsMost)
		throw Error("these recordings are of " + std::to_string(boots.size()) +
		                " boots, one answer takes " + std::to_string(kBootsMost),
		            "replay fewer files at once");
	return boots;
}

// Boots of one name are one host's, unless their machine ids say otherwise. The id alone does not decide, because
// copies of a virtual machine share it.
void United::find_hosts(std::vector<Boot>& boots) {
	for (size_t i = 0; i < boots.size(); i++) {
		Boot& boot = boots[i];
		auto host = std::find_if(hosts_.begin(), hosts_.end(), [&boot](const Host& one) {
			const bool same_id = one.machine_id.empty() || boot.host.machine_id.empty() ||
			                     one.machine_id == boot.host.machine_id;
			return one.name == boot.host.name && same_id;
		});
		if (host == hosts_.end())
			host = hosts_.insert(host, boot.host);
		boot.host_number = static_cast<uint32_t>(host - hosts_.begin());
		for (const size_t member : boot.members) {
			members_[member].host = boot.host_number;
			members_[member].boot = boots.size() > 1 ? static_cast<uint32_t>(i + 1) : 0;
		}
	}
}

// Places each boot in wall time. Its last reading says how the clock was set; sleep is added where the readings
// show it. What the earlier readings say of other settings is the error.
void United::set_clocks(std::vector<Boot>& boots) {
	for (Boot& boot : boots) {
		Catalog all;
		for (const size_t member : boot.members)
			all.add_clocks(members_[member].source->catalog().clocks);
		if (all.clocks.empty())
			throw Error(
			    members_[boot.members.front()].source->name() +
			        " does not say what time it was, so it cannot be put beside other boots",
			    "replay it alone");
		std::vector<ClockPiece> pieces;
		for (const Clock& clock : all.clocks) {
			const int64_t set = setting(all.clocks.back());
			const int64_t wrong = plus(setting(clock), negated(set));
			boot.clock_error = std::max(
			    boot.clock_error, static_cast<uint64_t>(wrong < 0 ? negated(wrong) : wrong));
			const int64_t offset = plus(slept(clock), set);
			if (pieces.empty() || offset > plus(pieces.back().offset, kClockApart))
				pieces.push_back({clock.mono, offset});
		}
		for (const size_t member : boot.members)
			members_[member].clock = pieces;
	}
	for (const Boot& a : boots)
		for (const Boot& b : boots)
			if (a.host_number != b.host_number)
				clock_error_ = std::max(clock_error_, a.clock_error + b.clock_error);
}

void United::unite_catalogs() {
	CatalogUniter uniter(catalog_);
	for (UnitedSource& member : members_) {
		member.first_epid = static_cast<uint32_t>(catalog_.ecbs.size()) + 1;
		uniter.add(member, hosts_.size() > 1 ? &hosts_[member.host] : nullptr);
	}
	if (boots_ > 1) { // the common clock is wall time
		catalog_.boot_id = {};
		const uint64_t zero = members_.front().time(members_.front().clock.front().own);
		catalog_.clocks = {{.mono = zero, .real = zero, .boot = zero}};
	}
}

bool United::has_host(size_t member, const std::string& glob) const {
	const Host& host = hosts_[members_[member].host];
	const auto is = [&glob](const std::string& name) {
		return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
	};
	return glob.empty() || is(host.name) || is(host.release);
}

bool United::is_of_host(size_t member, const Probe& probe) const {
	const Host& host = hosts_[members_[member].host];
	return probe.hosts.empty() || probe.hosts == std::vector{host.name, host.release};
}

std::vector<std::string> United::host_names() const {
	std::vector<std::string> names;
	if (hosts_.size() < 2)
		return names;
	for (const UnitedSource& member : members_) {
		names.resize(std::max<size_t>(names.size(), member.boot + 1));
		const Host& host = hosts_[member.host];
		const auto same = [&host](const Host& one) { return one.name == host.name; };
		names[member.boot] = host.name;
		if (std::count_if(hosts_.begin(), hosts_.end(), same) > 1) // their ids differ
			names[member.boot] += "." + host.machine_id.substr(0, 8);
	}
	return names;
}

std::string United::name() const {
	std::string name;
	for (const UnitedSource& member : members_)
		name += (name.empty() ? "" : ", ") + member.source->name();
	return name;
}

} // namespace dfr::trace
