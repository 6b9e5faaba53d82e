// SPDX-License-Identifier: GPL-2.0
//
// dfr probes: what can be traced on this machine, or in a recording. dfr stop:
// the end of a kept recording.
#include <cstdio>
#include <unistd.h>

#include "analyze/cli/arguments.h"
#include "analyze/cli/dfr.h"
#include "analyze/libdfr/machine.h"
#include "formats/error.h"
#include "recorder/device.h"

namespace dfr::cli {
namespace {

constexpr const char* kExamples = "  dfr probes 'syscall::*read*:'\n"
				  "  dfr probes -v 'sched:::on-cpu'\n";

// The fields that a text names, from the right: "name", "function:name" ...
d::ProbePattern pattern_of(const std::string& text) {
	std::vector<std::string> fields(1);
	for (const char c : text) {
		if (c == ':')
			fields.emplace_back();
		else
			fields.back() += c;
	}
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

} // namespace

int run_probes(int argc, char** argv) {
	std::string glob;
	bool verbose = false;
	const auto app = make_app("probes", "List the probes of this machine.", kExamples);
	app->add_option("glob", glob, "provider:module:function:name; every field may be a glob or empty");
	app->add_flag("-v,--verbose", verbose, "with the types of their arguments");
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	const auto machine = lib::kernel_available() ? lib::open_kernel(false) : lib::open_process(false);
	uint64_t count = 0;
	machine->target().match(pattern_of(glob), [&](const d::ProbeInfo& probe) {
		count++;
		std::printf("%7u %s:%s:%s:%s\n", probe.id, probe.provider.c_str(), probe.module.c_str(),
			    probe.function.c_str(), probe.name.c_str());
		if (!verbose)
			return true;
		const auto arguments = machine->target().args(probe);
		for (size_t i = 0; i < arguments.size(); i++)
			std::printf("          args[%zu]: %s\n", i,
				    (arguments[i].translated.empty() ? arguments[i].native : arguments[i].translated).c_str());
		return true;
	});
	if (count == 0)
		throw Error("no probe matches " + glob,
			    machine->kernel() ? "dfr probes lists all of them"
					      : "these are the probes of the engine in this process; the module is not loaded");
	std::fprintf(stderr, "%s probes of %s\n", with_commas(count).c_str(), machine->target().description().c_str());
	return 0;
}

int run_stop(int argc, char** argv) {
	std::string name;
	const auto app = make_app("stop", "End a kept recording.", "  dfr stop flight\n");
	app->add_option("name", name, "its name; `dfr` alone lists them")->required();
	if (const auto status = parse_arguments(*app, argc, argv))
		return *status;
	recorder::Device().end(name);
	std::printf("%s has ended\n", name.c_str());
	return 0;
}

} // namespace dfr::cli
