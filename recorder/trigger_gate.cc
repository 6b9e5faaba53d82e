// SPDX-License-Identifier: GPL-2.0
//
// Counting triggers by their reason.
#include "recorder/trigger_gate.h"

#include <algorithm>

namespace dfr::recorder {
namespace {

// A disk that is full would else be filled and emptied ten times a second.
constexpr std::chrono::seconds kAfterFailure{5};

} // namespace

void TriggerGate::trigger(const TriggerReason& reason, uint64_t time, uint64_t times,
                          Steady::time_point now) {
	if (!times)
		return;
	Reason& one = reasons_[reason];
	if (!one.waiting && over(one, now)) {
		one.waiting = std::max<uint64_t>(time, 1);
		one.began = now;
		one.failed = false;
		one.before = one.held_back;
		one.held_back = one.told = 0;
		times--; // this one gets it
	}
	one.held_back += times;
	held_back_ += times;
}

// Its interval is over.
bool TriggerGate::over(const Reason& one, Steady::time_point now) const {
	return !one.began || now - *one.began >= (one.failed ? kAfterFailure : every_);
}

std::optional<TriggerGate::Admitted> TriggerGate::next(const std::vector<TriggerReason>& under_way) {
	const auto may = [&under_way](const TriggerReason& reason) {
		return under_way.size() < kOfOneReason ||
		       std::ranges::find(under_way, reason) == under_way.end();
	};
	auto earliest = reasons_.end();
	for (auto at = reasons_.begin(); at != reasons_.end(); ++at)
		if (at->second.waiting && may(at->first) &&
		    (earliest == reasons_.end() || at->second.waiting < earliest->second.waiting))
			earliest = at;
	if (earliest == reasons_.end())
		return std::nullopt;
	Reason& one = earliest->second;
	Admitted admitted{.reason = earliest->first, .time = one.waiting, .held_back = one.before};
	one.waiting = 0;
	one.before = 0;
	return admitted;
}

std::vector<TriggerGate::Admitted> TriggerGate::waiting() const {
	std::vector<Admitted> waiting;
	for (const auto& [reason, one] : reasons_)
		if (one.waiting)
			waiting.push_back({.reason = reason, .time = one.waiting, .held_back = one.before});
	return waiting;
}

void TriggerGate::failed(const Admitted& trigger, Steady::time_point now) {
	const auto found = reasons_.find(trigger.reason);
	if (found == reasons_.end())
		return;
	Reason& one = found->second;
	one.began = now;
	one.failed = true;
	one.held_back += trigger.held_back + 1;
	one.told += trigger.held_back + 1; // the failure was
}

std::optional<TriggerGate::Admitted> TriggerGate::ended(Steady::time_point now) {
	for (auto& [reason, one] : reasons_)
		if (one.held_back > one.told && !one.waiting && over(one, now)) {
			const Admitted told{.reason = reason, .held_back = one.held_back - one.told};
			one.told = one.held_back;
			return told;
		}
	return std::nullopt;
}

} // namespace dfr::recorder
