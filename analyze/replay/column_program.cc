// SPDX-License-Identifier: GPL-2.0
//
// Which programs can be answered by columns, and what they are for each EPID.
#include "analyze/replay/column_program.h"

#include <algorithm>

#include "analyze/engine/engine_c.h"
#include "analyze/replay/clauses.h"
#include "formats/d/compile.h"

namespace dfr::replay {
namespace {

constexpr size_t kTriedFirst = 64;

// Which of the probe's names a key is, if the engine keeps the probe in its place; -1: it is a value.
int probe_name_of(const dof::Action& action) {
	if (!action.difo || action.kind != DFR_ACT_DIFEXPR || action.difo->text.size() != 2 ||
	    DIF_OP(action.difo->text[0]) != DIF_OP_LDGS || action.difo->rtype.kind != DIF_KIND_STRING)
		return -1;
	const uint32_t id = DIF_WIDE(action.difo->text[0]);
	return id >= DIF_VAR_PROBEPROV && id <= DIF_VAR_PROBENAME ? static_cast<int>(id - DIF_VAR_PROBEPROV)
	                                                          : -1;
}

const std::string& probe_name(const trace::Probe& probe, uint32_t variable) {
	switch (variable) {
	case DIF_VAR_PROBEPROV: return probe.provider;
	case DIF_VAR_PROBEMOD: return probe.module;
	case DIF_VAR_PROBEFUNC: return probe.function;
	default: return probe.name;
	}
}

// An aggregating action's keys are the actions from `first` to `end`; the weight, if there is one, is at `end`.
struct Tuple {
	size_t first = 0, end = 0;
	bool weight = false;
};
Tuple tuple_of(const dof::Body& body, size_t action) {
	Tuple tuple;
	tuple.first = action - std::min<size_t>(body.actions[action].ntuple, action);
	tuple.weight = action > tuple.first && body.actions[action - 1].uarg == DFR_UARG_WEIGHT &&
	               body.actions[action - 1].difo;
	tuple.end = action - tuple.weight;
	return tuple;
}

uint32_t kind_of_key(const dof::Action& action) {
	if (action.kind != DFR_ACT_DIFEXPR || !action.difo)
		return 0;
	if (probe_name_of(action) >= 0)
		return DFR_FIELD_PROBETEXT;
	if (action.difo->rtype.kind == DIF_KIND_STRING)
		return DFR_FIELD_STRING;
	return action.difo->rtype.flags & (DIF_TF_BYREF | DIF_TF_BYUREF) ? 0 : DFR_FIELD_INT;
}

} // namespace

bool EpidProgram::reads(size_t field) const {
	return std::find(columns.begin(), columns.end(), InputColumn{InputColumn::kField, field}) !=
	       columns.end();
}

ColumnProgram::ColumnProgram(const trace::Catalog& catalog, RecordingTarget& target,
                             const d::Compiled& program, std::function<uint32_t(uint32_t)> probe_id)
    : catalog_(catalog), target_(target), program_(program), probe_id_(std::move(probe_id)) {
	read_options();
	const Clauses clauses = clauses_of(program, target);
	if (!clauses.refusal.empty())
		refuse(clauses.refusal);
	for (const dof::EcbDesc* const ecb : clauses.recorded)
		read_clause(*ecb);
	for (const dof::Body& body : program.image.bodies)
		read_tables(body);
	// What formulas cannot say is found now, and not after half of the records; but not of each of thousands of
	// probes, most of which have no record.
	size_t tried = 0;
	for (uint32_t epid = 1; epid <= catalog.ecbs.size() && refusal_.empty() && tried < kTriedFirst;
	     epid++)
		tried += of(epid).fires;
}

void ColumnProgram::read_options() {
	for (const dof::Option& option : program_.image.options) {
		if (option.option == DFR_OPT_STRSIZE)
			strsize_ = static_cast<size_t>(std::max<int64_t>(option.value, 1));
		if (option.option == DFR_OPT_CPU || option.option == DFR_OPT_AGGSIZE)
			refuse("an option says which CPU or how large a table is");
	}
	if (strsize_ < 16)
		refuse("strsize is less than 16");
}

void ColumnProgram::read_clause(const dof::EcbDesc& ecb) {
	const dof::Body& body = program_.image.body_of(ecb);
	if (ecb.uarg & (DFR_ECBUARG_CONTINUATION | DFR_ECBUARG_KERNEL_TYPES | DFR_ECBUARG_FAULT_HOLDS))
		refuse("a clause has an if, or depends on the kernel's types");
	const std::vector<bool> counted = dof::aggregated(body);
	if (counted.empty() || std::find(counted.begin(), counted.end(), false) != counted.end())
		refuse("a clause does something else than to count");
	clauses_.push_back(&ecb);
}

// Each variable's table; all uses of a variable agree, or the engine refuses the program.
void ColumnProgram::read_tables(const dof::Body& body) {
	for (size_t at = 0; at < body.actions.size(); at++) {
		const dof::Action& action = body.actions[at];
		if (!DFR_ACT_IS_AGG(action.kind))
			continue;
		const Tuple tuple = tuple_of(body, at);
		const auto varid = static_cast<uint32_t>(action.uarg);
		std::vector<uint32_t> kinds;
		for (size_t key = tuple.first; key < tuple.end; key++)
			kinds.push_back(kind_of_key(body.actions[key]));
		const auto [known, added] = key_kinds_.try_emplace(varid, kinds);
		if (added)
			tallies_[varid] =
			    std::make_unique<Tally>(varid, action.kind, action.arg, kinds.size());
		// A name of the probe is kept as text if it is one in another use.
		for (size_t i = 0; i < std::min(kinds.size(), known->second.size()); i++)
			if (kinds[i] == DFR_FIELD_STRING)
				known->second[i] = DFR_FIELD_STRING;
	}
}

EpidProgram& ColumnProgram::of(uint32_t epid) {
	const auto known = epids_.find(epid);
	if (known != epids_.end())
		return *known->second;
	const trace::Layout* const layout = catalog_.layout_of(epid);
	RecordedFields inputs;
	for (const RecordedInput& one : target_.inputs(epid))
		inputs[one.canon] = one.field; // the last one counts, as in a firing of the engine
	EpidProgram* made = nullptr;
	auto owned = std::make_unique<EpidProgram>(
	    [&](int array, uint64_t index) { return input(*made, inputs, *layout, array, index); });
	made = owned.get();
	epids_[epid] = std::move(owned);
	made->probe = layout ? catalog_.probe_of(epid) : nullptr;
	made->own = made->probe && made->probe->id <= kError;
	made->tells_faults = made->own && target_.tells_faults(epid);
	if (!made->probe || made->own)
		return *made;
	const bool records = target_.records(epid);
	for (const dof::EcbDesc* ecb : clauses_) {
		if (!RecordingTarget::matches(d::pattern_of(ecb->probe), *made->probe))
			continue;
		made->stray = !records;
		if (!records)
			return *made;
		made->fires = true;
		bind(*made, program_.image.body_of(*ecb));
	}
	for (const RecordedInput& one : target_.inputs(epid))
		if (made->fires && target_.may_be_cut(epid, layout->fields[one.field], strsize_) &&
		    std::find(program_.captured.begin(), program_.captured.end(), one.canon) !=
		        program_.captured.end())
			refuse("texts may have been cut when recorded");
	if (made->fires && target_.recording_clauses(made->probe->id) > 1)
		refuse("several clauses recorded " + made->probe->text());
	return *made;
}

bool ColumnProgram::asks_for_fault(uint32_t epid, uint64_t own_epid) {
	const uint32_t clause = target_.faulted(epid, own_epid);
	return clause && of(clause).fires;
}

void ColumnProgram::bind(EpidProgram& to, const dof::Body& body) {
	ColumnClause clause;
	clause.condition = to.formulas.integer(1);
	if (body.predicate)
		clause.condition = to.formulas.holds(to.formulas.add(*body.predicate));
	if (clause.condition == Formulas::kNone)
		return refuse("a predicate is no comparison of what was recorded");
	if (to.formulas.constant(clause.condition) == 0u)
		return; // for no record of this probe
	for (size_t at = 0; at < body.actions.size(); at++)
		if (DFR_ACT_IS_AGG(body.actions[at].kind))
			bind_use(to, clause, body, at);
	for (size_t i = 0; i < to.formulas.texts(); i++)
		if (to.formulas.text(i).size() >= strsize_)
			refuse("a text is longer than strsize");
	if (!refusal_.empty())
		return;
	std::vector<Formulas::Id> results;
	for (const ColumnUse& use : clause.uses) {
		for (const ColumnUse::Key& key : use.keys)
			results.push_back(key.node);
		for (const Formulas::Id node : {use.value, use.weight})
			if (node != Formulas::kNone)
				results.push_back(node);
	}
	clause.for_condition = to.formulas.needed({clause.condition});
	clause.for_uses = to.formulas.needed(results);
	to.clauses.push_back(std::move(clause));
}

void ColumnProgram::bind_use(EpidProgram& to, ColumnClause& clause, const dof::Body& body, size_t at) {
	const dof::Action& action = body.actions[at];
	const Tuple tuple = tuple_of(body, at);
	const auto varid = static_cast<uint32_t>(action.uarg);
	ColumnUse use;
	use.tally = tallies_[varid].get();
	for (size_t key = tuple.first; key < tuple.end; key++)
		use.keys.push_back(bind_key(to, body.actions[key], key_kinds_[varid][key - tuple.first]));
	if (action.difo) {
		use.value = to.formulas.declared(to.formulas.add(*action.difo), action.difo->rtype);
		if (use.value == Formulas::kNone || action.kind == DFR_ACT_COUNT)
			refuse("a value is not computed from what was recorded");
	}
	if (tuple.weight) {
		use.weight = to.formulas.add(*body.actions[tuple.end].difo);
		if (use.weight == Formulas::kNone || to.formulas.is_text(use.weight))
			refuse("a weight is not computed from what was recorded");
	}
	clause.uses.push_back(std::move(use));
}

ColumnUse::Key ColumnProgram::bind_key(EpidProgram& to, const dof::Action& action, uint32_t kind) {
	ColumnUse::Key key;
	if (kind == DFR_FIELD_PROBETEXT) {
		key.node = to.formulas.integer(probe_id_(to.probe->id));
		return key;
	}
	if (kind == 0 || !action.difo) {
		refuse("a key is neither an integer nor a text");
		return key;
	}
	key.node = to.formulas.add(*action.difo);
	if (kind == DFR_FIELD_STRING) {
		const size_t size = action.difo->rtype.size;
		key.text_limit = size && probe_name_of(action) < 0 ? std::min(size, strsize_) : strsize_;
		if (key.node != Formulas::kNone && to.formulas.is_text(key.node))
			return key;
	} else if (key.node = to.formulas.declared(key.node, action.difo->rtype);
	           key.node != Formulas::kNone) {
		return key;
	}
	refuse("a key is not computed from what was recorded");
	return key;
}

FormulaInput ColumnProgram::field(EpidProgram& to, const trace::Layout& layout, size_t field) const {
	const uint16_t kind = layout.fields[field].kind;
	if (kind != DFR_FIELD_INT && kind != DFR_FIELD_STRING)
		return {};
	return {.kind = kind == DFR_FIELD_INT ? FormulaInput::kIntegerColumn : FormulaInput::kTextColumn,
	        .value = to.column({InputColumn::kField, field})};
}

FormulaInput ColumnProgram::input(EpidProgram& to, const RecordedFields& inputs, const trace::Layout& layout,
                                  int array, uint64_t index) const {
	const auto integers = [&](InputColumn::ColumnKind kind) {
		return FormulaInput{.kind = FormulaInput::kIntegerColumn, .value = to.column({kind, 0})};
	};
	if (array == DIF_VAR_CAPTURED) {
		const uint64_t number = index & ~DIF_CAPTURED_THERE;
		const auto recorded =
		    number < program_.captured.size() ? inputs.find(program_.captured[number]) : inputs.end();
		if (recorded == inputs.end())
			return {};
		if (index & DIF_CAPTURED_THERE) // the only clause that recorded the probe has it
			return {.kind = FormulaInput::kInteger, .value = 1};
		return field(to, layout, recorded->second);
	}
	if (array == DIF_VAR_ARGS || (array < 0 && index >= DIF_VAR_ARG0 && index <= DIF_VAR_ARG9)) {
		const uint64_t number = array < 0 ? index - DIF_VAR_ARG0 : index;
		const auto recorded = inputs.find("arg" + std::to_string(number));
		if (number > 9 || recorded == inputs.end())
			return {.kind = FormulaInput::kInteger, .value = 0};
		const FormulaInput result = field(to, layout, recorded->second);
		return result.kind == FormulaInput::kIntegerColumn ? result : FormulaInput{};
	}
	if (array >= 0)
		return {};
	switch (index) {
	case DIF_VAR_PID: return integers(InputColumn::kPid);
	case DIF_VAR_TID: return integers(InputColumn::kTid);
	case DIF_VAR_NSPID: return integers(InputColumn::kNspid);
	case DIF_VAR_CGROUP: return integers(InputColumn::kCgroup);
	case DIF_VAR_CPU: return integers(InputColumn::kCpu);
	case DIF_VAR_TIMESTAMP: return integers(InputColumn::kTime);
	case DIF_VAR_WALLTIMESTAMP: return integers(InputColumn::kWallTime);
	case DIF_VAR_ID: return {.kind = FormulaInput::kInteger, .value = probe_id_(to.probe->id)};
	case DIF_VAR_EXECNAME:
		return {.kind = FormulaInput::kTextColumn, .value = to.column({InputColumn::kExecname, 0})};
	case DIF_VAR_PROBEPROV:
	case DIF_VAR_PROBEMOD:
	case DIF_VAR_PROBEFUNC:
	case DIF_VAR_PROBENAME:
		return {.kind = FormulaInput::kText,
		        .text = probe_name(*to.probe, static_cast<uint32_t>(index))};
	default: return {};
	}
}

uint64_t EpidProgram::column(const InputColumn& wanted) {
	const auto known = std::find(columns.begin(), columns.end(), wanted);
	const auto number = static_cast<uint64_t>(known - columns.begin());
	tasks |= wanted.kind >= InputColumn::kPid && wanted.kind <= InputColumn::kExecname;
	times |= wanted.kind == InputColumn::kTime || wanted.kind == InputColumn::kWallTime;
	if (known == columns.end())
		columns.push_back(wanted);
	return number;
}

} // namespace dfr::replay
