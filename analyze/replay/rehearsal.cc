// SPDX-License-Identifier: GPL-2.0
#include "analyze/replay/rehearsal.h"

#include "formats/d/compile.h"

namespace dfr::replay {
namespace {

// The field of a value that is recorded; of what is no integer only which action it belongs to.
dfr_field field_of(const dof::Action& action, size_t index) {
	dfr_field field{.action = static_cast<uint16_t>(index), .argument = -1};
	if (!action.difo || action.difo->rtype.kind != DIF_KIND_CTF ||
	    action.difo->rtype.flags & (DIF_TF_BYREF | DIF_TF_BYUREF))
		return field;
	const dif_type& type = action.difo->rtype;
	field.kind = DFR_FIELD_INT;
	field.size = type.size == 1 || type.size == 2 || type.size == 4 ? type.size : 8;
	field.flags = type.flags & DIF_TF_SIGNED ? DFR_FIELD_SIGNED : 0;
	return field;
}

// One layout for each clause.
trace::Layout layout_of(const dof::Image& program, uint32_t clause) {
	trace::Layout layout;
	layout.id = layout.clause = clause;
	const auto& actions = program.bodies[program.ecbs[clause].body].actions;
	for (size_t i = 0; i < actions.size(); i++) {
		if (!actions[i].expression.empty())
			layout.fields.push_back(field_of(actions[i], i));
	}
	return layout;
}

} // namespace

trace::Catalog catalog_to_be(const dof::Image& program, d::Target& machine) {
	trace::Catalog catalog;
	const auto bytes = dof::write(program);
	const auto view = std::as_bytes(std::span(bytes));
	catalog.dofs.emplace_back(view.begin(), view.end());
	catalog.machine["release"] = machine.kernel_release();
	catalog.machine["engine"] = machine.has_kernel() ? "kernel" : "process";
	for (uint32_t clause = 0; clause < program.ecbs.size(); clause++) {
		catalog.layouts[clause] = layout_of(program, clause);
		machine.match(d::pattern_of(program.ecbs[clause].probe), [&](const d::ProbeInfo& info) {
			catalog.probes[info.id] = {info.id,     info.nargs,    info.provider,
			                           info.module, info.function, info.name};
			catalog.add_ecb({static_cast<uint32_t>(catalog.ecbs.size() + 1), info.id, clause});
			return true;
		});
	}
	return catalog;
}

} // namespace dfr::replay
