// SPDX-License-Identifier: GPL-2.0
//
// Adding up, and writing.
#include "analyze/cli/status_json.h"

#include <algorithm>

#include "analyze/libdfr/json.h"
#include "formats/trace/decode.h"

namespace dfr::cli {

SnapshotCounts count_snapshots(const recorder::DaemonStatus& daemon) {
	SnapshotCounts counts;
	for (const recorder::SnapshotUnderWay& one : daemon.under_way)
		(one.number ? counts.under_way : counts.waiting)++;
	return counts;
}

CostSummary sum_up(const recorder::DeviceSession::Cost& cost) {
	CostSummary sum;
	const auto note = [](uint64_t since, uint64_t& cpus, uint64_t& first) {
		if (!since)
			return;
		cpus++;
		first = first ? std::min(first, since) : since;
	};
	for (const dfr_ioc_cpu_cost& cpu : cost.cpus) {
		if (cpu.spent >= sum.most) {
			sum.most = cpu.spent;
			sum.most_cpu = cpu.cpu;
		}
		note(cpu.throttled_since, sum.throttled, sum.throttled_since);
		for (uint32_t priority = 0; priority < DFR_PRIORITIES; priority++)
			note(cpu.thinned_since[priority], sum.thinned[priority], sum.thinned_since[priority]);
		sum.left_out += cpu.thinned_firings;
	}
	return sum;
}

std::string cost_json(const recorder::DeviceSession::Cost& cost, uint64_t now) {
	const CostSummary sum = sum_up(cost);
	const auto seconds_since = [now](uint64_t since) {
		return std::to_string(since ? static_cast<double>(now - std::min(now, since)) / 1e9 : 0.0);
	};
	lib::JsonObject out;
	out.raw("budget_percent", std::to_string(cost.budget))
	    .raw("most_millionths", std::to_string(sum.most))
	    .raw("most_cpu", std::to_string(sum.most_cpu))
	    .raw("throttled_cpus", std::to_string(sum.throttled))
	    .raw("throttled_seconds", seconds_since(sum.throttled_since))
	    .raw("thinned_firings", std::to_string(sum.left_out));
	for (uint32_t priority = 0; priority < DFR_PRIORITIES; priority++) {
		const std::string name = trace::priority_text(priority);
		out.raw(("thinned_cpus_" + name).c_str(), std::to_string(sum.thinned[priority]))
		    .raw(("thinned_seconds_" + name).c_str(), seconds_since(sum.thinned_since[priority]));
	}
	return out.str();
}

std::string daemon_json(const recorder::DaemonStatus& daemon) {
	const SnapshotCounts under_way = count_snapshots(daemon);
	lib::JsonObject told;
	told.text("mode", daemon.mode)
	    .raw("process", std::to_string(daemon.pid))
	    .text("output", daemon.output)
	    .raw("files", std::to_string(daemon.files))
	    .raw("bytes", std::to_string(daemon.bytes))
	    .raw("free", std::to_string(daemon.free))
	    .raw("snapshots", std::to_string(daemon.snapshots))
	    .raw("failed", std::to_string(daemon.failed))
	    .raw("under_way", std::to_string(under_way.under_way))
	    .raw("waiting", std::to_string(under_way.waiting))
	    .raw("triggers_without_snapshot", std::to_string(daemon.held_back));
	if (!daemon.last.empty())
		told.raw("last", lib::JsonObject()
		                     .text("file", daemon.last)
		                     .text("reason", daemon.last_reason)
		                     .text("verdict", daemon.last_verdict)
		                     .raw("time", std::to_string(daemon.last_time))
		                     .str());
	return told.str();
}

} // namespace dfr::cli
