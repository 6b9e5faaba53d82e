// SPDX-License-Identifier: GPL-2.0
//
// dfr record: a program runs in the kernel while a command does (or until
// Ctrl-C); its answer is printed and everything stays in a .dfr file. With
// --claim it takes over a kept state (the boot's, `anonymous`) instead.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>
#include <unistd.h>

#include "analyze/cli/arguments.h"
#include "analyze/cli/boot_events.h"
#include "analyze/cli/dfr.h"
#include "analyze/cli/recording.h"
#include "analyze/cli/signals.h"
#include "analyze/libdfr/backend.h"
#include "analyze/libdfr/child.h"
#include "analyze/libdfr/consumer.h"
#include "analyze/libdfr/style.h"
#include "analyze/replay/recording_target.h"
#include "analyze/replay/rehearsal.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "formats/trace/joined.h"
#include "recorder/device_session.h"
#include "recorder/live_symbols.h"
#include "recorder/recording_loop.h"
#include "recorder/trial.h"

namespace dfr::cli {
namespace {

constexpr const char* kRecordExamples =
    "  dfr record -o ls.dfr -- ls -l\n"
    "  dfr record -o reads.dfr -n 'syscall::read:return { capture(); @[execname] = quantize(arg1); }'\n"
    "  dfr record --for analysis.d -o later.dfr -- ls -l\n"
    "  dfr record --check --profile flight\n"
    "  dfr record --claim anonymous -o boot.dfr --stop\n";
constexpr const char* kDefaultProgram = "syscall:::entry { capture(); }";

struct RecordArguments {
	ProgramArguments program;
	std::string output, rotate, claim, keep, analysis, engine = "auto";
	bool stop = false, replace = false, json = false, check = false, kernel_events = false;
	std::optional<double> seconds;
	std::vector<std::string> command;
};

// -x engine=, as dtrace has it, is --engine.
void take_engine(RecordArguments& arguments) {
	std::erase_if(arguments.program.options, [&arguments](const std::string& option) {
		const bool engine = option.starts_with("engine=");
		if (engine)
			arguments.engine = option.substr(option.find('=') + 1);
		return engine;
	});
}

// What cannot mean anything together is a usage error: nothing that was asked for is left out without a word.
std::string contradiction(const RecordArguments& arguments) {
	const bool program = !arguments.program.empty();
	if (!arguments.claim.empty() && program)
		return "--claim takes a state over as it is: it takes no -n and no -s";
	if (!arguments.claim.empty() && !arguments.analysis.empty())
		return "--claim takes a state over as it is: it takes no --for";
	if (!arguments.claim.empty() && !arguments.keep.empty())
		return "--claim takes over a state that is kept already: leave --keep out";
	if (!arguments.claim.empty() && !arguments.command.empty())
		return "--claim runs no command: the state records whatever happens";
	if (arguments.check && (!arguments.claim.empty() || !arguments.keep.empty()))
		return "--check starts nothing: it goes with neither --claim nor --keep";
	if (arguments.check == !arguments.output.empty())
		return arguments.check ? "--check writes no recording: leave --output out"
		                       : "--output is required: the recording to write";
	if (!arguments.rotate.empty() && !trace::parse_rotation(arguments.rotate))
		return std::string("--rotate takes ") + trace::kRotationText + ", not '" + arguments.rotate +
		       "'";
	if (arguments.kernel_events && arguments.claim.empty())
		return "--kernel-events are those of the boot: it goes with --claim";
	if (arguments.seconds && !(*arguments.seconds > 0))
		return "--seconds takes a time above 0";
	if (arguments.seconds && arguments.stop && !arguments.claim.empty())
		return "--claim with --stop writes what there is at once: leave --seconds out";
	if (arguments.check && (arguments.seconds || !arguments.rotate.empty()))
		return "--check runs for a second and writes nothing: it goes with neither --seconds nor "
		       "--rotate";
	if (!arguments.keep.empty() && arguments.engine == "process")
		return "--keep is of the kernel's states, and one in this process ends with it: leave "
		       "--engine process out";
	if (arguments.stop && arguments.claim.empty() && arguments.keep.empty())
		return "--stop ends a kept state: it goes with --claim or --keep";
	return {};
}

// Which of the recording's probes left no record, since their clauses only count or set variables.
void tell_unrecorded(const trace::Catalog& catalog, const std::string& path) {
	const replay::RecordingTarget target(catalog, path);
	const auto& silent = target.unrecorded();
	if (silent.empty())
		return;
	std::fprintf(stderr, "dfr: %s%s counted, not recorded; to ask for more later, add capture(); to %s\n",
	             shown(silent.front()->text()),
	             silent.size() > 1
	                 ? shown(" and " + trace::grouped(silent.size() - 1) + " more probes were")
	                 : " was",
	             silent.size() > 1 ? "their clauses" : "its clause");
}

std::vector<std::byte> bytes_of(const std::vector<uint8_t>& bytes) {
	const auto view = std::as_bytes(std::span(bytes));
	return {view.begin(), view.end()};
}

class Recorder final : public recorder::RecordingLoop {
public:
	explicit Recorder(RecordArguments arguments) : arguments_(std::move(arguments)) {}
	int run();

private:
	bool sleep() override;
	bool pass() override;
	void salvage(const Error& why) override;
	void finish() override;

	bool claims() const { return !arguments_.claim.empty(); }
	void open_machine();
	void claim();
	void open_recording();
	lib::Consumer::Callbacks hooks();
	d::Compiled derived(const d::CompileOptions& options);
	d::Compiled program(uint32_t target);
	void rehearse(const d::CompileOptions& options, const dof::Image& derived);
	bool start();
	int check();
	void tell_running();
	int conclude();

	RecordArguments arguments_;
	render::Output output_{STDOUT_FILENO};
	std::unique_ptr<lib::Backend> backend_;
	std::unique_ptr<Recording> recording_;
	std::unique_ptr<lib::Consumer> consumer_;
	lib::Children children_;
	std::chrono::steady_clock::time_point start_;
};

bool Recorder::sleep() {
	if (claims() && arguments_.stop)
		return false;             // what there is, and no more
	constexpr double kLongest = 3600; // looks again then
	auto most = std::chrono::nanoseconds::max();
	if (arguments_.seconds) {
		const std::chrono::duration<double> left =
		    std::chrono::duration<double>(*arguments_.seconds) -
		    (std::chrono::steady_clock::now() - start_);
		if (left.count() <= 0)
			return false;
		most = std::chrono::ceil<std::chrono::nanoseconds>(
		    std::min(left, std::chrono::duration<double>(kLongest)));
	}
	return slept([this, most](const sigset_t* mask) { consumer_->sleep(mask, most); });
}

bool Recorder::pass() {
	children_.ended();
	children_.remember_in(backend_->symbols());
	const bool going = consumer_->work();
	recording_->pass(consumer_->flushed(), consumer_->renderer());
	return going && (children_.empty() || !children_.all_ended());
}

// Ends the file with what there is. What it does not have is told: a state that is kept still has it, another
// state's is lost.
void Recorder::salvage(const Error& why) {
	if (const uint64_t records = recording_->unwritten())
		std::fprintf(stderr, "dfr: %s records are not in %s%s\n", shown(trace::grouped(records)),
		             shown(recording_->paths().back()),
		             backend_->session().holds() ? "; the state keeps them for the next --claim"
		                                         : "");
	tell_running();
	recording_->give_up(why.what());
	std::fprintf(stderr, "dfr: what was written to %s before can be read\n",
	             shown(recording_->paths().back()));
}

// The command goes on where the recording ends before it: by a signal that it did not get, by --seconds, on a full disk.
// Not where the state stays, which records it.
void Recorder::tell_running() {
	if (!arguments_.keep.empty() && !arguments_.stop)
		return;
	children_.ended();
	if (const std::string command = children_.running(); !command.empty())
		std::fprintf(stderr, "dfr: %s runs on, and is recorded no longer\n", shown(command));
}

// A kept state goes on without us unless it is to stop.
void Recorder::finish() {
	const bool kept = claims() || !arguments_.keep.empty();
	bool goes_on = false;
	if (kept && !arguments_.stop)
		goes_on = consumer_->leave();
	else
		consumer_->finish();
	recording_->finish(consumer_->flushed(), goes_on, consumer_->renderer());
	if (arguments_.stop && backend_->device())
		backend_->device()->end();
}

// Throws if the recording that the derived program makes would not answer the analysis.
void Recorder::rehearse(const d::CompileOptions& options, const dof::Image& derived) {
	const trace::Catalog catalog = replay::catalog_to_be(derived, backend_->target());
	replay::RecordingTarget recording(catalog, "the recording");
	std::vector<lib::ProgramPart> analysis{lib::read_script(arguments_.analysis)};
	compile_or_throw(analysis, options, recording);
}

// What an analysis will need.
d::Compiled Recorder::derived(const d::CompileOptions& options) {
	d::Derived derived = derive_or_throw(arguments_.analysis, options, backend_->target());
	std::fprintf(stderr, "dfr: to answer %s later, this is recorded:\n", shown(arguments_.analysis));
	print_lines(stderr, derived.text);
	rehearse(options, derived.program.image);
	return std::move(derived.program);
}

// What is to be recorded: the program given, what an analysis will need, or both; or the default.
d::Compiled Recorder::program(uint32_t target) {
	const d::CompileOptions options = arguments_.program.compile_options(target);
	if (arguments_.program.empty() && !arguments_.analysis.empty())
		return derived(options);
	auto parts = arguments_.program.parts_or_profile();
	if (parts.empty())
		parts.push_back({d::Specifier::Name, false, "-n", kDefaultProgram, 0});
	d::Compiled compiled = compile_or_throw(parts, options, backend_->target());
	if (compiled.image.source.empty())
		compiled.image.source = parts[0].text;
	if (!arguments_.analysis.empty())
		dof::append(compiled.image, derived(options).image);
	return compiled;
}

void Recorder::open_machine() {
	const lib::EngineChoice engine = lib::parse_engine(arguments_.engine);
	backend_ = engine == lib::EngineChoice::Process ? lib::open_process(arguments_.program.destructive)
	                                                : lib::open_kernel(::geteuid() == 0);
	output_.on_failure([](const Error& error) {
		std::fprintf(stderr, "dfr: %s; the recording goes on without it\n", shown(error.what()));
	});
}

// Not before it is known that there is something to record: another recording may be replaced by it.
void Recorder::open_recording() {
	using OldParts = trace::PartsWriter::OldParts;
	recording_ = std::make_unique<Recording>(
	    arguments_.output,
	    trace::PartsWriter::PartsOptions{
	        .rotation = trace::parse_rotation(arguments_.rotate).value_or(trace::Rotation{}),
	        .old = arguments_.replace ? OldParts::kReplace : OldParts::kRefuse},
	    backend_->session(), backend_->symbols(), backend_->target());
	if (arguments_.kernel_events)
		recording_->kernel_events(import_kernel_events());
}

// Blocks of a kept state stay in the kernel until they are on the disk (hold()), so that the next claim, or a
// crash dump, has what this command could not write.
void Recorder::claim() {
	if (!backend_->device())
		throw Error("there is nothing to claim in this process", "leave --engine out");
	backend_->device()->claim(arguments_.claim);
	backend_->device()->hold();
	open_recording();
}

lib::Consumer::Callbacks Recorder::hooks() {
	lib::Consumer::Callbacks hooks;
	hooks.message = [](const std::string& text) { std::fprintf(stderr, "dfr: %s\n", shown(text)); };
	hooks.block = [this](const trace::Block& block) { recording_->block(block); };
	hooks.record = [this](const trace::Record& record) {
		recording_->record(record, consumer_->renderer());
	};
	hooks.store = [this] { recording_->store(); };
	hooks.kernel_types = [this] { return backend_->target().kernel_types(""); };
	return hooks;
}

// Compiles, loads and starts the program. True: stacks of the command's code will be recorded, so it is followed.
bool Recorder::start() {
	uint32_t target = 0;
	if (!arguments_.command.empty())
		target = static_cast<uint32_t>(children_.hold(arguments_.command));
	if (backend_->confined())
		children_.must_be_ours();
	const d::Compiled compiled = program(target);
	lib::apply_options(compiled, consumer_->style());
	consumer_->style().quiet = true;
	const auto dof = dof::write(compiled.image);
	backend_->session().enable(std::as_bytes(std::span(dof)), arguments_.program.zdefs);
	open_recording();
	recording_->session(static_cast<uint32_t>(::getpid()), target);
	recording_->program(0, bytes_of(dof), compiled.image.source);
	recording_->relies_on(compiled.kernel_types);
	consumer_->report_faults();
	recording_->program(1, bytes_of(render::error_program()), {});
	if (!arguments_.keep.empty() && backend_->device()) {
		backend_->device()->keep(arguments_.keep);
		backend_->device()->hold();
	}
	consumer_->style().quiet = arguments_.program.quiet; // a buffer that is smaller than asked is told
	consumer_->go();
	consumer_->style().quiet = true;
	return backend_->kernel() && lib::records_user_code(compiled.image);
}

// Says what the recording is worth; returns the command's status.
int Recorder::conclude() {
	tell_running();
	trace::JoinedSource source(std::move(trace::group_by_state(recording_->paths()).front()));
	const int partial = print_verdict(trace::judge_whole(source), source.catalog(), arguments_.json);
	if (!arguments_.json) {
		tell_unrecorded(source.catalog(), arguments_.output);
		if (const uint64_t least = recording_->least_chunks())
			std::fprintf(
			    stderr,
			    "dfr: parts are larger or older than --rotate %s: each repeats the catalog, "
			    "and does not end before that is at most 1 %% of it, which takes %s bytes of "
			    "records here\n",
			    shown(arguments_.rotate), shown(trace::grouped(least)));
		const std::string all =
		    arguments_.rotate.empty() ? arguments_.output : trace::parts_pattern(arguments_.output);
		std::fprintf(stderr, "dfr: recorded in %s; see what it holds: dfr info %s\n", shown(all),
		             shown(all));
	}
	// A program's exit() first, then the command's own status (as a shell has it), then what the recording is worth.
	const int program_status = consumer_->exit_status().value_or(0);
	return final_status(final_status(program_status, std::max(children_.status(), 0)), partial);
}

// What the command does meanwhile is its business: it is not run.
int Recorder::check() {
	recorder::DeviceSession* const session = backend_->device();
	if (!session)
		throw Error("a trial needs the kernel's engine", "load the module, and leave --engine out");
	const auto dof = dof::write(program(0).image);
	const uint32_t matched = session->enable(std::as_bytes(std::span(dof)), arguments_.program.zdefs);
	std::printf("the program is right; %u probes\n", matched);
	for (const std::string& line :
	     recorder::trial_lines(recorder::run_trial(*session, [] { return !signals_caught(); })))
		std::printf("  %s\n", shown(line));
	return 0;
}

int Recorder::run() {
	catch_signals();
	std::signal(SIGPIPE, SIG_IGN); // a recording goes on when nobody reads what is said about it
	open_machine();
	if (arguments_.check)
		return check();
	if (claims())
		claim();
	consumer_ =
	    std::make_unique<lib::Consumer>(backend_->session(), output_, backend_->symbols(), hooks());
	consumer_->style().quiet = true; // the file has the records; the answer is what the program prints
	consumer_->style().asks_hosts = true;
	const bool follow = !claims() && start();
	start_ = std::chrono::steady_clock::now();
	recording_->pass(0, consumer_->renderer());
	children_.release(follow);
	record();
	return conclude();
}

} // namespace

int run_record(int argc, char** argv) {
	RecordArguments arguments;
	const auto app =
	    make_app("record", "Record with a D program and leave a .dfr file.", kRecordExamples);
	arguments.program.add_to(*app);
	arguments.program.add_profile_to(*app);
	app->add_option("-o,--output", arguments.output, "the recording to write")->check(check_given);
	app->add_flag("--check", arguments.check,
	              "record nothing: run the program for a second, and say how many bytes a second it "
	              "records, how many seconds the memory holds, what it costs");
	app->add_flag("--replace", arguments.replace, "overwrite that file (or its parts) if it exists");
	app->add_option(
	       "--rotate", arguments.rotate,
	       "go on in a next file, NAME-0001.dfr, NAME-0002.dfr ..., after a size (256k or more, 64m, "
	       "1g) or a time (30s, 10min, 1h, 1d); larger or older, until the catalog that each repeats is "
	       "at "
	       "most 1 % of it")
	    ->check(check_given);
	app->add_option(
	       "--for", arguments.analysis,
	       "record what the analysis in this D file will need, and show it; beside -n or -s, record both")
	    ->check(check_given);
	app->add_option("--claim", arguments.claim,
	                "take over a kept state by its name; the boot's is `anonymous`")
	    ->check(check_given);
	app->add_flag("--stop", arguments.stop, "with --claim: write what there is, then end the state");
	app->add_flag("--kernel-events", arguments.kernel_events,
	              "with --claim: also what the kernel's own tracer has kept of this boot, if its command "
	              "line asked for it (dfr boot)");
	app->add_option("--keep", arguments.keep, "let the state survive this command, under this name")
	    ->check(check_given);
	add_engine(*app, arguments.engine);
	app->add_option("--seconds", arguments.seconds, "end after so long");
	app->add_flag("--json", arguments.json, "the verdict as JSON");
	app->add_option("command", arguments.command, "-- COMMAND: record while it runs");
	app->positionals_at_end();
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	take_engine(arguments);
	if (const std::string why = contradiction(arguments); !why.empty()) {
		print_error(why, "dfr record --help shows what goes together");
		return kStatusUsage;
	}
	return Recorder(std::move(arguments)).run();
}

} // namespace dfr::cli
