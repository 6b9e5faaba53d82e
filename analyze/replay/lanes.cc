// SPDX-License-Identifier: GPL-2.0
//
// Formulas over columns. Loops are over lanes, so that the compiler makes vectors.
#include "analyze/replay/lanes.h"

#include <algorithm>

#include "analyze/engine/engine_c.h"

namespace dfr::replay {

uint64_t* Lanes::buffer(Formulas::Id id) {
	if (buffers_[id].empty())
		buffers_[id].resize(kMost);
	at_[id] = buffers_[id].data();
	return buffers_[id].data();
}

void Lanes::open(const EpidProgram& program, size_t epid, const LaneFirings& source) {
	program_ = &program;
	epid_ = epid;
	source_ = source;
	const size_t nodes = program.formulas.size();
	if (buffers_.size() < nodes)
		buffers_.resize(nodes);
	at_.assign(nodes, nullptr);
	orders_.clear();
	orders_.resize(nodes);
	picked_.resize(kMost);
}

void Lanes::select(size_t first, size_t count) {
	count_ = count;
	contiguous_ = true;
	for (size_t i = 0; i < count; i++)
		picked_[i] = static_cast<uint32_t>(first + i);
}

void Lanes::keep(Formulas::Id condition) {
	const uint64_t* const holds = at_[condition];
	size_t kept = 0;
	for (size_t i = 0; i < count_; i++) {
		picked_[kept] = picked_[i];
		kept += holds[i] != 0;
	}
	contiguous_ = contiguous_ && kept == count_;
	count_ = kept;
}

bool Lanes::compute(const std::vector<Formulas::Id>& nodes) {
	for (const Formulas::Id id : nodes) {
		const FormulaNode& node = program_->formulas.node(id);
		switch (node.op) {
		case FormulaOp::kConstant:
			if (!at_[id])
				std::fill_n(buffer(id), kMost, node.value);
			break;
		case FormulaOp::kTextConstant: break;
		case FormulaOp::kColumn:
		case FormulaOp::kTextColumn:
			if (!load(id, program_->columns[node.value]))
				return false;
			break;
		case FormulaOp::kTextOrder:
			if (!order(id, node))
				return false;
			break;
		case FormulaOp::kDivide: {
			const uint64_t* const divisor = at_[node.b];
			if (std::find(divisor, divisor + count_, 0) != divisor + count_)
				return false;
			operate(id, node);
			break;
		}
		default: operate(id, node);
		}
	}
	return true;
}

bool Lanes::load(Formulas::Id id, const InputColumn& column) {
	switch (column.kind) {
	case InputColumn::kField: return load_field(id, column.field);
	case InputColumn::kCpu: std::fill_n(buffer(id), count_, source_.cpu); return true;
	case InputColumn::kTime: {
		uint64_t* const to = buffer(id);
		for (size_t i = 0; i < count_; i++)
			to[i] = source_.times[picked_[i]];
		return true;
	}
	case InputColumn::kWallTime: {
		uint64_t* const to = buffer(id);
		for (size_t i = 0; i < count_; i++)
			to[i] = static_cast<uint64_t>(catalog_.walltime(source_.times[picked_[i]]));
		return true;
	}
	default: return load_task(id, column.kind);
	}
}

bool Lanes::load_field(Formulas::Id id, size_t field) {
	const std::vector<uint64_t>* const values = batch_->values(epid_, field);
	if (!values || (program_->formulas.is_text(id) && !load_texts()))
		return false;
	if (contiguous_ && !source_.rows) {
		at_[id] = values->data() + (count_ ? picked_[0] : 0);
		return true;
	}
	uint64_t* const to = buffer(id);
	for (size_t i = 0; i < count_; i++)
		to[i] = (*values)[source_.rows ? source_.rows[picked_[i]] : picked_[i]];
	return true;
}

// A record without a task is of process 0, without a name.
bool Lanes::load_task(Formulas::Id id, InputColumn::ColumnKind kind) {
	if (!tasks_ && !(tasks_ = batch_->tasks()))
		return false;
	if (kind == InputColumn::kExecname && !load_names())
		return false;
	uint64_t* const to = buffer(id);
	for (size_t i = 0; i < count_; i++) {
		const uint32_t row = source_.tasks[picked_[i]];
		if (row >= tasks_->size()) {
			to[i] = kind == InputColumn::kExecname ? texts_->size() : 0;
			continue;
		}
		const trace::Task& task = (*tasks_)[row];
		switch (kind) {
		case InputColumn::kPid: to[i] = task.pid; break;
		case InputColumn::kTid: to[i] = task.tid; break;
		case InputColumn::kNspid: to[i] = task.nspid; break;
		case InputColumn::kCgroup: to[i] = task.cgroup; break;
		default: to[i] = task.execname;
		}
	}
	return true;
}

// False also if the engine would cut one.
bool Lanes::load_names() {
	if (names_)
		return true;
	if (!load_texts())
		return false;
	names_ = std::all_of(tasks_->begin(), tasks_->end(), [this](const trace::Task& task) {
		return task.execname < texts_->size() &&
		       (*texts_)[task.execname].size() < sizeof(dfr_env::ev_comm);
	});
	return names_;
}

bool Lanes::load_texts() {
	return texts_ || (texts_ = batch_->texts());
}

// A text compared with a constant is compared once in the batch.
bool Lanes::order(Formulas::Id id, const FormulaNode& node) {
	const Formulas& formulas = program_->formulas;
	const FormulaNode &a = formulas.node(node.a), &b = formulas.node(node.b);
	uint64_t* const to = buffer(id);
	const auto sign = [](int order) { return order < 0 ? -1 : order > 0; };
	const bool a_is_column = a.op == FormulaOp::kTextColumn;
	if (a_is_column && b.op == FormulaOp::kTextColumn) {
		for (size_t i = 0; i < count_; i++)
			to[i] = static_cast<uint64_t>(
			    int64_t{sign(text(at_[node.a][i]).compare(text(at_[node.b][i])))});
		return true;
	}
	const std::string_view constant = formulas.text(a_is_column ? b.value : a.value);
	const uint64_t* const numbers = at_[a_is_column ? node.a : node.b];
	constexpr int8_t unknown = 2;
	std::vector<int8_t>& known = orders_[id];
	// Else there are more texts to remember than there is to compare.
	if (texts_->size() <= batch_->epids()[epid_].records)
		known.resize(texts_->size() + 1, unknown);
	for (size_t i = 0; i < count_; i++) {
		int8_t once = unknown;
		int8_t& result = known.empty() ? once : known[std::min<uint64_t>(numbers[i], texts_->size())];
		if (result == unknown) {
			const int order = sign(text(numbers[i]).compare(constant));
			result = static_cast<int8_t>(a_is_column ? order : -order);
		}
		to[i] = static_cast<uint64_t>(int64_t{result});
	}
	return true;
}

namespace {

template <FormulaOp kOp>
void loop(uint64_t* to, const uint64_t* a, const uint64_t* b, uint64_t value, size_t count) {
	for (size_t i = 0; i < count; i++)
		to[i] = computed(kOp, a[i], b[i], value);
}

} // namespace

void Lanes::operate(Formulas::Id id, const FormulaNode& node) {
	const uint64_t *const a = at_[node.a], *const b = at_[node.b], *const c = at_[node.c];
	uint64_t* const to = buffer(id);
	const size_t n = count_;
	switch (node.op) {
	case FormulaOp::kAdd: return loop<FormulaOp::kAdd>(to, a, b, 0, n);
	case FormulaOp::kSubtract: return loop<FormulaOp::kSubtract>(to, a, b, 0, n);
	case FormulaOp::kMultiply: return loop<FormulaOp::kMultiply>(to, a, b, 0, n);
	case FormulaOp::kAnd: return loop<FormulaOp::kAnd>(to, a, b, 0, n);
	case FormulaOp::kOr: return loop<FormulaOp::kOr>(to, a, b, 0, n);
	case FormulaOp::kXor: return loop<FormulaOp::kXor>(to, a, b, 0, n);
	case FormulaOp::kNot: return loop<FormulaOp::kNot>(to, a, b, 0, n);
	case FormulaOp::kShiftLeft: return loop<FormulaOp::kShiftLeft>(to, a, b, 0, n);
	case FormulaOp::kShiftRight: return loop<FormulaOp::kShiftRight>(to, a, b, 0, n);
	case FormulaOp::kShiftRightSigned: return loop<FormulaOp::kShiftRightSigned>(to, a, b, 0, n);
	case FormulaOp::kDivide: return loop<FormulaOp::kDivide>(to, a, b, node.value, n);
	case FormulaOp::kExtendSigned: return loop<FormulaOp::kExtendSigned>(to, a, b, node.value, n);
	case FormulaOp::kExtend: return loop<FormulaOp::kExtend>(to, a, b, node.value, n);
	case FormulaOp::kEqual: return loop<FormulaOp::kEqual>(to, a, b, 0, n);
	case FormulaOp::kLess: return loop<FormulaOp::kLess>(to, a, b, 0, n);
	case FormulaOp::kLessSigned: return loop<FormulaOp::kLessSigned>(to, a, b, 0, n);
	default:
		for (size_t i = 0; i < n; i++)
			to[i] = a[i] ? b[i] : c[i];
	}
}

} // namespace dfr::replay
