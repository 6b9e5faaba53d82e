// SPDX-License-Identifier: GPL-2.0
//
// What a dead machine was doing: its last second by CPU, what each thread did last, and
// what had begun and not ended.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "formats/trace/decode.h"

namespace dfr::cli {

class CrashReport {
public:
	// Reads all records of the source.
	explicit CrashReport(trace::BlockSource& source);

	const trace::Verdict& verdict() const { return verdict_; }
	void print() const;
	std::string json() const;

private:
	struct LastRecord {
		uint64_t time = 0;
		uint32_t cpu = 0, pid = 0, tid = 0;
		std::string execname, probe, values;
	};
	static constexpr size_t kSlices = 50; // of the last second
	struct Cpu {
		std::deque<LastRecord> last;
		std::vector<uint64_t> slices = std::vector<uint64_t>(kSlices);
	};
	struct OpenCall {
		std::string function;
		LastRecord entry;
	};
	void find_end();
	void read(const trace::Record& record);
	void follow_call(const LastRecord& one, const trace::Probe& probe);
	std::string moment(uint64_t time) const;

	trace::BlockSource& source_;
	const trace::Catalog& catalog_;
	uint64_t end_ = 0; // of the panic; else of the last record
	int64_t panic_cpu_ = -1;
	std::string reason_, comm_;
	std::map<uint32_t, Cpu> cpus_;
	std::map<uint64_t, LastRecord> threads_;         // by task word and CPU of idle tasks
	std::map<uint64_t, std::vector<OpenCall>> open_; // the same
	std::map<std::string, bool> returns_;            // functions whose return is recorded, too
	trace::Verdict verdict_;
};

} // namespace dfr::cli
