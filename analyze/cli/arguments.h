// SPDX-License-Identifier: GPL-2.0
//
// What subcommands share in parsing their options with CLI11: usage errors as
// status 2 in our words, examples under --help, and the options that say which D
// program, and which part of a recording, is meant.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/cli/client.h"
#include "analyze/libdfr/program.h"
#include "analyze/replay/wanted.h"
#include "formats/d/compile.h"
#include "formats/d/target.h"

namespace dfr::cli {

// A status if the command ends here (--help, or an error, which was said).
std::optional<int> parse_arguments(CLI::App& app, int argc, char** argv);
// Name, what it does, examples.
std::unique_ptr<CLI::App> make_app(const char* name, const char* what, const char* examples);

// Of an option's value, for ->check(): an empty one is a mistake (an unset variable of a script), and never the
// same as no option.
std::string check_given(const std::string& value);

// The option --engine.
void add_engine(CLI::App& app, std::string& engine);

// "[host:]provider:module:function:name", each field a glob or empty. Throws dfr::Error.
d::ProbePattern parse_pattern(const std::string& text);

// -n 'D', -s FILE, -x OPT[=VALUE], -Z, -w, -C ...: the program of record, replay, trace, compile.
struct ProgramArguments {
	std::vector<std::string> clauses;  // -n
	std::vector<std::string> scripts;  // -s
	std::vector<std::string> options;  // -x
	std::vector<std::string> operands; // --arg: $1 ...
	std::vector<std::string> cpp;      // -D, -I, -U
	std::string profile;               // --profile: a named set of options, before -x
	bool zdefs = false, destructive = false, preprocess = false, quiet = false;

	void add_to(CLI::App& app);
	void add_profile_to(CLI::App& app); // of commands that make recordings
	bool empty() const { return clauses.empty() && scripts.empty(); }
	void give_to(dfr_session* session) const; // dfr::Error if it refuses
	void require_preprocessor() const;        // UsageError: there is a -D, and nobody to take it
	std::vector<lib::ProgramPart> parts() const;
	// The same, or if there is none and a profile is named, that one's program.
	std::vector<lib::ProgramPart> parts_or_profile() const;
	d::CompileOptions compile_options(uint32_t target) const;
};

// --from, --to, --cpu: which part of a recording.
struct PartArguments {
	std::string from, to, cpus;

	void add_to(CLI::App& app);
	bool empty() const { return from.empty() && to.empty() && cpus.empty(); }
	void read(replay::Wanted& wanted) const; // throws UsageError
};

// Compiles; if it fails, prints all diagnostics and throws what ends the command with status 1.
d::Compiled compile_or_throw(std::vector<lib::ProgramPart>& parts, const d::CompileOptions& options,
                             d::Target& target);

// The program that records what the analysis in this file will need.
d::Derived derive_or_throw(const std::string& path, d::CompileOptions options, d::Target& target);

} // namespace dfr::cli
