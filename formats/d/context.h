// SPDX-License-Identifier: GPL-2.0
//
// Context: what all passes of one compilation share. Internal to formats/d.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/d/ast.h"
#include "formats/d/compile.h"
#include "formats/d/scope.h"
#include "formats/d/type_table.h"

namespace dfr::d {

// What options and pragmas have set so far.
struct Settings {
	uint64_t strsize = DIF_STRSIZE_DEFAULT;
	bool zdefs = false;
	bool quiet = false;
	bool default_args = false;
	bool arg_ref = false;
	bool empty_ok = false;
};

struct Context {
	Context(const CompileOptions& given, Target& machine, Diagnostics& messages)
	    : options(given), target(machine), diagnostics(messages), types(machine, settings.strsize) {}

	const CompileOptions& options;
	Target& target;
	Diagnostics& diagnostics;
	Settings settings;
	TypeTable types;
	Scope scope;
	Arena arena;
	Macros macros;
	Compiled result;
	bool in_library = false;
	bool skip_file = false; // a library file whose dependency is missing

	// Replay: canonical texts that records of the current clause's probes hold.
	std::set<std::string, std::less<>> captured;

	// Names of kernel state work with a kernel, or where they were captured.
	bool kernel_missing() const { return !target.has_kernel() && !target.is_replay(); }
	void error(std::string_view tag, Place place, std::string message, std::string hint = {}) {
		diagnostics.error(tag, place, std::move(message), std::move(hint));
	}
};

// -x NAME[=VALUE] and #pragma D option; false and a reason if it is refused.
bool set_option(Context& context, std::string_view text, std::string* reason, std::string* hint);
// A control line of the program.
void control_line(Context& context, Place place, std::string_view text);

} // namespace dfr::d
