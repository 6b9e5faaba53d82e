// SPDX-License-Identifier: GPL-2.0
//
// The consumer's loop. Order of a pass: status, aggregation snapshot, records:
// so that a printa() sees what was counted before it.
#include "analyze/libdfr/consumer.h"

#include <algorithm>
#include <iterator>

#include "analyze/libdfr/child.h"
#include "analyze/libdfr/option_value.h"
#include "formats/abi/dof.h"
#include "formats/clock.h"
#include "formats/d/options.h"
#include "formats/error.h"
#include "formats/trace/counted.h"

namespace dfr::lib {
namespace {

constexpr int64_t kRateDefault = 1'000'000'000;
constexpr int64_t kRateMin = 1'000'000;     // a pass a millisecond is enough for anybody
constexpr int64_t kRateMax = 5'000'000'000; // and half of what the engine waits for a sign of life

std::chrono::nanoseconds between_passes(int64_t rate) {
	return std::chrono::nanoseconds(std::clamp(rate, kRateMin, kRateMax));
}

bool is_by_cpu(uint32_t cause) {
	return cause == DFR_LOSS_PRINCIPAL || cause == DFR_LOSS_AGGREGATION || cause == DFR_LOSS_OVERWRITTEN;
}

struct Size {
	uint32_t option;
	const char* name;
};
constexpr Size kSizes[] = {{DFR_OPT_BUFSIZE, "buffer size"},
                           {DFR_OPT_AGGSIZE, "aggregation size"},
                           {DFR_OPT_SPECSIZE, "speculation size"},
                           {DFR_OPT_DYNVARSIZE, "dynamic variable size"}};

// 2m, 512k, 1000.
std::string size_text(int64_t bytes) {
	const char* unit = "";
	for (const char* next : {"k", "m", "g"}) {
		if (bytes < 1024 || bytes % 1024 != 0)
			break;
		bytes /= 1024;
		unit = next;
	}
	return std::to_string(bytes) + unit;
}

} // namespace

Consumer::Consumer(trace::LiveSource& session, render::Output& output, render::Symboliser& symbols,
                   Callbacks callbacks)
    : session_(session), callbacks_(std::move(callbacks)),
      renderer_(session.catalog(), output, symbols, *this), merge_(session.catalog()), told_(DFR_LOSS_MAX) {
	output.on_waiting([this] { session_.status(); });
}

Consumer::~Consumer() {
	renderer_.output().on_waiting(nullptr);
}

void Consumer::report_faults() {
	const auto dof = render::error_program();
	session_.enable(std::as_bytes(std::span(dof)), false);
}

int64_t Consumer::rate(uint32_t option) const {
	const int64_t value = session_.option(option);
	return value > 0 ? value : kRateDefault;
}

void Consumer::go() {
	int64_t asked[std::size(kSizes)];
	for (size_t i = 0; i < std::size(kSizes); i++)
		asked[i] = session_.option(kSizes[i].option);
	session_.go();
	for (size_t i = 0; i < std::size(kSizes); i++)
		if (const int64_t got = session_.option(kSizes[i].option); got < asked[i] && !style().quiet)
			callbacks_.message(std::string(kSizes[i].name) + " lowered to " + size_text(got));
	const int64_t policy = session_.option(DFR_OPT_BUFPOLICY);
	at_end_only_ = policy == DFR_BUFPOLICY_RING || policy == DFR_BUFPOLICY_FILL;
	resume();
}

void Consumer::resume() {
	interval_ = between_passes(
	    std::min({rate(DFR_OPT_SWITCHRATE), rate(DFR_OPT_STATUSRATE), rate(DFR_OPT_AGGRATE)}));
}

void Consumer::sleep(const sigset_t* mask, std::chrono::nanoseconds most) {
	session_.wait(std::min(interval_, most), !at_end_only_, mask);
}

bool Consumer::work() {
	const bool going = check_status(false);
	if (!at_end_only_)
		consume(false);
	return going;
}

void Consumer::finish() {
	if (stopped_)
		return;
	stopped_ = true;
	session_.stop();
	consume(true);
	check_status(true);
	renderer_.print_remaining();
	renderer_.output().flush();
	all_read_ = true;
}

bool Consumer::leave() {
	const uint32_t activity = session_.status().activity;
	if (activity == DFR_DRAINING) { // the program has called exit()
		finish();               // END fires, and speculations are committed
		return false;
	}
	const bool goes_on = activity == DFR_ACTIVE; // what ends during the pass does, too
	consume(true);
	check_status(true);
	renderer_.print_remaining();
	renderer_.output().flush();
	return goes_on;
}

std::optional<int> Consumer::exit_status() const {
	// Not the records: that of an exit() may have found no room.
	return status_.exited ? std::optional<int>(status_.exit_status) : std::nullopt;
}

bool Consumer::check_status(bool last) {
	status_ = session_.status();
	report_drops(status_, last);
	killed_ = status_.activity == DFR_KILLED;
	return !killed_ && !status_.exited && status_.filled == 0;
}

bool Consumer::killed_by_oops() const {
	const auto& events = session_.catalog().events;
	return killed_ && std::any_of(events.begin(), events.end(), [](const trace::EventMark& mark) {
		       return mark.event == DFR_EVENT_KILLED && mark.value == DFR_KILLED_OOPS;
	       });
}

trace::Verdict Consumer::judge() {
	trace::Merger::Account account = merge_.account();
	// Of CPUs that have recorded nothing since their clauses went off.
	for (const trace::Losses::Stretch& stretch : session_.losses().stretches)
		account.losses.add(stretch);
	trace::Verdict verdict = trace::judge(session_, trace::Merger(session_, std::move(account)));
	verdict.cpus = session_.catalog().cpus; // one that recorded nothing was traced, too
	if (const uint64_t unknown = renderer_.unknown()) {
		verdict.complete = false;
		verdict.reasons.push_back(trace::plural(unknown, "record") +
		                          " of a program that is not known left out");
	}
	if (!all_read_) {
		verdict.complete = false;
		verdict.reasons.emplace_back("it was not read to its end");
	}
	// The catalog's marks say why, unless the engine had no memory for them.
	verdict.complete &= !killed_ && status_.filled == 0;
	return verdict;
}

// Probes that cannot be armed, what the governor does. That the state was killed or is full is told by its status;
// marks are for recordings.
void Consumer::report_events() {
	const trace::Catalog& catalog = session_.catalog();
	for (; told_events_ < catalog.events.size(); told_events_++) {
		const std::string text = render::event_text(catalog, told_events_);
		const uint32_t event = catalog.events[told_events_].event;
		if (!text.empty() && event != DFR_EVENT_KILLED && event != DFR_EVENT_FULL &&
		    event != DFR_EVENT_MARK)
			callbacks_.message(text);
	}
}

// Losses by CPU come with the blocks, all others by the status. Whatever no block has told by
// the end is told then, so that the sum is always right.
void Consumer::report_drops(const dfr_ioc_status& status, bool last) {
	const bool tags = renderer_.style().droptags;
	const auto tell = [&](uint32_t cause, uint64_t count, int cpu) {
		told_[cause] += count;
		lost_ += count;
		const std::string text = render::drop_text(cause, count, cpu, tags);
		if (!text.empty())
			callbacks_.message(text);
	};
	for (const auto& entry : merge_.losses().entries) {
		if (!is_by_cpu(entry.cause))
			continue;
		uint64_t& told = told_cpu_[{entry.cause, entry.cpu}];
		const uint64_t total = status.loss[entry.cause];
		const uint64_t room = total - std::min(total, told_[entry.cause]);
		const uint64_t count = std::min(entry.count - std::min(entry.count, told), room);
		told += count;
		if (count != 0)
			tell(entry.cause, count, entry.cpu);
	}
	for (const trace::Losses::Stretch& stretch : merge_.losses().stretches)
		if ((stretch.to || last) &&
		    told_stretches_.insert({stretch.cpu, stretch.priority, stretch.from}).second)
			callbacks_.message(render::thinned_text(session_.catalog(), stretch));
	for (uint32_t cause = 0; cause < DFR_LOSS_MAX; cause++) {
		if (is_by_cpu(cause) && !last)
			continue;
		if (status.loss[cause] > told_[cause])
			tell(cause, status.loss[cause] - told_[cause], session_.catalog().cpus == 1 ? 0 : -1);
	}
}

void Consumer::consume(bool last, bool aggregations) {
	const uint64_t until = last || synchronous_ || session_.catalog().cpus <= 1 ? UINT64_MAX : now_ns();
	flushed_ = session_.flush();
	for (;;) {
		while (auto block = session_.next()) {
			if (callbacks_.block)
				callbacks_.block(*block);
			merge_.add(std::move(*block));
		}
		if (!session_.storing_is_due() || !callbacks_.store)
			break;
		callbacks_.store();
	}
	// This reads the catalog, after the blocks, because only then it has all that they refer to.
	report_events();
	if (aggregations)
		renderer_.aggregations().snapshot(session_.aggregations());
	merge_.run(until, [this](const trace::Record& record) {
		if (callbacks_.record)
			callbacks_.record(record);
		renderer_.record(record);
	});
	renderer_.end_pass();
	renderer_.output().flush();
}

void Consumer::clear_aggregation(uint32_t variable, bool remove) {
	session_.clear_aggregation(variable, remove);
}

void Consumer::command(const std::string& line) {
	if (!run_command(line, [this] { session_.status(); }))
		callbacks_.message("system() could not run: " + line);
}

// The rates are one interval here: passes are as frequent as the fastest of them.
std::string Consumer::set_option(const std::string& name, const std::string& value) {
	if (name != "aggrate" && name != "switchrate")
		return d::find_option(name) ? "Operation illegal when tracing is active"
		                            : "Invalid option name";
	const auto rate = parse_rate(value);
	if (!rate)
		return "Invalid value for specified option";
	interval_ = between_passes(static_cast<int64_t>(std::min<uint64_t>(*rate, kRateMax)));
	return {};
}

} // namespace dfr::lib
