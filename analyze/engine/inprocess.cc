// SPDX-License-Identifier: GPL-2.0
//
// The in-process engine: its probes, its timers, its target.
#include "analyze/engine/inprocess.h"

#include <algorithm>
#include <ctime>
#include <poll.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "analyze/engine/engine_c.h"
#include "analyze/engine/tick.h"
#include "formats/clock.h"
#include "formats/error.h"

namespace dfr::engine {
namespace {

constexpr ino_t kFirstUts = 0xeffffffe; // the number of the first UTS namespace, as in lib/procfs.d
// How often fire_due() calls clean(), which cleans dynamic variables and speculations; in ns.
constexpr uint64_t kCleanEvery = 10'000'000;

// Sleeps for `ns`, or until a signal.
void sleep(uint64_t ns, const sigset_t* mask) {
	const timespec time{.tv_sec = static_cast<time_t>(ns / 1'000'000'000),
	                    .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
	(void)::ppoll(nullptr, 0, &time, mask);
}

bool same_or_empty(std::string_view pattern, std::string_view text) {
	return pattern.empty() || dfr_glob(std::string(pattern).c_str(), std::string(text).c_str());
}

} // namespace

std::string InProcess::zone() const {
	struct stat space {};
	utsname name{};
	const bool other =
	    ::stat("/proc/self/ns/uts", &space) == 0 && space.st_ino != kFirstUts && ::uname(&name) == 0;
	return other ? name.nodename : "global";
}

InProcess::InProcess(bool destructive) : EngineSession("the in-process engine", 1, destructive) {
	dfr_provider_ops ops{};
	ops.provide = provide;
	ops.arm = arm;
	ops.disarm = disarm;
	ops.missed = missed;
	profile_ = add_provider("profile", &ops, this);
}

InProcess::~InProcess() {
	end_state();
}

bool InProcess::serves(std::string_view provider, std::string_view module, std::string_view function,
                       std::string_view name) {
	if (!module.empty() || !function.empty())
		return false;
	if (name == "BEGIN" || name == "END" || name == "ERROR")
		return same_or_empty(provider, "dtrace");
	return timer_interval(name).has_value() && same_or_empty(provider, "profile");
}

int InProcess::provide(dfr_provider* provider, const char* const pattern[4]) {
	auto* const self = static_cast<InProcess*>(provider->pv_cookie);
	const std::string name = pattern[3] ? pattern[3] : "";
	if (!timer_interval(name) || std::count(self->provided_.begin(), self->provided_.end(), name))
		return 0;
	self->provided_.push_back(name);
	return dfr_probe_create(provider, "", "", name.c_str(), 3, nullptr) ? 0 : -ENOMEM;
}

int InProcess::arm(dfr_provider* provider, dfr_probe* probe) {
	auto* const self = static_cast<InProcess*>(provider->pv_cookie);
	const auto interval = timer_interval(probe->pb_name);
	if (!interval)
		return -EINVAL;
	self->timers_.push_back({probe, *interval, kNever});
	return 0;
}

void InProcess::disarm(dfr_provider* provider, dfr_probe* probe) {
	auto* const self = static_cast<InProcess*>(provider->pv_cookie);
	std::erase_if(self->timers_, [probe](const Timer& timer) { return timer.probe == probe; });
}

unsigned long long InProcess::missed(const dfr_probe* probe, long long, bool* off) {
	const auto* const self = static_cast<const InProcess*>(probe->pb_provider->pv_cookie);
	const auto skipped = self->skipped_.find(probe);
	*off = false;
	return skipped == self->skipped_.end() ? 0 : skipped->second;
}

uint32_t InProcess::go() {
	const uint32_t cpu = EngineSession::go();
	const uint64_t now = now_ns();
	for (Timer& timer : timers_)
		timer.due = now + timer.interval;
	ticking_ = true;
	cleaned_ = now;
	return cpu;
}

// A timer that is due has not fired if the caller, busy with what it printed, did not come to wait().
uint32_t InProcess::stop() {
	if (ticking_ && !exited())
		fire_due(now_ns());
	ticking_ = false;
	return EngineSession::stop();
}

void InProcess::fire_due(uint64_t now) {
	static const u64 kNoArguments[3] = {0, 0, 0};
	dfr_user_cpu = 0; // this engine's only one: the thread may have played another one's
	for (Timer& timer : timers_) {
		if (timer.due > now)
			continue;
		// A timer that is late by several intervals fires only once, and the others are told as missed.
		const uint64_t skipped = (now - timer.due) / timer.interval;
		timer.due += (skipped + 1) * timer.interval;
		skipped_[timer.probe] += skipped;
		dfr_fire(timer.probe, kNoArguments, 3, nullptr);
	}
	if (now - cleaned_ >= kCleanEvery) {
		cleaned_ = now;
		clean();
	}
}

void InProcess::wait(std::chrono::nanoseconds timeout, bool, const sigset_t* mask) {
	uint64_t now = now_ns();
	const uint64_t deadline = now + static_cast<uint64_t>(std::max<int64_t>(timeout.count(), 0));
	if (!ticking_ || exited())
		return;
	do {
		uint64_t next = deadline;
		for (const Timer& timer : timers_)
			next = std::min(next, timer.due);
		if (next > now) {
			sleep(next - now, mask);
			now = now_ns();
			if (now < next) // a signal ended the sleep
				return;
		}
		fire_due(now);
		if (exited())
			return;
		now = now_ns();
	} while (now < deadline);
}

void InProcess::match(const d::ProbePattern& pattern, const std::function<bool(const d::ProbeInfo&)>& visit) {
	if (!elsewhere(pattern.host).empty())
		return;
	struct Call {
		const d::ProbePattern& pattern;
		const std::function<bool(const d::ProbeInfo&)>& visit;
	} call{pattern, visit};
	const char* const fields[4] = {pattern.provider.c_str(), pattern.module.c_str(),
	                               pattern.function.c_str(), pattern.name.c_str()};
	const int code = dfr_probes_match(
	    engine(), fields, 0, false,
	    [](const dfr_probe* probe, void* arg) {
		    auto& to = *static_cast<Call*>(arg);
		    if (to.pattern.id != 0 && to.pattern.id != probe->pb_id)
			    return true;
		    d::ProbeInfo info;
		    info.id = probe->pb_id;
		    info.provider = probe->pb_provider->pv_name;
		    info.module = probe->pb_module;
		    info.function = probe->pb_function;
		    info.name = probe->pb_name;
		    if (probe->pb_nargs != DFR_NARGS_UNKNOWN)
			    info.nargs = probe->pb_nargs;
		    return to.visit(info);
	    },
	    &call);
	if (code)
		throw Error(std::string("cannot make all probes: ") + std::strerror(-code), {}, -code);
}

} // namespace dfr::engine
