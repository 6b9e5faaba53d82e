// SPDX-License-Identifier: GPL-2.0
//
// Parsing of subcommands' options.
#include "analyze/cli/arguments.h"

#include <cstdio>

#include "analyze/cli/dfr.h"
#include "analyze/libdfr/style.h"
#include "formats/d/library.h"
#include "formats/error.h"
#include "formats/shown.h"

namespace dfr::cli {

std::unique_ptr<CLI::App> make_app(const char* name, const char* what, const char* examples) {
	auto app = std::make_unique<CLI::App>(what, std::string("dfr ") + name);
	app->footer(std::string("examples\n") + examples);
	return app;
}

std::optional<int> parse_arguments(CLI::App& app, int argc, char** argv) {
	try {
		app.parse(argc, argv);
		return std::nullopt;
	} catch (const CLI::Success&) { // --help
		print_lines(stdout, app.help());
		return 0;
	} catch (const CLI::ParseError& error) {
		print_error(app.get_name() + ": " + error.what(),
		            app.get_name() + " --help shows options and examples");
		return kStatusUsage;
	}
}

std::string check_given(const std::string& value) {
	return value.empty() ? "the value is empty" : "";
}

void add_engine(CLI::App& app, std::string& engine) {
	app.add_option("--engine", engine, "the kernel's, or the one in this process")
	    ->option_text("kernel|process|auto")
	    ->check(CLI::IsMember({"kernel", "process", "auto"}));
}

d::ProbePattern parse_pattern(const std::string& text) {
	const std::vector<std::string> fields = d::probe_fields(text);
	if (fields.size() > 5)
		throw Error(text + " has " + std::to_string(fields.size() - 1) + " colons",
		            "a probe is [host:]provider:module:function:name");
	d::ProbePattern pattern;
	std::string* const places[] = {&pattern.name, &pattern.function, &pattern.module, &pattern.provider,
	                               &pattern.host};
	for (size_t i = 0; i < fields.size(); i++)
		*places[i] = fields[fields.size() - 1 - i];
	return pattern;
}

void ProgramArguments::add_to(CLI::App& app) {
	app.add_option("-n,--program", clauses, "D program, as dtrace -n takes it")->allow_extra_args(false);
	app.add_option("-s,--script", scripts, "file with a D program; - is stdin")->allow_extra_args(false);
	app.add_option("-x,--option", options, "option, NAME or NAME=VALUE")->allow_extra_args(false);
	app.add_option("--arg", operands, "operand of the program: $1, $2 ...")->allow_extra_args(false);
	app.add_flag("-C", preprocess, "run the C preprocessor first");
	app.add_option("-D", cpp, "define NAME[=VALUE] for the preprocessor")->allow_extra_args(false);
	app.add_flag("-Z", zdefs, "descriptions may match nothing");
	app.add_flag("-w", destructive, "allow destructive actions");
	app.add_flag("-q,--quiet", quiet, "only what the program prints");
}

namespace {

// What is always on costs a fifth of what else may be, and keeps what came last.
struct OptionProfile {
	const char* name;
	std::vector<std::string> options;
};
const OptionProfile kProfiles[] = {{"flight", {"cpubudget=1", "bufpolicy=ring"}}};

std::string check_profile(const std::string& name) {
	std::string known;
	for (const OptionProfile& profile : kProfiles) {
		if (name == profile.name)
			return {};
		known += std::string(known.empty() ? "" : ", ") + profile.name;
	}
	return "there is no profile " + name + "; there is " + known;
}

} // namespace

void ProgramArguments::add_profile_to(CLI::App& app) {
	app.add_option("--profile", profile,
	               "flight: for what is always on (1 % of each CPU, the newest is kept); -x overrides. "
	               "Without a program: the one of this name, too")
	    ->check(check_profile);
}

std::vector<lib::ProgramPart> ProgramArguments::parts() const {
	std::vector<lib::ProgramPart> parts;
	for (const std::string& script : scripts)
		parts.push_back(lib::read_script(script));
	for (const std::string& clause : clauses) {
		lib::ProgramPart part;
		part.name = "-n";
		part.text = clause;
		parts.push_back(std::move(part));
	}
	return parts;
}

std::vector<lib::ProgramPart> ProgramArguments::parts_or_profile() const {
	std::vector<lib::ProgramPart> all = parts();
	for (const d::LibraryText* one = d::kProfileTexts; one->name && all.empty(); one++) {
		if (profile != one->name)
			continue;
		lib::ProgramPart part;
		part.script = true;
		part.name = profile + ".d";
		part.text = one->text;
		all.push_back(std::move(part));
	}
	return all;
}

// -x cpp is -C by another name.
void ProgramArguments::require_preprocessor() const {
	if (!cpp.empty() && !preprocess && std::ranges::find(options, "cpp") == options.end())
		throw UsageError("-D defines a name for the preprocessor, which does not run", "add -C");
}

void ProgramArguments::give_to(dfr_session* session) const {
	require_preprocessor();
	const auto must = [session](int result) {
		if (result < 0)
			throw Error(dfr_session_error(session), dfr_session_hint(session));
	};
	for (const std::string& option : options)
		must(set_option(session, option));
	for (const std::string& define : cpp)
		must(dfr_session_option(session, "define", define.c_str()));
	const std::pair<const char*, bool> flags[] = {
	    {"quiet", quiet}, {"destructive", destructive}, {"cpp", preprocess}, {"zdefs", zdefs}};
	for (const auto& [name, on] : flags)
		if (on)
			must(dfr_session_option(session, name, nullptr));
	std::vector<std::string> operands_from_0 = operands;
	operands_from_0.insert(operands_from_0.begin(), "dfr");
	must(dfr_session_arguments(session, pointers(operands_from_0).data()));
	for (const std::string& script : scripts)
		must(dfr_session_script(session, script.c_str()));
	for (const std::string& clause : clauses)
		must(dfr_session_program(session, DFR_BY_NAME, clause.c_str()));
}

d::CompileOptions ProgramArguments::compile_options(uint32_t target) const {
	require_preprocessor();
	d::CompileOptions compile;
	for (const OptionProfile& known : kProfiles)
		if (profile == known.name)
			compile.options = known.options;
	compile.options.insert(compile.options.end(), options.begin(), options.end());
	if (quiet)
		compile.options.emplace_back("quiet");
	if (destructive)
		compile.options.emplace_back("destructive");
	compile.zdefs = zdefs;
	compile.program = scripts.empty() ? "dfr" : scripts[0];
	compile.arguments = operands;
	compile.session = lib::session_macros(target);
	compile.preprocess = preprocess;
	for (const std::string& define : cpp)
		compile.cpp_arguments.push_back("-D" + define);
	return compile;
}

namespace {

// Says all there is to say, and ends the command where that includes an error.
void report(const d::Diagnostics& diagnostics, const d::Target& target) {
	print_lines(stderr, diagnostics.render(false));
	if (diagnostics.failed())
		throw Error("the program was not compiled for " + target.description() + ": " +
		                std::to_string(diagnostics.errors()) +
		                (diagnostics.errors() == 1 ? " error" : " errors"),
		            "correct what is marked above");
}

} // namespace

void PartArguments::add_to(CLI::App& app) {
	app.add_option("--from", from,
	               "from this time on: +5s after the start, -10s before the end, 14:03:02.120, "
	               "2026-11-21 14:03:02, or @NS on the recording's clock")
	    ->check(check_given);
	app.add_option("--to", to, "up to this time, written as --from's")->check(check_given);
	app.add_option("--cpu", cpus, "only these CPUs: 0,2-3")->check(check_given);
}

namespace {

std::optional<replay::When> read_time(const char* option, const std::string& text) {
	if (text.empty())
		return std::nullopt;
	auto when = replay::parse_when(text);
	if (!when)
		throw UsageError(
		    std::string(option) + " " + text + " is no time",
		    "times are written +5s (after the start), -10s (before the end), 14:03:02.120, "
		    "2026-11-21 14:03:02 or @NS");
	return when;
}

// For sure: times of two kinds, or of day, can be compared only by the recording.
bool later(const replay::When& one, const replay::When& other) {
	if (one.base != other.base || one.base == replay::When::TimeBase::kTimeOfDay)
		return false;
	return one.base == replay::When::TimeBase::kBeforeEnd ? one.ns < other.ns : one.ns > other.ns;
}

} // namespace

void PartArguments::read(replay::Wanted& wanted) const {
	wanted.from = read_time("--from", from);
	wanted.to = read_time("--to", to);
	if (wanted.from && wanted.to && later(*wanted.from, *wanted.to))
		throw UsageError("--from " + from + " is later than --to " + to,
		                 "give the earlier time to --from");
	if (cpus.empty())
		return;
	const auto listed = replay::parse_cpus(cpus);
	if (!listed)
		throw UsageError("--cpu " + cpus + " is no list of CPUs such as 0,2-3",
		                 "dfr info FILE shows how many CPUs it has");
	wanted.cpus = *listed;
}

d::Compiled compile_or_throw(std::vector<lib::ProgramPart>& parts, const d::CompileOptions& options,
                             d::Target& target) {
	d::Diagnostics diagnostics;
	d::Compiled compiled = lib::compile_parts(parts, options, target, diagnostics);
	report(diagnostics, target);
	for (const std::string& remark : lib::without_effect(compiled))
		std::fprintf(stderr, "dfr: %s\n", shown(remark));
	return compiled;
}

d::Derived derive_or_throw(const std::string& path, d::CompileOptions options, d::Target& target) {
	const lib::ProgramPart part = lib::read_script(path);
	d::Diagnostics diagnostics;
	options.name = path;
	d::Derived derived = d::derive(part.text, options, target, diagnostics);
	report(diagnostics, target);
	return derived;
}

} // namespace dfr::cli
