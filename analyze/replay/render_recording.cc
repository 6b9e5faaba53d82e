// SPDX-License-Identifier: GPL-2.0
//
// What a recorded program printed: its records through the renderer, with the tables
// of aggregations that it had.
#include <optional>

#include "analyze/replay/gathered.h"
#include "analyze/replay/replay.h"
#include "formats/trace/redact.h"

namespace dfr::replay {
namespace {

// Gives the renderer the aggregations that the recording consumer had at each record: those of the first
// snapshot that is not older than the record; after the last snapshot, the source's final aggregations.
class SnapshotsInTime {
public:
	SnapshotsInTime(trace::BlockSource& source, render::Aggregations& store)
	    : source_(source), store_(store), ahead_(source.next_snapshot()) {}

	void at(uint64_t time) {
		if (loaded_ && time <= until_)
			return;
		while (ahead_ && ahead_->time < time)
			ahead_ = source_.next_snapshot();
		loaded_ = true;
		until_ = ahead_ ? ahead_->time : UINT64_MAX;
		store_.snapshot(ahead_ ? std::move(ahead_->entries) : source_.aggregations());
		if (ahead_)
			ahead_ = source_.next_snapshot();
	}

private:
	trace::BlockSource& source_;
	render::Aggregations& store_;
	std::optional<trace::AggSnapshot> ahead_;
	bool loaded_ = false;
	uint64_t until_ = 0;
};

// What the renderer may ask for while it renders a recording. clear_aggregation() does nothing, because
// the snapshots already show what clear() did. Commands are not run and files not opened, because the
// recording may come from somebody else.
class RecordedHost final : public render::Driver {
public:
	explicit RecordedHost(const ReplayOptions& options) : options_(options) {}
	void clear_aggregation(uint32_t, bool) override {}
	void command(const std::string& line) override {
		options_.message("system() was not run again: " + line);
	}
	std::string redirect(render::Output&, const std::string& path) override {
		options_.message("freopen() was not done again: " + path);
		return {};
	}
	void truncate(render::Output&) override { options_.message("ftruncate() was not done again"); }
	std::string set_option(const std::string&, const std::string&) override { return {}; }
	void message(const std::string& text) override { options_.message(text); }

private:
	const ReplayOptions& options_;
};

// The engine's last word, because the record of an exit() may have found no room; else that of the records, because the
// recording may end before the engine told.
int status_of(const trace::Catalog& catalog, const render::Renderer& renderer) {
	for (auto event = catalog.events.rbegin(); event != catalog.events.rend(); ++event)
		if (event->event == DFR_EVENT_EXIT)
			return static_cast<int>(event->value);
	return renderer.exit_status().value_or(0);
}

} // namespace

Answer render_recording(trace::BlockSource& source, render::Output& output, render::Symboliser& symbols,
                        const ReplayOptions& options) {
	RecordedHost host(options);
	render::Renderer renderer(source.catalog(), output, symbols, host);
	renderer.style() = options.style;
	std::optional<SnapshotsInTime> snapshots;
	snapshots.emplace(source, renderer.aggregations());
	const trace::United one({&source});
	Gathered gathered(one, options.wanted, false);
	uint64_t seen = 0;
	bool interrupted = false;
	const auto visit = [&](const trace::Record& record, uint32_t) {
		snapshots->at(record.time);
		renderer.record(record);
		interrupted = options.interrupted && ++seen % 4096 == 0 && options.interrupted();
		return !interrupted;
	};
	const auto more = [&](uint64_t) {
		renderer.end_pass(); // which knows places in the text that leaves
		output.flush();
		const bool going = options.await();
		snapshots.emplace(source, renderer.aggregations()); // which then has more
		return going;
	};
	if (options.followed)
		gathered.follow(*options.followed, visit, more);
	else
		gathered.run(visit);
	snapshots->at(UINT64_MAX);
	if (!options.wanted.part())
		renderer.print_remaining();
	else if (!source.catalog().aggregations.empty())
		options.message(
		    "aggregations are not printed, because they count the whole recording: give the "
		    "program with -n or -s to count this part of it");
	output.flush();
	Answer answer;
	answer.verdict = gathered.judge();
	for (const std::string& reason : gathered.reasons()) {
		answer.verdict.complete = false;
		answer.verdict.reasons.push_back(reason);
	}
	if (interrupted && !options.followed) { // else the verdict's times say where
		answer.verdict.complete = false;
		answer.verdict.reasons.emplace_back(kInterrupted);
	}
	answer.exit_status = status_of(source.catalog(), renderer);
	if (source.catalog().machine.contains(trace::kRedactedKey)) {
		answer.verdict.complete = false;
		answer.verdict.reasons.emplace_back("what its programs printed was taken out (dfr redact)");
	}
	if (renderer.unknown() != 0) {
		answer.verdict.complete = false;
		answer.verdict.reasons.push_back(std::to_string(renderer.unknown()) +
		                                 " records belong to a program that the file does not hold");
	}
	return answer;
}

} // namespace dfr::replay
