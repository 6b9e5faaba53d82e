// SPDX-License-Identifier: GPL-2.0
//
// Substitution of captured inputs.
#include "formats/d/capture.h"

#include <algorithm>
#include <map>

#include "formats/d/builtins.h"
#include "formats/d/canon.h"
#include "formats/d/codegen.h"

namespace dfr::d {
namespace {

// What the current clause's firings have without a capture.
bool is_there(const Compilation& compilation, uint32_t id) {
	return in_every_record(id) || (compilation.own_probes && id >= DIF_VAR_ARG0 && id <= DIF_VAR_ARG9);
}

uint64_t index_of(Compilation& compilation, const std::string& canon) {
	auto& known = compilation.result.captured;
	const auto at = std::find(known.begin(), known.end(), canon);
	const uint64_t index = at - known.begin();
	if (at == known.end())
		known.push_back(canon);
	if (compilation.sometimes.contains(canon))
		compilation.needed.insert(index);
	return index;
}

// input: whether capture() could record it.
bool missing(Compilation& compilation, const Node* node, bool input = true) {
	const std::string text = source_text(compilation.types, node);
	compilation.error(
	    "D_CAPTURE_MISSING", node->place,
	    "not recorded: " + text + " in " + compilation.target.description(),
	    input ? "record it: add capture(" + text +
	                "); to the clause of the recording program, or derive the captures with dfr "
	                "record --for PROGRAM.d"
	          : "no capture can record it, because the program computes a part of it: evaluate it "
	            "in the clause whose firing has its inputs, as in self->name = copyinstr(arg0);");
	return false;
}

void make_captured(Compilation& compilation, Node* node, const std::string& canon) {
	const Node before = *node;
	*node = Node{};
	node->kind = Nk::Captured;
	node->place = before.place;
	node->type = before.type;
	node->analyzed = true;
	node->value = index_of(compilation, canon);
}

// Whether it was taken out of the recording: then it is as an input that no firing has.
bool taken_out(Compilation& compilation, const std::string& canon) {
	if (canon.empty() || !compilation.target.taken_out(canon))
		return false;
	compilation.sometimes.insert(canon);
	return true;
}

// As missing(), but what was taken out is no error.
bool absent(Compilation& compilation, Node* node, const std::string& canon, bool input = true) {
	if (!taken_out(compilation, canon))
		return missing(compilation, node, input);
	make_captured(compilation, node, canon);
	return true;
}

// self-> is kept by thread.
bool has_thread(Compilation& compilation, const Node* variable) {
	if (variable->variable->scope != DIF_VS_THREAD || !compilation.target.taken_out("tid"))
		return true;
	compilation.error("D_CAPTURE_MISSING", variable->place,
	                  "not recorded: the thread, which self->" + variable->variable->name +
	                      " is kept by, was taken out of " + compilation.target.description() +
	                      " (dfr redact)",
	                  "ask for a recording that keeps pid");
	return false;
}

// Constants and what every record holds need no capture.
bool needs_capture(const Node* node) {
	if (node->kind == Nk::Int || node->kind == Nk::Float || node->kind == Nk::String)
		return false;
	if (node->kind == Nk::BuiltinVar)
		return !in_every_record(node->builtin->id);
	// A cast or sum of such things can be computed again.
	bool needs = node->kind == Nk::Symbol || (node->kind == Nk::Unary && node->op == Tok::Star) ||
	             node->kind == Nk::Member || node->kind == Nk::Stringof ||
	             (node->kind == Nk::Subr && (node->subroutine->flags & (kUserData | kKernel) ||
	                                         node->subroutine->number == DIF_SUBR_PROGENYOF));
	for (const Node* const child : {node->a, node->b, node->c})
		needs |= child && needs_capture(child);
	for (const Node* const child : node->list)
		needs |= needs_capture(child);
	return needs;
}

// Whether an address may lead to memory of the replaying program: scratch memory or a variable. Any other is of the
// recorded machine, whose memory replay has not.
bool may_be_own(Compilation& compilation, const Node* address) {
	if (address->kind == Nk::String || address->kind == Nk::Subr)
		return true;
	if (address->kind == Nk::Var)
		return address->variable->memory & kScratch || compilation.types.is_by_ref(address->type);
	bool own = false;
	for (const Node* const child : {address->a, address->b, address->c})
		own |= child && may_be_own(compilation, child);
	return own;
}

// Of args[n], if only argn was recorded: that as its type. False: it was not, or args[n] is not its value.
bool take_raw_argument(Compilation& compilation, Node* node) {
	TypeTable& types = compilation.types;
	if (node->builtin->id != DIF_VAR_ARGS ||
	    !(types.is_integer(node->type) || types.is_pointer(node->type)))
		return false;
	const std::string raw = "arg" + std::to_string(node->list[0]->value);
	if (!compilation.captured.contains(raw))
		return false;
	const auto cast = [&](auto type) {
		node->a = compilation.arena.copy(*node);
		node->kind = Nk::Cast;
		node->list.clear();
		node->type = node->cast = type;
	};
	const auto type = node->type;
	make_captured(compilation, node, raw);
	node->type = types.named("int64_t");
	// Of a bool the register's other bits say nothing.
	if (types.info(type).is_bool)
		cast(types.named("uint8_t"));
	cast(type);
	return true;
}

// An expression that was recorded; `cut`: of its value only what its type can hold is used.
bool take_captured(Compilation& compilation, Node* node, const std::string& canon, bool cut) {
	TypeTable& types = compilation.types;
	const bool wide = is_wide(types, node);
	const auto usable = [&](const std::string& text) {
		return !compilation.captured.contains(text)   ? 0
		       : compilation.sometimes.contains(text) ? 1
		                                              : 2;
	};
	// What was recorded in the bytes of its type will do, where that is all of it or all that is used.
	const std::string in_bytes =
	    types.is_integer(node->type) && (!wide || cut)
	        ? recorded_text(canon, types.size(node->type), types.is_signed(node->type))
	        : canon;
	const bool better = usable(in_bytes) > usable(canon);
	if (!better && !usable(canon))
		return false;
	make_captured(compilation, node, better ? in_bytes : canon);
	node->wide = wide && !better;
	return true;
}

// Whether of a child's value only what its type can hold is used; `cut`: of the node's.
bool is_cut(TypeTable& types, const Node* node, const Node* child, bool cut) {
	if (node->kind == Nk::Cast || (node->kind == Nk::Assign && child == node->b))
		return types.is_integer(node->type) && !types.info(node->type).is_bool &&
		       types.size(node->type) <= types.size(child->type);
	return cut && node->kind == Nk::Binary && node->op == Tok::Comma && child == node->b;
}

bool walk(Compilation& compilation, Node* node, bool cut = false) {
	const std::string canon = canonical(compilation.types, node);
	// What every record holds is not taken from a clause that happened to record it: others would lack it.
	if (!canon.empty() && needs_capture(node) && take_captured(compilation, node, canon, cut))
		return true;
	if (node->kind == Nk::Captured)
		return true;
	switch (node->kind) {
	case Nk::BuiltinVar: {
		const uint32_t id = node->builtin->id;
		const bool out = in_every_record(id) && compilation.target.taken_out(canon);
		return (is_there(compilation, id) && !out) || take_raw_argument(compilation, node) ||
		       absent(compilation, node, canon);
	}
	case Nk::Var:
		if (!has_thread(compilation, node))
			return false;
		break;
	case Nk::Symbol: return absent(compilation, node, canon);
	case Nk::Subr:
		// What looks at memory of then, or at processes of then.
		if (node->subroutine->flags & (kUserData | kKernel) ||
		    node->subroutine->number == DIF_SUBR_PROGENYOF)
			return absent(compilation, node, canon, !canon.empty());
		break;
	case Nk::Member:
		if (node->arrow && (!canon.empty() || !may_be_own(compilation, node->a)))
			return absent(compilation, node, canon, !canon.empty());
		break;
	case Nk::Unary:
		if (node->op == Tok::Star && (!canon.empty() || !may_be_own(compilation, node->a)))
			return absent(compilation, node, canon, !canon.empty());
		break;
	case Nk::Stringof:
		if (!compilation.types.is_string(node->a->type) &&
		    (!canon.empty() || !may_be_own(compilation, node->a)))
			return absent(compilation, node, canon, !canon.empty());
		break;
	default: break;
	}
	bool good = true;
	for (Node* const child : {node->a, node->b, node->c})
		good &= !child || walk(compilation, child, is_cut(compilation.types, node, child, cut));
	for (Node* const child : node->list)
		good &= walk(compilation, child);
	return good;
}

void add_input(Compilation& compilation, const std::string& canon, Node* node) {
	for (const Compilation::Input& known : compilation.inputs) {
		if (known.canon == canon)
			return;
	}
	compilation.inputs.push_back({canon, node});
}

} // namespace

void collect_inputs(Compilation& compilation, Node* node) {
	if (node->kind == Nk::Error)
		return;
	const std::string canon = canonical(compilation.types, node);
	if (!canon.empty()) {
		if (needs_capture(node))
			add_input(compilation, canon, node);
		return;
	}
	for (Node* const child : {node->a, node->b, node->c}) {
		if (child)
			collect_inputs(compilation, child);
	}
	for (Node* const child : node->list)
		collect_inputs(compilation, child);
}

void collect_captured(Compilation& compilation, const Clause& clause) {
	compilation.captured.clear();
	compilation.own_probes = false;
	compilation.sometimes.clear();
	compilation.needed.clear();
	if (!compilation.target.is_replay())
		return;
	std::map<std::string, size_t> always; // how many of the probes always have it
	size_t probes = 0, own = 0;
	for (const Description& desc : clause.probes) {
		const ProbePattern pattern{desc.host,     desc.provider, desc.module,
		                           desc.function, desc.name,     desc.id};
		compilation.target.match(pattern, [&](const ProbeInfo& probe) {
			probes++;
			if (probe.provider == "dtrace") {
				own++;
				return true;
			}
			const auto* const inputs = compilation.target.captured(probe);
			for (size_t i = 0; inputs && i < inputs->size(); i++) {
				compilation.captured.insert((*inputs)[i].canon);
				always[(*inputs)[i].canon] += (*inputs)[i].always;
			}
			return true;
		});
	}
	compilation.own_probes = own && own == probes;
	for (const std::string& canon : compilation.captured)
		if (always[canon] < probes)
			compilation.sometimes.insert(canon);
}

// The code of `predicate` (a constant 1 if there is none) behind a test of each input: without one of them it is 0.
void require_needed(const std::set<uint64_t>& needed, std::optional<dif::Difo>& predicate) {
	if (needed.empty())
		return;
	dif::Difo code;
	if (predicate) {
		code = std::move(*predicate);
	} else {
		code.rtype = {DIF_KIND_CTF, DIF_CK_INTEGER, 0, 0, 4};
		code.integers = {1};
		code.text = {DIF_INSTR_WIDE(DIF_OP_SETX, 0, 1), DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
	}
	const auto before = static_cast<uint32_t>(4 * needed.size());
	const auto missing = static_cast<uint32_t>(before + code.text.size());
	for (uint32_t& word : code.text)
		if (DIF_OP(word) >= DIF_OP_BA && DIF_OP(word) <= DIF_OP_BLEU)
			word = DIF_INSTR_BRANCH(DIF_OP(word), DIF_LABEL(word) + before);
	std::vector<uint32_t> text;
	for (const uint64_t index : needed) {
		text.push_back(DIF_INSTR_WIDE(DIF_OP_SETX, static_cast<uint32_t>(code.integers.size()), 1));
		text.push_back(DIF_INSTR_R(DIF_OP_LDGA, DIF_VAR_CAPTURED, 1, 1));
		text.push_back(DIF_INSTR_R(DIF_OP_TST, 1, 0, 0));
		text.push_back(DIF_INSTR_BRANCH(DIF_OP_BE, missing));
		code.integers.push_back(DIF_CAPTURED_THERE | index);
	}
	code.text.insert(code.text.begin(), text.begin(), text.end());
	code.text.push_back(DIF_INSTR_R(DIF_OP_RET, 0, 0, 0));
	for (dif::SourceLine& line : code.lines)
		line.pc += before;
	predicate = std::move(code);
}

bool substitute_captured(Compilation& compilation, Node* node, bool cut) {
	return !compilation.target.is_replay() || walk(compilation, node, cut);
}

bool captured_bytes(Compilation& compilation, const std::string& canon, Node* address) {
	if (!compilation.target.is_replay() || canon.empty())
		return true;
	if (!compilation.captured.contains(canon))
		return absent(compilation, address, canon);
	make_captured(compilation, address, canon);
	return true;
}

bool require_captured(Compilation& compilation, const std::string& canon, const Node* node) {
	if (compilation.deriving)
		add_input(compilation, canon, const_cast<Node*>(node));
	if (!compilation.target.is_replay())
		return true;
	if (!compilation.captured.contains(canon) && !taken_out(compilation, canon))
		return missing(compilation, node);
	index_of(compilation, canon);
	return true;
}

} // namespace dfr::d
