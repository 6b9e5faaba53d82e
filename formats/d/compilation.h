// SPDX-License-Identifier: GPL-2.0
//
// Compilation: one program while it is compiled; all passes share it. Internal to formats/d.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/d/ast.h"
#include "formats/d/attributes.h"
#include "formats/d/compile_options.h"
#include "formats/d/definitions.h"
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
	std::optional<Attributes> least;       // -x amin
	uint64_t version = UINT64_MAX;         // -x version: major << 32 | minor << 16 | micro
	bool no_library = false;               // -x nolibs
	std::string system_library;            // -x syslibdir: a directory in place of the built-in library
	unsigned registers = DIF_NREGS;        // -x iregs
	unsigned tuple_registers = DIF_NTUPLE; // -x tregs
	uint64_t tree = 0;                     // -x tree: bits of tree.h
	bool agg_by_cpu = false;               // -x aggpercpu
	uint64_t print_size = 1024;            // -x printsize: bytes of what print() of a pointer shows
	bool strip = false;                    // -x strip: no source and no line table
	dfr_priority priority = DFR_PRIORITY_NORMAL; // #pragma D priority: of the clauses that follow
};

// What #pragma D attributes and binding say about a name.
struct NameFacts {
	std::optional<Attributes> attributes;
	uint64_t version = 0;        // the first version of D that has it
	std::optional<Place> pragma; // of the program, which must define the name
};

struct Compilation {
	Compilation(const CompileOptions& given, Target& machine, Diagnostics& messages)
	    : options(given), target(machine), diagnostics(messages), types(machine, settings.strsize) {}

	const CompileOptions& options;
	Target& target;
	Diagnostics& diagnostics;
	Settings settings;
	TypeTable types;
	Definitions definitions;
	Arena arena;
	Macros macros;
	Compiled result;
	std::map<std::string, NameFacts, std::less<>> names;
	Attributes probes, statements; // the least of what was named so far
	bool in_library = false;
	std::vector<uint64_t> pack; // #pragma pack in a C header: what holds is the last; 0: nothing
	bool skip_file = false;     // a library file whose dependency is missing

	// The first description that is for another host, and whether any clause is for this one.
	std::optional<Description> elsewhere;
	bool here = false;

	// What the current clause means depends on the kernel's types, not on the program's alone.
	bool kernel_types = false;

	// The call of copyout() or copyoutstr() in the statement that is being analysed.
	const Node* copyout = nullptr;

	std::set<std::string> reasons; // of snapshot()

	// derive(): the firing inputs of the current clause, by canonical text.
	struct Input {
		std::string canon;
		Node* node;
	};
	bool deriving = false;
	std::vector<Input> inputs;
	std::string derived_text;

	// Replay: canonical texts that records of the current clause's probes hold.
	std::set<std::string, std::less<>> captured;
	// All of them are BEGIN, END and ERROR, which replay fires itself: their arguments are its own.
	bool own_probes = false;
	// Those that not every recorded firing of these probes holds.
	std::set<std::string, std::less<>> sometimes;
	// Which of the program's captured inputs the current clause needs and may not find: it runs only where they are.
	std::set<uint64_t> needed;

	// The program relies on something of this stability.
	void rely(const Attributes& attributes, std::string_view what, Place place) {
		statements.lower(attributes);
		if (settings.least && attributes.below(*settings.least))
			error("D_ATTR_MIN", place,
			      "attributes for " + std::string(what) + " (" + attributes.text() +
			          ") are less than predefined minimum",
			      "-x amin=" + settings.least->text() + " allows no less");
	}
	// Text with a syntax error, which nobody has read to its end: what it would have made is missing, and that is
	// not said again.
	std::vector<std::string_view> unread;
	bool unread_names(std::string_view name) const;

	// Whether the program or a library has given the name a meaning.
	bool defined(std::string_view name) {
		for (const uint8_t kind : {DIF_VS_GLOBAL, DIF_VS_THREAD, DIF_VS_LOCAL}) {
			if (definitions.find_variable(kind, name))
				return true;
		}
		return definitions.inlines.contains(name) || definitions.externs.contains(name) ||
		       definitions.find_aggregation(name) ||
		       types.program().find(types::NameSpace::Ordinary, name);
	}
	// Hidden by -x version.
	bool hidden(std::string_view name) const {
		const auto known = names.find(name);
		return known != names.end() && known->second.version > settings.version;
	}

	// Set by Library. Compiles the library's file that defines the name, if one does that was not compiled
	// yet; true if something new may be known now.
	std::function<bool(std::string_view)> provide;
	// Set by Library: whether it has a file of this name.
	std::function<bool(std::string_view)> has_library_file;

	// Names of kernel state work with a kernel, or where they were captured.
	bool kernel_missing() const { return !target.has_kernel() && !target.is_replay(); }
	void error(std::string_view tag, Place place, std::string message, std::string hint = {}) {
		diagnostics.error(tag, place, std::move(message), std::move(hint));
	}
};

// -x NAME[=VALUE] and #pragma D option; false and a reason if it is refused.
bool set_option(Compilation& compilation, std::string_view text, std::string* reason, std::string* hint);
// "1.13" or "1.6.3" as Settings::version has it.
std::optional<uint64_t> parse_version(std::string_view text);
// A control line of the program.
void control_line(Compilation& compilation, Place place, std::string_view text);

} // namespace dfr::d
