// SPDX-License-Identifier: GPL-2.0
//
// EngineSession: a trace::LiveSource over an engine in this process: it creates the
// engine and one state, loads programs, and hands out copies of blocks. Its users
// fire the probes: inprocess.h by timers, replay.h from a recording.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/clock.h"
#include "formats/trace/live_source.h"

extern "C" {
struct dfr_engine;
struct dfr_host;
struct dfr_state;
struct dfr_probe;
struct dfr_provider;
struct dfr_provider_ops;
}

namespace dfr::engine {

class EngineSession : public trace::LiveSource {
public:
	// `cpus`: CPU ids are below this. Time and "current" of each firing come from its dfr_env.
	EngineSession(std::string name, unsigned cpus, bool destructive);
	~EngineSession() override;
	EngineSession(const EngineSession&) = delete;
	EngineSession& operator=(const EngineSession&) = delete;

	// Adds a provider whose probes the caller fires. `ops` may be null if the caller need not know which
	// probes are armed. `flags`: DFR_PV_*.
	dfr_provider* add_provider(const std::string& name, const dfr_provider_ops* ops, void* cookie,
	                           uint32_t flags = 0);
	dfr_probe* add_probe(dfr_provider* provider, const std::string& module, const std::string& function,
	                     const std::string& name, uint32_t nargs, void* cookie);
	void probes_added();

	// Before go(): bytes wanted for the table in which the aggregations of all CPUs are merged.
	void set_agg_room(size_t bytes) { agg_room_ = bytes; }

	dfr_engine* engine() { return engine_; }
	bool exited();
	// For the caller that fires probes as this CPU: whether next() or settle() should be called before it
	// goes on; and a number that changes when the CPU commits a record.
	bool due(unsigned cpu) const;
	uint64_t recorded(unsigned cpu) const;
	void settle(); // merges the CPUs' aggregations into the table that aggregations() gives
	void clean();  // runs the engine's housekeeping
	// What was counted elsewhere: from now on aggregations() gives these, too.
	void add_aggregations(std::vector<trace::AggEntry> entries) { added_ = std::move(entries); }

	const trace::Catalog& catalog() override;
	std::optional<trace::Block> next() override;
	std::vector<trace::AggEntry> aggregations() override;
	trace::Losses losses() override;
	std::string name() const override { return name_; }

	uint32_t enable(std::span<const std::byte> dof, bool zero_ok) override;
	uint32_t go() override;
	uint32_t stop() override;
	dfr_ioc_status status() override;
	uint64_t flush() override {
		flush_ = true;
		return now_ns();
	}
	bool flushing() const override { return false; } // next() gives everything
	void wait(std::chrono::nanoseconds, bool, const sigset_t*) override {}
	void clear_aggregation(uint32_t varid, bool remove) override;
	int64_t option(uint32_t option) override;

protected:
	// For the destructor of who adds providers: a state that goes asks them, and disarms their probes.
	void end_state();

private:
	struct Provider;
	class Lock;

	std::string name_;
	bool destructive_, many_cpus_;
	dfr_host* host_ = nullptr;
	dfr_engine* engine_ = nullptr;
	dfr_state* state_ = nullptr;
	std::vector<std::unique_ptr<Provider>> providers_;
	trace::Catalog catalog_;
	uint64_t catalog_read_ = 0;
	std::deque<dfr_ioc_taken> taken_;
	bool flush_ = false;
	bool running_ = false;
	size_t agg_room_ = 0;
	std::vector<trace::AggEntry> added_;
};

} // namespace dfr::engine
