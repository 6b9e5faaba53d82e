// SPDX-License-Identifier: GPL-2.0
//
// dfr trace: a D program live, its output on stdout and its verdict on stderr.
// dtrace does the same in the classic dress.
#include <cstdio>
#include <ctime>
#include <unistd.h>

#include "analyze/cli/arguments.h"
#include "analyze/cli/child.h"
#include "analyze/cli/dfr.h"
#include "analyze/libdfr/machine.h"
#include "analyze/cli/signals.h"
#include "analyze/libdfr/consumer.h"
#include "analyze/libdfr/style.h"
#include "formats/error.h"

namespace dfr::cli {
namespace {

constexpr const char* kExamples = "  dfr trace -n 'syscall::openat:entry { printf(\"%s\\n\", copyinstr(arg1)); }'\n"
				  "  dfr trace -n 'syscall:::entry { @[execname] = count(); }' -- make\n";

struct Arguments {
	ProgramArguments program;
	std::string engine = "auto";
	bool json = false;
	std::vector<std::string> command;
};

std::unique_ptr<lib::Machine> choose(const Arguments& arguments) {
	switch (lib::parse_engine(arguments.engine)) {
	case lib::Engine::Process: return lib::open_process(arguments.program.destructive);
	case lib::Engine::Kernel: return lib::open_kernel(::geteuid() == 0);
	default: break;
	}
	if (lib::kernel_available())
		return lib::open_kernel(false);
	return lib::open_process(arguments.program.destructive);
}

uint64_t now_ns() {
	timespec now{};
	clock_gettime(CLOCK_MONOTONIC, &now);
	return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

} // namespace

int run_trace(int argc, char** argv) {
	Arguments arguments;
	const auto app = make_app("trace", "Run a D program live and print what it says.", kExamples);
	arguments.program.add_to(*app);
	app->add_option("--engine", arguments.engine, "kernel, process or auto");
	app->add_flag("--json", arguments.json, "the verdict as JSON");
	app->add_option("command", arguments.command, "-- COMMAND: trace while it runs");
	app->positionals_at_end();
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	auto parts = arguments.program.parts();
	if (parts.empty()) {
		print_error("no program was given", "write -n 'probe { actions }' or -s FILE.d");
		return kStatusUsage;
	}
	catch_signals();
	const auto machine = choose(arguments);
	Children children;
	uint32_t target = 0;
	if (!arguments.command.empty())
		target = static_cast<uint32_t>(children.hold(arguments.command));
	const d::Compiled compiled =
	    compile_or_throw(parts, arguments.program.compile_options(target), machine->target());
	render::Output output(STDOUT_FILENO);
	lib::Consumer::Hooks hooks;
	hooks.message = [](const std::string& text) { std::fprintf(stderr, "dfr: %s\n", text.c_str()); };
	hooks.kernel_types = [&] { return machine->target().kernel_types(""); };
	lib::Consumer consumer(machine->session(), output, machine->symbols(), std::move(hooks));
	lib::apply_options(compiled, consumer.style());
	const auto dof = dof::write(compiled.image);
	machine->session().enable(std::as_bytes(std::span(dof)), arguments.program.zdefs);
	consumer.report_faults();
	trace::Verdict verdict;
	verdict.from = now_ns();
	consumer.go();
	children.release();
	for (bool going = true; going && signals_caught() == 0;) {
		consumer.sleep();
		children.ended();
		going = consumer.work();
		if (!children.empty() && children.all_ended())
			break;
	}
	consumer.finish();
	verdict.to = now_ns();
	verdict.cpus = machine->session().catalog().cpus;
	verdict.records = consumer.renderer().records();
	verdict.lost = consumer.lost();
	verdict.complete = verdict.lost == 0 && !consumer.killed();
	if (verdict.lost != 0)
		verdict.reasons.push_back("see the messages above for what was lost where");
	const int partial = print_verdict(verdict, machine->session().catalog(), arguments.json);
	return final_status(consumer.exit_status().value_or(0), partial);
}

} // namespace dfr::cli
