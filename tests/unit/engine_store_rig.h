// SPDX-License-Identifier: GPL-2.0
//
// What the tests of the engine's recording half share: programs assembled by
// hand (dof::Image, without the compiler), an engine with one provider, states,
// firings with a given "current", and what was recorded, read back through the
// catalog and the decoder that readers use. Not a mock: the engine is the real
// one, on the user-space platform.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "analyze/replay/engine_c.h"
#include "formats/dof/image.h"
#include "formats/trace/catalog.h"
#include "formats/trace/decode.h"


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
	difo.text = {DIF_INSTR_WIDE(DIF_OP_LDGS, DIF_VAR_ARG0, 1), DIF_INSTR_WIDE(DIF_OP_SETX, 0, 2),
		     DIF_INSTR_R(DIF_OP_CMP, 1, 2, 0),		   DIF_INSTR_BRANCH(DIF_OP_BE, 6),
		     DIF_INSTR_R(DIF_OP_MOV, 0, 0, 1),		   DIF_INSTR_BRANCH(DIF_OP_BA, 7),
		     DIF_INSTR_WIDE(DIF_OP_SETX, 1, 1),		   DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
	return difo;
}

// *(long *)0: BADADDR at instruction 0.
inline Difo bad_load() {
	Difo difo;
	difo.rtype = int_type(8);
	difo.text = {DIF_INSTR_R(DIF_OP_LDX, 0, 0, 1), DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
	return difo;
}

// Global variable `id` = value of `load`; returns nothing.
inline Difo store_global(uint32_t id, const Difo& load) {
	Difo difo = load;
	dif_var var{};
	difo.rtype = dif_type{};
	difo.strings = std::string("\0v\0", 3);
	difo.text.pop_back();
	difo.text.push_back(DIF_INSTR_WIDE(DIF_OP_STGS, id, 1));
	difo.text.push_back(DIF_INSTR_R(DIF_OP_RET, 0, 0, 0));
	var.name = 1;
	var.id = id;
	var.kind = DIF_VK_SCALAR;
	var.scope = DIF_VS_GLOBAL;
	var.flags = DIF_VF_MOD;
	var.type = int_type(8);
	difo.variables.push_back(var);
	return difo;
}

inline Difo load_global(uint32_t id) {
	Difo difo = builtin(id, int_type(8));
	dif_var var{};
	difo.strings = std::string("\0v\0", 3);
	var.name = 1;
	var.id = id;
	var.kind = DIF_VK_SCALAR;
	var.scope = DIF_VS_GLOBAL;
	var.flags = DIF_VF_REF;
	var.type = int_type(8);
	difo.variables.push_back(var);
	return difo;
}

inline Difo speculation() {
	Difo difo;
	difo.rtype = int_type(4);
	difo.text = {DIF_INSTR_R(DIF_OP_FLUSHTS, 0, 0, 0), DIF_INSTR_WIDE(DIF_OP_CALL, DIF_SUBR_SPECULATION, 1),
		     DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
	return difo;
}

// Actions.

inline Action act(uint32_t kind, std::optional<Difo> difo = {}) {
	Action action;
	action.kind = kind;
	action.difo = std::move(difo);
	return action;
}
inline Action trace(Difo difo) { return act(DFR_ACT_DIFEXPR, std::move(difo)); }
inline Action capture(Difo difo) { return act(DFR_ACT_CAPTURE, std::move(difo)); }
inline Action capture_args() { return act(DFR_ACT_CAPTURE_ARGS); }
inline Action exit_with(uint64_t status) { return act(DFR_ACT_EXIT, constant(status, int_type(4))); }

// Aggregation variable `id`; keys come before, in the body.
inline Action aggregate(uint32_t kind, uint32_t id, uint32_t ntuple, std::optional<Difo> value = {}, uint64_t arg = 0) {
	Action action = act(kind, std::move(value));
	action.ntuple = ntuple;
	action.uarg = id;
	action.arg = arg;
	return action;
}

// Programs.

class Program {
public:
	// "provider:module:function:name", a predicate and what to do.
	Program& clause(const std::string& probe, std::optional<Difo> predicate, std::vector<Action> actions,
			uint64_t uarg = 0);
	Program& clause(const std::string& probe, std::vector<Action> actions) {
		return clause(probe, {}, std::move(actions));
	}
	Program& option(uint32_t number, int64_t value) {
		image_.options.push_back({number, value});
		return *this;
	}
	std::vector<uint8_t> bytes() const { return dfr::dof::write(image_); }

private:
	Image image_;
};

// What was recorded, owned.
struct Record {
	uint64_t time = 0, commit_time = 0, seq = 0;
	uint32_t cpu = 0, epid = 0, speculation = 0, offset = 0;
	uint8_t level = 0;
	uint32_t task = 0, pid = 0, tid = 0;
	std::string execname;
	std::vector<uint64_t> numbers; // of each field
	std::vector<std::string> texts;
	std::vector<int> faults; // note's code of each field, 0: none
	std::vector<uint64_t> fault_values;
};

struct BlockInfo {
	dfr_block head{};
	uint32_t cpu = 0;
};

class State;

class Rig {
public:
	explicit Rig(unsigned cpus = 1);
	~Rig();
	Rig(const Rig&) = delete;
	Rig& operator=(const Rig&) = delete;

	dfr_engine* engine() { return engine_; }
	dfr_probe* probe(const std::string& function, const std::string& name = "entry", uint32_t nargs = 2,
			 const std::string& module = "test");
	// A hit on the CPU that this thread plays; time 0: the clock.
	void fire(dfr_probe* probe, std::vector<uint64_t> args = {}, uint64_t time = 0);

	dfr_env env{}; // "current" of fire(): csh, pid 100, tid 101
	dfr_provider provider{};
	dfr_provider_ops ops{};
	std::vector<std::string> armed; // what the provider was told, in order
	int arm_error = 0;

private:
	dfr_engine* engine_;
};

class State {
public:
	explicit State(Rig& rig);
	~State();
	State(const State&) = delete;
	State& operator=(const State&) = delete;

	int enable(const Program& program, uint32_t flags = 0);
	int go();
	int stop();
	dfr_ioc_status status();
	// Takes all blocks that wait, decodes and releases them. flush: open ones too.
	std::vector<Record> take(bool flush = true);
	// Without release: what was handed out.
	std::vector<dfr_ioc_taken> take_raw(bool flush, uint32_t room = 4096);
	std::vector<Record> decode(const dfr_ioc_taken& taken);
	void read_catalog();
	// The base table after a snapshot: words by key bytes.
	std::map<std::string, std::vector<uint64_t>> aggregation(uint32_t varid);

	dfr_state* state = nullptr;
	dfr::trace::Catalog catalog;
	dfr::trace::Losses losses;
	std::vector<dfr_block> blocks; // heads of all that were taken
	uint32_t matched = 0;
	std::string reason;
	uint32_t begin_cpu = ~0u, end_cpu = ~0u;
	uint64_t damage = 0;

private:
	Rig& rig_;
	uint64_t catalog_read_ = 0;
	std::vector<std::byte> catalog_rest_;
};

// Key of integers, as aggregation() gives it.
std::string key_of(std::vector<uint64_t> words);
std::string key_of_text(const std::string& text);

} // namespace store_rig
