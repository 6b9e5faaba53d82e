// SPDX-License-Identifier: GPL-2.0
//
// Programs assembled by hand for tests and benchmarks of the engine's recording
// half: DIFOs of a few instructions, actions, clauses. Not the compiler, so that
// a test of the engine fails for the engine alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/dof/image.h"

namespace store_rig {

using dfr::dif::Difo;
using dfr::dof::Action;
using dfr::dof::Body;
using dfr::dof::Image;

// DIFOs.

inline dif_type int_type(uint32_t size, bool is_signed = true) {
	dif_type type{};
	type.kind = DIF_KIND_CTF;
	type.ckind = DIF_CK_INTEGER;
	type.flags = is_signed ? DIF_TF_SIGNED : 0;
	type.size = size;
	return type;
}

inline dif_type string_type(uint32_t size = 256) {
	dif_type type{};
	type.kind = DIF_KIND_STRING;
	type.flags = DIF_TF_BYREF;
	type.size = size;
	return type;
}

inline Difo builtin(uint32_t id, dif_type type) {
	Difo difo;
	difo.rtype = type;
	difo.text = {DIF_INSTR_WIDE(DIF_OP_LDGS, id, 1), DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
	return difo;
}

inline Difo arg(unsigned n, dif_type type = int_type(8)) {
	return builtin(DIF_VAR_ARG0 + n, type);
}

inline Difo constant(uint64_t value, dif_type type = int_type(8)) {
	Difo difo;
	difo.rtype = type;
	difo.integers = {value};
	difo.text = {DIF_INSTR_WIDE(DIF_OP_SETX, 0, 1), DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
	return difo;
}

inline Difo text(const std::string& value) {
	Difo difo;
	difo.rtype = string_type();
	difo.strings = std::string(1, '\0') + value + std::string(1, '\0');
	difo.text = {DIF_INSTR_WIDE(DIF_OP_SETS, 1, 1), DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
	return difo;
}

// arg0 == value, as a predicate.
inline Difo arg0_is(uint64_t value) {
	Difo difo;
	difo.rtype = int_type(4);
	difo.integers = {value, 1};
	difo.text = {DIF_INSTR_WIDE(DIF_OP_LDGS, DIF_VAR_ARG0, 1),
	             DIF_INSTR_WIDE(DIF_OP_SETX, 0, 2),
	             DIF_INSTR_R(DIF_OP_CMP, 1, 2, 0),
	             DIF_INSTR_BRANCH(DIF_OP_BE, 6),
	             DIF_INSTR_R(DIF_OP_MOV, 0, 0, 1),
	             DIF_INSTR_BRANCH(DIF_OP_BA, 7),
	             DIF_INSTR_WIDE(DIF_OP_SETX, 1, 1),
	             DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
	return difo;
}

// *(long *)0: BADADDR at instruction 0.
inline Difo bad_load() {
	Difo difo;
	difo.rtype = int_type(8);
	difo.text = {DIF_INSTR_R(DIF_OP_LDX, 0, 0, 1), DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
	return difo;
}

// Tells the DIFO of a number of the program's, its only variable.
inline void add_number(Difo& difo, uint32_t id, uint8_t scope, uint16_t flags) {
	dif_var var{};
	var.name = 1;
	var.id = id;
	var.kind = DIF_VK_SCALAR;
	var.scope = scope;
	var.flags = flags;
	var.type = int_type(8);
	difo.strings = std::string("\0v\0", 3);
	difo.variables.push_back(var);
}

// Global variable `id` = value of `load`; returns nothing.
inline Difo store_global(uint32_t id, const Difo& load) {
	Difo difo = load;
	difo.rtype = dif_type{};
	difo.text.pop_back();
	difo.text.push_back(DIF_INSTR_WIDE(DIF_OP_STGS, id, 1));
	difo.text.push_back(DIF_INSTR_R(DIF_OP_RET, 0, 0, 0));
	add_number(difo, id, DIF_VS_GLOBAL, DIF_VF_MOD);
	return difo;
}

inline Difo load_global(uint32_t id) {
	Difo difo = builtin(id, int_type(8));
	add_number(difo, id, DIF_VS_GLOBAL, DIF_VF_REF);
	return difo;
}

// Of a thread-local number.
inline Difo with_number(std::vector<uint32_t> text, dif_type type, uint32_t id) {
	Difo difo;
	difo.rtype = type;
	difo.text = std::move(text);
	add_number(difo, id, DIF_VS_THREAD, DIF_VF_MOD | DIF_VF_REF);
	return difo;
}

inline Difo speculation() {
	Difo difo;
	difo.rtype = int_type(4);
	difo.text = {DIF_INSTR_R(DIF_OP_FLUSHTS, 0, 0, 0),
	             DIF_INSTR_WIDE(DIF_OP_CALL, DIF_SUBR_SPECULATION, 1), DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
	return difo;
}

// Actions.

inline Action act(uint32_t kind, std::optional<Difo> difo = {}) {
	Action action;
	action.kind = kind;
	action.difo = std::move(difo);
	return action;
}
inline Action trace(Difo difo) {
	return act(DFR_ACT_DIFEXPR, std::move(difo));
}
inline Action capture(Difo difo) {
	return act(DFR_ACT_CAPTURE, std::move(difo));
}
inline Action capture_args() {
	return act(DFR_ACT_CAPTURE_ARGS);
}
inline Action exit_with(uint64_t status) {
	return act(DFR_ACT_EXIT, constant(status, int_type(4)));
}

// printm(size, memref("value", arg0)).
inline Action printm(uint64_t size, const std::string& value) {
	Difo difo = text(value);
	difo.rtype = dif_type{DIF_KIND_CTF, DIF_CK_INTEGER, DIF_TF_BYREF, 0, 16};
	difo.text = {DIF_INSTR_WIDE(DIF_OP_SETS, 1, 1),    DIF_INSTR_WIDE(DIF_OP_LDGS, DIF_VAR_ARG0, 2),
	             DIF_INSTR_R(DIF_OP_FLUSHTS, 0, 0, 0), DIF_INSTR_R(DIF_OP_PUSHTV, 0, 0, 1),
	             DIF_INSTR_R(DIF_OP_PUSHTV, 0, 0, 2),  DIF_INSTR_WIDE(DIF_OP_CALL, DIF_SUBR_MEMREF, 1),
	             DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
	Action action = act(DFR_ACT_PRINTM, std::move(difo));
	action.arg = size;
	return action;
}

// Aggregation variable `id`; keys come before, in the body.
inline Action aggregate(uint32_t kind, uint32_t id, uint32_t ntuple, std::optional<Difo> value = {},
                        uint64_t arg = 0) {
	Action action = act(kind, std::move(value));
	action.ntuple = ntuple;
	action.uarg = id;
	action.arg = arg;
	return action;
}

// Programs.

class Program {
public:
	// "provider:module:function:name" (all four), a predicate and what to do.
	Program& clause(const std::string& probe, std::optional<Difo> predicate, std::vector<Action> actions,
	                uint64_t uarg = 0) {
		dfr::dof::EcbDesc ecb;
		std::string* const fields[] = {&ecb.probe.provider, &ecb.probe.module, &ecb.probe.function,
		                               &ecb.probe.name};
		size_t from = 0;
		for (std::string* field : fields) {
			size_t colon = probe.find(':', from);
			*field = probe.substr(from, colon == std::string::npos ? colon : colon - from);
			from = colon == std::string::npos ? probe.size() : colon + 1;
		}
		ecb.body = static_cast<uint32_t>(image_.bodies.size());
		ecb.uarg = uarg;
		Body body;
		body.predicate = std::move(predicate);
		body.actions = std::move(actions);
		image_.bodies.push_back(std::move(body));
		image_.ecbs.push_back(ecb);
		return *this;
	}
	Program& clause(const std::string& probe, std::vector<Action> actions) {
		return clause(probe, {}, std::move(actions));
	}
	// The fifth field of the last clause.
	Program& host(const std::string& glob) {
		image_.ecbs.back().probe.host = glob;
		return *this;
	}
	// The last clause `times` more: it is the same body, so the program is no larger.
	Program& again(unsigned times) {
		image_.ecbs.insert(image_.ecbs.end(), times, image_.ecbs.back());
		return *this;
	}
	Program& option(uint32_t number, int64_t value) {
		image_.options.push_back({number, value});
		return *this;
	}
	std::vector<uint8_t> bytes() const { return dfr::dof::write(image_); }

private:
	Image image_;
};

} // namespace store_rig
