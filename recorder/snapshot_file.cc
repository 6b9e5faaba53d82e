// SPDX-License-Identifier: GPL-2.0
//
// Writing the file, and reading it again.
#include "recorder/snapshot_file.h"

#include <algorithm>

#include "formats/clock.h"
#include "formats/trace/file.h"
#include "recorder/device_target.h"
#include "recorder/live_symbols.h"

namespace dfr::recorder {

SnapshotFile write_snapshot(const std::string& state, const SnapshotSpan& span, const std::string& reason,
                            const std::string& path, bool replace, const std::function<bool()>& going,
                            const trace::KernelEvents& events) {
	SnapshotSpan asked = span;
	if (!asked.trigger)
		asked.trigger = now_ns();
	DeviceSession session;
	session.view(state);
	if (!reason.empty())
		session.note_snapshot(asked.trigger, reason);
	trace::FileWriter writer(path, replace, [&]() -> const trace::Catalog& { return session.catalog(); });
	writer.kernel_events(events);
	LiveSymbols symbols(processes_have_our_numbers());
	NameCollector names(symbols);
	DeviceTarget machine(session.device());
	TypeCollector types(machine);
	Snapshot snapshot(session, writer, names, types);
	snapshot.take(asked, going);
	return {.trigger = asked.trigger,
	        .blocks = snapshot.blocks(),
	        .records = snapshot.records(),
	        .bytes = writer.size(),
	        .overtaken = snapshot.overtaken()};
}

JudgedSnapshot judge_snapshot(const std::string& path, uint64_t trigger) {
	const auto file = trace::open_file(path);
	JudgedSnapshot judged{.verdict = trace::judge_whole(*file), .catalog = file->catalog()};
	judged.until =
	    std::min(std::max(judged.verdict.to, file->facts().marked_until), judged.catalog.recording_end());
	judged.before = std::chrono::nanoseconds(trigger - std::min(judged.verdict.from, trigger));
	return judged;
}

} // namespace dfr::recorder
