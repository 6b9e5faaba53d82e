// SPDX-License-Identifier: GPL-2.0
//
// dfr replay: a D program over recordings; without one, what they said.
#include <cstdio>
#include <unistd.h>

#include "analyze/cli/arguments.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/signals.h"
#include "analyze/libdfr/live_symbols.h"
#include "analyze/libdfr/style.h"
#include "analyze/replay/replay.h"
#include "formats/error.h"
#include "formats/trace/joined.h"

namespace dfr::cli {
namespace {

constexpr const char* kExamples =
    "  dfr replay boot.dfr\n"
    "  dfr replay -n 'syscall:::entry { @[execname] = count(); }' boot.dfr\n"
    "  dfr replay --from=-10s -n 'syscall:::entry { @[execname] = count(); }' boot.dfr\n"
    "  dfr replay -q -n 'syscall::openat:entry { printf(\"%s %d\\n\", execname, tid); }' boot.dfr\n";

struct ReplayArguments {
	ProgramArguments program;
	std::vector<std::string> files;
	std::string from, to, cpus;
	replay::Wanted wanted;
	bool json = false, strict = false;
};

// A usage error's text; empty: the options make sense.
std::string read_wanted(ReplayArguments& arguments) {
	const auto moment = [](const std::string& text, std::optional<replay::When>& into) {
		return text.empty() || (into = replay::parse_when(text));
	};
	if (!moment(arguments.from, arguments.wanted.from))
		return "--from " + arguments.from + " is no time";
	if (!moment(arguments.to, arguments.wanted.to))
		return "--to " + arguments.to + " is no time";
	if (arguments.cpus.empty())
		return {};
	const auto cpus = replay::parse_cpus(arguments.cpus);
	if (!cpus)
		return "--cpu " + arguments.cpus + " is no list of CPUs such as 0,2-3";
	arguments.wanted.cpus = *cpus;
	return {};
}

// `named`: there are other answers too, so the verdict says what it is of.
int replay_recording(const ReplayArguments& arguments, trace::JoinedSource& source, bool named) {
	render::Output output(STDOUT_FILENO);
	const auto symbols = lib::symbols_of_boot(source.catalog().boot_id, [] {
		std::fprintf(stderr, "dfr: the recording is of another boot and has no symbols, so addresses "
		                     "are printed as numbers\n");
	});
	replay::ReplayOptions options;
	options.message = [](const std::string& text) { std::fprintf(stderr, "dfr: %s\n", text.c_str()); };
	options.wanted = arguments.wanted;
	options.interrupted = [] { return signals_caught() != 0; };
	replay::Answer answer;
	auto parts = arguments.program.parts();
	if (parts.empty()) {
		options.style.quiet = arguments.program.quiet;
		answer = replay::render_recording(source, output, *symbols, options);
	} else {
		replay::RecordingTarget target(source.catalog(), source.name());
		const d::Compiled compiled =
		    compile_or_throw(parts, arguments.program.compile_options(0), target);
		lib::apply_options(compiled, options.style);
		options.strict = arguments.strict;
		answer = replay::replay_program(source, target, compiled, output, *symbols, options);
	}
	output.flush();
	if (std::string repeats = source.repeats(); !repeats.empty())
		answer.verdict.reasons.push_back(std::move(repeats)); // nothing is missing for that
	const int partial = print_verdict(answer.verdict, source.catalog(), arguments.json,
	                                  named ? source.name() : std::string{});
	return final_status(answer.exit_status, partial);
}

} // namespace

int run_replay(int argc, char** argv) {
	ReplayArguments arguments;
	const auto app =
	    make_app("replay", "Run a D program over recordings, or print what they said.", kExamples);
	arguments.program.add_to(*app);
	app->add_flag("--json", arguments.json, "the verdict as JSON");
	app->add_flag("--strict", arguments.strict,
	              "refuse where the recording holds only a part of what is asked");
	app->add_option("--from", arguments.from,
	                "from this time on: +5s after the start, -10s before the end, 14:03:02.120, "
	                "2026-11-21 14:03:02, or @NS on the recording's clock");
	app->add_option("--to", arguments.to, "up to this time, written as --from's");
	app->add_option("--cpu", arguments.cpus, "only these CPUs: 0,2-3");
	app->add_flag("--all", arguments.wanted.all, "what some CPUs have from before the window, too");
	app->add_option("file", arguments.files, "recordings (.dfr); files of one state are one recording")
	    ->required();
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	if (const std::string wrong = read_wanted(arguments); !wrong.empty()) {
		print_error("dfr replay: " + wrong,
		            "times are written +5s (after the start), -10s (before the "
		            "end), 14:03:02.120, 2026-11-21 14:03:02 or @NS");
		return kStatusUsage;
	}
	catch_signals();
	int status = 0;
	auto groups = trace::group_by_state(arguments.files);
	for (auto& files : groups) {
		trace::JoinedSource source(std::move(files));
		status = final_status(status, replay_recording(arguments, source, groups.size() > 1));
	}
	return status;
}

} // namespace dfr::cli
