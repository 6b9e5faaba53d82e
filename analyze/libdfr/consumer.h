// SPDX-License-Identifier: GPL-2.0
//
// Consumer: drives a live session (the device or the in-process engine) and
// renders what it says: go, passes of work, stop, the last words. dtrace, `dfr
// record` and libdfr's C interface are all this. One thread; signals only make
// sleep() return.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/libdfr/live_merge.h"
#include "analyze/render/renderer.h"
#include "formats/trace/live_source.h"

namespace dfr::lib {

class Consumer final : public render::Driver {
public:
	struct Callbacks {
		std::function<void(const std::string&)> message;  // one line for stderr
		std::function<void(const trace::Block&)> block;   // each block, before it is read
		std::function<void(const trace::Record&)> record; // each record, before it is rendered
		std::function<const types::Container*()> kernel_types;
		std::function<void()>
		    store; // makes the blocks durable: the session hands out no more until then
	};
	Consumer(trace::LiveSource& session, render::Output& output, render::Symboliser& symbols,
	         Callbacks callbacks);
	~Consumer() override;
	Consumer(const Consumer&) = delete;
	Consumer& operator=(const Consumer&) = delete;

	render::Renderer& renderer() { return renderer_; }
	render::Style& style() { return renderer_.style(); }

	// Loads our own ERROR clause: faults become messages. Call it after the programs.
	void report_faults();
	void go();
	// The session runs already (a claimed state): no BEGIN of ours.
	void resume();
	// Sleeps until the next pass is due, or a signal; with this mask, as ppoll().
	void sleep(const sigset_t* mask = nullptr,
	           std::chrono::nanoseconds most = std::chrono::nanoseconds::max());
	// All that was fired so far has been delivered: nothing waits for other CPUs (replay).
	void set_synchronous() { synchronous_ = true; }
	// Reads the records that are there, whatever the buffer policy. `aggregations`: the renderer needs
	// them too, because one of the records may be a printa().
	void read(bool aggregations) { consume(false, aggregations); }
	// A pass; false when the session is over (exit(), a full buffer, the deadman).
	bool work();
	// What there is by now, aggregations too. True: the session goes on without us, so what CPUs have recorded since
	// flushed() was not given.
	bool leave();
	// What was committed by then has been given to the callbacks; 0: nothing yet.
	uint64_t flushed() const { return flushed_; }
	// END, what is left, aggregations that were not printed.
	void finish();

	std::optional<int> exit_status() const;
	bool killed() const { return killed_; } // by the kernel
	bool killed_by_oops() const;
	uint64_t lost() const { return lost_; }
	// After finish(): how complete what was given is, judged as a recording of the same would be.
	trace::Verdict judge();

private:
	void clear_aggregation(uint32_t variable, bool remove) override;
	void command(const std::string& line) override;
	std::string set_option(const std::string& name, const std::string& value) override;
	void message(const std::string& text) override { callbacks_.message(text); }
	const types::Container* kernel_types() override {
		return callbacks_.kernel_types ? callbacks_.kernel_types() : nullptr;
	}

	bool check_status(bool last);
	void report_events();
	void report_drops(const dfr_ioc_status& status, bool last);
	void consume(bool last, bool aggregations = true);
	int64_t rate(uint32_t option) const;

	trace::LiveSource& session_;
	Callbacks callbacks_;
	render::Renderer renderer_;
	LiveMerge merge_;
	dfr_ioc_status status_{};
	uint64_t flushed_ = 0;
	std::set<std::tuple<int32_t, uint32_t, uint64_t>> told_stretches_;
	std::vector<uint64_t> told_;                                // losses reported so far, by cause
	std::map<std::pair<uint32_t, int32_t>, uint64_t> told_cpu_; // and by CPU
	size_t told_events_ = 0;                                    // of the catalog's
	std::chrono::nanoseconds interval_{1'000'000'000};
	bool at_end_only_ = false; // ring and fill: read once, after the stop
	bool killed_ = false;
	bool synchronous_ = false;
	bool stopped_ = false, all_read_ = false;
	uint64_t lost_ = 0;
};

} // namespace dfr::lib
