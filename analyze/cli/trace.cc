// SPDX-License-Identifier: GPL-2.0
//
// dfr trace: a D program live, its output on stdout and its verdict on stderr.
// A client of libdfr; dtrace does the same in the classic dress.
#include <cstdio>

#include "analyze/cli/arguments.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/signals.h"
#include "formats/error.h"
#include "formats/shown.h"

namespace dfr::cli {
namespace {

constexpr const char* kTraceExamples =
    "  dfr trace -n 'syscall::openat:entry { printf(\"%s\\n\", copyinstr(arg1)); }'\n"
    "  dfr trace -n 'syscall:::entry { @[execname] = count(); }' -- make\n";

struct TraceArguments {
	ProgramArguments program;
	std::string engine = "auto";
	bool json = false;
	std::vector<std::string> command;
};

class Trace {
public:
	explicit Trace(TraceArguments arguments) : arguments_(std::move(arguments)) {}
	int run();

private:
	int must(int result) const {
		if (result < 0)
			throw Error(dfr_session_error(session_.get()), dfr_session_hint(session_.get()));
		return result;
	}
	void compile();

	TraceArguments arguments_;
	SessionHandle session_ = open_session(DFR_SESSION_AUTO);
};

void Trace::compile() {
	dfr_session* const session = session_.get();
	const int failed = dfr_session_compile(session);
	print_lines(stderr, dfr_session_diagnostics(session));
	if (failed < 0 && *dfr_session_diagnostics(session) != '\0' && *dfr_session_hint(session) == '\0')
		throw Error(dfr_session_error(session), "correct what is marked above");
	must(failed);
}

int Trace::run() {
	dfr_session* const session = session_.get();
	must(dfr_session_option(session, "engine", arguments_.engine.c_str()));
	arguments_.program.give_to(session);
	if (!arguments_.command.empty())
		must(dfr_session_command(session, pointers(arguments_.command).data()));
	compile();
	must(dfr_session_go(session));
	int going = DFR_WORK_GOING;
	while (going == DFR_WORK_GOING &&
	       slept([session](const sigset_t* mask) { dfr_session_sleep_with(session, mask); }))
		going = must(dfr_session_work(session));
	must(dfr_session_stop(session));
	int complete = 0;
	std::fprintf(stderr, "%s\n", shown(dfr_session_verdict(session, arguments_.json, &complete)));
	return final_status(dfr_session_exit_status(session), complete ? 0 : kStatusPartial);
}

} // namespace

int run_trace(int argc, char** argv) {
	TraceArguments arguments;
	const auto app = make_app("trace", "Run a D program live and print what it says.", kTraceExamples);
	arguments.program.add_to(*app);
	add_engine(*app, arguments.engine);
	app->add_flag("--json", arguments.json, "the verdict as JSON");
	app->add_option("command", arguments.command, "-- COMMAND: trace while it runs");
	app->positionals_at_end();
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	if (arguments.program.empty()) {
		print_error("no program was given", "write -n 'probe { actions }' or -s FILE.d");
		return kStatusUsage;
	}
	catch_signals();
	return Trace(std::move(arguments)).run();
}

} // namespace dfr::cli
