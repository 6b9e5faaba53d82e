// SPDX-License-Identifier: GPL-2.0
//
// Substitution of captured inputs.
#include "formats/d/capture.h"

#include <algorithm>

#include "formats/d/builtins.h"
#include "formats/d/canon.h"

namespace dfr::d {
namespace {

// Comes with every record, whatever was captured.
bool is_standard(uint32_t id) {
	switch (id) {
	case DIF_VAR_TIMESTAMP: case DIF_VAR_WALLTIMESTAMP: case DIF_VAR_EPID: case DIF_VAR_ID: case DIF_VAR_PROBEPROV:
	case DIF_VAR_PROBEMOD: case DIF_VAR_PROBEFUNC: case DIF_VAR_PROBENAME: case DIF_VAR_PID: case DIF_VAR_TID:
	case DIF_VAR_EXECNAME: case DIF_VAR_CPU:
		return true;
	default:
		return false;
	}
}

uint64_t index_of(Context& context, const std::string& canon) {
	auto& known = context.result.captured;
	const auto at = std::find(known.begin(), known.end(), canon);
	if (at != known.end())
		return at - known.begin();
	known.push_back(canon);
	return known.size() - 1;
}

bool missing(Context& context, const Node* node) {
	const std::string text = source_text(context.types, node);
	context.error("D_CAPTURE_MISSING", node->place, "not recorded: " + text + " in " + context.target.description(),
	              "record it: add capture(" + text + "); to the clause of the recording program, or derive the captures with dfr record --for PROGRAM.d");
	return false;
}

void make_captured(Context& context, Node* node, const std::string& canon) {
	const Node before = *node;
	*node = Node{};
	node->kind = Nk::Captured;
	node->place = before.place;
	node->type = before.type;
	node->analyzed = true;
	node->value = index_of(context, canon);
}

bool walk(Context& context, Node* node) {
	const std::string canon = canonical(context.types, node);
	if (!canon.empty() && context.captured.contains(canon)) {
		make_captured(context, node, canon);
		return true;
	}
	if (node->kind == Nk::Captured)
		return true;
	switch (node->kind) {
	case Nk::BuiltinVar:
		return is_standard(node->builtin->id) || missing(context, node);
	case Nk::Symbol:
		return missing(context, node);
	case Nk::Subr:
		// What looks at memory of then, or at processes of then.
		if (node->subroutine->flags & (kUserData | kKernel) || node->subroutine->number == DIF_SUBR_PROGENYOF)
			return missing(context, node);
		break;
	case Nk::Member:
		if (!canon.empty() && node->arrow)
			return missing(context, node);
		break;
	case Nk::Unary:
		if (!canon.empty() && node->op == Tok::Star)
			return missing(context, node);
		break;
	case Nk::Stringof:
		if (!canon.empty() && node->a->kind != Nk::String && !context.types.is_string(node->a->type))
			return missing(context, node);
		break;
	default:
		break;
	}
	bool good = true;
	for (Node* const child : {node->a, node->b, node->c})
		good &= !child || walk(context, child);
	for (Node* const child : node->list)
		good &= walk(context, child);
	return good;
}

void add_input(Context& context, const std::string& canon, Node* node) {
	for (const Context::Input& known : context.inputs) {
		if (known.canon == canon)
			return;
	}
	context.inputs.push_back({canon, node});
}

// Constants and what every record holds need no capture.
bool needs_capture(const Node* node) {
	if (node->kind == Nk::Int || node->kind == Nk::Float || node->kind == Nk::String)
		return false;
	if (node->kind == Nk::BuiltinVar)
		return !is_standard(node->builtin->id);
	// A cast or sum of such things can be computed again.
	bool needs = node->kind == Nk::Symbol || (node->kind == Nk::Unary && node->op == Tok::Star) || node->kind == Nk::Member ||
	             node->kind == Nk::Stringof ||
	             (node->kind == Nk::Subr && (node->subroutine->flags & (kUserData | kKernel) || node->subroutine->number == DIF_SUBR_PROGENYOF));
	for (const Node* const child : {node->a, node->b, node->c})
		needs |= child && needs_capture(child);
	for (const Node* const child : node->list)
		needs |= needs_capture(child);
	return needs;
}

} // namespace

void collect_inputs(Context& context, Node* node) {
	if (node->kind == Nk::Error)
		return;
	const std::string canon = canonical(context.types, node);
	if (!canon.empty()) {
		if (needs_capture(node))
			add_input(context, canon, node);
		return;
	}
	for (Node* const child : {node->a, node->b, node->c}) {
		if (child)
			collect_inputs(context, child);
	}
	for (Node* const child : node->list)
		collect_inputs(context, child);
}

void collect_captured(Context& context, const Clause& clause) {
	context.captured.clear();
	if (!context.target.is_replay())
		return;
	for (const ProbeDesc& desc : clause.probes) {
		const ProbePattern pattern{desc.host, desc.provider, desc.module, desc.function, desc.name, desc.id};
		context.target.match(pattern, [&](const ProbeInfo& probe) {
			// A probe without this input faults when the program evaluates it.
			if (const auto* const inputs = context.target.captured(probe)) {
				for (const CapturedInput& input : *inputs)
					context.captured.insert(input.canon);
			}
			return true;
		});
	}
}

bool substitute_captured(Context& context, Node* node) {
	return !context.target.is_replay() || walk(context, node);
}

bool captured_bytes(Context& context, const std::string& canon, Node* address) {
	if (!context.target.is_replay() || canon.empty())
		return true;
	if (!context.captured.contains(canon))
		return missing(context, address);
	make_captured(context, address, canon);
	return true;
}

bool require_captured(Context& context, const std::string& canon, const Node* node) {
	if (context.deriving)
		add_input(context, canon, const_cast<Node*>(node));
	if (!context.target.is_replay())
		return true;
	if (!context.captured.contains(canon))
		return missing(context, node);
	index_of(context, canon);
	return true;
}

} // namespace dfr::d
