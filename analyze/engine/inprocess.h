// SPDX-License-Identifier: GPL-2.0
//
// The in-process engine: runs programs whose probes are only BEGIN, END, ERROR and
// tick, without privilege, as the kernel would run them. As a compilation target it
// has these probes and no kernel, so the compiler refuses programs that name kernel
// state. One thread: wait() fires the timers that are due.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/engine/engine_session.h"
#include "analyze/engine/tick.h"
#include "formats/d/target.h"

namespace dfr::engine {

class InProcess final : public EngineSession, public d::Target {
public:
	explicit InProcess(bool destructive);
	InProcess(const InProcess&) = delete;
	InProcess& operator=(const InProcess&) = delete;
	~InProcess() override;

	// Whether this engine has the probe that a description names. False for a glob as the name, because
	// it means more probes than this engine has.
	static bool serves(std::string_view provider, std::string_view module, std::string_view function,
	                   std::string_view name);

	// Session. go() starts the timers, wait() fires those that are due, stop() stops them.
	uint32_t go() override;
	uint32_t stop() override;
	void wait(std::chrono::nanoseconds timeout, bool blocks, const sigset_t* mask) override;

	// Target.
	std::string description() const override { return "the in-process engine"; }
	void match(const d::ProbePattern& pattern,
	           const std::function<bool(const d::ProbeInfo&)>& visit) override;
	bool has_addresses() const override { return true; }
	bool has_kernel() const override { return false; }
	std::vector<std::string> host_names() const override { return d::running_host(); }
	std::string zone() const override;

private:
	static int provide(dfr_provider* provider, const char* const pattern[4]);
	static int arm(dfr_provider* provider, dfr_probe* probe);
	static void disarm(dfr_provider* provider, dfr_probe* probe);
	static unsigned long long missed(const dfr_probe* probe, long long only, bool* off);
	void fire_due(uint64_t now);

	dfr_provider* profile_ = nullptr;
	std::vector<Timer> timers_;
	std::map<const dfr_probe*, uint64_t> skipped_; // intervals of each timer's probe
	std::vector<std::string> provided_;
	bool ticking_ = false;
	uint64_t cleaned_ = 0;
};

} // namespace dfr::engine
