// SPDX-License-Identifier: GPL-2.0
//
// A recorded boot, as the commands that show boots read it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/libdfr/boot_initcalls.h"
#include "analyze/libdfr/boot_timeline.h"
#include "formats/trace/decode.h"
#include "formats/trace/joined.h"

namespace dfr::cli {

class BootRecording {
public:
	// Throws dfr::Error: it has nothing of what the default boot program records.
	explicit BootRecording(std::vector<std::unique_ptr<trace::FileSource>> files);

	const lib::BootTimeline& timeline() const { return timeline_; }
	const trace::Verdict& verdict() const { return verdict_; }
	const trace::Catalog& catalog() { return source_.catalog(); }
	std::string name() const { return source_.name(); }
	// Which of the probes of lib::boot_questions() were recorded: "proc:::create, proc:::exit".
	const std::string& probes() const { return probes_; }
	std::string output(); // what its program printed
	// What the kernel's own events in it say; nothing: there are none, and `why`.
	std::optional<lib::BootInitcalls> events(std::string& why);

private:
	trace::JoinedSource source_;
	trace::KernelEvents events_;
	trace::Verdict verdict_;
	lib::BootTimeline timeline_;
	std::string probes_;
};

// When the kernel was entered, which is the axis' 0, in local time.
std::string begin_text(const trace::Catalog& catalog);

} // namespace dfr::cli
