// SPDX-License-Identifier: GPL-2.0
//
// What a dead machine was doing: its last second by CPU, what each thread did last, what
// had begun and not ended (calls, I/O, waits for locks), or may have ended unseen, and
// speculations in flight.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/cli/panic.h"
#include "formats/trace/decode.h"
#include "formats/trace/names.h"

namespace dfr::replay {
class RecordingTarget;
}

namespace dfr::cli {

class CrashReport {
public:
	// Reads all records of the source, and of the speculations in flight if they are given.
	explicit CrashReport(trace::BlockSource& source, trace::BlockSource* in_flight = nullptr);

	const trace::Verdict& verdict() const { return verdict_; }
	void print() const;
	std::string json() const;

private:
	struct LastRecord {
		uint64_t time = 0;
		uint32_t cpu = 0, pid = 0, tid = 0;
		uint32_t epid = 0;
		std::string execname, values;
		std::vector<uint64_t> stack; // of the kernel, of the panicking CPU's records
		uint32_t speculation = 0;
	};
	using Outstanding =
	    std::tuple<size_t, uint64_t, uint64_t>; // which pair, its first argument, thread_of() or 0
	static constexpr size_t kSlices = 50;       // of the last second
	// Records of one thread, one after the other on its CPU with less than a millisecond between them.
	struct Turn {
		uint64_t thread = 0, from = 0, records = 0;
		uint8_t level = 0;
		LastRecord last;
	};
	struct Cpu {
		std::deque<LastRecord> last;
		std::vector<uint64_t> slices = std::vector<uint64_t>(kSlices); // up to the end
		uint64_t after = 0;     // records behind the end: the other CPUs go on for a while
		std::deque<Turn> turns; // the latest that reach into the last second
		uint64_t earlier_turns = 0;
	};
	struct OpenCall {
		const std::string* function; // a key of returns_
		LastRecord entry;
	};
	// What ends a call or an operation: its probes, and the priorities of the clauses that record each firing of them.
	struct End {
		std::set<uint32_t> probes, priorities;
		bool unarmed = false;    // one of the probes, perhaps
		uint64_t known_from = 0; // the end of what began from here on has a record if it came
		void add(const trace::Ecb& ecb) {
			probes.insert(ecb.probe);
			priorities.insert(ecb.priority);
		}
	};
	// When and how the state ended.
	struct Stop {
		uint64_t time;
		const char* by; // in the JSON
	};
	struct Unended {
		std::vector<const LastRecord*> calls, operations, not_known;
	};
	void find_end();
	void find_stop();
	void find_ends();
	void find_exits(replay::RecordingTarget& target);
	void find_unarmed();
	bool may_be_unarmed(const End& end) const;
	uint64_t whole_from(const trace::Merger& merger);
	static uint64_t known_from(const End& end, const trace::Losses& losses, uint64_t from);
	std::string stop_text() const;
	bool is_panics(uint32_t cpu) const { return panic_ && panic_->cpu == cpu; }
	Unended unended() const;
	void print_unended() const;
	LastRecord last_record(const trace::Record& record);
	void extend(Cpu& cpu, const trace::Record& record, const LastRecord& one) const;
	void read(const trace::Record& record);
	void follow_operation(const trace::Record& record, const LastRecord& one, const trace::Probe& probe);
	void print_records(const std::vector<const LastRecord*>& records) const;
	std::string name_of(uint64_t address, uint64_t time) const;
	std::string probe_text(const LastRecord& one) const;
	std::string before(uint64_t time) const;
	std::string json_of(const LastRecord& one) const;
	std::string json_of(const Turn& one) const;
	std::string json_of(uint32_t number, const Cpu& cpu) const;
	void follow_call(std::vector<OpenCall>& calls, const LastRecord& one, const trace::Probe& probe);
	std::string moment(uint64_t time) const;

	trace::BlockSource& source_;
	const trace::Catalog& catalog_;
	uint64_t end_ = 0;            // of the panic; else of the last record
	std::optional<Stop> stopped_; // if that was before
	std::set<uint32_t> exits_;    // EPIDs whose records are of an exit()
	bool only_end_exits_ = false;
	std::optional<uint64_t> exit_;
	size_t unarmed_ = 0; // ends
	std::optional<Panic> panic_;
	std::map<uint32_t, Cpu> cpus_;
	std::map<uint64_t, LastRecord> threads_;         // by thread_of()
	std::map<uint64_t, std::vector<OpenCall>> open_; // the same
	std::map<std::string, End> returns_;             // by function; only if each return is recorded
	std::map<size_t, End> ends_;                     // of pairs, likewise, with arg0
	std::map<uint32_t, size_t> first_argument_;      // by EPID: the field that holds arg0
	std::list<std::pair<Outstanding, LastRecord>> outstanding_; // by time
	std::map<Outstanding, std::list<std::pair<Outstanding, LastRecord>>::iterator> places_;
	size_t left_out_ = 0; // begun before all that is followed: no end was seen
	std::vector<LastRecord> in_flight_;
	size_t in_flight_more_ = 0;
	trace::KnownNames names_;
	trace::Verdict verdict_;
};

} // namespace dfr::cli
