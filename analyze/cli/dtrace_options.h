// SPDX-License-Identifier: GPL-2.0
//
// The command line of dtrace(1): parsed, not carried out. A grammar of its own
// (clustered letters, operands between options, arguments glued on), so no
// option library.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/libdfr/program.h"

namespace dfr::cli {

struct DtraceOptions {
	enum class Mode { Trace, List, Anonymous, Link, Header, Version };
	Mode mode = Mode::Trace;
	std::vector<lib::ProgramPart> programs; // scripts are read
	std::vector<std::string> options;	// -x, in order; -b, -q, -F as such too
	std::vector<std::string> operands;	// $1 ...
	std::vector<std::string> commands;	// -c
	std::vector<int> pids;			// -p
	std::vector<std::string> cpp;		// -D, -U, -I, -H
	std::string output;			// -o
	std::vector<std::string> libraries;	// -L
	bool preprocess = false, compile_only = false, quiet = false, flowindent = false, claim = false;
	bool disassemble = false, verbose = false, destructive = false, zdefs = false;
};

// Nullopt: a usage error was said on stderr (status 2). Throws dfr::Error for a script that cannot be read.
std::optional<DtraceOptions> parse_dtrace(int argc, char** argv, const std::string& name);
void dtrace_usage(const std::string& name);

} // namespace dfr::cli
