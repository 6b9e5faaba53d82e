// SPDX-License-Identifier: GPL-2.0
//
// ClauseBuilder for derive(): the clause's actions were analysed and their
// inputs collected; what is emitted is a clause that captures them.
#include "formats/d/clause.h"

#include "formats/d/canon.h"
#include "formats/d/capture.h"

namespace dfr::d {

// The conjuncts that are firing inputs, up to the first one that changes something, because that happens also where
// those behind it do not hold; null if there are none. `changed`: that one has come.
Node* ClauseBuilder::pushed_predicate(Node* predicate, bool& changed) {
	if (predicate->kind == Nk::Binary && predicate->op == Tok::LAnd) {
		Node* const left = pushed_predicate(predicate->a, changed);
		Node* const right = pushed_predicate(predicate->b, changed);
		if (!left || !right)
			return left ? left : right;
		Node* const both = compilation_.arena.copy(*predicate);
		both->a = left;
		both->b = right;
		return both;
	}
	const bool input = !changed && !canonical(types_, predicate).empty();
	changed |= !input && any_node(predicate, [](const Node* node) {
		return writes(node) || (node->kind == Nk::Subr && !(node->subroutine->flags & kPure));
	});
	return input ? predicate : nullptr;
}

void ClauseBuilder::derive(const Clause& clause) {
	if (predicate_)
		collect_inputs(compilation_, predicate_);
	const auto own = [](const Description& desc) {
		return desc.name == "BEGIN" || desc.name == "END" || desc.name == "ERROR" ||
		       desc.name.starts_with("tick-");
	};
	std::vector<Description> probes;
	for (const Description& desc : clause.probes) {
		if (!own(desc))
			probes.push_back(desc);
	}
	if (probes.empty())
		return;

	// What is generated below is no input of the analysis.
	const std::vector<Compilation::Input> inputs = std::move(compilation_.inputs);
	compilation_.deriving = false;
	bool changed = false;
	Node* const predicate = predicate_ ? pushed_predicate(predicate_, changed) : nullptr;
	std::string text;
	for (const Description& desc : probes)
		text += (text.empty() ? "" : ", ") + desc.text;
	if (predicate)
		text += " /" + source_text(types_, predicate) + "/";
	text += " { capture(";
	dof::Body body;
	if (predicate) {
		body.condition = canonical(types_, predicate);
		body.predicate = predicate_code(predicate);
	}
	statement_ = index_ = 0;
	for (const Compilation::Input& input : inputs) {
		if (input.node->kind != Nk::Recorded && !can_note(body.actions)) {
			refuse("D_CAPTURE_MANY", input.node->place,
			       "the clause uses more than 256 values of its firing, which is too many to "
			       "capture",
			       "split it into several clauses, because a fault can be told of the first 256 "
			       "values only");
			break;
		}
		dof::Action out;
		const bool good = input.node->kind == Nk::Recorded
		                      ? recorded(input.node, out)
		                      : value_action(input.node, DFR_ACT_CAPTURE, out);
		if (!good)
			continue;
		text += (index_ ? ", " : "") + source_text(types_, input.node);
		out.uarg = uarg(input.node->kind == Nk::Recorded ? DFR_LIBACT_CAPTURED : 0);
		body.actions.push_back(std::move(out));
	}
	if (body.actions.empty()) {
		// The firing itself is what the analysis needs.
		dof::Action out = constant_action(DFR_ACT_CAPTURE, 0);
		out.uarg = uarg();
		body.actions.push_back(std::move(out));
		text += "0";
	}
	compilation_.deriving = true;
	compilation_.derived_text += text + "); }\n";

	dof::Image& image = compilation_.result.image;
	image.bodies.push_back(std::move(body));
	for (const Description& desc : probes) {
		dof::EcbDesc ecb;
		ecb.probe = {desc.host, desc.provider, desc.module, desc.function, desc.name, desc.id};
		ecb.body = static_cast<uint32_t>(image.bodies.size() - 1);
		// Where the predicate faults, replay must have what it needs to fault too.
		ecb.uarg =
		    DFR_ECBUARG(number_, DFR_ECBUARG_FAULT_HOLDS |
		                             (compilation_.kernel_types ? DFR_ECBUARG_KERNEL_TYPES : 0) |
		                             DFR_ECBUARG_OF_PRIORITY(clause.priority));
		image.ecbs.push_back(std::move(ecb));
	}
}

} // namespace dfr::d
