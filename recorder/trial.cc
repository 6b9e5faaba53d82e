// SPDX-License-Identifier: GPL-2.0
//
// Running a program for a moment, and reckoning from that.
#include "recorder/trial.h"

#include <algorithm>
#include <map>

#include "formats/amounts.h"
#include "recorder/daemon.h"
#include "recorder/state_overview.h"

namespace dfr::recorder {
namespace {

constexpr std::chrono::milliseconds kPause{20};

uint64_t a_second(uint64_t amount, const Trial& trial) {
	return static_cast<uint64_t>(static_cast<double>(amount) * 1e9 /
	                             static_cast<double>(trial.took.count()));
}

} // namespace

Trial run_trial(DeviceSession& session, const std::function<bool()>& going) {
	Trial trial;
	std::map<uint32_t, uint64_t> bytes; // by CPU
	const auto count = [&]() {
		while (const auto block = session.next()) {
			trial.records += block->header().records;
			bytes[block->header().cpu] += block->header().committed;
		}
	};
	session.go();
	const auto began = std::chrono::steady_clock::now();
	const auto so_far = [began]() { return std::chrono::steady_clock::now() - began; };
	while (so_far() < kTrialTime && going() && !has_ended(session.status())) {
		session.wait(kPause, true, nullptr);
		count();
	}
	trial.took = std::max<std::chrono::nanoseconds>(so_far(), kPause);
	trial.cost = session.cost().value_or(DeviceSession::Cost{});
	session.flush();
	count();
	for (const uint64_t lost : session.status().loss)
		trial.lost += lost;
	session.stop();
	for (const auto& [cpu, of_cpu] : bytes) {
		trial.bytes += of_cpu;
		if (of_cpu > trial.busiest_bytes) {
			trial.busiest = cpu;
			trial.busiest_bytes = of_cpu;
		}
	}
	trial.room = uint64_t{session.catalog().blocks} * session.catalog().block_size;
	return trial;
}

std::vector<std::string> trial_lines(const Trial& trial) {
	std::vector<std::string> lines{std::to_string(a_second(trial.records, trial)) + " records and " +
	                               bytes_text(a_second(trial.bytes, trial)) +
	                               " a second, by a trial of " +
	                               span_text(static_cast<uint64_t>(trial.took.count()))};
	const std::string room = "memory of " + bytes_text(trial.room) + " for each CPU: ";
	if (const uint64_t rate = a_second(trial.busiest_bytes, trial))
		lines.push_back(room + span_text(trial.room * 1'000 / rate * 1'000'000) + " of CPU " +
		                std::to_string(trial.busiest) + ", which records most");
	else
		lines.push_back(room + "nothing was recorded in this time");
	const auto most = std::max_element(
	    trial.cost.cpus.begin(), trial.cost.cpus.end(),
	    [](const dfr_ioc_cpu_cost& a, const dfr_ioc_cpu_cost& b) { return a.spent < b.spent; });
	if (most != trial.cost.cpus.end()) {
		lines.push_back("cost " + cost_text(most->spent, most->cpu, trial.cost.budget));
		if (trial.cost.budget && most->spent > trial.cost.budget * 10'000)
			lines.emplace_back(
			    "that is more than it may take: clauses would be thinned, or firings "
			    "throttled, and what is left out counted");
	}
	if (trial.lost)
		lines.push_back(std::to_string(trial.lost) + " records or firings were lost in this time");
	return lines;
}

} // namespace dfr::recorder
