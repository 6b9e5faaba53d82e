// SPDX-License-Identifier: GPL-2.0
//
// Answers a program (column_program.h) by columns: no record becomes a firing. For
// the firings of an EPID in a batch (formats/trace/batch.h), predicates, keys and
// values are computed many at a time, and counted in tables (tally.h), which the
// engine's session then shows as if its firings had filled them.
//
// It is all or nothing: what formulas cannot say, or a recorded fault, is refused,
// and then the engine answers everything.
#pragma once

#include <deque>
#include <string_view>
#include <unordered_map>

#include "analyze/replay/lanes.h"

namespace dfr::replay {

class ByColumns {
public:
	ByColumns(ColumnProgram& program, const trace::Catalog& catalog)
	    : program_(program), lanes_(catalog) {}
	ByColumns(const ByColumns&) = delete;
	ByColumns& operator=(const ByColumns&) = delete;
	~ByColumns() = default;

	// Why the engine must answer, for a person; empty: it need not.
	const std::string& refusal() const { return refusal_; }
	// The batches of each CPU must come in order. False: there is a refusal.
	bool take(trace::RecordBatch& batch, uint32_t cpu);

	// As the engine's tables would have them.
	std::vector<trace::AggEntry> entries() const;
	size_t bytes();                               // that they would take there, about
	uint64_t firings() const { return firings_; } // of probes that the program has a clause for
	// The first record.
	struct First {
		bool known = false;
		uint64_t time = 0;
		uint32_t cpu = 0;
		bool begin = false; // it is BEGIN's, and has the process that started the recording
		trace::Task task;
		std::string execname;
	};
	const First& first() const { return first_; }
	uint64_t last_time() const { return last_time_; }

private:
	// The firings of an EPID in the batch: which of its records each is, its row of the table of tasks, its time.
	struct Firings {
		EpidProgram* program = nullptr;
		size_t records = 0;  // of the EPID so far
		bool joined = false; // some records are one firing: `rows` says which record each firing is
		std::vector<uint32_t> rows; // if joined
		std::vector<uint32_t> tasks;
		std::vector<uint64_t> times;
		size_t count = 0;
	};

	bool refuse(std::string why);
	bool walk(trace::RecordBatch& batch, uint32_t cpu);
	bool passes_fault(trace::RecordBatch& batch, Firings& of, size_t epid);
	void add_firing(Firings& to, const trace::RecordPlace& record, size_t tasks, bool joins);
	bool faulted(trace::RecordBatch& batch);
	bool keep_first(trace::RecordBatch& batch, const trace::RecordPlace& record, uint32_t cpu);
	bool answer(trace::RecordBatch& batch, size_t epid, uint32_t cpu);
	bool count(const ColumnUse& use, const EpidProgram& program);
	bool number_texts(const ColumnUse::Key& key, std::vector<uint64_t>& to);
	uint64_t number_of(std::string_view text);

	ColumnProgram& program_;
	std::string refusal_;
	Lanes lanes_;
	std::vector<Firings> firings_of_; // by EPID of the batch
	struct TextBytes {
		size_t entries = 0, bytes = 0; // of so many entries of a table
	};
	std::map<uint32_t, TextBytes> text_bytes_; // by varid
	std::deque<std::string> texts_;            // of keys, by number
	std::unordered_map<std::string_view, uint64_t> text_numbers_;
	std::vector<uint64_t> numbers_; // of the batch's texts in texts_, as far as they are known
	std::vector<std::vector<uint64_t>> text_keys_;
	uint64_t firings_ = 0;
	First first_;
	uint64_t last_time_ = 0;
	// The CPU's last record.
	bool any_ = false;
	uint32_t cpu_ = 0;
	uint64_t previous_time_ = 0;
	const trace::Probe* previous_ = nullptr;
};

} // namespace dfr::replay
