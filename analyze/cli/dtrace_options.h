// SPDX-License-Identifier: GPL-2.0
//
// The command line of dtrace(1): parsed, not carried out. A grammar of its own
// (clustered letters, operands between options, arguments glued on), so no
// option library.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/include/dfr.h"

namespace dfr::cli {

struct DtraceOptions {
	enum class Mode { Trace, List, Anonymous, Link, Header, Version };
	struct ProgramText {
		bool script;
		dfr_specifier specifier; // not for scripts
		std::string text;        // a script's path
	};
	Mode mode = Mode::Trace;
	std::vector<ProgramText> programs;
	std::vector<std::string> options;  // -x, in order; letters that are options too
	std::vector<std::string> operands; // $1 ...
	std::vector<std::string> commands; // -c
	std::vector<int> pids;             // -p
	std::string output;                // -o
	bool compile_only = false, verbose = false;

	bool for_static_probes() const { return mode == Mode::Link || mode == Mode::Header; }
};

// Nullopt: a usage error was said on stderr (status 2). What follows -G or -h is not read.
std::optional<DtraceOptions> parse_dtrace(int argc, char** argv, const std::string& name);
void dtrace_usage(const std::string& name);

} // namespace dfr::cli
