// SPDX-License-Identifier: GPL-2.0
//
// dfr status: what records on this machine, how far back its memory goes, and what dfrd has stored.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "analyze/cli/arguments.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/status_json.h"
#include "analyze/libdfr/json.h"
#include "formats/amounts.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "recorder/daemon_status.h"
#include "recorder/state_overview.h"

namespace dfr::cli {
namespace {

constexpr const char* kStatusExamples = "  dfr status\n"
                                        "  dfr status flight\n"
                                        "  dfr status --json\n";

struct StateReport {
	recorder::StateLine line;
	std::optional<recorder::StateOverview> overview; // of kept ones
	std::string problem;                             // why there is none
	std::optional<recorder::DaemonStatus> daemon;    // that holds it
};

StateReport look(const recorder::StateLine& line) {
	StateReport report{.line = line};
	if (line.name == "-")
		return report;
	try {
		report.overview = recorder::look_at_state(line.name);
	} catch (const Error& error) {
		report.problem = error.what();
	}
	report.daemon = recorder::read_daemon_status(recorder::daemon_status_path(line.name));
	if (report.daemon && std::to_string(report.daemon->pid) != line.holder)
		report.daemon.reset(); // of one that has ended
	return report;
}

double seconds(uint64_t ns) {
	return static_cast<double>(ns) / 1e9;
}

void line(const char* what, const std::string& text) {
	std::printf("  %-10s %s\n", what, shown(text));
}

void print_daemon(const recorder::DaemonStatus& daemon) {
	line("dfrd", "mode " + daemon.mode + ", process " + std::to_string(daemon.pid));
	line("files", std::to_string(daemon.files) + " with " + bytes_text(daemon.bytes) + ": " +
	                  daemon.output + "; " + bytes_text(daemon.free) + " are free there");
	if (daemon.mode != "flight")
		return;
	line("snapshots", std::to_string(daemon.snapshots) + " taken, " + std::to_string(daemon.failed) +
	                      " failed, " + trace::grouped(daemon.held_back) + " triggers without one");
	if (const SnapshotCounts now = count_snapshots(daemon); now.under_way + now.waiting)
		line("", std::to_string(now.under_way) + " under way, " + std::to_string(now.waiting) +
		             " waiting");
	if (!daemon.last.empty()) {
		line("last",
		     daemon.last + ", " + local_time_text(daemon.last_time) + ", " + daemon.last_reason);
		line("", daemon.last_verdict);
	}
}

void print_cost(const recorder::DeviceSession::Cost& cost, uint64_t now) {
	const CostSummary sum = sum_up(cost);
	line("cost", recorder::cost_text(sum.most, sum.most_cpu, cost.budget));
	for (uint32_t priority = 0; priority < DFR_PRIORITIES; priority++)
		if (sum.thinned[priority])
			line("thinned", std::string("clauses of priority ") + trace::priority_text(priority) +
			                    " are off on " + std::to_string(sum.thinned[priority]) +
			                    " CPUs, for " +
			                    span_text(now - std::min(now, sum.thinned_since[priority])));
	if (sum.throttled)
		line("throttled", "nothing is recorded on " + std::to_string(sum.throttled) + " CPUs, for " +
		                      span_text(now - std::min(now, sum.throttled_since)));
	if (sum.left_out)
		line("left out", trace::grouped(sum.left_out) +
		                     " firings of clauses that were off, and those of detached probes");
}

void print(const StateReport& report) {
	std::printf("%s: %s\n", shown(report.line.name), shown(report.line.activity));
	line("held by", report.line.holder == "unclaimed" ? "nobody" : "process " + report.line.holder);
	if (!report.problem.empty())
		line("memory", "not known: " + report.problem);
	if (report.overview && !report.overview->since)
		line("records", "it has not started");
	else if (report.overview) {
		const recorder::StateOverview& state = *report.overview;
		line("records", trace::grouped(state.records) + " in " + span_text(state.now - state.since) +
		                    ", " + trace::grouped(state.lost) + " lost" +
		                    (state.estimated ? ", of which " + trace::grouped(state.estimated) +
		                                           " are estimates (detached probes)"
		                                     : ""));
		if (!state.detached.empty())
			line("detached", state.detached + ": what fires there is estimated later");
		line("memory", "the last " + span_text(state.now - state.from) + ", " +
		                   bytes_text(state.bytes) + " of " + bytes_text(state.room));
		if (state.cost)
			print_cost(*state.cost, state.now);
		if (state.marks)
			line("marks", trace::grouped(state.marks));
	}
	if (report.daemon)
		print_daemon(*report.daemon);
}

std::string json(const StateReport& report) {
	lib::JsonObject out;
	out.text("name", report.line.name)
	    .text("activity", report.line.activity)
	    .text("holder", report.line.holder);
	if (!report.problem.empty())
		out.text("problem", report.problem);
	if (report.overview) {
		const recorder::StateOverview& state = *report.overview;
		out.raw("seconds", std::to_string(seconds(state.now - state.since)))
		    .raw("seconds_in_memory", std::to_string(seconds(state.now - state.from)))
		    .raw("records", std::to_string(state.records))
		    .raw("lost", std::to_string(state.lost))
		    .raw("estimated", std::to_string(state.estimated))
		    .text("detached", state.detached)
		    .raw("bytes", std::to_string(state.bytes))
		    .raw("room", std::to_string(state.room))
		    .raw("marks", std::to_string(state.marks));
		if (state.cost)
			out.raw("cost", cost_json(*state.cost, state.now));
	}
	if (report.daemon)
		out.raw("dfrd", daemon_json(*report.daemon));
	return out.str();
}

} // namespace

int run_status(int argc, char** argv) {
	std::string name;
	bool as_json = false;
	const auto app =
	    make_app("status",
	             "What records on this machine: each state, how far back its memory goes, what was\n"
	             "lost, and what dfrd has stored of it.",
	             kStatusExamples);
	app->add_option("name", name, "only this state");
	app->add_flag("--json", as_json, "a list of objects");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	std::vector<StateReport> reports;
	for (const recorder::StateLine& line : recorder::Device().states())
		if (name.empty() || line.name == name)
			reports.push_back(look(line));
	if (!name.empty() && reports.empty())
		throw Error("there is no state " + name, "dfr status lists those that there are");
	std::vector<std::string> list;
	for (const StateReport& report : reports) {
		if (as_json)
			list.push_back(json(report));
		else
			print(report);
	}
	if (as_json)
		std::printf("%s\n", shown(lib::json_list(list)));
	else if (reports.empty())
		std::printf("nothing records\n");
	return 0;
}

} // namespace dfr::cli
