// SPDX-License-Identifier: GPL-2.0
//
// The verifier's rules, one by one, each with a wrong case, and the rules of a
// chain of actions. Rules: formats/dif/DIF.md section 10, formats/dof/DOF.md section 7.
#include <catch2/catch.hpp>

#include "tests/unit/engine_exec_rig.h"

namespace engine_exec_verify_test {

using namespace dfr::test;

namespace {

constexpr uint32_t kId = DIF_VAR_USER_FIRST;

Loaded load_code(const Code& code, dfr_load_limits limits = {true, true}) {
	DofBuilder dof;
	dof.trace(code);
	return load(dof.bytes(), limits);
}

void fine(const Code& code) {
	Loaded result = load_code(code);
	INFO(result.why.rf_reason);
	CHECK(result.error == 0);
}

// Refused at instruction `pc` of a DIFO whose text lies where the section says.
void refused(const Code& code, const std::string& reason, uint32_t pc = 0) {
	DofBuilder dof;
	uint32_t difo = dof.trace(code);
	Loaded result = load(dof.bytes());
	CHECK(result.error == -EINVAL);
	CHECK(std::string(result.why.rf_reason) == reason);
	CHECK(result.why.rf_section == difo);
	CHECK(result.why.rf_offset == dof.sections[1].hdr.offset + 4 * pc);
}

// Refused for its variable table.
void refused_var(const dif_var& var, const std::string& reason) {
	Code code;
	code.vars.push_back(var);
	code.ret(0);
	Loaded result = load_code(code);
	CHECK(result.error == -EINVAL);
	CHECK(std::string(result.why.rf_reason) == reason);
}

dif_var variable(uint32_t scope, uint32_t id, dif_type type, uint32_t kind = DIF_VK_SCALAR) {
	return Code().var(scope, id, type, kind).vars[0];
}

uint32_t flags_of(const Code& code) {
	Loaded result = load_code(code);
	REQUIRE(result.error == 0);
	return result.program->pg_difos[0].di_flags;
}

void refused_chain(const std::vector<Act>& acts, DofBuilder& dof, const std::string& reason, size_t action) {
	uint32_t probe = dof.probe("dtrace", "", "", "BEGIN"), section = dof.actions(acts);
	dof.ecb(probe, kNone, section);
	Loaded result = load(dof.bytes());
	CHECK(result.error == -EINVAL);
	CHECK(std::string(result.why.rf_reason) == reason);
	CHECK(result.why.rf_section == section);
	CHECK(result.why.rf_offset == dof.sections[section].hdr.offset + 32 * action);
}

void fine_chain(const std::vector<Act>& acts, DofBuilder& dof) {
	uint32_t probe = dof.probe("dtrace", "", "", "BEGIN"), section = dof.actions(acts);
	dof.ecb(probe, kNone, section);
	Loaded result = load(dof.bytes());
	INFO(result.why.rf_reason);
	CHECK(result.error == 0);
}

} // namespace

TEST_CASE("registers", "[exec][verify]") {
	for (uint32_t op : {DIF_OP_OR, DIF_OP_SDIV, DIF_OP_COPYS}) {
		fine(Code().r(op, 7, 7, 7).ret(7));
		refused(Code().r(op, 8, 1, 1).ret(0), "no such register");
		refused(Code().r(op, 1, 8, 1).ret(0), "no such register");
		refused(Code().r(op, 1, 1, 8).ret(0), "no such register");
		refused(Code().r(op, 1, 1, 0).ret(0), "register 0 cannot be written");
	}
	for (uint32_t op : {DIF_OP_NOT, DIF_OP_MOV, DIF_OP_LDX, DIF_OP_ULDUB, DIF_OP_ALLOCS}) {
		refused(Code().r(op, 8, 0, 1).ret(0), "no such register");
		refused(Code().r(op, 1, 0, 8).ret(0), "no such register");
		refused(Code().r(op, 1, 0, 0).ret(0), "register 0 cannot be written");
	}
	for (uint32_t op : {DIF_OP_STB, DIF_OP_STH, DIF_OP_STW, DIF_OP_STX})
		refused(Code().r(op, 1, 0, 0).ret(0), "register 0 cannot be written");
	refused(Code().r(DIF_OP_CMP, 8, 0, 0).ret(0), "no such register");
	refused(Code().r(DIF_OP_SCMP, 0, 8, 0).ret(0), "no such register");
	refused(Code().r(DIF_OP_TST, 8, 0, 0).ret(0), "no such register");
	refused(Code().ret(8), "no such register");
	refused(Code().setx(1, 0).ret(0), "register 0 cannot be written");
	refused(Code().setx(1, 8).ret(0), "no such register");
	refused(Code().wide(DIF_OP_LDGS, DIF_VAR_PID, 0).ret(0), "register 0 cannot be written");
	refused(Code().call(DIF_SUBR_RAND, 0).ret(0), "register 0 cannot be written");
	refused(Code().pushv(8).ret(0), "no such register");
	refused(Code().pushr(0, 8, 1).ret(0), "no such register");
	refused(Code().r(DIF_OP_LDGA, DIF_VAR_ARGS, 8, 1).ret(0), "no such register");
}

TEST_CASE("reserved fields are zero", "[exec][verify]") {
	const std::string reason = "reserved field is not zero";
	refused(Code().r(DIF_OP_NOT, 1, 1, 1).ret(0), reason);
	refused(Code().r(DIF_OP_LDSB, 1, 1, 1).ret(0), reason);
	refused(Code().r(DIF_OP_CMP, 1, 1, 1).ret(0), reason);
	refused(Code().r(DIF_OP_TST, 1, 1, 0).ret(0), reason);
	refused(Code().r(DIF_OP_TST, 1, 0, 1).ret(0), reason);
	refused(Code().r(DIF_OP_NOP, 0, 0, 1).ret(0), reason);
	refused(Code().r(DIF_OP_POPTS, 1, 0, 0).ret(0), reason);
	refused(Code().r(DIF_OP_FLUSHTS, 0, 1, 0).ret(0), reason);
	refused(Code().r(DIF_OP_RET, 1, 0, 0), reason);
	refused(Code().r(DIF_OP_RET, 0, 1, 0), reason);
}

TEST_CASE("branches go forward and stay inside", "[exec][verify]") {
	for (uint32_t op = DIF_OP_BA; op <= DIF_OP_BLEU; op++) {
		fine(Code().branch(op, 1).ret(0));
		fine(Code().branch(op, 2).ret(0).ret(0));
		refused(Code().branch(op, 0).ret(0), "branch does not go forward");
		refused(Code().ret(0).branch(op, 0).ret(0), "branch does not go forward", 1);
		refused(Code().branch(op, 2).ret(0), "branch leaves the text");
		refused(Code().branch(op, 0xffffff).ret(0), "branch leaves the text");
	}
}

TEST_CASE("tables", "[exec][verify]") {
	refused(Code().wide(DIF_OP_SETX, 0, 1).ret(1), "constant is outside the integer table");
	refused(Code().setx(1, 1).wide(DIF_OP_SETX, 1, 1).ret(1), "constant is outside the integer table", 1);
	fine(Code().wide(DIF_OP_SETS, 0, 1).ret(0));
	refused(Code().wide(DIF_OP_SETS, 1, 1).ret(0), "constant is outside the string table");
	refused(Code().wide(DIF_OP_SETS, 0xffff, 1).ret(0), "constant is outside the string table");
}

TEST_CASE("opcodes", "[exec][verify]") {
	refused(Code().word(0).ret(0), "unknown instruction");
	refused(Code().word(80u << 24).ret(0), "unknown instruction");
	refused(Code().word(0xff000000).ret(0), "unknown instruction");
	refused(Code().wide(DIF_OP_XLATE, 0, 1).ret(0), "translators must be resolved before loading");
	refused(Code().wide(DIF_OP_XLARG, 0, 1).ret(0), "translators must be resolved before loading");
	refused(Code().r(DIF_OP_NOP, 0, 0, 0), "text does not end with ret");
	refused(Code().ret(0).r(DIF_OP_MOV, 1, 0, 1), "text does not end with ret", 1);
}

TEST_CASE("variables in code", "[exec][verify]") {
	// Built-ins can be read as globals only, by known number, and written never.
	for (uint32_t id = DIF_VAR_CURTHREAD; id <= DIF_VAR_ERRNO; id++) {
		if (id == DIF_VAR_ZONENAME)
			refused(Code().wide(DIF_OP_LDGS, id, 1).ret(1), "unknown built-in variable");
		else
			fine(Code().wide(DIF_OP_LDGS, id, 1).ret(1));
	}
	fine(Code().wide(DIF_OP_LDGS, DIF_VAR_CPU, 1).ret(1));
	refused(Code().wide(DIF_OP_LDGS, 0x121, 1).ret(1), "unknown built-in variable");
	refused(Code().wide(DIF_OP_LDGS, 0x4ff, 1).ret(1), "unknown built-in variable");
	refused(Code().wide(DIF_OP_LDGS, 0xff, 1).ret(1), "variable's id is that of a built-in array");
	refused(Code().wide(DIF_OP_STGS, DIF_VAR_PID, 1).ret(0), "built-in variables cannot be written");
	refused(Code().wide(DIF_OP_STTS, 0x4ff, 1).ret(0), "built-in variables cannot be written");
	fine(Code().wide(DIF_OP_LDLS, 0x100, 1).ret(0)); // reads 0

	fine(Code().r(DIF_OP_LDGA, DIF_VAR_ARGS, 0, 1).ret(1));
	fine(Code().r(DIF_OP_LDGA, DIF_VAR_UREGS, 0, 1).ret(1));
	fine(Code().r(DIF_OP_LDTA, 5, 0, 1).ret(1));
	refused(Code().r(DIF_OP_LDGA, DIF_VAR_REGS, 0, 1).ret(1), "unknown built-in array");

	const std::string undeclared = "variable is not declared in the DIFO's table";
	struct {
		uint32_t load, store, scope, kind;
	} ways[] = {
	    {DIF_OP_LDGS, DIF_OP_STGS, DIF_VS_GLOBAL, DIF_VK_SCALAR},
	    {DIF_OP_LDTS, DIF_OP_STTS, DIF_VS_THREAD, DIF_VK_SCALAR},
	    {DIF_OP_LDLS, DIF_OP_STLS, DIF_VS_LOCAL, DIF_VK_SCALAR},
	    {DIF_OP_LDGAA, DIF_OP_STGAA, DIF_VS_GLOBAL, DIF_VK_ARRAY},
	    {DIF_OP_LDTAA, DIF_OP_STTAA, DIF_VS_THREAD, DIF_VK_ARRAY},
	};
	for (auto& way : ways) {
		for (uint32_t op : {way.load, way.store}) {
			fine(Code().var(way.scope, kId + 3, kInt64, way.kind).wide(op, kId + 3, 1).ret(0));
			fine(Code().var(way.scope, 0xffff, kInt64, way.kind).wide(op, 0xffff, 1).ret(0));
			refused(Code().wide(op, kId, 1).ret(0), undeclared);
			refused(Code().var(way.scope, kId, kInt64, way.kind).wide(op, kId + 1, 1).ret(0),
			        undeclared);
			refused(
			    Code().var((way.scope + 1) % 2, kId, kInt64, way.kind).wide(op, kId, 1).ret(0),
			    undeclared);
		}
	}
	refused(Code().var(DIF_VS_GLOBAL, kId, kInt64).wide(DIF_OP_LDGAA, kId, 1).ret(0), undeclared);
	refused(Code().var(DIF_VS_GLOBAL, kId, kInt64, DIF_VK_ARRAY).wide(DIF_OP_LDGS, kId, 1).ret(0),
	        undeclared);
}

TEST_CASE("a table of variables leaves nothing behind for the next DIFO", "[exec][verify]") {
	DofBuilder dof;
	uint32_t declares = dof.difo(Code().var(DIF_VS_GLOBAL, kId, kInt64).wide(DIF_OP_LDGS, kId, 1).ret(1));
	uint32_t uses = dof.difo(Code().wide(DIF_OP_LDGS, kId, 1).ret(1));
	uint32_t probe = dof.probe("dtrace", "", "", "BEGIN");
	dof.ecb(probe, declares, dof.actions({{DFR_ACT_DIFEXPR, uses}}));
	Loaded result = load(dof.bytes());
	CHECK(result.error == -EINVAL);
	CHECK(result.why.rf_section == uses);
}

// What is wrong in a variable's record, and what is said of it.
const struct {
	void (*damage)(dif_var& var);
	const char* reason;
} kRecords[] = {
    {[](dif_var& var) { var.scope = 3; }, "unknown scope of a variable"},
    {[](dif_var& var) { var.kind = 2; }, "unknown kind of a variable"},
    {[](dif_var& var) { var.flags = 4; }, "unknown flags of a variable"},
    {[](dif_var& var) { var.id = 0x10000; }, "variable's id is above 65535"},
    {[](dif_var& var) { var.name = 1; }, "name of a variable is outside the string table"},
    {[](dif_var& var) { var.type.kind = 2; }, "unknown kind of type"},
    {[](dif_var& var) { var.type.flags = 8; }, "unknown flags of a type"},
    {[](dif_var& var) { var.type.pad = 1; }, "padding of a type is not zero"},
    {[](dif_var& var) { var.type.size = 3; }, "number is not of 0, 1, 2, 4 or 8 bytes"},
    {[](dif_var& var) { var.type.flags = DIF_TF_BYUREF; }, "variable refers to user memory"},
};

TEST_CASE("variable records", "[exec][verify]") {
	for (const auto& one : kRecords) {
		dif_var var = variable(DIF_VS_GLOBAL, kId, kInt64);
		one.damage(var);
		refused_var(var, one.reason);
	}
	SECTION("a struct without a size") {
		refused_var(variable(DIF_VS_GLOBAL, kId, struct_of(0)), "by-reference variable has no size");
	}
	SECTION("16 KiB and one more") {
		fine(Code().var(DIF_VS_GLOBAL, kId, struct_of(16384)).ret(0));
		refused_var(variable(DIF_VS_GLOBAL, kId, struct_of(16385)),
		            "by-reference variable is larger than 16 KiB");
		refused_var(variable(DIF_VS_LOCAL, kId, struct_of(16385)),
		            "by-reference variable is larger than 16 KiB");
	}
	SECTION("clause-local associative array") {
		refused_var(variable(DIF_VS_LOCAL, kId, kInt64, DIF_VK_ARRAY),
		            "associative array is clause-local");
	}
	SECTION("twice") {
		Loaded result =
		    load_code(Code().var(DIF_VS_GLOBAL, kId, kInt64).var(DIF_VS_GLOBAL, kId, kInt64).ret(0));
		CHECK(std::string(result.why.rf_reason) == "variable is declared twice");
		fine(Code().var(DIF_VS_GLOBAL, kId, kInt64).var(DIF_VS_THREAD, kId, kInt64).ret(0));
	}
	SECTION("string that is no reference") {
		refused_var(variable(DIF_VS_GLOBAL, kId, {DIF_KIND_STRING, 0, 0, 0, 8}),
		            "string is not by reference");
	}
	SECTION("string of the default size") {
		fine(Code().var(DIF_VS_GLOBAL, kId, {DIF_KIND_STRING, 0, DIF_TF_BYREF, 0, 0}).ret(0));
	}
}

TEST_CASE("return types", "[exec][verify]") {
	for (uint32_t size : {0u, 1u, 2u, 4u, 8u})
		fine(Code().ret(0).returns({DIF_KIND_CTF, DIF_CK_INTEGER, 0, 0, size}));
	for (uint32_t size : {3u, 16u, 0xffffffffu}) {
		Loaded result = load_code(Code().ret(0).returns({DIF_KIND_CTF, DIF_CK_INTEGER, 0, 0, size}));
		CHECK(std::string(result.why.rf_reason) == "number is not of 0, 1, 2, 4 or 8 bytes");
	}
	fine(Code().ret(0).returns(struct_of(262144)));
	CHECK(std::string(load_code(Code().ret(0).returns(struct_of(262145))).why.rf_reason) ==
	      "value is larger than 256 KiB");
}

TEST_CASE("pushes", "[exec][verify]") {
	fine(Code().pushr(0, 0, 1).pushr(1, 0, 1).pushv(1).ret(0));
	refused(Code().pushr(2, 0, 1).ret(0), "bad type of a tuple element");
	refused(Code().word(DIF_INSTR_R(DIF_OP_PUSHTV, 1, 0, 1)).ret(0), "bad type of a tuple element");
}

TEST_CASE("subroutines get their arguments", "[exec][verify]") {
	const std::string few = "subroutine is called with too few arguments";
	struct {
		uint32_t subr, need;
	} needs[] = {{DIF_SUBR_RAND, 0},      {DIF_SUBR_STRLEN, 1},     {DIF_SUBR_COPYIN, 2},
	             {DIF_SUBR_COPYINSTR, 1}, {DIF_SUBR_BCOPY, 3},      {DIF_SUBR_COPYOUT, 3},
	             {DIF_SUBR_STRTOK, 2},    {DIF_SUBR_SUBSTR, 2},     {DIF_SUBR_INDEX, 2},
	             {DIF_SUBR_JSON, 2},      {DIF_SUBR_STRTOLL, 1},    {DIF_SUBR_MEMSTR, 3},
	             {DIF_SUBR_INET_NTOP, 2}, {DIF_SUBR_D_PATH, 1},     {DIF_SUBR_LINK_NTOP, 2},
	             {DIF_SUBR_F_ADD, 2},     {DIF_SUBR_F_NEG, 1},      {DIF_SUBR_F_CMP, 2},
	             {DIF_SUBR_F_TO_F32, 1},  {DIF_SUBR_SPECULATION, 0}};
	for (auto& entry : needs) {
		Code code;
		code.flush();
		for (uint32_t i = 0; i < entry.need; i++)
			code.pushv(1);
		fine(Code(code).call(entry.subr, 1).ret(1));
		if (entry.need == 0)
			continue;
		code.text.pop_back();
		refused(Code(code).call(entry.subr, 1).ret(1), few, static_cast<uint32_t>(code.text.size()));
	}
	for (uint32_t subr :
	     {DIF_SUBR_MSGDSIZE, DIF_SUBR_MSGSIZE, DIF_SUBR_DDI_PATHNAME, DIF_SUBR_SX_SHARED_HELD})
		refused(Code().call(subr, 1).ret(1), "subroutine does not exist on Linux");
	for (uint32_t subr : {DIF_SUBR_CLASSIC_MAX + 1u, 0x4602u, DIF_SUBR_OURS_MAX + 1u, 0xffffu})
		refused(Code().call(subr, 1).ret(1), "unknown subroutine");
}

TEST_CASE("arguments are counted along every path", "[exec][verify]") {
	// tst; be 4; push; push -> on the path that jumps only one argument is there.
	Code code;
	code.flush()
	    .r(DIF_OP_TST, 1, 0, 0)
	    .branch(DIF_OP_BE, 4)
	    .pushv(1)
	    .pushv(1)
	    .call(DIF_SUBR_STRJOIN, 1)
	    .ret(1);
	refused(code, "subroutine is called with too few arguments", 5);
	// Both paths push: fine.
	Code both;
	both.flush()
	    .r(DIF_OP_TST, 1, 0, 0)
	    .branch(DIF_OP_BE, 5)
	    .pushv(1)
	    .branch(DIF_OP_BA, 6)
	    .pushv(2)
	    .pushv(1);
	fine(both.call(DIF_SUBR_STRJOIN, 1).ret(1));
	// popts takes one away again.
	refused(Code().pushv(1).r(DIF_OP_POPTS, 0, 0, 0).call(DIF_SUBR_STRLEN, 1).ret(1),
	        "subroutine is called with too few arguments", 2);
}

TEST_CASE("what a DIFO's class is", "[exec][verify]") {
	Code csh;
	csh.wide(DIF_OP_LDGS, DIF_VAR_EXECNAME, 1).sets("csh", 2).r(DIF_OP_SCMP, 1, 2, 0);
	csh.branch(DIF_OP_BE, 6).r(DIF_OP_MOV, 0, 0, 1).branch(DIF_OP_BA, 7).setx(1, 1).ret(1);
	CHECK(flags_of(csh) == DFR_DIFO_PURE);

	Code foreign;
	foreign.wide(DIF_OP_LDGS, DIF_VAR_ARG0, 1).sets("csh", 2).r(DIF_OP_SCMP, 1, 2, 0).ret(1);
	CHECK(flags_of(foreign) == DFR_DIFO_ARGS);

	CHECK(flags_of(Code().setx(7, 1).ret(1)) == DFR_DIFO_PURE);
	CHECK(flags_of(Code().wide(DIF_OP_LDGS, DIF_VAR_TID, 1).ret(1)) == DFR_DIFO_PURE);
	// Six arguments are in registers; the provider is asked for the others, which is no pure thing to do.
	for (uint32_t n = 0; n < 10; n++)
		CHECK(flags_of(Code().wide(DIF_OP_LDGS, DIF_VAR_ARG0 + n, 1).ret(1)) ==
		      (DFR_DIFO_ARGS | (n < 6 ? DFR_DIFO_PURE : 0u)));
	CHECK(flags_of(Code().r(DIF_OP_LDGA, DIF_VAR_ARGS, 1, 1).ret(1)) == DFR_DIFO_ARGS);
	CHECK(flags_of(Code().wide(DIF_OP_LDGS, DIF_VAR_TIMESTAMP, 1).ret(1)) == 0);
	CHECK(flags_of(Code().wide(DIF_OP_LDGS, DIF_VAR_VTIMESTAMP, 1).ret(1)) == 0);
	CHECK(flags_of(Code().wide(DIF_OP_LDGS, DIF_VAR_CALLER, 1).ret(1)) == DFR_DIFO_STACK);
	CHECK(flags_of(Code().wide(DIF_OP_LDGS, DIF_VAR_PROBEFUNC, 1).ret(1)) == DFR_DIFO_PROBETEXT);
	CHECK(flags_of(Code().var(DIF_VS_THREAD, kId, kInt64).wide(DIF_OP_LDTS, kId, 1).ret(1)) == 0);
	CHECK(flags_of(Code().r(DIF_OP_SDIV, 1, 1, 1).ret(1)) == 0);
	CHECK(flags_of(Code().pushv(1).pushv(1).pushv(1).call(DIF_SUBR_COPYOUT, 1).ret(0)) ==
	      DFR_DIFO_DESTRUCTIVE);

	// A register that holds an own string on one path and arg0 on the other is no own string.
	Code mixed;
	mixed.sets("a", 1).r(DIF_OP_TST, 1, 0, 0).branch(DIF_OP_BE, 4).wide(DIF_OP_LDGS, DIF_VAR_ARG0, 1);
	mixed.sets("b", 2).r(DIF_OP_SCMP, 1, 2, 0).ret(1);
	CHECK(flags_of(mixed) == DFR_DIFO_ARGS);
}

TEST_CASE("without the right to read the kernel, loads become restricted", "[exec][verify]") {
	Code code;
	for (uint32_t op = DIF_OP_LDSB; op <= DIF_OP_LDX; op++)
		code.r(op, 1, 0, 2);
	Loaded result = load_code(code.ret(0), {false, true});
	REQUIRE(result.error == 0);
	for (uint32_t i = 0; i < 7; i++)
		CHECK(result.program->pg_difos[0].di_text[i] == DIF_INSTR_R(DIF_OP_RLDSB + i, 1, 0, 2));
	Loaded full = load_code(code);
	CHECK(full.program->pg_difos[0].di_text[0] == DIF_INSTR_R(DIF_OP_LDSB, 1, 0, 2));
}

TEST_CASE("destructive programs need the right", "[exec][verify]") {
	DofBuilder dof;
	uint32_t probe = dof.probe("dtrace", "", "", "BEGIN");
	dof.ecb(probe, kNone, dof.actions({{DFR_ACT_STOP}}));
	std::vector<uint8_t> bytes = dof.bytes();
	Loaded allowed = load(bytes);
	CHECK(allowed.error == 0);
	CHECK(allowed.program->pg_destructive);
	CHECK(load(bytes, {true, false}).error == -EACCES);
}

TEST_CASE("actions and their expressions", "[exec][verify]") {
	DofBuilder dof;
	uint32_t number = dof.difo(Code().ret(0)), small = dof.difo(Code().ret(0).returns(kInt32));
	uint32_t text = dof.difo(Code().ret(0).returns(kString)),
	         bytes = dof.difo(Code().ret(0).returns(struct_of(64)));
	uint32_t empty = dof.difo(Code().ret(0).returns(struct_of(0)));
	SECTION("unknown kinds") {
		refused_chain({{0x0009, number}}, dof, "unknown kind of action", 0);
	}
	SECTION("kind 0") {
		refused_chain({{DFR_ACT_NONE}}, dof, "unknown kind of action", 0);
	}
	SECTION("trace without a value") {
		refused_chain({{DFR_ACT_DIFEXPR}}, dof, "action lacks its expression", 0);
	}
	SECTION("stack with one") {
		refused_chain({{DFR_ACT_STACK, number}}, dof, "action takes no expression", 0);
	}
	SECTION("exit of 8 bytes") {
		refused_chain({{DFR_ACT_DIFEXPR, number}, {DFR_ACT_EXIT, number}}, dof,
		              "action needs a number of 4 bytes", 1);
	}
	SECTION("exit of 4") {
		fine_chain({{DFR_ACT_EXIT, small}}, dof);
	}
	SECTION("sym of 4 bytes") {
		refused_chain({{DFR_ACT_SYM, small}}, dof, "action needs a number of 8 bytes", 0);
	}
	SECTION("umod of a string") {
		refused_chain({{DFR_ACT_UMOD, text}}, dof, "action needs a number", 0);
	}
	SECTION("tracemem of a number") {
		refused_chain({{DFR_ACT_TRACEMEM, number}}, dof,
		              "action needs an expression by reference, with a size", 0);
	}
	SECTION("tracemem of nothing") {
		refused_chain({{DFR_ACT_TRACEMEM, empty}}, dof,
		              "action needs an expression by reference, with a size", 0);
	}
	SECTION("tracemem of 64 bytes") {
		fine_chain({{DFR_ACT_TRACEMEM, bytes}}, dof);
	}
	// Their length in a record has two bytes.
	SECTION("printm of 65535 bytes") {
		fine_chain({{DFR_ACT_PRINTM, number, 0, 65535}}, dof);
	}
	SECTION("printm of more") {
		refused_chain({{DFR_ACT_PRINTM, number, 0, 65536}}, dof, "printm: the size is not 1 to 65535",
		              0);
	}
	SECTION("printm of what wraps in 32 bits") {
		refused_chain({{DFR_ACT_PRINTM, number, 0, (1ull << 32) + 8}}, dof,
		              "printm: the size is not 1 to 65535", 0);
	}
	SECTION("printm of nothing") {
		refused_chain({{DFR_ACT_PRINTM, number}}, dof, "printm: the size is not 1 to 65535", 0);
	}
	SECTION("tracemem with a limit") {
		uint32_t most = dof.difo(Code().ret(0).returns(struct_of(65535)));
		fine_chain({{DFR_ACT_TRACEMEM, most}, {DFR_ACT_TRACEMEM_DYNSIZE, number}}, dof);
	}
	SECTION("tracemem with a limit, too large") {
		uint32_t large = dof.difo(Code().ret(0).returns(struct_of(65536)));
		refused_chain(
		    {{DFR_ACT_EXIT, small}, {DFR_ACT_TRACEMEM, large}, {DFR_ACT_TRACEMEM_DYNSIZE, number}},
		    dof, "tracemem: a size that has a limit is above 65535", 1);
	}
	SECTION("tracemem of as much without one") {
		uint32_t large = dof.difo(Code().ret(0).returns(struct_of(65536)));
		fine_chain({{DFR_ACT_TRACEMEM, large}}, dof);
	}
	SECTION("printf with and without") {
		uint32_t format = dof.string("%d\n");
		fine_chain({{DFR_ACT_PRINTF, kNone, 0, format, 0x100, 0}, {DFR_ACT_PRINTF, text}}, dof);
	}
	SECTION("an empty format") {
		uint32_t section = dof.actions({{DFR_ACT_PRINTF, kNone, 0, 0, 0x100, 0}});
		dof.ecb(dof.probe("dtrace", "", "", "BEGIN"), kNone, section);
		Loaded result = load(dof.bytes());
		CHECK(std::string(result.why.rf_reason) == "format is empty");
		CHECK(result.why.rf_offset == dof.sections[section].hdr.offset + 16);
	}
	SECTION("reasons of snapshot() that are not there") {
		const auto refusal = [&dof](const Act& act, uint64_t offset) {
			uint32_t section = dof.actions({act});
			dof.ecb(dof.probe("dtrace", "", "", "BEGIN"), kNone, section);
			Loaded result = load(dof.bytes());
			CHECK(result.error == -EINVAL);
			CHECK(result.why.rf_offset == dof.sections[section].hdr.offset + offset);
			return std::string(result.why.rf_reason);
		};
		SECTION("outside of the table") {
			CHECK(refusal({DFR_ACT_SNAPSHOT, kNone, 0, 1u << 20, 0x100, 0}, 16) ==
			      "string is outside its table");
		}
		SECTION("far outside") {
			CHECK(refusal({DFR_ACT_SNAPSHOT, kNone, 0, ~0ull, 0x100, 0}, 16) ==
			      "string is outside its table");
		}
		SECTION("no table") {
			CHECK(refusal({DFR_ACT_SNAPSHOT}, 4) == "snapshot lacks its reason");
		}
		SECTION("a table that is none") {
			CHECK(refusal({DFR_ACT_SNAPSHOT, kNone, 0, 0, 0x100, 0x7fffffff}, 16) ==
			      "refers to a section that does not exist");
		}
	}
	SECTION("frames") {
		fine_chain({{DFR_ACT_STACK, kNone, 0, 4096}}, dof);
	}
	SECTION("too many frames") {
		refused_chain({{DFR_ACT_STACK, kNone, 0, 4097}}, dof, "stack has more than 4096 frames", 0);
	}
	SECTION("too many user frames") {
		refused_chain({{DFR_ACT_USTACK, kNone, 0, 4097}}, dof, "stack has more than 4096 frames", 0);
	}
	SECTION("16384 actions and one more") {
		std::vector<Act> many(16384, Act{DFR_ACT_DIFEXPR, number});
		SECTION("fine") {
			fine_chain(many, dof);
		}
		SECTION("not") {
			many.push_back(many[0]);
			refused_chain(many, dof, "more than 16384 actions", 0);
		}
	}
}

TEST_CASE("keys of aggregations", "[exec][verify]") {
	DofBuilder dof;
	uint32_t number = dof.difo(Code().ret(0)), text = dof.difo(Code().ret(0).returns(kString));
	uint32_t nothing = dof.difo(Code().ret(0).returns(kVoid));
	SECTION("two keys and a stack") {
		uint32_t probe = dof.probe("dtrace", "", "", "BEGIN");
		uint32_t section = dof.actions({{DFR_ACT_DIFEXPR, number},
		                                {DFR_ACT_DIFEXPR, text},
		                                {DFR_ACT_STACK},
		                                {DFR_ACT_COUNT, kNone, 2, 0, 1}});
		dof.ecb(probe, kNone, section);
		Loaded result = load(dof.bytes());
		REQUIRE(result.error == 0);
		const dfr_act* acts = result.program->pg_clauses[0].cl_acts;
		CHECK(acts[0].ac_flags == 0);
		CHECK(acts[1].ac_flags == DFR_AC_KEY);
		CHECK(acts[2].ac_flags == DFR_AC_KEY);
		CHECK(acts[3].ac_ntuple == 2);
	}
	SECTION("a weight") {
		uint32_t probe = dof.probe("dtrace", "", "", "BEGIN");
		uint32_t section = dof.actions({{DFR_ACT_DIFEXPR, text},
		                                {DFR_ACT_DIFEXPR, number, 0, 0, DFR_UARG_WEIGHT},
		                                {DFR_ACT_QUANTIZE, number, 2, 0, 1}});
		dof.ecb(probe, kNone, section);
		Loaded result = load(dof.bytes());
		REQUIRE(result.error == 0);
		CHECK(result.program->pg_clauses[0].cl_acts[0].ac_flags == DFR_AC_KEY);
		CHECK(result.program->pg_clauses[0].cl_acts[1].ac_flags == DFR_AC_WEIGHT);
	}
	SECTION("not complete") {
		refused_chain({{DFR_ACT_DIFEXPR, number}, {DFR_ACT_COUNT, kNone, 2, 0, 1}}, dof,
		              "key of an aggregation is not complete", 1);
	}
	SECTION("no variable") {
		refused_chain({{DFR_ACT_COUNT, kNone, 0, 0, 0}}, dof, "aggregation has no variable", 0);
	}
	SECTION("a key that belongs to another") {
		refused_chain({{DFR_ACT_DIFEXPR, number},
		               {DFR_ACT_COUNT, kNone, 1, 0, 1},
		               {DFR_ACT_SUM, number, 2, 0, 2}},
		              dof, "action cannot be part of a key", 2);
	}
	SECTION("a key that is no value") {
		refused_chain({{DFR_ACT_EXIT, dof.difo(Code().ret(0).returns(kInt32))},
		               {DFR_ACT_COUNT, kNone, 1, 0, 1}},
		              dof, "action cannot be part of a key", 1);
	}
	SECTION("a key of no bytes") {
		refused_chain({{DFR_ACT_DIFEXPR, nothing}, {DFR_ACT_COUNT, kNone, 1, 0, 1}}, dof,
		              "element of a key has no value", 1);
	}
	SECTION("a weight for count") {
		refused_chain(
		    {{DFR_ACT_DIFEXPR, number, 0, 0, DFR_UARG_WEIGHT}, {DFR_ACT_COUNT, kNone, 1, 0, 1}}, dof,
		    "this aggregation takes no weight", 1);
	}
	SECTION("a weight that is text") {
		refused_chain(
		    {{DFR_ACT_DIFEXPR, text, 0, 0, DFR_UARG_WEIGHT}, {DFR_ACT_QUANTIZE, number, 1, 0, 1}},
		    dof, "weight is not a number", 1);
	}
	SECTION("a key on a plain action") {
		refused_chain({{DFR_ACT_DIFEXPR, number}, {DFR_ACT_DIFEXPR, number, 1}}, dof,
		              "action has a key and is no aggregation", 1);
	}
	SECTION("sum of a string") {
		refused_chain({{DFR_ACT_SUM, text, 0, 0, 1}}, dof, "action needs a number", 0);
	}
	SECTION("count of a value") {
		refused_chain({{DFR_ACT_COUNT, number, 0, 0, 1}}, dof, "action takes no expression", 0);
	}
}

TEST_CASE("parameters of lquantize and llquantize", "[exec][verify]") {
	DofBuilder dof;
	uint32_t number = dof.difo(Code().ret(0));
	auto l = [](uint64_t step, uint64_t levels) { return step << 48 | levels << 32; };
	auto ll = [](uint64_t factor, uint64_t low, uint64_t high, uint64_t steps) {
		return factor << 48 | low << 32 | high << 16 | steps;
	};
	auto bad = [&](uint32_t kind, uint64_t arg, const char* reason) {
		refused_chain({{kind, number, 0, arg, 1}}, dof, reason, 0);
	};
	SECTION("lquantize") {
		fine_chain({{DFR_ACT_LQUANTIZE, number, 0, l(1, 1), 1}}, dof);
	}
	SECTION("no step") {
		bad(DFR_ACT_LQUANTIZE, l(0, 1), "lquantize: the step is 0");
	}
	SECTION("no levels") {
		bad(DFR_ACT_LQUANTIZE, l(1, 0), "lquantize: there are no levels");
	}
	SECTION("llquantize") {
		fine_chain({{DFR_ACT_LLQUANTIZE, number, 0, ll(10, 0, 6, 20), 1}}, dof);
	}
	SECTION("factor 1") {
		bad(DFR_ACT_LLQUANTIZE, ll(1, 0, 6, 20), "llquantize: the factor is less than 2");
	}
	SECTION("low not below high") {
		bad(DFR_ACT_LLQUANTIZE, ll(10, 6, 6, 20),
		    "llquantize: the low magnitude is not below the high one");
	}
	SECTION("few steps") {
		bad(DFR_ACT_LLQUANTIZE, ll(10, 0, 6, 4),
		    "llquantize: neither of steps and factor is a multiple of the other");
	}
	SECTION("no steps") {
		bad(DFR_ACT_LLQUANTIZE, ll(10, 0, 6, 0),
		    "llquantize: neither of steps and factor is a multiple of the other");
	}
	SECTION("steps that divide the factor") {
		fine_chain({{DFR_ACT_LLQUANTIZE, number, 0, ll(10, 0, 6, 5), 1}}, dof);
	}
	SECTION("no multiple") {
		bad(DFR_ACT_LLQUANTIZE, ll(10, 0, 6, 25),
		    "llquantize: neither of steps and factor is a multiple of the other");
	}
	SECTION("no divisor of a power") {
		bad(DFR_ACT_LLQUANTIZE, ll(10, 0, 6, 30),
		    "llquantize: the steps divide no power of the factor");
	}
	SECTION("10^19 fits") {
		fine_chain({{DFR_ACT_LLQUANTIZE, number, 0, ll(10, 0, 18, 10), 1}}, dof);
	}
	SECTION("10^20 does not") {
		bad(DFR_ACT_LLQUANTIZE, ll(10, 0, 19, 10), "llquantize: the high magnitude is too large");
	}
}

TEST_CASE("the order of speculate, commit and what records", "[exec][verify]") {
	DofBuilder dof;
	uint32_t n = dof.difo(Code().ret(0));
	Act trace{DFR_ACT_DIFEXPR, n}, speculate{DFR_ACT_SPECULATE, n}, commit{DFR_ACT_COMMIT, n},
	    discard{DFR_ACT_DISCARD, n}, count{DFR_ACT_COUNT, kNone, 0, 0, 1},
	    store{DFR_ACT_DIFEXPR, dof.difo(Code().ret(0).returns(kVoid))};
	SECTION("fine orders") {
		fine_chain({speculate, trace, trace}, dof);
	}
	SECTION("a store before speculate") {
		fine_chain({store, speculate, trace}, dof);
	}
	SECTION("a count before speculate") {
		fine_chain({count, speculate}, dof);
	}
	SECTION("a count before commit") {
		fine_chain({count, commit}, dof);
	}
	SECTION("discard anywhere") {
		fine_chain({trace, discard, trace}, dof);
	}
	SECTION("commit, then a store") {
		fine_chain({commit, store}, dof);
	}
	SECTION("count after speculate") {
		refused_chain({speculate, count}, dof, "aggregation after speculate or commit", 1);
	}
	SECTION("count after commit") {
		refused_chain({commit, count}, dof, "aggregation after speculate or commit", 1);
	}
	SECTION("two commits") {
		fine_chain({commit, commit}, dof);
	}
	SECTION("trace after commit") {
		refused_chain({commit, trace}, dof, "action that records after commit", 1);
	}
	SECTION("speculate after commit") {
		refused_chain({commit, speculate}, dof, "speculate after commit", 1);
	}
	SECTION("speculate after trace") {
		refused_chain({trace, speculate}, dof, "speculate after an action that records", 1);
	}
	Act snapshot{DFR_ACT_SNAPSHOT, kNone, 0, dof.string("slow"), 0x100, 0};
	SECTION("snapshot beside what records") {
		fine_chain({trace, snapshot, snapshot, count}, dof);
	}
	SECTION("snapshot after speculate") {
		refused_chain({speculate, snapshot}, dof, "snapshot after speculate", 1);
	}
	SECTION("snapshot after commit") {
		refused_chain({commit, snapshot}, dof, "action that records after commit", 1);
	}
	SECTION("two speculates") {
		refused_chain({speculate, speculate}, dof, "second speculate in a clause", 1);
	}
}

} // namespace engine_exec_verify_test
