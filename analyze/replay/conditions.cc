// SPDX-License-Identifier: GPL-2.0
//
// What a recorded program says of its records.
#include "analyze/replay/conditions.h"

#include <algorithm>

#include "analyze/engine/engine_c.h"
#include "analyze/render/programs.h"
#include "formats/d/builtins.h"
#include "formats/d/compile.h"

namespace dfr::replay {
namespace {

constexpr unsigned kConjunctsDeep = 1000;
constexpr size_t kNear = 16; // instructions

// Goes over "(&& a b)", where a and b may be chains themselves, once from front to back.
class Chain {
public:
	explicit Chain(std::string_view text) : text_(text) {}
	// False: it is not one operand or chain.
	bool read() { return chain(0) && at_ == text_.size(); }
	std::vector<std::string_view> operands;

private:
	bool chain(unsigned depth) {
		if (depth == kConjunctsDeep || !text_.substr(at_).starts_with(kHead))
			return operand();
		at_ += kHead.size();
		return chain(depth + 1) && pass(' ') && chain(depth + 1) && pass(')');
	}
	bool pass(char wanted) { return at_ < text_.size() && text_[at_++] == wanted; }
	// It ends at the first blank or parenthesis that is outside of its own parentheses and quotes.
	bool operand() {
		const size_t start = at_;
		size_t inside = 0;
		bool quoted = false;
		for (; at_ < text_.size(); at_++) {
			const char c = text_[at_];
			if (c == '"')
				quoted = !quoted;
			else if (!quoted && inside == 0 && (c == ' ' || c == ')'))
				break;
			else if (!quoted)
				inside += (c == '(') - (c == ')');
		}
		operands.push_back(text_.substr(start, at_ - start));
		return at_ != start;
	}

	static constexpr std::string_view kHead = "(&& ";
	std::string_view text_;
	size_t at_ = 0;
};

bool by_reference(const dif_type& type) {
	return type.kind == DIF_KIND_STRING || type.flags & (DIF_TF_BYREF | DIF_TF_BYUREF);
}

// A built-in that needs no right and no memory of the machine.
bool is_plain(uint32_t id) {
	return d::in_every_record(id) || (id >= DIF_VAR_ARG0 && id <= DIF_VAR_ARG9);
}

bool is_branch(uint32_t word) {
	return DIF_OP(word) >= DIF_OP_BA && DIF_OP(word) <= DIF_OP_BLEU;
}

bool sets(uint32_t word, uint32_t reg) {
	switch (DIF_OP(word)) {
	case DIF_OP_CMP:
	case DIF_OP_SCMP:
	case DIF_OP_TST:
	case DIF_OP_NOP:
	case DIF_OP_STGS:
	case DIF_OP_STTS:
	case DIF_OP_STLS: return false;
	default: return DIF_RD(word) == reg;
	}
}

// Which instructions a branch leads to, so that registers have values of two ways.
std::vector<bool> joins_of(const dif::Difo& difo) {
	std::vector<bool> joins(difo.text.size());
	for (const uint32_t word : difo.text)
		if (is_branch(word) && DIF_LABEL(word) < joins.size())
			joins[DIF_LABEL(word)] = true;
	return joins;
}

// The instruction that has given the register its value at `at`, if it stands near and no branch leads between the
// two; else 0.
uint32_t source_of(const dif::Difo& difo, const std::vector<bool>& joins, size_t at, uint32_t reg) {
	const size_t end = at - std::min(at, kNear);
	for (; at > end && !joins[at] && !is_branch(difo.text[at - 1]); at--)
		if (sets(difo.text[at - 1], reg))
			return difo.text[at - 1];
	return 0;
}

bool is_constant_but_0(const dif::Difo& difo, uint32_t source) {
	return DIF_OP(source) == DIF_OP_SETX && DIF_WIDE(source) < difo.integers.size() &&
	       difo.integers[DIF_WIDE(source)] != 0 && difo.relocations.empty();
}

// A constant text, or a name.
bool is_text(uint32_t source) {
	const uint32_t id = DIF_WIDE(source);
	return DIF_OP(source) == DIF_OP_SETS ||
	       (DIF_OP(source) == DIF_OP_LDGS &&
	        (id == DIF_VAR_EXECNAME || (id >= DIF_VAR_PROBEPROV && id <= DIF_VAR_PROBENAME)));
}

bool instruction_may_fault(const dif::Difo& difo, const std::vector<bool>& joins, size_t at) {
	const uint32_t word = difo.text[at];
	switch (DIF_OP(word)) {
	case DIF_OP_SDIV:
	case DIF_OP_UDIV:
	case DIF_OP_SREM:
	case DIF_OP_UREM: return !is_constant_but_0(difo, source_of(difo, joins, at, DIF_R2(word)));
	case DIF_OP_SCMP:
		return !is_text(source_of(difo, joins, at, DIF_R1(word))) ||
		       !is_text(source_of(difo, joins, at, DIF_R2(word)));
	// The value of a string or struct is read from where it stands.
	case DIF_OP_RET:
		return by_reference(difo.rtype) && !is_text(source_of(difo, joins, at, DIF_RD(word)));
	case DIF_OP_LDGS: return DIF_WIDE(word) < DIF_VAR_USER_FIRST && !is_plain(DIF_WIDE(word));
	case DIF_OP_LDGA: return DIF_R1(word) != DIF_VAR_ARGS;
	case DIF_OP_SETX:
	case DIF_OP_SETS:
	case DIF_OP_SRA:
	case DIF_OP_NOP:
	case DIF_OP_STGS:
	case DIF_OP_LDTS:
	case DIF_OP_STTS: // where there is no room, that is counted
	case DIF_OP_LDLS:
	case DIF_OP_STLS: return false;
	default: return DIF_OP(word) < DIF_OP_OR || DIF_OP(word) > DIF_OP_BLEU;
	}
}

bool may_fault(const dif::Difo& difo) {
	if (std::any_of(difo.variables.begin(), difo.variables.end(), [](const dif_var& variable) {
		    return variable.id >= DIF_VAR_USER_FIRST && by_reference(variable.type);
	    }))
		return true;
	const std::vector<bool> joins = joins_of(difo);
	for (size_t at = 0; at < difo.text.size(); at++)
		if (instruction_may_fault(difo, joins, at))
			return true;
	return false;
}

bool may_fault(const dof::Action& action) {
	switch (action.kind) {
	case DFR_ACT_CAPTURE: // its fault is kept in the record
	case DFR_ACT_CAPTURE_ARGS: return false;
	case DFR_ACT_TRACEMEM:
	case DFR_ACT_TRACEMEM_DYNSIZE:
	case DFR_ACT_PRINTM:
	case DFR_ACT_SPECULATE:
	case DFR_ACT_COMMIT:
	case DFR_ACT_DISCARD: return true;
	default: return DFR_ACT_IS_DESTRUCTIVE(action.kind) || (action.difo && may_fault(*action.difo));
	}
}

bool field_within(const std::string& one, const std::string& other) {
	constexpr std::string_view kGlob = "*?[\\";
	if (other.empty() || other == "*" || one == other)
		return true;
	if (one.empty())
		return false;
	if (one.find_first_of(kGlob) == std::string::npos)
		return dfr_glob(other.c_str(), one.c_str());
	return other.find_first_of(kGlob) == other.size() - 1 && other.back() == '*' &&
	       one.starts_with(std::string_view(other).substr(0, other.size() - 1));
}

} // namespace

std::vector<std::string_view> conjuncts(std::string_view canonical) {
	Chain chain(canonical);
	if (!chain.read())
		return {canonical};
	std::sort(chain.operands.begin(), chain.operands.end());
	return std::move(chain.operands);
}

bool speculates(const dof::Body& body) {
	return std::any_of(body.actions.begin(), body.actions.end(),
	                   [](const dof::Action& action) { return action.kind == DFR_ACT_SPECULATE; });
}

bool may_fault(const dof::EcbDesc& ecb, const dof::Body& body) {
	const bool holds = ecb.uarg & DFR_ECBUARG_FAULT_HOLDS;
	return (body.predicate && !holds && may_fault(*body.predicate)) ||
	       std::any_of(body.actions.begin(), body.actions.end(),
	                   [](const dof::Action& action) { return may_fault(action); });
}

void tell_faults(dof::Image& program) {
	const auto is_for_error = [](const dof::EcbDesc& ecb) {
		return within(
		    {.host = {}, .provider = "dtrace", .module = {}, .function = {}, .name = "ERROR"},
		    d::pattern_of(ecb.probe));
	};
	const bool needed = std::ranges::any_of(program.ecbs, [&program](const dof::EcbDesc& ecb) {
		const dof::Body& body = program.body_of(ecb);
		return dof::leaves_records(body) && may_fault(ecb, body);
	});
	if (needed && std::ranges::none_of(program.ecbs, is_for_error))
		render::add_error_clause(program);
}

int64_t only_cpu(const dof::Image& program) {
	int64_t cpu = -1;
	for (const dof::Option& option : program.options)
		if (option.option == DFR_OPT_CPU)
			cpu = option.value;
	return cpu;
}

bool within(const d::ProbePattern& one, const d::ProbePattern& other) {
	if (other.id != 0)
		return one.id == other.id;
	return one.id != 0 ||
	       (field_within(one.provider, other.provider) && field_within(one.module, other.module) &&
	        field_within(one.function, other.function) && field_within(one.name, other.name));
}

} // namespace dfr::replay
