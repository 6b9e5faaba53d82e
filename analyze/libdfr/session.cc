// SPDX-License-Identifier: GPL-2.0
//
// A session from its options to its verdict. Nothing is opened or read that the
// programs do not need: a trivial one must start and end in ten million
// instructions.
#include "analyze/libdfr/session.h"

#include <algorithm>
#include <sys/utsname.h>
#include <unistd.h>

#include "analyze/libdfr/offline_target.h"
#include "analyze/libdfr/style.h"
#include "formats/abi/dof.h"
#include "formats/d/attributes.h"
#include "formats/d/suggest.h"
#include "formats/dof/image.h"
#include "formats/dof/text.h"
#include "recorder/device_session.h"
#include "recorder/live_symbols.h"

namespace dfr::lib {
namespace {

// May these errors be there for want of a kernel? Its probes, symbols and types, and what the engine here cannot do.
bool kernel_may_know(const d::Diagnostics& diagnostics) {
	static constexpr std::string_view kTags[] = {
	    "D_PDESC_ZERO",    "D_SYM_BADREF",  "D_SYM_NOTYPES",   "D_VAR_UNSUP",       "D_IDENT_UNDEF",
	    "D_TYPE_ERR",      "D_TYPE_MEMBER", "D_OP_INCOMPLETE", "D_DECL_INCOMPLETE", "D_SIZEOF_TYPE",
	    "D_OFFSETOF_TYPE", "D_ARGS_NONE",   "D_ARGS_IDX",      "D_XLATE_NONE",      "D_PROC_GRAB"};
	return std::ranges::any_of(diagnostics.all(), [](const d::Diagnostic& one) {
		return std::ranges::find(kTags, one.tag) != std::end(kTags);
	});
}

} // namespace

void Session::notice(const std::string& text) const {
	if (listeners_.notice && !options_.style.quiet)
		listeners_.notice(text);
}

Consumer& Session::consumer() {
	if (!consumer_)
		throw Error("the session is not running", "compile the programs and start the session first");
	return *consumer_;
}

void Session::set_arguments(std::vector<std::string> arguments) {
	if (!arguments.empty())
		arguments_ = std::move(arguments);
}

// $target is the first of them.
int Session::start(const std::vector<std::string>& command) {
	const int pid = children_.hold(command);
	if (!target_pid_)
		target_pid_ = static_cast<uint32_t>(pid);
	return pid;
}

void Session::watch(int pid) {
	children_.watch(pid);
	if (!target_pid_)
		target_pid_ = static_cast<uint32_t>(pid);
}

d::CompileOptions Session::compile_options(bool zdefs) const {
	d::CompileOptions options;
	options_.add_to(options);
	options.zdefs |= zdefs;
	options.program = !programs_.empty() && programs_[0].script ? programs_[0].name : arguments_[0];
	options.arguments.assign(arguments_.begin() + 1, arguments_.end());
	options.session = session_macros(target_pid_);
	return options;
}

bool Session::compile_on(std::unique_ptr<Backend> machine, bool zdefs) {
	if (target_pid_ && machine->kernel() && !recorder::processes_have_our_numbers())
		throw Error("this container numbers its processes itself: the kernel knows process " +
		                std::to_string(target_pid_) + " by another number",
		            "-c and -p work where the host's numbers are seen (docker run --pid=host)");
	backend_ = std::move(machine);
	compiled_for_ = backend_->target().description();
	diagnostics_ = d::Diagnostics{};
	if (programs_.empty()) // to list or to claim
		return true;
	compiled_ = compile_parts(programs_, compile_options(zdefs), backend_->target(), diagnostics_);
	return !diagnostics_.failed();
}

// Where the program runs. Without a choice: in the kernel if it is there, else here; what cannot
// run here has the module loaded, if we may. Whether destructive actions may run is the program's own
// option: the engine asks it at go.
bool Session::compile_live(bool zdefs) {
	if (options_.engine == EngineChoice::Process)
		return compile_on(open_process(true), zdefs);
	if (options_.engine == EngineChoice::Kernel || kernel_available() || options_.claim)
		return compile_on(open_kernel(::geteuid() == 0), zdefs);
	if (compile_on(open_process(true), zdefs))
		return true;
	try {
		auto kernel = open_kernel(::geteuid() == 0);
		return compile_on(std::move(kernel), zdefs);
	} catch (const Error& error) {
		// The compiler's message stands; that there is no kernel here may be the whole reason.
		if (!kernel_may_know(diagnostics_))
			return false;
		no_kernel_ = std::string("this ran without the kernel's engine: ") + error.what();
		if (!error.hint().empty())
			no_kernel_ += "; " + error.hint();
		return false;
	}
}

void Session::refuse(d::Target& target, bool zdefs) {
	const ProgramPart& part = programs_[failing_part(programs_, compile_options(zdefs), target)];
	backend_.reset(); // what was refused cannot go
	const std::string first = diagnostics_.classic(options_.errtags, 0, !part.script);
	classic_ = part.script ? "failed to compile script " + part.name + ": " + first
	                       : "invalid probe specifier " + part.text + ": " + first;
	throw Error("the program was not compiled for " + compiled_for_ + ": " +
	                std::to_string(diagnostics_.errors()) +
	                (diagnostics_.errors() == 1 ? " error" : " errors"),
	            no_kernel_);
}

// The programs' own ones.
void Session::take_options() {
	options_.apply(compiled_);
	for (const std::string& remark : without_effect(compiled_))
		notice(remark);
}

void Session::compile_programs(bool zdefs) {
	if (consumer_)
		throw Error("the session is already running", "open another one for another program");
	if (!compile_live(zdefs))
		refuse(backend_->target(), zdefs);
	take_options();
}

void Session::compile() {
	if (!boot_)
		return compile_programs(false);
	if (programs_.empty())
		throw Error("no program was given", "add one before it is compiled");
	// Part of the boot's module: compiled for this kernel as for one that is not running, since
	// probes come as modules do and addresses change.
	utsname machine{};
	::uname(&machine);
	OfflineTarget target({}, machine.release);
	compiled_for_ = target.description();
	compiled_ = compile_parts(programs_, compile_options(true), target, diagnostics_);
	if (diagnostics_.failed())
		refuse(target, true);
	take_options();
	identify_types(compiled_.image, target);
}

std::vector<uint8_t> Session::dof() const {
	return dof::write(compiled_.image);
}

std::string Session::listing() const {
	return dof::disassemble_listing(compiled_.image);
}

std::string Session::stability() const {
	std::string text;
	for (const ProgramPart& part : programs_)
		text += std::string("\nStability attributes for ") +
		        (part.script ? "script " : "description ") + part.title() + ":\n\n" +
		        compiled_.attributes + "\n";
	return text;
}

unsigned Session::list(bool arguments, const std::function<bool(const Listed&)>& visit) {
	compile_programs(true);
	d::Target& target = backend_->target();
	unsigned rows = 0, unmatched = 0;
	bool going = true;
	const auto row = [&](const d::ProbeInfo& probe) {
		rows++;
		going =
		    arguments
		        ? visit({probe, d::provider_attributes(probe.provider).report(), target.args(probe)})
		        : visit({probe, {}, {}});
		return going;
	};
	if (programs_.empty())
		target.match({}, row);
	for (const dof::EcbDesc& ecb : compiled_.image.ecbs) {
		if (!going)
			break;
		if (ecb.uarg & DFR_ECBUARG_CONTINUATION)
			continue;
		const d::ProbePattern pattern = d::pattern_of(ecb.probe);
		rows = 0;
		target.match(pattern, row);
		if (rows != 0 || options_.zdefs)
			continue;
		unmatched++;
		if (!listeners_.trouble)
			continue;
		listeners_.trouble("failed to match " + pattern.fields() + ": No probe matches description");
		std::string instead = target.elsewhere(pattern.host);
		if (instead.empty())
			instead = d::foreign_probe(pattern.provider, pattern.function);
		if (instead.empty())
			instead = d::counted_from_left(target, pattern,
			                               programs_.size() == 1 &&
			                                   programs_[0].specifier != d::Specifier::Name);
		if (instead.empty())
			instead = target.why_absent(pattern);
		if (!instead.empty())
			listeners_.trouble(instead);
	}
	return unmatched;
}

void Session::enable() {
	const auto dof = dof::write(compiled_.image);
	ProgramPart& first = programs_[0];
	try {
		const uint32_t matched =
		    backend_->session().enable(std::as_bytes(std::span(dof)), options_.zdefs);
		if (programs_.size() == 1)
			first.matched = matched;
		else if (listeners_.notice && !options_.style.quiet)
			count_matches(programs_, compile_options(false), compiled_, backend_->target());
	} catch (const Error& error) {
		classic_ = "failed to enable '" + first.title() + "': " +
		           (error.code() == EACCES ? "Destructive actions not allowed" : error.what());
		throw;
	}
	for (const ProgramPart& part : programs_)
		notice(std::string(part.script ? "script" : "description") + " '" + part.title() +
		       "' matched " + std::to_string(part.matched) +
		       (part.matched == 1 ? " probe" : " probes"));
	if (compiled_.image.ecbs.empty())
		notice("the program has no clause: it does nothing until it is interrupted");
	if (compiled_.destructive && options_.is_set("destructive"))
		notice("allowing destructive actions");
}

// The boot's state goes on, and what it has recorded so far is printed.
void Session::claim() {
	if (!programs_.empty())
		throw Error("the boot's state cannot be claimed together with programs of one's own", {},
		            EALREADY);
	if (!backend_->device())
		throw Error("the in-process engine has no state of a boot to claim", {}, ENOENT);
	backend_->device()->claim(DFR_ANONYMOUS_NAME);
	for (uint32_t dof = 0; const dof::Image* const image = consumer_->renderer().programs().image(dof);
	     dof++)
		apply_options(*image, consumer_->style());
	consumer_->resume();
}

void Session::go() {
	if (!backend_)
		throw Error("the session has no engine yet", "compile the programs first");
	if (consumer_)
		throw Error("the session is already running", "open another one for another program");
	if (programs_.empty() && !options_.claim)
		throw Error("no program was given", "add one before it is compiled");
	output_ = std::make_unique<render::Output>(listeners_.text ? -1 : fd_);
	Consumer::Callbacks hooks;
	hooks.message = [this](const std::string& text) {
		if (listeners_.trouble)
			listeners_.trouble(text);
	};
	hooks.kernel_types = [this] { return backend_->target().kernel_types(""); };
	hooks.record = listeners_.record;
	consumer_ =
	    std::make_unique<Consumer>(backend_->session(), *output_, backend_->symbols(), std::move(hooks));
	consumer_->style() = options_.style;
	consumer_->style().asks_hosts = true;
	if (backend_->confined())
		children_.must_be_ours();
	if (!programs_.empty()) {
		enable();
		consumer_->report_faults();
	}
	try {
		options_.claim ? claim() : consumer_->go();
	} catch (const Error& error) {
		classic_ = "could not enable tracing: " + go_reason(error);
		if (error.code() == EACCES)
			throw Error("destructive actions are not allowed here", error.hint(), EACCES);
		throw;
	}
	children_.remember_in(backend_->symbols()); // as it is before it becomes the command
	children_.release(backend_->kernel() && records_user_code(compiled_.image));
}

void Session::deliver() {
	if (!listeners_.text)
		return;
	const std::string text = output_->take();
	if (!text.empty())
		listeners_.text(text);
}

bool Session::work() {
	consumer(); // or an error
	const auto ended = children_.ended();
	children_.remember_in(backend_->symbols());
	const bool going = consumer_->work();
	deliver();
	for (const std::string& end : ended)
		notice(end);
	return going && (children_.empty() || !children_.all_ended());
}

void Session::print(const std::string& text) {
	consumer();
	output_->text() += text;
}

bool Session::stop() {
	consumer(); // or an error
	children_.remember_in(backend_->symbols());
	consumer_->finish();
	deliver();
	verdict_ = consumer_->judge();
	if (consumer_->killed_by_oops())
		classic_ = "processing aborted: the kernel oopsed inside a probe's firing (dmesg shows it)";
	else if (consumer_->killed())
		classic_ = "processing aborted: Abort due to systemic unresponsiveness";
	return !consumer_->killed();
}

} // namespace dfr::lib
