// SPDX-License-Identifier: GPL-2.0
//
// From a DOF's actions to the statements that render a record.
#include "analyze/render/programs.h"

#include <algorithm>
#include <cstring>

#include "formats/error.h"
#include "formats/shown.h"

namespace dfr::render {
namespace {

using Verb = Statement::Verb;

Verb verb_of(const dof::Action& action) {
	switch (action.kind) {
	case DFR_ACT_DIFEXPR: return action.format ? Verb::Print : Verb::Trace;
	case DFR_ACT_EXIT: return Verb::Exit;
	case DFR_ACT_PRINTF: return Verb::Printf;
	case DFR_ACT_PRINTA: return Verb::Printa;
	case DFR_ACT_SYSTEM: return Verb::System;
	case DFR_ACT_FREOPEN: return Verb::Freopen;
	case DFR_ACT_STACK:
	case DFR_ACT_USTACK:
	case DFR_ACT_JSTACK: return Verb::Stack;
	case DFR_ACT_SYM:
	case DFR_ACT_MOD:
	case DFR_ACT_USYM:
	case DFR_ACT_UMOD:
	case DFR_ACT_UADDR: return Verb::Name;
	case DFR_ACT_TRACEMEM:
	case DFR_ACT_PRINTM: return Verb::Tracemem;
	case DFR_ACT_LIBACT: break;
	default: return Verb::Nothing;
	}
	switch (DFR_UARG_LIBACT(action.uarg)) {
	case DFR_LIBACT_CLEAR: return Verb::Clear;
	case DFR_LIBACT_NORMALIZE: return Verb::Normalize;
	case DFR_LIBACT_DENORMALIZE: return Verb::Denormalize;
	case DFR_LIBACT_TRUNC: return Verb::Trunc;
	case DFR_LIBACT_FTRUNCATE: return Verb::Ftruncate;
	case DFR_LIBACT_SETOPT: return Verb::Setopt;
	default: return Verb::Nothing;
	}
}

bool takes_format(Verb verb) {
	return verb == Verb::Printf || verb == Verb::Printa || verb == Verb::System || verb == Verb::Freopen;
}

// A statement's action count from `first`: those of the same statement number.
size_t statement_end(const dof::Body& body, size_t first) {
	const auto number = DFR_UARG_STATEMENT(body.actions[first].uarg);
	size_t end = first + 1;
	while (end < body.actions.size() && !DFR_ACT_IS_AGG(body.actions[end].kind) &&
	       DFR_UARG_STATEMENT(body.actions[end].uarg) == number)
		end++;
	return end;
}

// Captures and snapshot() are recorded for later questions and print nothing.
bool is_silent(const dof::Action& action) {
	return action.kind == DFR_ACT_CAPTURE || action.kind == DFR_ACT_CAPTURE_ARGS ||
	       action.kind == DFR_ACT_SNAPSHOT || DFR_UARG_LIBACT(action.uarg) == DFR_LIBACT_CAPTURED;
}

uint32_t word(uint8_t op, uint32_t index, uint8_t rd) {
	return DIF_INSTR_WIDE(op, index, rd);
}

} // namespace

const dof::Image* Programs::image(uint32_t dof) {
	if (dof >= catalog_.dofs.size())
		return nullptr;
	if (images_.size() <= dof) {
		images_.resize(dof + 1);
		tried_.resize(dof + 1);
	}
	if (!tried_[dof]) {
		tried_[dof] = true;
		try {
			images_[dof] = std::make_unique<dof::Image>(dof::read(catalog_.dofs[dof]));
		} catch (const Error&) {
			// A damaged program: its records print nothing, and the verdict names them.
		}
	}
	return images_[dof].get();
}

const PrintfFormat* Programs::format_of(const std::string& text) {
	auto& format = formats_[text];
	if (!format)
		format = std::make_unique<PrintfFormat>(PrintfFormat::parse(text));
	return format.get();
}

std::unique_ptr<Rendering> Programs::make_rendering(const trace::Layout& layout) {
	const dof::Image* const program = image(layout.dof);
	if (!program || layout.clause >= program->ecbs.size())
		return nullptr;
	const dof::EcbDesc& ecb = program->ecbs[layout.clause];
	if (ecb.body >= program->bodies.size())
		return nullptr;
	auto rendering = std::make_unique<Rendering>();
	const dof::Body& body = program->bodies[ecb.body];
	rendering->body = &body;
	rendering->layout = &layout;
	rendering->clause = DFR_ECBUARG_CLAUSE(ecb.uarg);
	rendering->dof = layout.dof;
	rendering->continuation = ecb.uarg & DFR_ECBUARG_CONTINUATION;
	rendering->error = rendering->clause == kErrorClause;
	const auto [split, fresh] = split_.try_emplace(layout.dof);
	for (size_t i = 0; fresh && i < program->ecbs.size(); i++)
		if (program->ecbs[i].uarg & DFR_ECBUARG_CONTINUATION)
			split->second.insert(DFR_ECBUARG_CLAUSE(program->ecbs[i].uarg));
	rendering->split = split->second.contains(rendering->clause);

	std::multimap<uint32_t, int> fields;
	for (size_t i = 0; i < layout.fields.size(); i++)
		fields.emplace(layout.fields[i].action, static_cast<int>(i));
	const auto members = dof::aggregated(body);
	const auto add_arguments = [&](Statement& statement, size_t action) {
		const auto [from, to] = fields.equal_range(static_cast<uint32_t>(action));
		for (auto at = from; at != to; ++at)
			statement.arguments.push_back({at->second, static_cast<uint32_t>(action)});
	};
	bool prints = false, silent = false;
	for (size_t i = 0; i < body.actions.size();) {
		const dof::Action& action = body.actions[i];
		silent |= is_silent(action);
		if (members[i] || is_silent(action)) {
			i++;
			continue;
		}
		Statement statement;
		statement.verb = verb_of(action);
		statement.action = &action;
		if (takes_format(statement.verb) && action.format)
			statement.format = format_of(*action.format);
		const bool whole = takes_format(statement.verb) || statement.verb == Verb::Print ||
		                   action.kind == DFR_ACT_LIBACT || action.kind == DFR_ACT_TRACEMEM;
		const size_t end = whole ? statement_end(body, i) : i + 1;
		for (; i < end; i++)
			if (!members[i])
				add_arguments(statement, i);
		// `x = e;` records nothing and says nothing.
		const bool empty = (statement.verb == Verb::Trace || statement.verb == Verb::Print) &&
		                   statement.arguments.empty();
		if (statement.verb == Verb::Nothing || empty)
			continue;
		prints = true;
		rendering->statements.push_back(std::move(statement));
	}
	rendering->silent = silent && !prints;
	return rendering;
}

// A probe with names as they may be printed: nearly always itself.
const trace::Probe* Programs::printed(const trace::Probe* probe) {
	if (!probe || (harmless(probe->function) == probe->function && harmless(probe->name) == probe->name))
		return probe;
	trace::Probe& copy = printed_[probe->id] = *probe;
	copy.function = harmless(probe->function);
	copy.name = harmless(probe->name);
	return &copy;
}

const Rendering* Programs::rendering_of(uint32_t epid) {
	if (epid < by_epid_.size() && by_epid_[epid].rendering)
		return by_epid_[epid].rendering;
	const trace::Layout* const layout = catalog_.layout_of(epid);
	if (!layout)
		return nullptr;
	auto& rendering = renderings_[layout->id];
	if (!rendering)
		rendering = make_rendering(*layout);
	if (epid >= by_epid_.size())
		by_epid_.resize(epid + 1);
	by_epid_[epid] = {rendering.get(), printed(catalog_.probe_of(epid))};
	return rendering.get();
}

bool Rendering::reads_aggregations() const {
	return std::any_of(statements.begin(), statements.end(), [](const Statement& statement) {
		return statement.verb == Statement::Verb::Printa ||
		       statement.verb == Statement::Verb::Clear || statement.verb == Statement::Verb::Trunc;
	});
}

const Programs::Keys& Programs::keys_of(uint32_t varid) {
	auto [at, fresh] = keys_.try_emplace(varid);
	Keys& keys = at->second;
	if (!fresh)
		return keys;
	for (uint32_t d = 0; d < catalog_.dofs.size(); d++) {
		const dof::Image* const program = image(d);
		if (!program)
			continue;
		for (const dof::Body& body : program->bodies) {
			for (size_t i = 0; i < body.actions.size(); i++) {
				const dof::Action& action = body.actions[i];
				if (!DFR_ACT_IS_AGG(action.kind) || action.uarg != varid)
					continue;
				keys.function = action.kind;
				keys.arg = action.arg;
				for (size_t k = i - std::min<size_t>(action.ntuple, i); k < i; k++) {
					if (body.actions[k].uarg == DFR_UARG_WEIGHT)
						continue;
					keys.kinds.push_back(body.actions[k].kind);
					keys.by_cpu = body.actions[k].uarg == DFR_UARG_CPU;
				}
				return keys;
			}
		}
	}
	return keys;
}

std::string Programs::aggregation_name(uint32_t varid) {
	for (uint32_t d = 0; d < catalog_.dofs.size(); d++)
		if (const dof::Image* const program = image(d))
			for (const dof::AggName& name : program->aggregations)
				if (name.id == varid)
					return name.name;
	return {};
}

void set_datum(Datum& datum, const dof::Action& action, const dfr_field& field, uint64_t number,
               std::span<const std::byte> bytes) {
	datum.number = number;
	datum.bytes = bytes;
	datum.is_signed = field.flags & DFR_FIELD_SIGNED;
	switch (field.kind) {
	case DFR_FIELD_INT:
		datum.size = static_cast<uint8_t>(field.size);
		datum.kind = action.kind == DFR_ACT_SYM   ? DatumKind::Symbol
		             : action.kind == DFR_ACT_MOD ? DatumKind::Module
		                                          : DatumKind::Integer;
		if (datum.kind == DatumKind::Integer && action.difo &&
		    action.difo->rtype.ckind == DIF_CK_FLOAT)
			datum.kind = DatumKind::Float;
		break;
	case DFR_FIELD_STRING:
	case DFR_FIELD_PROBETEXT: datum.kind = DatumKind::String; break;
	case DFR_FIELD_BYTES:
	case DFR_FIELD_VARBYTES: datum.kind = DatumKind::Bytes; break;
	case DFR_FIELD_STACK: datum.kind = DatumKind::Stack; break;
	case DFR_FIELD_USTACK:
		datum.kind = DatumKind::UserStack;
		datum.pid = static_cast<uint32_t>(number);
		break;
	case DFR_FIELD_USYM:
		datum.kind = action.kind == DFR_ACT_UMOD    ? DatumKind::UserModule
		             : action.kind == DFR_ACT_UADDR ? DatumKind::UserAddress
		                                            : DatumKind::UserSymbol;
		if (bytes.size() == 16) {
			uint64_t pair[2];
			std::memcpy(pair, bytes.data(), sizeof pair);
			datum.pid = static_cast<uint32_t>(pair[0]);
			datum.number = pair[1];
		}
		break;
	default: datum.kind = DatumKind::None;
	}
}

void add_error_clause(dof::Image& image) {
	dof::Body body;
	for (unsigned i = 1; i <= 5; i++) {
		dof::Action action;
		action.kind = DFR_ACT_DIFEXPR;
		action.uarg = DFR_UARG(i - 1, 0, 0);
		dif::Difo difo;
		difo.rtype.ckind = DIF_CK_INTEGER;
		difo.rtype.flags = DIF_TF_SIGNED;
		difo.rtype.size = 8;
		difo.text = {word(DIF_OP_LDGS, DIF_VAR_ARG0 + i, 1), DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
		action.difo = std::move(difo);
		body.actions.push_back(std::move(action));
	}
	dof::EcbDesc ecb;
	ecb.body = static_cast<uint32_t>(image.bodies.size());
	ecb.probe.provider = "dtrace";
	ecb.probe.name = "ERROR";
	ecb.uarg = DFR_ECBUARG(kErrorClause, 0);
	image.bodies.push_back(std::move(body));
	image.ecbs.push_back(std::move(ecb));
}

std::vector<uint8_t> error_program() {
	dof::Image image;
	add_error_clause(image);
	return dof::write(image);
}

} // namespace dfr::render
