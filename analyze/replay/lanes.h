// SPDX-License-Identifier: GPL-2.0
//
// Lanes: computes formulas for up to a thousand firings at a time, node by node.
#pragma once

#include <string_view>
#include <vector>

#include "analyze/replay/column_program.h"
#include "formats/trace/batch.h"

namespace dfr::replay {

class Lanes {
public:
	static constexpr size_t kMost = Tally::kLanes;

	// The firings of an EPID in a batch.
	struct LaneFirings {
		const uint32_t* rows =
		    nullptr; // which record of the EPID each is; null: that with its number
		const uint32_t* tasks =
		    nullptr; // rows of the table of tasks; behind the last one: none. May be null.
		const uint64_t* times = nullptr; // may be null
		uint32_t cpu = 0;
	};

	explicit Lanes(const trace::Catalog& catalog) : catalog_(catalog) {}

	void open(trace::RecordBatch& batch) {
		batch_ = &batch;
		texts_ = nullptr;
		tasks_ = nullptr;
		names_ = false;
	}
	void open(const EpidProgram& program, size_t epid, const LaneFirings& source);
	// From now on the lanes are these firings; `count` is at most kMost.
	void select(size_t first, size_t count);
	// Keeps those firings for which the node is not 0; computed already.
	void keep(Formulas::Id condition);
	size_t count() const { return count_; }

	// Computes the nodes; false: a division by 0, or damage.
	bool compute(const std::vector<Formulas::Id>& nodes);
	// What was computed: integers, or numbers of texts of the batch.
	const uint64_t* values(Formulas::Id node) const { return at_[node]; }
	// The text with a number of values().
	std::string_view text(uint64_t number) const {
		return number < texts_->size() ? (*texts_)[number] : std::string_view{};
	}
	size_t texts() const { return texts_ ? texts_->size() : 0; }

private:
	bool load(Formulas::Id id, const InputColumn& column);
	bool load_field(Formulas::Id id, size_t field);
	bool load_task(Formulas::Id id, InputColumn::ColumnKind kind);
	bool load_texts();
	bool load_names();
	bool order(Formulas::Id id, const FormulaNode& node);
	void operate(Formulas::Id id, const FormulaNode& node);
	uint64_t* buffer(Formulas::Id id);

	const trace::Catalog& catalog_;
	trace::RecordBatch* batch_ = nullptr;
	const EpidProgram* program_ = nullptr;
	size_t epid_ = 0;
	LaneFirings source_;
	const std::vector<std::string_view>* texts_ = nullptr;
	const std::vector<trace::Task>* tasks_ = nullptr;
	bool names_ = false;                         // the execnames of tasks_ are as an engine keeps them
	std::vector<std::vector<uint64_t>> buffers_; // by node
	std::vector<const uint64_t*> at_;
	std::vector<uint32_t> picked_; // the firing of each lane
	bool contiguous_ = true;       // they follow each other
	size_t count_ = 0;
	std::vector<std::vector<int8_t>>
	    orders_; // by node: of each text, compared with a constant; 2: not known yet
};

} // namespace dfr::replay
