// SPDX-License-Identifier: GPL-2.0
//
// See boot_compare.h.
#include "analyze/libdfr/boot_compare.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>

namespace dfr::lib {
namespace {

constexpr double kShareOfBoot = 0.01; // what is too short to be looked for

using MeasuredName = std::tuple<std::string, std::string, std::string>; // kind, phase, name

struct Amount {
	double ns = 0; // the sum of all with this name; of moments, the first
	size_t times = 0;
};

// One boot: what takes time, and what happens at a time. A service that goes on has only a beginning.
struct Measured {
	std::map<MeasuredName, Amount> parts, moments;
	std::set<MeasuredName> open; // parts one of which had not ended
	std::string open_phase;      // without a login prompt: the phase in which the recording ends
};

double whole_of(const BootTimeline& boot) {
	return static_cast<double>(boot.login.value_or(boot.end));
}

// In which phase something is looked for. The login prompt comes in between what goes on beside it, so there is no phase
// after it here.
const BootPhase& phase_at(const BootTimeline& boot, uint64_t time) {
	const auto after = std::ranges::find_if(boot.phases, [&](const BootPhase& one) {
		return one.from > time || (boot.login && one.from == *boot.login && one.from > 0);
	});
	return *std::prev(after);
}

void add(std::map<MeasuredName, Amount>& into, const MeasuredName& key, uint64_t ns) {
	Amount& amount = into[key];
	amount.ns += static_cast<double>(ns);
	amount.times++;
}

void add_moment(Measured& into, const BootTimeline& boot, const char* kind, const std::string& name,
                uint64_t time) {
	const BootPhase& phase = phase_at(boot, time);
	into.moments.try_emplace({kind, phase.name, lasting_name(name)},
	                         Amount{static_cast<double>(time - phase.from), 1});
}

Measured measure(const BootTimeline& boot) {
	Measured out;
	if (boot.phases.empty())
		return out;
	for (const BootPhase& phase : boot.phases)
		if (!boot.login ||
		    phase.from < *boot.login) // after it, a phase is as long as the recorder ran
			add(out.parts, {"phase", "", phase.name}, phase.to - phase.from);
	if (!boot.login)
		out.open_phase = boot.phases.back().name;
	for (const BootService& service : boot_services(boot)) {
		const MeasuredName key{"service", phase_at(boot, service.from).name,
		                       lasting_name(service.name)};
		if (service.goes_on) {
			add_moment(out, boot, "start", service.name, service.from);
			out.open.insert(key);
		} else {
			add(out.parts, key, service.to - service.from);
		}
	}
	for (size_t i = 0; i < boot.processes.size(); i++) {
		const BootProcess& one = boot.processes[i];
		if (one.root == i || of_the_kernel(boot, one))
			continue;
		const MeasuredName key{"process", phase_at(boot, one.start).name,
		                       lasting_name(boot_title(one))};
		if (one.exited)
			add(out.parts, key, one.end - one.start);
		else
			out.open.insert(key);
	}
	for (const BootModule& one : boot.modules)
		add_moment(out, boot, "module", one.name, one.time);
	return out;
}

// Initcalls by their level, or the module that they are of; two that have one name count together. A module's function
// has a name until it has ended only.
void measure_events(Measured& into, const BootInitcalls& events) {
	for (const BootInitcall& call : events.calls) {
		const MeasuredName key{"initcall",
		                       call.module.empty() ? "level " + call.level : "module " + call.module,
		                       call.module.empty() ? call.name : "init"};
		if (call.ended)
			add(into.parts, key, call.to - call.from);
		else
			into.open.insert(key);
	}
}

// The two groups, one after the other.
struct Boots {
	std::vector<Measured> all;
	size_t before = 0;

	std::map<MeasuredName, size_t> names(std::map<MeasuredName, Amount> Measured::*of) const {
		std::map<MeasuredName, size_t> found;
		for (const Measured& one : all)
			for (const auto& [key, amount] : one.*of)
				found[key]++;
		return found;
	}

	std::set<MeasuredName> open() const {
		std::set<MeasuredName> found;
		for (const Measured& one : all)
			found.insert(one.open.begin(), one.open.end());
		return found;
	}
};

double spread(const BootDifference& one) {
	std::vector<double> all = one.before;
	all.insert(all.end(), one.after.begin(), one.after.end());
	const auto [least, most] = std::ranges::minmax(all);
	return most - least;
}

BootDifference difference_of(const Boots& boots, const MeasuredName& key, BootQuestionOf question) {
	const bool moment = question == BootQuestionOf::kMoments;
	BootDifference one{.question = question,
	                   .kind = std::get<0>(key),
	                   .phase = std::get<1>(key),
	                   .name = std::get<2>(key)};
	std::vector<double> times[2];
	for (size_t i = 0; i < boots.all.size(); i++) {
		const auto& of = moment ? boots.all[i].moments : boots.all[i].parts;
		const auto at = of.find(key);
		(i < boots.before ? one.before : one.after).push_back(at == of.end() ? 0 : at->second.ns);
		times[i < boots.before ? 0 : 1].push_back(
		    at == of.end() ? 0 : static_cast<double>(at->second.times));
	}
	one.times_before = median(times[0]);
	one.times_after = median(times[1]);
	return one;
}

void add_absence(BootComparison& into, const Boots& boots, const MeasuredName& key, bool moment) {
	BootAbsence one{.kind = std::get<0>(key), .phase = std::get<1>(key), .name = std::get<2>(key)};
	for (size_t i = 0; i < boots.all.size(); i++)
		if ((moment ? boots.all[i].moments : boots.all[i].parts).contains(key))
			(i < boots.before ? one.before : one.after)++;
	into.absences.push_back(std::move(one));
}

// A phase that ends with the recording has no length in any boot, whatever the others know of it.
void drop_open_phases(Boots& boots) {
	std::vector<std::string> open;
	for (const Measured& one : boots.all)
		if (!one.open_phase.empty())
			open.push_back(one.open_phase);
	for (Measured& one : boots.all)
		for (const std::string& name : open)
			one.parts.erase({"phase", "", name});
}

// What ended in one phase, but in no boot in which that name is open in another, has moved: it is open in both.
void spread_moved(Boots& boots) {
	const std::set<MeasuredName> all_open = boots.open();
	for (const auto& part : boots.names(&Measured::parts))
		for (const MeasuredName& key : all_open) {
			const MeasuredName& ended = part.first;
			const auto other = [&](const Measured& one) {
				return one.open.contains(key) && one.parts.contains(ended);
			};
			if (std::get<0>(key) == "initcall" || std::get<0>(key) != std::get<0>(ended) ||
			    std::get<2>(key) != std::get<2>(ended) || std::ranges::any_of(boots.all, other))
				continue;
			for (Measured& one : boots.all)
				if (one.open.contains(key))
					one.open.insert(ended);
		}
}

// What goes on in some boots and ends in others says nothing by its length; nor does what the boots before do not have.
std::vector<BootUnended> take_unended(Boots& boots) {
	spread_moved(boots);
	std::vector<BootUnended> out;
	for (const MeasuredName& key : boots.open()) {
		BootUnended one{
		    .kind = std::get<0>(key), .phase = std::get<1>(key), .name = std::get<2>(key)};
		bool ends = false;
		for (size_t i = 0; i < boots.all.size(); i++) {
			const bool was_open = boots.all[i].open.contains(key),
			           ended = boots.all[i].parts.erase(key);
			ends = ends || ended;
			if (ended && !was_open)
				(i < boots.before ? one.before : one.after)++;
			if (was_open && i < boots.before)
				one.only_after = false;
		}
		if (ends || one.only_after)
			out.push_back(std::move(one));
	}
	std::ranges::stable_sort(out, std::ranges::greater(), &BootUnended::only_after);
	return out;
}

void judge(BootComparison& into, BootQuestionOf question) {
	std::vector<BootDifference*> all;
	std::vector<double> chances;
	for (BootDifference& one : into.differences) {
		if (one.question != question)
			continue;
		one.test = rank_test(one.before, one.after, into.confidence);
		all.push_back(&one);
		chances.push_back(one.test.chance);
	}
	const std::vector<double> fair = corrected(chances);
	for (size_t i = 0; i < all.size(); i++) {
		BootDifference& one = *all[i];
		one.chance = fair[i];
		const bool shown =
		    rare_enough(one.chance, into.confidence) && std::abs(one.test.shift) >= into.least;
		one.slower = shown && one.test.shift > 0;
		one.faster = shown && one.test.shift < 0;
	}
}

} // namespace

bool BootComparison::slower() const {
	return std::ranges::any_of(differences, &BootDifference::slower);
}

size_t BootComparison::compared(BootQuestionOf question) const {
	return static_cast<size_t>(std::ranges::count(differences, question, &BootDifference::question));
}

bool BootComparison::could_show(BootQuestionOf question) const {
	const auto things = static_cast<double>(std::max<size_t>(compared(question), 1));
	return rare_enough(least_chance(before, after) * things, confidence);
}

bool BootComparison::in_vain() const {
	const bool whole = compared(BootQuestionOf::kWhole) > 0; // else no login prompt was seen
	return !(whole && could_show(BootQuestionOf::kWhole)) && !could_show(BootQuestionOf::kParts);
}

bool BootComparison::hangs() const {
	return std::ranges::any_of(unended, [](const BootUnended& one) {
		return one.only_after && (one.before + one.after > 0 || one.kind == "initcall");
	});
}

std::string lasting_name(const std::string& name) {
	std::string out;
	for (size_t at = 0; at < name.size();) {
		size_t past = at;
		while (past < name.size() && std::isdigit(static_cast<unsigned char>(name[past])))
			past++;
		out += past - at >= 4 ? "#" : name.substr(at, past == at ? 1 : past - at);
		at = std::max(past, at + 1);
	}
	// Of "6.1.0-56-amd64": a kernel's own name begins below a folder of kernels.
	for (const char* const folder : {"/lib/modules/", "/usr/src/linux-headers-"}) {
		const size_t found = out.find(folder);
		if (found == std::string::npos)
			continue;
		const size_t from = found + std::string(folder).size();
		out.replace(from, std::min(out.find('/', from), out.size()) - from, "KERNEL");
	}
	for (const char* const folder : {"/bin/", "/sbin/", "/lib/"})
		if (out.starts_with(folder))
			out.insert(0, "/usr");
	return out;
}

BootComparison compare_boots(std::span<const BootTimeline> before, std::span<const BootTimeline> after,
                             const CompareOptions& options) {
	BootComparison out{.confidence = options.confidence,
	                   .least = options.least,
	                   .before = before.size(),
	                   .after = after.size()};
	Boots boots{.all = {}, .before = before.size()};
	std::vector<double> wholes;
	BootDifference login{.kind = "login", .name = "login prompt", .times_before = 1, .times_after = 1};
	const auto take = [&](const BootTimeline& one, std::vector<double>& logins) {
		boots.all.push_back(options.partial ? Measured() : measure(one));
		wholes.push_back(whole_of(one));
		if (one.login)
			logins.push_back(static_cast<double>(*one.login));
	};
	for (const BootTimeline& one : before)
		take(one, login.before);
	for (const BootTimeline& one : after)
		take(one, login.after);
	if (!options.partial && options.events.size() == boots.all.size())
		for (size_t i = 0; i < boots.all.size(); i++)
			measure_events(boots.all[i], options.events[i]);
	drop_open_phases(boots);
	out.unended = take_unended(boots);
	if (out.least <= 0)
		out.least = median(wholes) * kShareOfBoot;
	const auto consider = [&out](BootDifference one) {
		if (spread(one) >= out.least)
			out.differences.push_back(std::move(one));
		else
			out.left_out++;
	};
	if (login.before.size() == before.size() && login.after.size() == after.size())
		out.differences.push_back(login); // however little it differs
	for (const auto& [key, count] : boots.names(&Measured::parts)) {
		if (count < boots.all.size())
			add_absence(out, boots, key, false);
		consider(difference_of(boots, key, BootQuestionOf::kParts));
	}
	for (const auto& [key, count] : boots.names(&Measured::moments)) {
		if (count < boots.all.size())
			add_absence(out, boots, key, true);
		else
			consider(difference_of(boots, key, BootQuestionOf::kMoments));
	}
	for (const BootQuestionOf question :
	     {BootQuestionOf::kWhole, BootQuestionOf::kParts, BootQuestionOf::kMoments})
		judge(out, question);
	std::ranges::stable_sort(out.differences, [](const BootDifference& a, const BootDifference& b) {
		if (a.question != b.question)
			return a.question < b.question;
		return std::abs(a.test.shift) > std::abs(b.test.shift);
	});
	return out;
}

} // namespace dfr::lib
