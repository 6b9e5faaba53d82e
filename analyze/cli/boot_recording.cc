// SPDX-License-Identifier: GPL-2.0
//
// See boot_recording.h.
#include "analyze/cli/boot_recording.h"

#include <cstdio>

#include "analyze/cli/arguments.h"
#include "analyze/libdfr/recorded_symbols.h"
#include "analyze/replay/replay.h"
#include "formats/amounts.h"
#include "formats/error.h"
#include "formats/shown.h"

namespace dfr::cli {
namespace {

void print_message(const std::string& text) {
	std::fprintf(stderr, "dfr: %s\n", shown(text));
}

// The lines of lib::boot_questions() over a recording; none if it has none of their probes.
std::string ask(const trace::United& recording, trace::Verdict& verdict, std::string& probes) {
	replay::RecordingTarget target(recording);
	lib::ProgramPart part;
	part.name = "boot report";
	ProgramArguments program;
	for (const lib::BootQuestion& question : lib::boot_questions())
		target.match(question.probes, [&](const d::ProbeInfo&) {
			const std::string probe = question.probes.provider + ":::" + question.probes.name;
			if (probes.find(probe) == std::string::npos)
				probes += (probes.empty() ? "" : ", ") + probe;
			d::Diagnostics diagnostics;
			if (question.optional)
				d::compile(question.clause, program.compile_options(0), target, diagnostics);
			if (!diagnostics.failed())
				part.text += question.clause;
			return false;
		});
	if (part.text.empty())
		return {};
	std::vector<lib::ProgramPart> parts{part};
	const d::Compiled compiled = compile_or_throw(parts, program.compile_options(0), target);
	render::Output output(-1);
	render::NoSymbols symbols;
	replay::ReplayOptions options;
	options.style.quiet = true;
	options.message = print_message;
	verdict = replay::replay_program(recording, target, compiled, output, symbols, options).verdict;
	return output.take();
}

} // namespace

BootRecording::BootRecording(std::vector<std::unique_ptr<trace::FileSource>> files)
    : source_(std::move(files)), events_(source_.kernel_events()) { // its damage is in the verdict
	const trace::United united({&source_});
	timeline_ = lib::boot_timeline(ask(united, verdict_, probes_));
	if (timeline_.phases.empty())
		throw Error(source_.name() + " has nothing of what is shown of a boot",
		            "that is what the default boot program records; dfr replay FILE prints what "
		            "another one said");
}

std::string BootRecording::output() {
	render::Output output(-1);
	lib::RecordedSymbols symbols({&source_}, [] {});
	replay::ReplayOptions options;
	options.style.quiet = true;
	options.message = print_message;
	replay::render_recording(source_, output, symbols, options);
	return output.take();
}

std::optional<lib::BootInitcalls> BootRecording::events(std::string& why) {
	if (events_.events.empty()) {
		why = "the kernel's own events were not kept";
		for (const std::string& remark : events_.remarks)
			why += "; " + remark;
		return std::nullopt;
	}
	return lib::boot_initcalls(events_);
}

std::string begin_text(const trace::Catalog& catalog) {
	return local_time_text(static_cast<int64_t>(catalog.entered() / 1'000'000'000));
}

} // namespace dfr::cli
