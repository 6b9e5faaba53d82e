// SPDX-License-Identifier: GPL-2.0
//
// Programs as people give them: several -n, -s, -P ... of one command are one
// program to the engine, so that they share variables and aggregations. They are
// joined as text, each part with its own name and line numbers, and compiled
// once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/d/compile.h"

namespace dfr::lib {

struct ProgramPart {
	d::Specifier specifier = d::Specifier::Name;
	bool script = false;  // from a file
	std::string name;     // the file, or what stands for it in messages
	std::string text;     // the source, or the command line's argument
	uint32_t matched = 0; // out: probes that its descriptions match

	// What messages call it: the description without predicate and actions.
	std::string title() const;
};

// Reads a script. Throws dfr::Error if it cannot be read.
ProgramPart read_script(const std::string& path);

// Compiles all parts together. options.name and .specifier are set here.
d::Compiled compile_parts(std::vector<ProgramPart>& parts, d::CompileOptions options, d::Target& target,
                          d::Diagnostics& diagnostics);

// Which part's text the compiler stopped at, for messages; costs a compilation for each part before it.
size_t failing_part(const std::vector<ProgramPart>& parts, const d::CompileOptions& options,
                    d::Target& target);

// For a program that is loaded later, perhaps by another kernel: says what types it was compiled against, if any
// clause depends on them.
void identify_types(dof::Image& image, d::Target& target);

// Does it record addresses in the code of processes, which people want to see as names?
bool records_user_code(const dof::Image& image);

// Fills in ProgramPart::matched, for messages; costs a compilation for each part but the last.
void count_matches(std::vector<ProgramPart>& parts, const d::CompileOptions& options,
                   const d::Compiled& whole, d::Target& target);

// $pid, $ppid, $uid ... of this process, and $target (0: none).
std::vector<std::pair<std::string, std::string>> session_macros(uint32_t target);

} // namespace dfr::lib
