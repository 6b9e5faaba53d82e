// SPDX-License-Identifier: GPL-2.0
//
// A program that can be answered by columns: its clauses, but for those of BEGIN,
// END and ERROR, only count into aggregations what is computed from the records'
// inputs. Then the order of firings does not matter. For each EPID of the recording
// the predicates, keys and values become formulas (formula.h) over its columns.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/replay/formula.h"
#include "analyze/replay/recording_target.h"
#include "analyze/replay/tally.h"
#include "formats/d/compile_options.h"

namespace dfr::replay {

// What a column of a formula is.
struct InputColumn {
	enum ColumnKind : uint8_t {
		kField,
		kPid,
		kTid,
		kNspid,
		kCgroup,
		kExecname,
		kTime,
		kWallTime,
		kCpu
	} kind = kField;
	size_t field = 0;
	bool operator==(const InputColumn&) const = default;
};

// An aggregating action.
struct ColumnUse {
	Tally* tally = nullptr;
	// A text among the keys is its number (ByColumns); it is shorter than the limit.
	struct Key {
		Formulas::Id node = Formulas::kNone;
		size_t text_limit = 0; // 0: an integer
	};
	std::vector<Key> keys;
	Formulas::Id value = Formulas::kNone, weight = Formulas::kNone; // none: there is none
};

struct ColumnClause {
	Formulas::Id condition = Formulas::kNone;
	std::vector<ColumnUse> uses;
	// What must be computed, in this order.
	std::vector<Formulas::Id> for_condition, for_uses;
};

// What the records of an EPID mean to the program.
struct EpidProgram {
	explicit EpidProgram(Formulas::Inputs inputs) : formulas(std::move(inputs)) {}
	const trace::Probe* probe = nullptr; // null: not known, the record is passed over
	bool own = false;                    // BEGIN, END, ERROR: the replaying engine has its own
	bool tells_faults = false;           // its first field is the EPID of a clause that faulted
	bool fires = false;                  // the program has a clause for the probe
	bool stray = false;                  // it has, but the EPID's clause is not known to leave records
	bool tasks = false, times = false;   // which of these the formulas read
	Formulas formulas;
	std::vector<InputColumn> columns;
	std::vector<ColumnClause> clauses;
	uint64_t column(const InputColumn& wanted); // its number
	bool reads(size_t field) const;             // whether a formula does
};

class ColumnProgram {
public:
	// `probe_id`: the id that a recorded probe has in replay.
	ColumnProgram(const trace::Catalog& catalog, RecordingTarget& target, const d::Compiled& program,
	              std::function<uint32_t(uint32_t)> probe_id);
	ColumnProgram(const ColumnProgram&) = delete;
	ColumnProgram& operator=(const ColumnProgram&) = delete;
	~ColumnProgram() = default;

	// Why the program cannot be answered so, for a person; empty: it can, so far as is known.
	const std::string& refusal() const { return refusal_; }
	EpidProgram& of(uint32_t epid); // may refuse
	// Whether a record of an EPID that tells faults is about a clause whose firings the program counts.
	bool asks_for_fault(uint32_t epid, uint64_t own_epid);
	size_t strsize() const { return strsize_; }
	const std::map<uint32_t, std::unique_ptr<Tally>>& tallies() const { return tallies_; }
	// Of each key: enum dfr_field_kind, as the engine's tables have it.
	const std::vector<uint32_t>& key_kinds(uint32_t varid) const { return key_kinds_.at(varid); }

private:
	using RecordedFields = std::map<std::string_view, size_t>; // field by canonical text

	void refuse(std::string why) {
		if (refusal_.empty())
			refusal_ = std::move(why);
	}
	void read_options();
	void read_clause(const dof::EcbDesc& ecb);
	void read_tables(const dof::Body& body);
	void bind(EpidProgram& to, const dof::Body& body);
	void bind_use(EpidProgram& to, ColumnClause& clause, const dof::Body& body, size_t at);
	ColumnUse::Key bind_key(EpidProgram& to, const dof::Action& action, uint32_t kind);
	FormulaInput input(EpidProgram& to, const RecordedFields& inputs, const trace::Layout& layout,
	                   int array, uint64_t index) const;
	FormulaInput field(EpidProgram& to, const trace::Layout& layout, size_t field) const;

	const trace::Catalog& catalog_;
	RecordingTarget& target_;
	const d::Compiled& program_;
	std::function<uint32_t(uint32_t)> probe_id_;
	std::string refusal_;
	size_t strsize_ = DIF_STRSIZE_DEFAULT;
	std::vector<const dof::EcbDesc*> clauses_; // those that run over the records
	std::map<uint32_t, std::unique_ptr<Tally>> tallies_;
	std::map<uint32_t, std::vector<uint32_t>> key_kinds_;
	std::map<uint32_t, std::unique_ptr<EpidProgram>> epids_;
};

} // namespace dfr::replay
