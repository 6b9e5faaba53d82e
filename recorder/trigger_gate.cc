// SPDX-License-Identifier: GPL-2.0
//
// Counting triggers by their reason.
#include "recorder/trigger_gate.h"

#include <algorithm>

namespace dfr::recorder {

void TriggerGate::trigger(const std::string& reason, uint64_t time, uint64_t times, Steady::time_point now) {
	if (!times)
		return;
	Reason& one = reasons_[reason];
	if (!one.waiting && (!one.admitted || now - *one.admitted >= every_)) {
		one.waiting = std::max<uint64_t>(time, 1);
		one.admitted = now;
		one.before = one.held_back;
		one.held_back = 0;
		times--; // this one gets it
	}
	one.held_back += times;
	held_back_ += times;
}

std::optional<TriggerGate::Admitted> TriggerGate::next() {
	auto earliest = reasons_.end();
	for (auto at = reasons_.begin(); at != reasons_.end(); ++at)
		if (at->second.waiting &&
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

std::optional<TriggerGate::Admitted> TriggerGate::ended(Steady::time_point now) {
	for (auto& [reason, one] : reasons_)
		if (one.held_back && !one.waiting && one.admitted && now - *one.admitted >= every_) {
			const Admitted told{.reason = reason, .held_back = one.held_back};
			one.held_back = 0;
			return told;
		}
	return std::nullopt;
}

} // namespace dfr::recorder
