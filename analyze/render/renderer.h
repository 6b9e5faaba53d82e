// SPDX-License-Identifier: GPL-2.0
//
// Renderer: the one consumer of records. It performs the user-side actions
// (trace, printf, printa, normalize, clear, freopen, system ...) in stream
// order, live, in process, and from a file alike. It reads no blocks and knows
// no engine: events, aggregation snapshots and losses are handed in; what it
// wants done (a clear in the engine, a command run) it asks of its Driver.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/render/agg_print.h"
#include "analyze/render/aggregations.h"
#include "analyze/render/datum.h"
#include "analyze/render/messages.h"
#include "analyze/render/names.h"
#include "analyze/render/output.h"
#include "analyze/render/programs.h"
#include "formats/shown.h"
#include "formats/trace/united.h"

namespace dfr::types {
class Container;
}

namespace dfr::render {

// Options that change what is printed; setopt() changes them while tracing.
struct Style {
	bool quiet = false;
	bool flowindent = false;
	bool rawbytes = false;
	bool testing = false; // _DTRACE_TESTING: no CPU and ID columns
	bool droptags = false;
	bool noresolve = false;  // user addresses stay numbers
	bool asks_hosts = false; // %I asks name servers: what is printed is of this machine, now
	// Rows begin with the host's name, by the number of its boot in the task (trace::United); empty: one host.
	std::vector<std::string> hosts = {};
	unsigned stackindent = 14;
	AggStyle aggregations;
};

class Driver {
public:
	virtual ~Driver() = default;
	// clear() and trunc() of a program: the engine's table too.
	virtual void clear_aggregation(uint32_t variable, bool remove) = 0;
	virtual void command(const std::string& line) = 0; // system()
	// freopen() and ftruncate(); why the file could not be opened, or empty.
	virtual std::string redirect(Output& output, const std::string& path) {
		return output.redirect(path);
	}
	virtual void truncate(Output& output) { output.truncate(); }
	// setopt() of an option that is not the renderer's; empty, or why not.
	virtual std::string set_option(const std::string& name, const std::string& value) = 0;
	virtual void message(const std::string& text) = 0; // one line for stderr
	// Types for print(); null: none.
	virtual const types::Container* kernel_types() { return nullptr; }
};

class Renderer {
public:
	Renderer(const trace::Catalog& catalog, Output& output, Symboliser& symbols, Driver& driver);

	Style& style() { return style_; }
	Aggregations& aggregations() { return aggregations_; }
	Programs& programs() { return programs_; }
	Output& output() { return output_; }

	void record(const trace::Record& record);
	// No more records now: what waits for its successor is completed.
	void end_pass();
	// The end: an empty line, always, and the aggregations that no printa() has shown.
	void print_remaining();

	const std::optional<int>& exit_status() const { return exit_status_; }
	uint64_t records() const { return records_; }
	uint64_t unknown() const { return unknown_; } // records whose program is not known
	uint64_t faults() const { return faults_; }

	// A dynamic option by name and text; empty, or why not. Shared with -x.
	static std::string set_style(Style& style, std::string_view name,
	                             std::optional<std::string_view> value, bool& known);

private:
	struct OpenLine { // the line that is being written
		bool open = false;
		bool continued = false;
		bool prefixed = false; // setopt("quiet") may come in the middle of it
		uint64_t time = 0, clause = 0;
		uint32_t cpu = 0, dof = 0, probe = 0;
	};
	struct Flow {
		unsigned indent = 0;
		uint32_t last_epid = 0, last_probe = 0;
	};
	struct HeldReturn { // a return line whose arrow depends on the next record
		bool held = false;
		bool early = false; // it could not wait for that: the text before it had to be written
		uint64_t lane = 0;
		uint32_t epid = 0, probe_id = 0;
		const trace::Probe* probe = nullptr;
		size_t at = 0; // in the output's text
	};

	void header();
	void begin_line(const trace::Record& record, const Rendering& rendering, const trace::Probe* probe);
	void finish_line();
	void prefix(const trace::Record& record, const trace::Probe* probe);
	void flow_prefix(const trace::Record& record, const trace::Probe* probe);
	void settle_return(const trace::Record* next, const trace::Probe* next_probe);
	void settle_early();
	bool same_return(const trace::Record& next, const trace::Probe& probe) const {
		return lane_of(next) == return_.lane && probe.id == return_.probe_id &&
		       next.epid != return_.epid;
	}
	// A CPU of a host: the boot's number above the CPU's.
	uint64_t lane_of(const trace::Record& record) const;
	void put_host(std::string& out, uint64_t lane) const;
	std::string flow_text(uint64_t lane, const trace::Probe& probe, char direction,
	                      unsigned indent) const;
	void error_record(const trace::Record& record);

	void perform(const Statement& statement, const Rendering& rendering, const trace::Record& record);
	void set(Datum& to, const Statement::Argument& argument, const Rendering& rendering,
	         const trace::Record& record) const;
	// Valid until the next call.
	const std::vector<Datum>& data(const Statement& statement, const Rendering& rendering,
	                               const trace::Record& record);
	std::string formatted(const Statement& statement, const Rendering& rendering,
	                      const trace::Record& record);
	void put_trace(const Datum& datum);
	void put_tracemem(const std::vector<Datum>& data);
	void put_print(const Statement& statement, const std::vector<Datum>& data);
	void printa(const std::vector<Datum>& data, const PrintfFormat* format);
	void aggregation_action(const Statement& statement, const std::vector<Datum>& data);
	void set_option(const std::vector<Datum>& data);

	// Names as they are printed. noresolve: user addresses have none.
	class Names final : public Symboliser {
	public:
		Names(Symboliser& all, const Style& style) : all_(all), style_(style) {}
		SymbolName kernel(uint64_t address) override { return printed(all_.kernel(address)); }
		SymbolName user(uint32_t pid, uint64_t address) override {
			return style_.noresolve ? SymbolName{} : printed(all_.user(pid, address));
		}
		std::string host(const std::string& address) override {
			return style_.asks_hosts ? host_name(address) : address;
		}
		void at(uint64_t time) override { all_.at(time); }

	private:
		static SymbolName printed(SymbolName name) {
			name.module = harmless(name.module);
			name.name = harmless(name.name);
			return name;
		}

		Symboliser& all_;
		const Style& style_;
	};

	Output& output_;
	Driver& driver_;
	Style style_;
	Names symbols_;
	Programs programs_;
	Aggregations aggregations_;
	OpenLine line_;
	HeldReturn return_;
	std::vector<Datum> data_;        // of the statement that is performed
	std::map<uint64_t, Flow> flows_; // by lane
	bool header_done_ = false;
	std::optional<int> exit_status_;
	uint64_t records_ = 0, unknown_ = 0, faults_ = 0;
};

} // namespace dfr::render
