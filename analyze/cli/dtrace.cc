// SPDX-License-Identifier: GPL-2.0
//
// dtrace(1): the classic command, its options, messages and exit statuses, over
// either engine. Output formats are the renderer's (analyze/render); the loop is
// the consumer's (analyze/libdfr). Nothing here is loaded that the program does
// not need: a trivial program must start and end in ten million instructions.
#include "analyze/cli/dtrace.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analyze/cli/child.h"
#include "analyze/cli/dtrace_options.h"
#include "analyze/cli/file.h"
#include "analyze/cli/offline_target.h"
#include "analyze/libdfr/machine.h"
#include "analyze/cli/signals.h"
#include "analyze/libdfr/consumer.h"
#include "analyze/libdfr/program.h"
#include "analyze/libdfr/style.h"
#include "formats/d/attributes.h"
#include "formats/d/options.h"
#include "formats/dif/disasm.h"
#include "formats/dof/image.h"
#include "formats/error.h"
#include "recorder/device_session.h"

extern char** environ;

namespace dfr::cli {
namespace {

constexpr const char* kVersion = "Sun D 1.13";

class Dtrace {
public:
	Dtrace(DtraceOptions options, std::string name) : options_(std::move(options)), name_(std::move(name)) {}
	int run();

private:
	void front_end_options();
	void environment_options();
	bool take_option(const std::string& text);
	bool compile();
	bool compile_on(std::unique_ptr<lib::Machine> machine);
	void open_machine();
	void program_options();
	void report_errors();
	void print_code();
	int list(bool none_ok);
	int save_anonymous();
	int trace();
	void enable();
	void claim(lib::Consumer& consumer);
	void consume(lib::Consumer& consumer, Children& children);
	void print_attributes();
	d::CompileOptions compile_options() const;

	// "dtrace: ..." on stderr; a notice is silenced by -q.
	void say(const char* format, ...) const __attribute__((format(printf, 2, 3)));
	void notice(const char* format, ...) const __attribute__((format(printf, 2, 3)));

	DtraceOptions options_;
	std::string name_;
	std::vector<std::string> compiler_options_;
	lib::Engine engine_ = lib::Engine::Automatic;
	bool errtags_ = false;
	bool list_headers_ = false;
	std::string stdc_ = "a";
	bool testing_ = false;
	render::Style style_;
	std::unique_ptr<lib::Machine> machine_;
	d::Diagnostics diagnostics_;
	d::Compiled compiled_;
	uint32_t target_pid_ = 0;
	std::string no_kernel_; // why the kernel's engine was not there, if it was wanted
};

void Dtrace::say(const char* format, ...) const {
	va_list arguments;
	va_start(arguments, format);
	std::fprintf(stderr, "%s: ", name_.c_str());
	std::vfprintf(stderr, format, arguments);
	std::fputc('\n', stderr);
	va_end(arguments);
}

void Dtrace::notice(const char* format, ...) const {
	if (style_.quiet)
		return;
	va_list arguments;
	va_start(arguments, format);
	std::fprintf(stderr, "%s: ", name_.c_str());
	std::vfprintf(stderr, format, arguments);
	std::fputc('\n', stderr);
	va_end(arguments);
}

// DTRACE_OPT_STRSIZE=512: as -x strsize=512, before any -x.
void Dtrace::environment_options() {
	static constexpr char kPrefix[] = "DTRACE_OPT_";
	std::vector<std::string> found;
	for (char** at = environ; at && *at; at++) {
		if (std::strncmp(*at, kPrefix, sizeof kPrefix - 1) != 0)
			continue;
		std::string text = *at + sizeof kPrefix - 1;
		for (char& c : text) {
			if (c == '=')
				break;
			c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
		}
		if (!text.empty() && text.back() == '=')
			text.pop_back();
		found.push_back(std::move(text));
	}
	options_.options.insert(options_.options.begin(), found.begin(), found.end());
	testing_ = std::getenv("_DTRACE_TESTING") != nullptr;
}

// True if the option is the command's own and not the compiler's.
bool Dtrace::take_option(const std::string& text) {
	const size_t equals = text.find('=');
	const std::string option = text.substr(0, equals);
	const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
	const struct {
		const char* name;
		bool* flag;
	} flags[] = {{"errtags", &errtags_},	       {"droptags", &style_.droptags}, {"verbose", &options_.disassemble},
		     {"zdefs", &options_.zdefs}, {"cpp", &options_.preprocess}, {"cpphdrs", &list_headers_}, {"grabanon", &options_.claim}};
	for (const auto& one : flags) {
		if (option != one.name)
			continue;
		const auto number = d::parse_option(*d::find_option(option), equals == std::string::npos ? std::nullopt : std::optional<std::string_view>(value));
		if (!number)
			throw Error("failed to set -x " + option + ": Invalid value for specified option", "a number, on or off");
		*one.flag = *number != DFR_OPT_UNSET;
		return true;
	}
	static constexpr std::pair<const char*, const char*> kPreprocessor[] = {
	    {"define", "-D"}, {"undef", "-U"}, {"incdir", "-I"}, {"cpppath", "--cpp="}, {"cppargs", ""}};
	for (const auto& [name, letters] : kPreprocessor) {
		if (option != name)
			continue;
		if (*letters == '\0')
			for (const std::string& word : split_words(value))
				options_.cpp.push_back(word);
		else
			options_.cpp.push_back(letters + value);
		return true;
	}
	if (option == "engine")
		engine_ = lib::parse_engine(value);
	else if (option == "libdir")
		options_.libraries.push_back(value);
	else if (option == "setenv")
		::setenv(value.substr(0, value.find('=')).c_str(), value.find('=') == std::string::npos ? "" : value.substr(value.find('=') + 1).c_str(), 1);
	else if (option == "unsetenv")
		::unsetenv(value.c_str());
	else
		return false;
	return true;
}

void Dtrace::front_end_options() {
	environment_options();
	for (const std::string& option : options_.options) {
		if (take_option(option))
			continue;
		const size_t equals = option.find('=');
		bool known = false;
		const std::string why = render::Renderer::set_style(
		    style_, option.substr(0, equals), equals == std::string::npos ? "" : option.substr(equals + 1), known);
		if (!why.empty())
			throw Error("failed to set -x " + option.substr(0, equals) + ": " + why);
		if (option.starts_with("stdc="))
			stdc_ = option.substr(5);
		compiler_options_.push_back(option);
	}
	style_.testing = testing_;
}

d::CompileOptions Dtrace::compile_options() const {
	d::CompileOptions options;
	options.options = compiler_options_;
	options.zdefs = options_.zdefs;
	options.program = options_.programs.empty() ? name_ : options_.programs[0].script ? options_.programs[0].name : name_;
	options.arguments = options_.operands;
	options.session = lib::session_macros(target_pid_);
	options.preprocess = options_.preprocess;
	options.cpp_arguments = options_.cpp;
	if (list_headers_)
		options.cpp_arguments.emplace_back("-H");
	options.cpp_arguments.emplace_back(stdc_ == "c" ? "-D__STDC__=1" : stdc_ == "s" ? "-U__STDC__" : "-D__STDC__=0");
	options.libraries = options_.libraries;
	return options;
}

bool Dtrace::compile_on(std::unique_ptr<lib::Machine> machine) {
	machine_ = std::move(machine);
	diagnostics_ = d::Diagnostics{};
	if (options_.programs.empty()) // -l and -a do without
		return true;
	compiled_ = lib::compile_parts(options_.programs, compile_options(), machine_->target(), diagnostics_);
	return !diagnostics_.failed();
}

// Where the program runs. Without a choice: in the kernel if it is there, else here; what cannot
// run here has the module loaded, if we may.
bool Dtrace::compile() {
	// Whether destructive actions may run is the program's own option, which -w sets: the engine asks it at go.
	if (engine_ == lib::Engine::Process)
		return compile_on(lib::open_process(true));
	if (engine_ == lib::Engine::Kernel || lib::kernel_available() || options_.claim)
		return compile_on(lib::open_kernel(::geteuid() == 0));
	if (compile_on(lib::open_process(true)))
		return true;
	try {
		auto kernel = lib::open_kernel(::geteuid() == 0);
		return compile_on(std::move(kernel));
	} catch (const Error& error) {
		// The compiler's message stands; that there is no kernel here may be the whole reason.
		no_kernel_ = std::string("this ran without the kernel's engine: ") + error.what();
		if (!error.hint().empty())
			no_kernel_ += "; " + error.hint();
		return false;
	}
}

// What the program's own pragmas and -S and -v ask for, once it is compiled.
void Dtrace::program_options() {
	lib::apply_options(compiled_, style_);
	for (const auto& [option, value] : compiled_.settings)
		options_.zdefs |= option == "zdefs";
	if (options_.disassemble)
		print_code();
	if (options_.verbose && options_.mode == DtraceOptions::Mode::Trace)
		print_attributes();
}

void Dtrace::report_errors() {
	const std::string first = diagnostics_.classic(errtags_);
	const lib::ProgramPart* part = options_.programs.empty() ? nullptr : &options_.programs[0];
	if (part && part->script)
		say("failed to compile script %s: %s", part->name.c_str(), first.c_str());
	else
		say("invalid probe specifier %s: %s", part ? part->text.c_str() : "", first.c_str());
	std::fputs(diagnostics_.render(errtags_).c_str(), stderr);
	if (!no_kernel_.empty())
		say("%s", no_kernel_.c_str());
}

void Dtrace::print_code() {
	const std::string text = dif::disassemble_listing(compiled_.image);
	std::fwrite(text.data(), 1, text.size(), stderr);
}

void Dtrace::print_attributes() {
	for (const lib::ProgramPart& part : options_.programs)
		std::printf("\nStability attributes for %s %s:\n\n%s\n", part.script ? "script" : "description",
			    part.title().c_str(), compiled_.attributes.c_str());
	std::fflush(stdout);
}

// -lv: what a probe's arguments are.
static std::string argument_report(d::Target& target, const d::ProbeInfo& probe) {
	const auto arguments = target.args(probe);
	const std::string stability = d::provider_attributes(probe.provider).report();
	std::string text = "\n\tProbe Description Attributes\n" + stability + "\n\tArgument Attributes\n" + stability +
			   "\n\tArgument Types\n";
	if (arguments.empty())
		text += "\t\tNone\n";
	for (size_t i = 0; i < arguments.size(); i++)
		text += "\t\targs[" + std::to_string(i) + "]: " +
			(arguments[i].translated.empty() ? arguments[i].native : arguments[i].translated) + "\n";
	return text + "\n";
}

int Dtrace::list(bool none_ok) {
	std::string text;
	uint32_t rows = 0;
	const auto row = [&text](const char* id, const char* provider, const char* module, const char* function,
				 const char* name) {
		char line[512];
		std::snprintf(line, sizeof line, "%5s %10s %17s %33s %s\n", id, provider, module, function, name);
		text += line;
	};
	row("ID", "PROVIDER", "MODULE", "FUNCTION", "NAME");
	const auto visit = [&](const d::ProbeInfo& probe) {
		rows++;
		row(std::to_string(probe.id).c_str(), probe.provider.c_str(), probe.module.c_str(),
		    probe.function.c_str(), probe.name.c_str());
		if (options_.verbose)
			text += argument_report(machine_->target(), probe);
		if (text.size() > 65536) {
			std::fwrite(text.data(), 1, text.size(), stdout);
			text.clear();
		}
		return true;
	};
	if (options_.programs.empty())
		machine_->target().match({}, visit);
	int status = 0;
	for (const dof::Ecb& ecb : compiled_.image.ecbs) {
		if (ecb.uarg & DFR_ECBUARG_CONTINUATION)
			continue;
		d::ProbePattern pattern{ecb.probe.host, ecb.probe.provider, ecb.probe.module,
					ecb.probe.function, ecb.probe.name, ecb.probe.id};
		rows = 0;
		machine_->target().match(pattern, visit);
		if (rows == 0 && !none_ok) {
			say("failed to match %s:%s:%s:%s: No probe matches description", pattern.provider.c_str(),
			    pattern.module.c_str(), pattern.function.c_str(), pattern.name.c_str());
			status = 1;
		}
	}
	std::fwrite(text.data(), 1, text.size(), stdout);
	return std::fflush(stdout) == 0 ? status : 1;
}

void Dtrace::enable() {
	const auto dof = dof::write(compiled_.image);
	lib::ProgramPart& first = options_.programs[0];
	try {
		const uint32_t matched = machine_->session().enable(std::as_bytes(std::span(dof)), options_.zdefs);
		if (options_.programs.size() == 1)
			first.matched = matched;
		else
			lib::count_matches(options_.programs, compile_options(), compiled_, machine_->target());
	} catch (const Error& error) {
		const std::string why =
		    error.code() == EACCES ? "Destructive actions not allowed" : error.what();
		throw Error("failed to enable '" + first.title() + "': " + why, error.hint(), error.code());
	}
	for (const lib::ProgramPart& part : options_.programs)
		notice("%s '%s' matched %u probe%s", part.script ? "script" : "description", part.title().c_str(),
		       part.matched, part.matched == 1 ? "" : "s");
	if (compiled_.destructive && options_.destructive)
		notice("allowing destructive actions");
}

// -a: the boot's state goes on, and what it has recorded so far is printed.
void Dtrace::claim(lib::Consumer& consumer) {
	if (!options_.programs.empty())
		throw Error("", {}, EALREADY);
	if (!machine_->device())
		throw Error("", {}, ENOENT);
	machine_->device()->claim(DFR_ANONYMOUS_NAME);
	for (uint32_t dof = 0; const dof::Image* const image = consumer.renderer().programs().image(dof); dof++)
		lib::apply_options(*image, consumer.style());
	consumer.resume();
}

void Dtrace::consume(lib::Consumer& consumer, Children& children) {
	// -a -e: what there is, and no more.
	for (bool going = !options_.compile_only; going && signals_caught() == 0;) {
		consumer.sleep();
		const auto ended = children.ended();
		going = consumer.work();
		for (const int pid : ended)
			notice("pid %d has exited", pid);
		if (!children.empty() && children.all_ended())
			going = false;
	}
}

// -A. The anonymous program is part of the boot's module: it is compiled for this kernel as for one that is not
// running, since probes come as modules do and addresses change, and saved for the link.
int Dtrace::save_anonymous() {
	if (options_.output.empty())
		throw Error("-A: where to save the program is not known", "name a file: -A -o boot.dof");
	utsname machine{};
	::uname(&machine);
	OfflineTarget target({}, machine.release);
	options_.zdefs = true;
	compiled_ = lib::compile_parts(options_.programs, compile_options(), target, diagnostics_);
	if (diagnostics_.failed()) {
		report_errors();
		return 1;
	}
	program_options();
	lib::identify_types(compiled_.image, target);
	write_file(options_.output, dof::write(compiled_.image));
	notice("saved anonymous enabling in %s", options_.output.c_str());
	notice("link it into the module that the boot loads: packaging/build-boot-module --kernel %s --dof %s -o dfr.ko", machine.release,
	       options_.output.c_str());
	return 0;
}

int Dtrace::trace() {
	int fd = STDOUT_FILENO;
	if (!options_.output.empty()) {
		fd = ::open(options_.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (fd < 0)
			throw Error::from_errno("failed to open output file '" + options_.output + "'");
	}
	Children children;
	for (const std::string& command : options_.commands)
		target_pid_ = static_cast<uint32_t>(children.hold(split_words(command)));
	for (const int pid : options_.pids) {
		children.watch(pid);
		target_pid_ = static_cast<uint32_t>(pid);
	}
	if (target_pid_ != 0) {
		if (!compile()) {
			report_errors();
			return 1;
		}
		program_options();
	}
	catch_signals();
	render::Output output(fd);
	lib::Consumer::Hooks hooks;
	hooks.message = [this](const std::string& text) { say("%s", text.c_str()); };
	hooks.kernel_types = [this] { return machine_->target().kernel_types(""); };
	lib::Consumer consumer(machine_->session(), output, machine_->symbols(), std::move(hooks));
	consumer.style() = style_;
	if (!options_.programs.empty()) {
		enable();
		consumer.report_faults();
	}
	try {
		options_.claim ? claim(consumer) : consumer.go();
	} catch (const Error& error) {
		throw Error(std::string("could not enable tracing: ") + lib::go_reason(error), error.hint(),
			    error.code());
	}
	children.release();
	consume(consumer, children);
	if (signals_caught() != 0)
		output.text() += '\n';
	consumer.finish();
	if (consumer.killed())
		throw Error("processing aborted: Abort due to systemic unresponsiveness");
	return consumer.exit_status().value_or(0);
}

int Dtrace::run() {
	using Mode = DtraceOptions::Mode;
	front_end_options();
	if (options_.mode == Mode::Version) {
		std::printf("%s: %s\n", name_.c_str(), kVersion);
		return 0;
	}
	if (options_.mode == Mode::Link || options_.mode == Mode::Header)
		throw Error("static user probes (-G, -h) are not supported by this version",
			    "trace the program with the kernel's providers instead");
	if (options_.programs.empty() && options_.mode != Mode::List && !options_.claim) {
		say("no probes specified");
		dtrace_usage(name_);
		return 2;
	}
	if (options_.mode == Mode::Anonymous)
		return save_anonymous();
	const bool none_ok = options_.zdefs;
	if (options_.mode == Mode::List)
		options_.zdefs = true;
	// $target is known once the commands are forked: their programs are compiled then.
	const bool late = !options_.commands.empty() || !options_.pids.empty();
	if ((!late || options_.compile_only) && !compile()) {
		report_errors();
		return 1;
	}
	if (!late || options_.compile_only)
		program_options();
	if (options_.mode == Mode::List)
		return list(none_ok);
	if (options_.compile_only && !options_.claim)
		return 0;
	return trace();
}

std::string base_name(const char* path) {
	const char* const slash = std::strrchr(path, '/');
	return slash ? slash + 1 : path;
}

} // namespace

int dtrace_main(int argc, char** argv) {
	const std::string name = argc > 0 ? base_name(argv[0]) : "dtrace";
	try {
		auto options = parse_dtrace(argc, argv, name);
		if (!options)
			return 2;
		return Dtrace(std::move(*options), name).run();
	} catch (const Error& error) {
		std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
		if (!error.hint().empty())
			std::fprintf(stderr, "%s: %s\n", name.c_str(), error.hint().c_str());
		return 1;
	}
}

} // namespace dfr::cli
