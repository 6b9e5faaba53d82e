// SPDX-License-Identifier: GPL-2.0
//
// dfr probes: what can be traced on this machine, or in a recording. dfr stop:
// the end of a kept recording.
#include <cstdio>
#include <fnmatch.h>
#include <set>
#include <unistd.h>

#include "analyze/cli/arguments.h"
#include "analyze/cli/dfr.h"
#include "analyze/libdfr/backend.h"
#include "analyze/libdfr/json.h"
#include "formats/d/suggest.h"
#include "formats/error.h"
#include "formats/shown.h"
#include "recorder/device.h"
#include "recorder/unmet.h"
#include "recorder/unprobed.h"

namespace dfr::cli {
namespace {

constexpr const char* kProbesExamples =
    "  dfr probes 'syscall::*read*:'\n"
    "  dfr probes -v 'sched:::off-cpu'\n"
    "  dfr probes -v 'fbt::do_*:entry'     with those that have none, and why\n";

// The fields that a text names, from the right: "name", "function:name" ...
// What args[n] is to a program: the translated type, where there is one.
const std::string& seen_type(const d::ProbeArg& argument) {
	return argument.translated.empty() ? argument.native : argument.translated;
}

void print_probe(d::Target& target, const d::ProbeInfo& probe, bool verbose) {
	std::printf("%7u %s:%s:%s:%s\n", probe.id, shown(probe.provider), shown(probe.module),
	            shown(probe.function), shown(probe.name));
	const auto arguments = verbose ? target.args(probe) : std::vector<d::ProbeArg>{};
	for (size_t i = 0; i < arguments.size(); i++) {
		const d::ProbeArg& argument = arguments[i];
		std::printf("          args[%zu]: %s%s%s\n", i, shown(seen_type(argument)),
		            argument.name.empty() ? "" : "  ", shown(argument.name));
	}
	const std::string why = verbose && arguments.empty() ? target.why_untyped(probe) : "";
	if (!why.empty())
		std::printf("          args[] have no types: %s\n", shown(why));
}

void print_json_probe(d::Target& target, const d::ProbeInfo& probe, bool verbose) {
	lib::JsonObject object;
	object.raw("id", std::to_string(probe.id))
	    .text("provider", probe.provider)
	    .text("module", probe.module)
	    .text("function", probe.function)
	    .text("name", probe.name);
	if (verbose) {
		std::string list = "[";
		for (const d::ProbeArg& argument : target.args(probe))
			list += (list.size() > 1 ? ", " : "") + lib::JsonObject()
			                                            .text("type", seen_type(argument))
			                                            .text("name", argument.name)
			                                            .str();
		object.raw("args", list + "]");
		const std::string why = list == "[" ? target.why_untyped(probe) : "";
		if (!why.empty())
			object.text("untyped", why);
	}
	std::puts(shown(object.str()));
}

bool names_functions(const d::ProbePattern& pattern) {
	return pattern.provider == "fbt" && pattern.function.find_first_of("*?[") != std::string::npos;
}

// The kernel's functions that the glob means and that have no probe. What the linker and the
// compiler made beside functions (padding, cold parts) is not one.
void print_unprobed(const d::ProbePattern& pattern, const std::set<std::string>& probed) {
	const types::Symbols symbols = types::Symbols::from_kallsyms();
	recorder::Unprobed unprobed(symbols);
	std::set<std::string> names;
	symbols.each([&](const types::Symbol& symbol) {
		const std::string name(symbol.name);
		if ((symbol.type != 't' && symbol.type != 'T' && symbol.type != 'w' && symbol.type != 'W') ||
		    name.starts_with("__pfx_") || name.find(".cold") != std::string::npos ||
		    probed.contains(name) || ::fnmatch(pattern.function.c_str(), name.c_str(), 0) != 0 ||
		    (!pattern.module.empty() &&
		     ::fnmatch(pattern.module.c_str(), std::string(symbol.module).c_str(), 0) != 0))
			return;
		names.insert(name);
	});
	for (const std::string& name : names)
		std::printf("      - %s: %s\n", shown(name), shown(unprobed.why(name)));
	std::fprintf(stderr, "%s functions that match have no probe\n", shown(trace::grouped(names.size())));
}

} // namespace

int run_probes(int argc, char** argv) {
	std::string glob;
	bool verbose = false, json = false;
	const auto app = make_app("probes", "List the probes of this machine.", kProbesExamples);
	app->add_option("glob", glob, "provider:module:function:name; every field may be a glob or empty");
	app->add_flag("-v,--verbose", verbose,
	              "with the types of their arguments, and what fbt cannot probe and why");
	app->add_flag("--json", json, "one object a line; with -v, args too");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	const auto machine = lib::kernel_available() ? lib::open_kernel(false) : lib::open_process(false);
	const d::ProbePattern pattern = parse_pattern(glob);
	const bool unprobed = verbose && !json && names_functions(pattern);
	uint64_t count = 0;
	std::set<std::string> functions;
	machine->target().match(pattern, [&](const d::ProbeInfo& probe) {
		count++;
		(json ? print_json_probe : print_probe)(machine->target(), probe, verbose);
		if (unprobed)
			functions.insert(probe.function);
		return true;
	});
	if (count == 0) {
		const std::string elsewhere = machine->target().elsewhere(pattern.host);
		const std::string why = elsewhere.empty() ? machine->target().why_absent(pattern) : elsewhere;
		const std::string meant = d::counted_from_left(machine->target(), pattern, false);
		throw Error(
		    "no probe matches " + glob,
		    !meant.empty() ? meant
		    : !why.empty() ? why
		    : machine->kernel()
		        ? "dfr probes lists all of them"
		        : "these are the probes of the engine in this process; the module is not loaded");
	}
	if (unprobed)
		print_unprobed(pattern, functions);
	for (const recorder::Unmet& one :
	     verbose && !json && machine->kernel() ? recorder::unmet() : std::vector<recorder::Unmet>{})
		std::printf("    off %s: %s\n", shown(one.off), shown(one.why));
	std::fprintf(stderr, "%s probes of %s\n", shown(trace::grouped(count)),
	             shown(machine->target().description()));
	return 0;
}

int run_stop(int argc, char** argv) {
	std::string name;
	const auto app = make_app("stop", "End a kept recording.", "  dfr stop flight\n");
	app->add_option("name", name, "its name; `dfr` alone lists them")->required();
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	recorder::Device().end(name);
	std::printf("%s has ended\n", shown(name));
	return 0;
}

} // namespace dfr::cli
