// SPDX-License-Identifier: GPL-2.0
//
// dfr snapshot and dfr mark: what a person asks of states that record on.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "analyze/cli/arguments.h"
#include "analyze/cli/boot_events.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/new_file.h"
#include "analyze/cli/signals.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/parts.h"
#include "recorder/snapshot_file.h"

namespace dfr::cli {
namespace {

constexpr const char* kSnapshotExamples =
    "  dfr snapshot                              the last seconds of the state that records\n"
    "  dfr snapshot --last 30s --after 5s -o incident.dfr\n"
    "  dfr replay -n 'syscall:::entry { @[execname] = count(); }' incident.dfr\n";
constexpr const char* kMarkExamples = "  dfr mark 'deployed version 12'\n";

struct SnapshotArguments {
	std::string name, output, last, after, reason = "dfr snapshot";
	bool replace = false, json = false, kernel_events = false;
};

// The state that is meant if none is named: the only kept one.
std::string only_state() {
	std::string found, names;
	for (const recorder::StateLine& state : recorder::Device().states()) {
		if (state.name == "-")
			continue;
		found = state.name;
		names += (names.empty() ? "" : ", ") + state.name;
	}
	if (found.empty())
		throw Error(
		    "there is no kept state to take a snapshot of",
		    "dfrd --name flight --program FILE.dof keeps one, and so does dfr record --keep NAME");
	if (found != names)
		throw Error("there are several states: " + names, "say which: --name NAME");
	return found;
}

// "30s" and so on; false: it is no time.
bool read_span(const std::string& text, std::chrono::nanoseconds& span) {
	if (text.empty())
		return true;
	const auto time = trace::parse_time(text);
	if (time)
		span = *time;
	return time.has_value();
}

// Returns the time of the trigger.
uint64_t write(const std::string& state, const recorder::SnapshotSpan& span,
               const SnapshotArguments& arguments, const std::string& path) {
	const trace::KernelEvents events =
	    arguments.kernel_events ? import_kernel_events() : trace::KernelEvents{};
	const recorder::SnapshotFile file = recorder::write_snapshot(
	    state, span, arguments.reason, path, true, []() { return signals_caught() == 0; }, events);
	std::fprintf(stderr, "dfr: %s records in %s blocks, %s bytes\n", shown(trace::grouped(file.records)),
	             shown(trace::grouped(file.blocks)), shown(trace::grouped(file.bytes)));
	if (file.overtaken)
		std::fprintf(stderr, "dfr: %s blocks were overwritten before they could be copied\n",
		             shown(trace::grouped(file.overtaken)));
	return file.trigger;
}

int judge(const std::string& path, const recorder::SnapshotSpan& span, uint64_t trigger, bool json) {
	const recorder::JudgedSnapshot judged = recorder::judge_snapshot(path, trigger);
	if (judged.before < span.last)
		std::fprintf(stderr, "dfr: %.1f s before were asked for; the state had %.1f s in all\n",
		             std::chrono::duration<double>(span.last).count(),
		             std::chrono::duration<double>(judged.before).count());
	return print_verdict(judged.verdict, judged.catalog, json);
}

} // namespace

int run_snapshot(int argc, char** argv) {
	SnapshotArguments arguments;
	const auto app =
	    make_app("snapshot",
	             "Copy what a kept state has in memory into a file. The state records on, and\n"
	             "whoever holds it loses nothing. The file is on the disk when this ends.",
	             kSnapshotExamples);
	app->add_option("--name", arguments.name, "which state (default: the only one; `dfr` lists them)")
	    ->check(check_given);
	app->add_option("--last", arguments.last,
	                "of how long a time before now: 30s, 10min (default: all that it has)")
	    ->check(check_given);
	app->add_option("--after", arguments.after, "go on for so long: 5s; Ctrl-C ends it sooner")
	    ->check(check_given);
	app->add_option("--reason", arguments.reason, "a line for the file, which dfr info shows");
	app->add_flag(
	    "--kernel-events", arguments.kernel_events,
	    "also what the kernel's own tracer has kept of this boot, if its command line asked for "
	    "it (dfr boot)");
	app->add_option("-o,--output", arguments.output, "the recording to write (default: NAME-TIME.dfr)");
	app->add_flag("--replace", arguments.replace, "overwrite the output if it exists");
	app->add_flag("--json", arguments.json, "the verdict as JSON");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	recorder::SnapshotSpan span;
	for (const auto& [text, into] :
	     {std::pair(&arguments.last, &span.last), {&arguments.after, &span.after}})
		if (!read_span(*text, *into)) {
			print_error("dfr snapshot: " + *text + " is no time",
			            "times are 30s, 10min, 1h; dfr snapshot --help shows examples");
			return kStatusUsage;
		}
	const std::string state = arguments.name.empty() ? only_state() : arguments.name;
	const std::string path =
	    arguments.output.empty() ? state + "-" + trace::time_stamp() + ".dfr" : arguments.output;
	catch_signals();
	NewFile output(path, arguments.replace);
	const uint64_t trigger = write(state, span, arguments, output.temporary());
	output.keep();
	std::fprintf(stderr, "dfr: snapshot of %s is in %s\n", shown(state), shown(path));
	return judge(path, span, trigger, arguments.json);
}

int run_mark(int argc, char** argv) {
	std::string text;
	const auto app = make_app("mark",
	                          "Write a remark, with its time, into everything that records now.\n"
	                          "dfr info shows it in the recordings, also in those of a crash.",
	                          kMarkExamples);
	app->add_option("text", text, "a line of text")->required();
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	dfr_ioc_mark io{.size = sizeof(io)};
	if (text.empty() || text.size() >= sizeof(io.text)) {
		print_error("dfr mark: a mark has 1 to " + std::to_string(sizeof(io.text) - 1) + " bytes",
		            "");
		return kStatusUsage;
	}
	std::memcpy(io.text, text.data(), text.size());
	const recorder::Device device;
	const int code = device.try_call(DFR_IOC_MARK, &io);
	if (code == EINVAL)
		throw Error("the mark has characters that are not text", "write it in one line");
	if (io.states)
		std::printf("%u %s the mark\n", io.states, io.states == 1 ? "state has" : "states have");
	if (code == ENOSPC)
		throw Error(std::string(io.states ? "other" : "the") +
		                " states have as many marks as they may (4,096), and do not have this one",
		            "a new recording has room for new ones");
	if (code)
		throw Error(
		    "cannot write the mark: " + std::string(std::strerror(code)),
		    code == EPERM ? "run this as root"
		    : code == ENOTTY
		        ? "the loaded module is of another version: load the one that came with this dfr"
		        : "");
	if (!io.states)
		throw Error("nothing records now", "`dfr` lists the states that there are");
	return 0;
}

} // namespace dfr::cli
