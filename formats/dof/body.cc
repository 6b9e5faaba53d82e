// SPDX-License-Identifier: GPL-2.0
//
// Which actions of a body belong together, and which leave records. The engine decides this in the same way
// when it compiles a clause (kmod/engine/recording/plan.c).
#include <algorithm>

#include "formats/dof/image.h"

namespace dfr::dof {

std::vector<bool> aggregated(const Body& body) {
	std::vector<bool> member(body.actions.size());
	for (size_t i = 0; i < body.actions.size(); i++) {
		if (!DFR_ACT_IS_AGG(body.actions[i].kind))
			continue;
		const size_t count = std::min<size_t>(body.actions[i].ntuple, i);
		for (size_t k = i - count; k <= i; k++)
			member[k] = true;
	}
	return member;
}

namespace {

bool leaves_record(const Action& action) {
	switch (action.kind) {
	case DFR_ACT_DIFEXPR: // the DIFO of an assignment has no value
		return action.difo &&
		       (action.difo->rtype.size != 0 || action.difo->rtype.kind == DIF_KIND_STRING ||
		        (action.difo->rtype.flags & DIF_TF_BYREF) != 0);
	case DFR_ACT_NONE:
	case DFR_ACT_COMMIT:
	case DFR_ACT_DISCARD:
	case DFR_ACT_STOP:
	case DFR_ACT_RAISE:
	case DFR_ACT_BREAKPOINT:
	case DFR_ACT_PANIC:
	case DFR_ACT_CHILL: return false;
	default: return true;
	}
}

} // namespace

bool leaves_records(const Body& body) {
	const std::vector<bool> members = aggregated(body);
	for (size_t i = 0; i < body.actions.size(); i++)
		if (!members[i] && leaves_record(body.actions[i]))
			return true;
	return body.actions.empty();
}

void append(Image& image, const Image& more) {
	const auto bodies = static_cast<uint32_t>(image.bodies.size());
	uint64_t clauses = 0;
	for (const EcbDesc& ecb : image.ecbs)
		clauses = std::max<uint64_t>(clauses, DFR_ECBUARG_CLAUSE(ecb.uarg) + 1);
	image.bodies.insert(image.bodies.end(), more.bodies.begin(), more.bodies.end());
	for (EcbDesc ecb : more.ecbs) {
		ecb.body += bodies;
		ecb.uarg += clauses << 8;
		image.ecbs.push_back(std::move(ecb));
	}
	if (!image.btf_digest) {
		image.btf_digest = more.btf_digest;
		image.btf_name = more.btf_name;
	}
	if (!image.source.ends_with('\n'))
		image.source += '\n';
	image.source += more.source;
}

} // namespace dfr::dof
