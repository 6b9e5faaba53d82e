// SPDX-License-Identifier: GPL-2.0
//
// dfr replay: a D program over recordings; without one, what they said.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <poll.h>
#include <set>
#include <thread>
#include <unistd.h>

#include "analyze/cli/arguments.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/follower_waits.h"
#include "analyze/cli/signals.h"
#include "analyze/libdfr/recorded_symbols.h"
#include "analyze/libdfr/style.h"
#include "analyze/replay/replay.h"
#include "formats/dof/image.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/joined.h"
#include "formats/trace/session_words.h"

namespace dfr::cli {
namespace {

constexpr const char* kReplayExamples =
    "  dfr replay boot.dfr\n"
    "  dfr replay -n 'syscall:::entry { @[execname] = count(); }' boot.dfr\n"
    "  dfr replay --from=-10s -n 'syscall:::entry { @[execname] = count(); }' boot.dfr\n"
    "  dfr replay --follow -n 'syscall::openat:entry { trace(execname); }' flight-0007.dfr\n"
    "  dfr replay -q -n 'syscall::openat:entry { printf(\"%s %d\\n\", execname, tid); }' boot.dfr\n";

constexpr unsigned kThreadsMost = 8;

struct ReplayArguments {
	ProgramArguments program;
	std::vector<std::string> files;
	PartArguments part;
	replay::Wanted wanted;
	bool json = false, strict = false, follow = false;
	std::string by;
	unsigned threads = 0;
};

// What $pid and $target were where the recordings were made; one that none says, or not all alike, is not defined.
void take_session(const std::vector<const trace::Catalog*>& catalogs, d::CompileOptions& options) {
	struct SessionMacro {
		const char *macro, *key;
	};
	for (const SessionMacro one :
	     {SessionMacro{"pid", trace::kSessionPidKey}, SessionMacro{"target", trace::kSessionTargetKey}}) {
		std::set<std::string> values;
		for (const trace::Catalog* const catalog : catalogs)
			if (const auto at = catalog->machine.find(one.key); at != catalog->machine.end())
				values.insert(at->second);
		std::erase_if(options.session, [&one](const auto& word) { return word.first == one.macro; });
		if (values.size() == 1)
			options.session.emplace_back(one.macro, *values.begin());
	}
}

d::Compiled compile_question(const ReplayArguments& arguments, std::vector<lib::ProgramPart>& parts,
                             const std::vector<const trace::Catalog*>& catalogs, d::Target& target) {
	d::CompileOptions options = arguments.program.compile_options(0);
	take_session(catalogs, options);
	d::Compiled compiled = compile_or_throw(parts, options, target);
	if (compiled.destructive)
		throw Error("the program has destructive actions, which replay does not run",
		            "leave them out: what they would act on was there when it was recorded");
	return compiled;
}

// What cannot mean anything together; empty: nothing.
std::string contradiction(const ReplayArguments& arguments) {
	const ProgramArguments& program = arguments.program;
	if (program.destructive)
		return "-w: replay runs no destructive actions";
	if (program.empty()) { // what the recording printed is printed again, as its own program wanted it
		const std::pair<const char*, bool> of_programs[] = {{"-x", !program.options.empty()},
		                                                    {"--arg", !program.operands.empty()},
		                                                    {"-D", !program.cpp.empty()},
		                                                    {"-C", program.preprocess},
		                                                    {"-Z", program.zdefs},
		                                                    {"--by", !arguments.by.empty()},
		                                                    {"--strict", arguments.strict},
		                                                    {"--threads", arguments.threads != 0}};
		for (const auto& [option, given] : of_programs)
			if (given)
				return std::string(option) +
				       " is of a program, and none is given by -n or -s";
	}
	if (!arguments.follow)
		return {};
	if (arguments.files.size() != 1)
		return "--follow takes one file: the part that is being written; it goes on in the next one "
		       "by itself";
	if (arguments.wanted.to)
		return "--follow goes on to the end: leave --to out, or --follow";
	if (arguments.by == "columns")
		return "--follow answers in order of time: leave --by columns out";
	return {};
}

replay::ReplayOptions replay_options(const ReplayArguments& arguments) {
	replay::ReplayOptions options;
	options.message = [](const std::string& text) { std::fprintf(stderr, "dfr: %s\n", shown(text)); };
	options.wanted = arguments.wanted;
	options.strict = arguments.strict;
	options.way = arguments.by == "columns" ? replay::Way::kColumns
	              : arguments.by == "rows"  ? replay::Way::kRows
	                                        : replay::Way::kAny;
	options.threads = arguments.threads
	                      ? arguments.threads
	                      : std::clamp(std::thread::hardware_concurrency(), 1u, kThreadsMost);
	options.interrupted = [] { return signals_caught() != 0; };
	return options;
}

// `sources`: of one boot; none if there are several, whose addresses mean different things.
lib::RecordedSymbols symbols_of(std::vector<trace::BlockSource*> sources) {
	return lib::RecordedSymbols(std::move(sources), [] {
		std::fprintf(
		    stderr, "dfr: the recording is of another boot, or of several, and has no names for some "
		            "addresses, so these are printed as numbers\n");
	});
}

void add_notes(const trace::JoinedSource& source, trace::Verdict& verdict) {
	for (std::string& note : source.notes())
		verdict.reasons.push_back(std::move(note)); // nothing is missing for that
}

// Looks ten times a second whether there is more.
void wait_for_more(const sigset_t* mask) {
	const timespec moment{.tv_sec = 0, .tv_nsec = 100'000'000};
	::ppoll(nullptr, 0, &moment, mask);
}

// As the recorded programs asked for it, by their options.
render::Style recorded_style(const trace::Catalog& catalog, bool quiet) {
	render::Style style;
	for (const std::vector<std::byte>& bytes : catalog.dofs)
		try {
			lib::apply_options(dof::read(bytes), style);
		} catch (const Error&) { // damaged: what it printed is damaged too, and the verdict says so
		}
	style.quiet |= quiet;
	return style;
}

int follow_recording(const ReplayArguments& arguments, std::vector<lib::ProgramPart> parts) {
	trace::FollowedSource source(arguments.files.front());
	const trace::United united({&source});
	render::Output output(STDOUT_FILENO);
	auto symbols = symbols_of({&source});
	replay::ReplayOptions options = replay_options(arguments);
	options.followed = &source;
	options.await = [&source, &symbols, waiting = FollowerWaits()]() mutable {
		symbols.grown();
		if (const std::string what = waiting.look(source); !what.empty())
			std::fprintf(stderr, "dfr: %s\n", shown(what));
		return slept(wait_for_more);
	};
	replay::Answer answer;
	if (parts.empty()) {
		options.style = recorded_style(source.catalog(), arguments.program.quiet);
		answer = replay::render_recording(source, output, symbols, options);
	} else {
		replay::RecordingTarget target(united);
		const d::Compiled compiled = compile_question(arguments, parts, {&source.catalog()}, target);
		lib::apply_options(compiled, options.style);
		answer = replay::replay_program(united, target, compiled, output, symbols, options);
	}
	output.flush();
	return final_status(answer.exit_status,
	                    print_verdict(answer.verdict, source.catalog(), arguments.json));
}

// What the recorded program printed. `named`: there are other answers too, so the verdict says what it is of.
int print_recording(const ReplayArguments& arguments, trace::JoinedSource& source, bool named) {
	render::Output output(STDOUT_FILENO);
	auto symbols = symbols_of({&source});
	replay::ReplayOptions options = replay_options(arguments);
	options.style = recorded_style(source.catalog(), arguments.program.quiet);
	replay::Answer answer = replay::render_recording(source, output, symbols, options);
	output.flush();
	add_notes(source, answer.verdict);
	const int partial = print_verdict(answer.verdict, source.catalog(), arguments.json,
	                                  named ? source.name() : std::string{});
	return final_status(answer.exit_status, partial);
}

using JoinedSources = std::vector<std::unique_ptr<trace::JoinedSource>>;

// One answer of the program over all recordings.
int replay_recordings(const ReplayArguments& arguments, std::vector<lib::ProgramPart>& parts,
                      const JoinedSources& sources) {
	std::vector<trace::BlockSource*> all;
	for (const auto& source : sources)
		all.push_back(source.get());
	const trace::United united(all);
	render::Output output(STDOUT_FILENO);
	auto symbols = symbols_of(united.boots() == 1 ? all : std::vector<trace::BlockSource*>{});
	replay::ReplayOptions options = replay_options(arguments);
	replay::RecordingTarget target(united);
	std::vector<const trace::Catalog*> catalogs;
	for (const auto& source : sources)
		for (const auto& file : source->files())
			catalogs.push_back(&file->catalog());
	const d::Compiled compiled = compile_question(arguments, parts, catalogs, target);
	lib::apply_options(compiled, options.style);
	replay::Answer answer = replay::replay_program(united, target, compiled, output, symbols, options);
	output.flush();
	for (const auto& source : sources)
		add_notes(*source, answer.verdict);
	const int partial = print_verdict(answer.verdict, united.catalog(), arguments.json);
	return final_status(answer.exit_status, partial);
}

} // namespace

int run_replay(int argc, char** argv) {
	ReplayArguments arguments;
	const auto app =
	    make_app("replay", "Run a D program over recordings, or print what they said.", kReplayExamples);
	arguments.program.add_to(*app);
	app->add_flag("--json", arguments.json, "the verdict as JSON");
	app->add_flag("--strict", arguments.strict,
	              "refuse where the recording holds only a part of what is asked");
	arguments.part.add_to(*app);
	app->add_flag("--all", arguments.wanted.all,
	              "what some CPUs have from before the window, or a cut file from behind it, too");
	app->add_flag("--follow", arguments.follow,
	              "answer a recording that is being written, as it comes, to its end or until Ctrl-C");
	app->add_option("--by", arguments.by,
	                "columns: refuse a program that cannot be answered without making firings; "
	                "rows: make them; else dfr chooses, and what it prints is the same")
	    ->option_text("columns|rows")
	    ->check(CLI::IsMember({"columns", "rows"}));
	app->add_option("--threads", arguments.threads,
	                "how many may answer together what they can (default: as many as there are "
	                "processors, 8 at most); what is printed is the same")
	    ->option_text("N")
	    ->check(CLI::Range(1u, kThreadsMost));
	app->add_option("file", arguments.files, "recordings (.dfr), also of several states, boots and hosts")
	    ->required();
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	arguments.part.read(arguments.wanted);
	if (const std::string wrong = contradiction(arguments); !wrong.empty()) {
		print_error("dfr replay: " + wrong, "dfr replay --help shows what goes together");
		return kStatusUsage;
	}
	catch_signals();
	if (arguments.follow)
		return follow_recording(arguments, arguments.program.parts());
	JoinedSources sources;
	for (auto& files : trace::group_by_state(arguments.files))
		sources.push_back(std::make_unique<trace::JoinedSource>(std::move(files)));
	trace::require_begun(*sources.front()->files().front());
	if (auto parts = arguments.program.parts(); !parts.empty())
		return replay_recordings(arguments, parts, sources);
	int status = 0;
	for (const auto& source : sources)
		status = final_status(status, print_recording(arguments, *source, sources.size() > 1));
	return status;
}

} // namespace dfr::cli
