// SPDX-License-Identifier: GPL-2.0
//
// dtrace(1): the classic command, its options, messages and exit statuses: a
// client of libdfr (analyze/include/dfr.h), which does the work. What is said
// here and in which order is the command's; what a program prints is the
// renderer's.
#include "analyze/cli/dtrace.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <unistd.h>

#include "analyze/cli/client.h"
#include "analyze/cli/dtrace_options.h"
#include "analyze/cli/file.h"
#include "analyze/cli/signals.h"
#include "formats/error.h"
#include "formats/shown.h"

namespace dfr::cli {
namespace {

using Mode = DtraceOptions::Mode;
constexpr const char* kVersion = "Sun D 1.13";

class Dtrace {
public:
	Dtrace(DtraceOptions options, std::string name);
	int run();

private:
	int must(int result) const;
	void prepare();
	bool compiled(int result);
	void show() const;
	void print_header();
	void print_probe(const dfr_listed_probe& probe);
	int list();
	int save_anonymous();
	void open_output() const;
	void start_processes();
	int trace();

	// "dtrace: ..." on stderr.
	void say(const char* format, ...) const __attribute__((format(printf, 2, 3)));
	void say_hint() const;
	bool is_set(const char* option) const { return dfr_session_is_set(session_.get(), option) == 1; }

	DtraceOptions options_;
	std::string name_;
	bool headed_ = false; // the list's first line is out
	SessionHandle session_;
};

Dtrace::Dtrace(DtraceOptions options, std::string name)
    : options_(std::move(options)), name_(std::move(name)),
      session_(open_session(options_.mode == Mode::Anonymous ? DFR_SESSION_BOOT : DFR_SESSION_AUTO)) {}

void Dtrace::say(const char* format, ...) const {
	va_list arguments, again;
	va_start(arguments, format);
	va_copy(again, arguments);
	std::string text(static_cast<size_t>(std::vsnprintf(nullptr, 0, format, arguments)) + 1, '\0');
	std::vsnprintf(text.data(), text.size(), format, again);
	va_end(again);
	va_end(arguments);
	text.back() = '\n'; // in place of the NUL; a program's lines in it stay lines
	print_lines(stderr, name_ + ": " + text);
}

void Dtrace::say_hint() const {
	if (const char* const hint = dfr_session_hint(session_.get()); *hint != '\0')
		say("%s", hint);
}

// The result of a call of libdfr; ends the command if it is an error.
int Dtrace::must(int result) const {
	if (result < 0)
		throw Error(dfr_session_classic(session_.get()), dfr_session_hint(session_.get()));
	return result;
}

void Dtrace::prepare() {
	dfr_session* const session = session_.get();
	must(dfr_session_environment(session));
	for (const std::string& option : options_.options)
		must(set_option(session, option));
	for (const DtraceOptions::ProgramText& program : options_.programs)
		must(program.script ? dfr_session_script(session, program.text.c_str())
		                    : dfr_session_program(session, program.specifier, program.text.c_str()));
	std::vector<std::string> arguments = options_.operands;
	arguments.insert(arguments.begin(), name_);
	must(dfr_session_arguments(session, pointers(arguments).data()));
	dfr_session_on_message(
	    session,
	    [](dfr_message, const char* line, void* self) {
		    static_cast<const Dtrace*>(self)->say("%s", line);
	    },
	    this);
}

// False: what is wrong with the programs was said.
bool Dtrace::compiled(int result) {
	print_lines(stderr, dfr_session_tree(session_.get()));
	if (result >= 0) {
		show();
		return true;
	}
	say("%s", dfr_session_classic(session_.get()));
	print_lines(stderr, dfr_session_diagnostics(session_.get()));
	say_hint();
	return false;
}

// What -S and -v ask for, once there is something to show.
void Dtrace::show() const {
	if (is_set("verbose"))
		print_lines(stderr, dfr_session_listing(session_.get()));
	if (options_.verbose && options_.mode == Mode::Trace) {
		print_lines(stdout, dfr_session_stability(session_.get()));
		flush_stdout();
	}
}

void print_row(const char* id, const char* provider, const char* module, const char* function,
               const char* name) {
	std::printf("%5s %10s %17s %33s %s\n", id, shown(provider), shown(module), shown(function),
	            shown(name));
}

// -lv: what a probe's arguments are.
void print_arguments(const dfr_listed_probe& probe) {
	std::printf("\n\tProbe Description Attributes\n%s\n\tArgument Attributes\n%s\n\tArgument Types\n%s",
	            probe.stability, probe.stability, probe.narguments == 0 ? "\t\tNone\n" : "");
	for (size_t i = 0; i < probe.narguments; i++)
		std::printf("\t\targs[%zu]: %s\n", i, shown(probe.arguments[i]));
	std::putchar('\n');
}

void Dtrace::print_header() {
	if (!headed_)
		print_row("ID", "PROVIDER", "MODULE", "FUNCTION", "NAME");
	headed_ = true;
}

void Dtrace::print_probe(const dfr_listed_probe& probe) {
	print_header();
	print_row(std::to_string(probe.id).c_str(), probe.provider, probe.module, probe.function, probe.name);
	if (options_.verbose)
		print_arguments(probe);
}

int Dtrace::list() {
	if (!options_.output.empty() && !std::freopen(options_.output.c_str(), "ae", stdout))
		throw Error::from_errno("failed to open output file '" + options_.output + "'");
	const auto visit = [](const dfr_listed_probe* probe, void* self) {
		static_cast<Dtrace*>(self)->print_probe(*probe);
		return 0;
	};
	const int unmatched = dfr_session_list(session_.get(), options_.verbose, visit, this);
	if (!compiled(unmatched))
		return 1;
	print_header();
	flush_stdout();
	return unmatched == 0 ? 0 : 1;
}

// -A: the programs are saved for the link with the module that a boot loads.
int Dtrace::save_anonymous() {
	if (options_.output.empty())
		throw Error("-A: where to save the program is not known", "name a file: -A -o boot.dof");
	if (!compiled(dfr_session_compile(session_.get())))
		return 1;
	size_t size = 0;
	const auto* const dof = static_cast<const uint8_t*>(dfr_session_dof(session_.get(), &size));
	must(dof ? 0 : -1);
	write_dof(options_.output, {dof, size});
	if (is_set("quiet"))
		return 0;
	say("saved anonymous enabling in %s", options_.output.c_str());
	say("a boot is traced by the program itself: dfr boot build -s NAME.d && dfr boot enable --name "
	    "NAME");
	return 0;
}

void Dtrace::open_output() const {
	if (options_.output.empty())
		return;
	const int fd = ::open(options_.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		throw Error::from_errno("failed to open output file '" + options_.output + "'");
	dfr_session_output(session_.get(), fd);
}

void Dtrace::start_processes() {
	for (const std::string& command : options_.commands) {
		std::istringstream text(command);
		std::vector<std::string> words;
		for (std::string word; text >> word;)
			words.push_back(word);
		must(dfr_session_command(session_.get(), pointers(words).data()));
	}
	for (const int pid : options_.pids)
		must(dfr_session_process(session_.get(), pid));
}

int Dtrace::trace() {
	dfr_session* const session = session_.get();
	catch_signals();
	must(dfr_session_go(session));
	// -a -e: what there is, and no more.
	int going = options_.compile_only ? DFR_WORK_DONE : DFR_WORK_GOING;
	while (going == DFR_WORK_GOING &&
	       slept([session](const sigset_t* mask) { dfr_session_sleep_with(session, mask); }))
		going = must(dfr_session_work(session));
	if (signals_caught() != 0)
		must(dfr_session_print(session, "\n"));
	if (must(dfr_session_stop(session)) != 0)
		throw Error(dfr_session_classic(session));
	return dfr_session_exit_status(session);
}

int Dtrace::run() {
	prepare();
	if (options_.mode == Mode::Version) {
		std::printf("%s: %s\n", shown(name_), kVersion);
		flush_stdout();
		return 0;
	}
	if (options_.programs.empty() && options_.mode != Mode::List && !is_set("grabanon")) {
		say("no probes specified");
		dtrace_usage(name_);
		return 2;
	}
	if (options_.mode == Mode::Anonymous)
		return save_anonymous();
	if (options_.mode == Mode::List)
		return list();
	// $target is known once the commands are forked: their programs are compiled then.
	const bool tracing = !options_.compile_only || is_set("grabanon");
	const bool late = tracing && (!options_.commands.empty() || !options_.pids.empty());
	if (late) {
		open_output();
		start_processes();
	}
	if (!compiled(dfr_session_compile(session_.get())))
		return 1;
	if (!tracing)
		return 0;
	if (!late)
		open_output();
	return trace();
}

std::string base_name(const char* path) {
	const char* const slash = std::strrchr(path, '/');
	return slash ? slash + 1 : path;
}

// SystemTap's dtrace makes headers and objects for static user probes, which programs include and link while
// they are built. Our Debian package has moved it aside (dpkg-divert) to have the name.
[[noreturn]] void hand_on(char** argv) {
	::execvp("dtrace.systemtap", argv);
	const bool missing = errno == ENOENT;
	throw Error("static user probes (-G, -h) are made by dtrace.systemtap, which " +
	                (missing ? std::string("is not here")
	                         : "cannot be run: " + std::string(std::strerror(errno))),
	            missing
	                ? "install systemtap-sdt-dev beside the package dfr, which gives its dtrace that name"
	                : "");
}

} // namespace

int dtrace_main(int argc, char** argv) {
	const std::string name = argc > 0 ? base_name(argv[0]) : "dtrace";
	try {
		auto options = parse_dtrace(argc, argv, name);
		if (!options)
			return 2;
		if (options->for_static_probes())
			hand_on(argv);
		return Dtrace(std::move(*options), name).run();
	} catch (const Error& error) {
		std::fprintf(stderr, "%s: %s\n", shown(name), shown(error.what()));
		if (!error.hint().empty())
			std::fprintf(stderr, "%s: %s\n", shown(name), shown(error.hint()));
		return 1;
	} catch (const std::exception& error) {
		std::fprintf(stderr, "%s: %s\n", shown(name), shown(error.what()));
		return 1;
	}
}

} // namespace dfr::cli
