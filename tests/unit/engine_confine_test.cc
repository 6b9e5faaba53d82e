// SPDX-License-Identifier: GPL-2.0
//
// Confined programs, those of users without privilege: what the loader refuses,
// that no address of the engine's can be told from what an accepted program
// computes (random programs, run in two machines whose memory lies elsewhere, give
// the same numbers), and whose firings a confined state sees.
#include <catch2/catch.hpp>

#include <random>

#include "tests/unit/engine_exec_rig.h"
#include "tests/unit/engine_store_rig.h"

namespace engine_confine_test {

using namespace dfr::test;

namespace {

constexpr uint32_t kId = DIF_VAR_USER_FIRST;

dfr_load_limits confined() {
	dfr_load_limits limits{};
	limits.ll_confined = true;
	return limits;
}

Loaded load_confined(const Code& code) {
	DofBuilder dof;
	dof.trace(code);
	return load(dof.bytes(), confined());
}

void fine(const Code& code) {
	const Loaded result = load_confined(code);
	INFO(result.why.rf_reason);
	CHECK(result.error == 0);
}

// The same is right for those who have the privilege.
void refused(const Code& code, const std::string& reason) {
	DofBuilder dof;
	dof.trace(code);
	CHECK(load(dof.bytes()).error == 0);
	const Loaded result = load(dof.bytes(), confined());
	CHECK(result.error == -EPERM);
	CHECK(std::string(result.why.rf_reason) == "unprivileged users may not " + reason);
}

Code builtin(uint32_t id, dif_type type = kInt64) {
	return Code().returns(type).wide(DIF_OP_LDGS, id, 1).ret(1);
}

// copyin(arg0, 16) in %r1.
Code copied() {
	return Code()
	    .wide(DIF_OP_LDGS, DIF_VAR_ARG0, 1)
	    .setx(16, 2)
	    .flush()
	    .pushv(1)
	    .pushv(2)
	    .call(DIF_SUBR_COPYIN, 1);
}

const std::string kNumber = "use an address as a number";
const std::string kRecorded = "record an address";
const std::string kCalculated = "calculate with an address";

} // namespace

TEST_CASE("confined: built-ins", "[engine][confine]") {
	for (uint32_t id : {DIF_VAR_TIMESTAMP, DIF_VAR_PID, DIF_VAR_TID, DIF_VAR_UID, DIF_VAR_ERRNO,
	                    DIF_VAR_ARG0, DIF_VAR_UCALLER, DIF_VAR_CPU})
		fine(builtin(id));
	for (uint32_t id : {DIF_VAR_EXECNAME, DIF_VAR_PROBEFUNC})
		fine(builtin(id, kString));
	for (uint32_t id : {DIF_VAR_CURTHREAD, DIF_VAR_CALLER, DIF_VAR_STACKDEPTH, DIF_VAR_IPL})
		refused(builtin(id), "read this built-in variable: it shows kernel data");
	fine(Code().setx(1, 2).r(DIF_OP_LDGA, DIF_VAR_ARGS, 2, 1).ret(1));
	refused(Code().setx(1, 2).r(DIF_OP_LDGA, DIF_VAR_UREGS, 2, 1).ret(1),
	        "read this built-in array: it shows kernel data");
	refused(Code().sets("a", 2).r(DIF_OP_LDGA, DIF_VAR_ARGS, 2, 1).ret(1),
	        "read this built-in array: it shows kernel data");
}

TEST_CASE("confined: an address does not become a number", "[engine][confine]") {
	refused(builtin(DIF_VAR_EXECNAME), kRecorded);
	refused(Code().sets("a", 1).ret(1), kRecorded);
	refused(copied().ret(1), kRecorded);
	fine(copied().returns(struct_of(16)).ret(1));
	fine(copied().returns(kVoid).ret(1)); // runs for what it does
	for (uint32_t op : {DIF_OP_OR, DIF_OP_XOR, DIF_OP_AND, DIF_OP_SLL, DIF_OP_SRL, DIF_OP_SRA, DIF_OP_SUB,
	                    DIF_OP_MUL, DIF_OP_UDIV, DIF_OP_SREM}) {
		refused(Code().sets("a", 1).setx(3, 2).r(op, 1, 2, 1).ret(1), kCalculated);
		refused(Code().sets("a", 1).setx(3, 2).r(op, 2, 1, 1).ret(1), kCalculated);
		fine(Code().setx(5, 1).setx(3, 2).r(op, 1, 2, 1).ret(1));
	}
	refused(Code().sets("a", 1).r(DIF_OP_NOT, 1, 0, 1).ret(1), kCalculated);
	refused(Code().sets("a", 1).setx(3, 2).r(DIF_OP_ADD, 1, 2, 1).ret(1), kCalculated);
	refused(copied().sets("a", 2).r(DIF_OP_ADD, 1, 2, 1).ret(1), kCalculated);
	refused(copied().setx(8, 2).r(DIF_OP_ADD, 1, 2, 1).ret(1), kRecorded);
	refused(Code().sets("a", 1).r(DIF_OP_MOV, 1, 0, 2).ret(2), kRecorded);
	// Two ways into one instruction: what holds there must hold on both.
	refused(Code()
	            .wide(DIF_OP_LDGS, DIF_VAR_PID, 1)
	            .r(DIF_OP_TST, 1, 0, 0)
	            .branch(DIF_OP_BE, 4)
	            .sets("a", 1)
	            .ret(1),
	        kRecorded);
	fine(Code()
	         .returns(kString)
	         .r(DIF_OP_TST, 1, 0, 0)
	         .branch(DIF_OP_BE, 4)
	         .sets("a", 1)
	         .branch(DIF_OP_BA, 5)
	         .sets("b", 1)
	         .ret(1));
}

namespace {

int looked_up;

int any_symbol(const char* name, __u64* address) {
	looked_up++;
	*address = 0xffffffff81000000ull;
	return name[0] == 'k' ? 0 : -ENOENT;
}

} // namespace

// Whether a symbol is there, and how a program that names one is refused, tells of addresses.
TEST_CASE("confined: relocations are refused before any symbol is looked up", "[engine][confine]") {
	const uint32_t type = GENERATE(DOF_SECT_KRELHDR, DOF_SECT_URELHDR);
	const std::string name = GENERATE("known", "unknown");
	DofBuilder dof;
	dof.trace(Code().setx(5, 1).ret(1)); // 1 DIF, 2 INTTAB, 3 STRTAB, 4 DIFOHDR
	const uint32_t table =
	    dof.table(DOF_SECT_RELTAB, 8, std::vector<dof_relodesc>{{dof.string(name), DOF_RELO_SETX, 0, 0}});
	const uint32_t head = dof.table(type, 4, std::vector<dof_relohdr>{{0, table, 2}});
	looked_up = 0;
	dfr_user_symbol = any_symbol;
	const Loaded result = load(dof.bytes(), confined());
	dfr_user_symbol = nullptr;
	CHECK(result.error == -EPERM);
	CHECK(
	    std::string(result.why.rf_reason) ==
	    "unprivileged users may not use variables and functions of the kernel: they show its addresses");
	CHECK(result.why.rf_section == head);
	CHECK(looked_up == 0);
}

TEST_CASE("confined: comparisons", "[engine][confine]") {
	fine(Code().sets("a", 1).sets("b", 2).r(DIF_OP_SCMP, 1, 2, 0).ret(0));
	fine(Code().sets("a", 1).r(DIF_OP_SCMP, 1, 0, 0).ret(0));
	fine(Code().sets("a", 1).r(DIF_OP_CMP, 1, 0, 0).ret(0));
	fine(Code().sets("a", 1).r(DIF_OP_TST, 1, 0, 0).ret(0));
	refused(Code().sets("a", 1).sets("b", 2).r(DIF_OP_CMP, 1, 2, 0).ret(0), "compare addresses");
	refused(Code().sets("a", 1).setx(77, 2).r(DIF_OP_CMP, 1, 2, 0).ret(0), "compare addresses");
	refused(Code().sets("a", 1).setx(77, 2).r(DIF_OP_SCMP, 1, 2, 0).ret(0),
	        "compare a number as a string");
	// The sign of such a sum tells on which side of the number the address is.
	const Code sum = copied().setx(uint64_t{1} << 63, 2).r(DIF_OP_ADD, 1, 2, 1);
	refused(Code(sum).r(DIF_OP_CMP, 1, 0, 0).ret(0), "compare addresses");
	refused(Code(sum).r(DIF_OP_CMP, 0, 1, 0).ret(0), "compare addresses");
	refused(Code(sum).r(DIF_OP_TST, 1, 0, 0).ret(0), "compare addresses");
	// %r1 is the reference on one path and a number on the other.
	Code either = copied().wide(DIF_OP_LDGS, DIF_VAR_PID, 2).r(DIF_OP_TST, 2, 0, 0);
	either.branch(DIF_OP_BE, static_cast<uint32_t>(either.text.size()) + 2).setx(5, 1);
	refused(Code(either).r(DIF_OP_CMP, 1, 0, 0).ret(0), "compare addresses");
	refused(Code(either).r(DIF_OP_TST, 1, 0, 0).ret(0), "compare addresses");
}

TEST_CASE("confined: variables keep what they hold", "[engine][confine]") {
	auto stored = [](bool by_reference, uint32_t scope, uint32_t op) {
		Code code;
		code.var(scope, kId, by_reference ? kString : kInt64);
		return code.returns(kVoid).sets("a", 1).wide(op, kId, 1).ret(0);
	};
	for (auto [scope, op] : {std::pair{DIF_VS_GLOBAL, DIF_OP_STGS}, std::pair{DIF_VS_THREAD, DIF_OP_STTS},
	                         std::pair{DIF_VS_LOCAL, DIF_OP_STLS}}) {
		fine(stored(true, scope, op));
		refused(stored(false, scope, op), kNumber);
	}
	Code code;
	code.var(DIF_VS_GLOBAL, kId, kString);
	refused(code.wide(DIF_OP_LDGS, kId, 1).ret(1), kRecorded);
	Code number;
	number.var(DIF_VS_GLOBAL, kId, kString);
	refused(number.returns(kVoid).setx(5, 1).wide(DIF_OP_STGS, kId, 1).ret(0), kNumber);
	Code null;
	null.var(DIF_VS_GLOBAL, kId, kString);
	fine(null.returns(kVoid).wide(DIF_OP_STGS, kId, 0).ret(0));
}

TEST_CASE("confined: subroutines and their arguments", "[engine][confine]") {
	fine(Code().sets("abc", 1).flush().pushr(DIF_KIND_STRING, 0, 1).call(DIF_SUBR_STRLEN, 1).ret(1));
	refused(Code().setx(77, 1).flush().pushr(DIF_KIND_STRING, 0, 1).call(DIF_SUBR_STRLEN, 1).ret(1),
	        kNumber);
	refused(Code().sets("abc", 1).flush().pushv(1).call(DIF_SUBR_STRLEN, 1).ret(1), kNumber);
	refused(Code().setx(77, 1).flush().pushv(1).call(DIF_SUBR_STRLEN, 1).ret(1),
	        "give a subroutine an address for a number, or a number for a string");
	refused(Code()
	            .sets("a", 1)
	            .flush()
	            .pushr(DIF_KIND_STRING, 0, 1)
	            .call(DIF_SUBR_LLTOSTR, 1)
	            .returns(kString)
	            .ret(1),
	        "give a subroutine an address for a number, or a number for a string");
	refused(Code().setx(1, 1).flush().pushv(1).call(DIF_SUBR_ALLOCA, 1).returns(struct_of(1)).ret(1),
	        "call this subroutine: it shows kernel data, or writes");
	refused(Code().setx(1, 1).flush().pushv(1).pushv(1).call(DIF_SUBR_MEMREF, 1).returns(kVoid).ret(1),
	        "call this subroutine: it shows kernel data, or writes");
	refused(Code().setx(1, 1).flush().pushv(1).call(DIF_SUBR_MUTEX_OWNER, 1).ret(1),
	        "call this subroutine: it shows kernel data, or writes");
	// More than it takes, or a number of them that depends on the way taken.
	refused(Code().setx(1, 1).flush().pushv(1).pushv(1).call(DIF_SUBR_HTONL, 1).ret(1),
	        "call a subroutine with arguments that the loader cannot know");
	refused(Code()
	            .setx(1, 1)
	            .flush()
	            .pushv(1)
	            .branch(DIF_OP_BE, 5)
	            .pushv(1)
	            .call(DIF_SUBR_LLTOSTR, 1)
	            .returns(kString)
	            .ret(1),
	        "call a subroutine with arguments that the loader cannot know");
}

TEST_CASE("confined: memory", "[engine][confine]") {
	fine(copied().setx(8, 2).r(DIF_OP_ADD, 1, 2, 1).r(DIF_OP_LDX, 1, 0, 1).ret(1));
	fine(Code().wide(DIF_OP_LDGS, DIF_VAR_ARG0, 1).r(DIF_OP_ULDX, 1, 0, 1).ret(1));
	const std::string cannot = "read kernel memory; copyin() reads the process's own";
	refused(Code().wide(DIF_OP_LDGS, DIF_VAR_ARG0, 1).r(DIF_OP_LDX, 1, 0, 1).ret(1), cannot);
	refused(Code().sets("abc", 1).r(DIF_OP_LDUB, 1, 0, 1).ret(1), cannot);
	refused(copied().r(DIF_OP_ULDX, 1, 0, 1).ret(1), cannot);
	refused(copied().setx(1, 2).r(DIF_OP_STB, 2, 0, 1).returns(kVoid).ret(0), "write to memory");
	refused(Code().setx(8, 1).r(DIF_OP_ALLOCS, 1, 0, 1).returns(kVoid).ret(0), "write to memory");
}

TEST_CASE("confined: actions", "[engine][confine]") {
	auto with = [](std::vector<Act> acts) {
		DofBuilder dof;
		const uint32_t value = dof.difo(Code().setx(1, 1).ret(1));
		for (Act& act : acts)
			if (act.kind == DFR_ACT_SYM || act.kind == DFR_ACT_UADDR)
				act.difo = value;
		dof.ecb(dof.probe("dtrace", "", "", "BEGIN"), kNone, dof.actions(acts));
		return load(dof.bytes(), confined());
	};
	CHECK(with({{DFR_ACT_USTACK}}).error == 0);
	CHECK(with({{DFR_ACT_UADDR}}).error == 0);
	CHECK(with({{DFR_ACT_CAPTURE_ARGS}}).error == 0);
	CHECK(std::string(with({{DFR_ACT_SNAPSHOT}}).why.rf_reason) == "snapshot lacks its reason");
	for (uint32_t kind : {DFR_ACT_SYM, DFR_ACT_STOP, DFR_ACT_BREAKPOINT, DFR_ACT_PANIC}) {
		const Loaded result = with({{kind}});
		CHECK(result.error == -EPERM);
		CHECK(std::string(result.why.rf_reason) ==
		      "unprivileged users may not use this action: it shows kernel "
		      "data, or changes the system");
	}
	CHECK(with({{DFR_ACT_STACK}}).error != 0);
}

TEST_CASE("confined: a firing's text is bounded, however often a program names it", "[engine][confine]") {
	DofBuilder dof;
	Code code;
	for (int i = 0; i < 1000; i++)
		code.word(DIF_INSTR_R(DIF_OP_NOP, 0, 0, 0));
	const uint32_t difo = dof.difo(code.ret(0));
	dof.ecb(dof.probe("dtrace", "", "", "BEGIN"), kNone,
	        dof.actions(std::vector<Act>(20, {DFR_ACT_DIFEXPR, difo})));
	CHECK(load(dof.bytes()).error == 0);
	const Loaded result = load(dof.bytes(), confined());
	CHECK(result.error == -EPERM);
	CHECK(std::string(result.why.rf_reason) ==
	      "unprivileged users may not load a program that runs more than 16384 instructions and actions");
}

TEST_CASE("confined: a program has so many clauses and actions", "[engine][confine]") {
	const auto with = [](unsigned clauses, unsigned actions) {
		DofBuilder dof;
		const uint32_t one = dof.difo(Code().setx(1, 1).ret(1));
		const uint32_t probe = dof.probe("dtrace", "", "", "BEGIN");
		const uint32_t shared = dof.actions(std::vector<Act>(actions, {DFR_ACT_DIFEXPR, one}));
		for (unsigned i = 0; i < clauses; i++)
			dof.ecb(probe, kNone, shared);
		const Loaded result = load(dof.bytes(), confined());
		CHECK(result.error == (*result.why.rf_reason ? -EPERM : 0));
		return std::string(result.why.rf_reason);
	};
	CHECK(with(256, 1).empty());
	for (const unsigned clauses : {257u, 512u, 513u})
		CHECK(with(clauses, 1) == "unprivileged users may not load more than 256 clauses at once");
	CHECK(with(1, 4096).empty());
	CHECK(with(1, 4097) == "unprivileged users may not load more than 4096 actions or options at once");
}

namespace {

// Appends instructions that the loader accepts, of all kinds.
class Random {
public:
	explicit Random(uint32_t seed) : random_(seed) {}

	Code program() {
		Code code;
		code.var(DIF_VS_GLOBAL, kId, kInt64).var(DIF_VS_GLOBAL, kId + 1, kString);
		code.var(DIF_VS_LOCAL, kId, kInt64).var(DIF_VS_THREAD, kId + 1, kString);
		code.string("abcabc");
		code.ints = {0, 1, 5, 1ull << 40, ~0ull};
		for (int i = 0; i < 40; i++) {
			Code longer = code;
			append(longer);
			Code whole = longer;
			if (load_confined(whole.returns(kVoid).ret(0)).error == 0)
				code = longer;
		}
		return code;
	}

	uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

private:
	uint32_t reg() { return 1 + below(4); }

	void append(Code& code) {
		static const uint32_t subrs[] = {DIF_SUBR_COPYIN,  DIF_SUBR_COPYINSTR, DIF_SUBR_STRLEN,
		                                 DIF_SUBR_STRJOIN, DIF_SUBR_SUBSTR,    DIF_SUBR_INDEX,
		                                 DIF_SUBR_LLTOSTR, DIF_SUBR_STRCHR,    DIF_SUBR_STRTOLL,
		                                 DIF_SUBR_HTONL,   DIF_SUBR_ALLOCA,    DIF_SUBR_STRTOK};
		static const uint32_t builtins[] = {DIF_VAR_ARG0,     DIF_VAR_ARG0 + 1,  DIF_VAR_PID,
		                                    DIF_VAR_EXECNAME, DIF_VAR_PROBEFUNC, DIF_VAR_CURTHREAD};
		switch (below(12)) {
		case 0: code.wide(DIF_OP_SETX, below(5), reg()); break;
		case 1: code.wide(DIF_OP_SETS, 1 + below(6), reg()); break;
		case 2: code.wide(DIF_OP_LDGS, builtins[below(6)], reg()); break;
		case 3: code.wide(below(2) ? DIF_OP_LDGS : DIF_OP_STGS, kId + below(2), reg()); break;
		case 4: code.wide(below(2) ? DIF_OP_LDTS : DIF_OP_STTS, kId + 1, reg()); break;
		case 5: code.wide(below(2) ? DIF_OP_LDLS : DIF_OP_STLS, kId, reg()); break;
		case 6: code.r(DIF_OP_RLDSB + below(7), reg(), 0, reg()); break;
		case 7:
			code.flush();
			for (uint32_t n = below(4); n > 0; n--)
				below(2) ? code.pushv(reg()) : code.pushr(DIF_KIND_STRING, 0, reg());
			code.call(subrs[below(12)], reg());
			break;
		case 8: code.r(below(2) ? DIF_OP_CMP : DIF_OP_SCMP, below(5), reg(), 0); break;
		case 9: { // skips what comes next
			const auto at = static_cast<uint32_t>(code.text.size());
			code.branch(DIF_OP_BE + below(10), at + 2);
			append(code);
			break;
		}
		default: code.r(DIF_OP_OR + below(8), reg(), reg(), reg()); break;
		}
	}

	std::mt19937 random_;
};

std::string shown(Rig& rig, const dif_type& type, uint64_t value) {
	char text[256];
	if (type.kind != DIF_KIND_STRING)
		return std::to_string(value);
	if (!value)
		return "NULL";
	// copyin() of nothing is a place behind which there may be nothing.
	return dfr_machine_copy_str(&rig.machine, text, value, sizeof(text), false, nullptr) < 0 ? "a fault"
	                                                                                         : text;
}

char kUserMemory[64] = "what a process has of its own";

} // namespace

// Where it faulted is said only if the program chose the place.
TEST_CASE("confined: faults tell no address", "[engine][confine]") {
	for (uint64_t added : {100000ull, 1ull << 63, ~0ull << 40}) {
		const Loaded loaded = load_confined(
		    copied().setx(added, 2).r(DIF_OP_ADD, 1, 2, 1).r(DIF_OP_RLDUB, 1, 0, 1).ret(1));
		REQUIRE(loaded.error == 0);
		Rig rig;
		rig.args[0] = reinterpret_cast<uint64_t>(kUserMemory);
		rig.env.ev_flags |= DFR_ENV_LIVE;
		rig.programs.push_back(loaded.program);
		rig.fire();
		rig.run(&loaded.program->pg_difos[0]);
		CHECK(rig.fault() == DIF_FAULT_KPRIV);
		CHECK(rig.machine.m_fault_addr == 0);
	}
}

// Without a size, a reference would be the key as a number: it could be guessed.
TEST_CASE("confined: a reference is no key by its address", "[engine][confine]") {
	Code code;
	code.var(DIF_VS_GLOBAL, kId, kInt64, DIF_VK_ARRAY);
	const Loaded loaded = load_confined(
	    code.flush().sets("a", 1).pushr(DIF_KIND_CTF, 0, 1).wide(DIF_OP_LDGAA, kId, 2).ret(2));
	REQUIRE(loaded.error == 0);
	Rig rig;
	rig.programs.push_back(loaded.program);
	REQUIRE(dfr_vars_declare(rig.vars.get(), loaded.program.get(), &rig.why) == 0);
	rig.fire();
	rig.run(&loaded.program->pg_difos[0]);
	CHECK(rig.fault() == DIF_FAULT_ILLOP);
}

// If a number depended on where the engine's memory lies, the two would differ.
TEST_CASE("confined: random programs compute the same wherever memory lies", "[engine][confine]") {
	Random random(1);
	unsigned ran = 0, calls = 0;
	for (int round = 0; round < 250; round++) {
		const Code code = random.program();
		for (uint32_t reg = 1; reg <= 4; reg++) {
			for (const dif_type& type : {kInt64, kString}) {
				Code whole = code;
				const Loaded one = load_confined(whole.returns(type).ret(reg));
				if (one.error)
					continue;
				const Loaded other = load_confined(whole);
				std::vector<std::string> seen;
				std::vector<std::unique_ptr<char[]>> between;
				for (const Loaded& loaded : {one, other}) {
					between.push_back(
					    std::make_unique<char[]>(1000 + random.below(100000)));
					Rig rig;
					rig.args[0] = reinterpret_cast<uint64_t>(kUserMemory);
					rig.env.ev_flags |= DFR_ENV_LIVE;
					rig.programs.push_back(loaded.program);
					REQUIRE(dfr_vars_declare(rig.vars.get(), loaded.program.get(),
					                         &rig.why) == 0);
					for (int firing = 0; firing < 2;
					     firing++) { // variables have been set then
						rig.fire();
						const uint64_t value = rig.run(&loaded.program->pg_difos[0]);
						std::string text = std::to_string(rig.fault());
						if (rig.fault() < 0)
							text += " " + shown(rig, type, value);
						seen.push_back(text);
					}
					between.push_back(std::make_unique<char[]>(1000));
				}
				ran++;
				calls += seen[0].rfind("-1", 0) == 0;
				CHECK(std::vector(seen.begin(), seen.begin() + 2) ==
				      std::vector(seen.begin() + 2, seen.end()));
			}
		}
	}
	CHECK(ran > 500); // and not nothing was tried
	CHECK(calls > 200);
}

// States: whose firings.

namespace {

int enable_confined(store_rig::State& state, const store_rig::Program& program, std::string* reason = nullptr,
                    uint32_t flags = 0) {
	const std::vector<uint8_t> bytes = program.bytes();
	const dfr_load_limits limits = confined();
	dfr_refusal why{};
	const int error =
	    dfr_state_enable(state.state, bytes.data(), bytes.size(), &limits, flags, &state.matched, &why);
	if (reason)
		*reason = why.rf_reason;
	return error;
}

} // namespace

TEST_CASE("confined: a state sees its user's own tasks alone", "[engine][confine][store]") {
	using namespace store_rig;
	for (const bool predicate : {false, true}) {
		store_rig::Rig rig;
		rig.provider.pv_flags = DFR_PV_CONFINED | DFR_PV_USER_ARGS;
		dfr_probe* read = rig.probe("read");
		store_rig::State all(rig), own(rig);
		REQUIRE(all.enable(Program().clause("rig::read:", {trace(arg(0))})) == 0);
		REQUIRE(dfr_state_confine(own.state, 1000, 100, 32 << 20) == 0);
		Program program;
		program.clause("rig::read:", predicate ? std::optional(arg0_is(2)) : std::nullopt,
		               {trace(arg(0)), trace(arg(1))});
		REQUIRE(enable_confined(own, program) == 0);
		REQUIRE(all.go() == 0);
		REQUIRE(own.go() == 0);
		for (const auto& [uid, gid] :
		     {std::pair{1000u, 100u}, {0u, 0u}, {1000u, 101u}, {1001u, 100u}, {1000u, 100u}}) {
			rig.env.ev_uid = uid;
			rig.env.ev_gid = gid;
			rig.fire(read, {1, uid});
			rig.fire(read, {2, uid});
		}
		CHECK(all.take().size() == 10);
		const auto records = own.take();
		CHECK(records.size() == (predicate ? 2 : 4));
		for (const Record& record : records)
			CHECK(record.numbers ==
			      std::vector<uint64_t>{predicate ? 2 : record.numbers[0], 1000});
		// Its catalog says so, because its records do not.
		all.read_catalog();
		own.read_catalog();
		CHECK(own.catalog.machine_text("confined") == "1000");
		CHECK_FALSE(all.catalog.machine.contains("confined"));
	}
}

TEST_CASE("confined: what a state may not have", "[engine][confine][store]") {
	using namespace store_rig;
	store_rig::Rig rig;
	rig.probe("read");
	store_rig::State own(rig);
	std::string reason;
	REQUIRE(dfr_state_confine(own.state, 1000, 100, 32 << 20) == 0);
	// The provider is not open: its probes do not exist here.
	CHECK(enable_confined(own, Program().clause("rig::read:", {}), &reason) == -ESRCH);
	CHECK(reason ==
	      "unprivileged users have syscall, profile-N, BEGIN, END and ERROR only; of these none "
	      "matches rig::read:");
	// Open, but its arguments are the kernel's.
	rig.provider.pv_flags = DFR_PV_CONFINED;
	rig.probe("seen when it is created");
	CHECK(enable_confined(own, Program().clause("rig::read:", {trace(arg(0))}), &reason) == -EPERM);
	CHECK(reason == "unprivileged users may not read arguments of this probe: they are the kernel's "
	                "addresses; ustack() shows the process's own");
	CHECK(enable_confined(own, Program().clause("rig::read:", {}).option(DFR_OPT_STRSIZE, 4097),
	                      &reason) == -EPERM);
	CHECK(reason == "unprivileged users may not set strsize above 4096");
	CHECK(enable_confined(own, Program().clause("rig::read:", {}).option(DFR_OPT_CPUBUDGET, 6),
	                      &reason) == -EPERM);
	CHECK(enable_confined(own, Program().clause("rig::read:", {}).option(DFR_OPT_CPU, 0), &reason) ==
	      -EPERM);
	// What can be lowered is.
	REQUIRE(enable_confined(own, Program().clause("rig::read:", {}).option(DFR_OPT_BUFSIZE, 1 << 30)) ==
	        0);
	REQUIRE(own.go() == 0);
	CHECK(dfr_state_option(own.state, DFR_OPT_BUFSIZE) == (8u << 20) / dfr_plat_ncpus());
	CHECK(dfr_state_option(own.state, DFR_OPT_CPUBUDGET) == 5);
}

// The calls of others pass one hook, however many clauses of his end at the test of the owner.
TEST_CASE("confined: what others' calls cost does not depend on the number of clauses",
          "[engine][confine][store]") {
	using namespace store_rig;
	std::vector<uint64_t> spent;
	for (const unsigned clauses : {1u, 16u}) {
		store_rig::Rig rig;
		rig.provider.pv_flags = DFR_PV_CONFINED | DFR_PV_USER_ARGS;
		dfr_probe* read = rig.probe("read");
		dfr_engine_govern(rig.engine(), 10'000);
		store_rig::State own(rig);
		REQUIRE(dfr_state_confine(own.state, 1000, 100, 32 << 20) == 0);
		Program program;
		for (unsigned i = 0; i < clauses; i++)
			program.clause("rig::read:", {trace(arg(0))});
		REQUIRE(enable_confined(own, program) == 0);
		REQUIRE(own.go() == 0);
		rig.env.ev_uid = 1001;
		for (unsigned i = 0; i < 1000; i++) // in no time, so that nothing is settled
			rig.fire(read, {1}, 1'000'000'000);
		spent.push_back(own.state->st_user->us_purses[0].up_others.pu_spent);
	}
	CHECK(spent[0] >= 33 * 10'000);
	CHECK(spent[1] == spent[0]);
}

// Users: what all of one's states take together.

namespace {

constexpr uint64_t kHook = 10'000; // ns that a firing is said to cost
constexpr uint64_t kSecond = 1'000'000'000;

store_rig::Program small(const std::string& probe) {
	return store_rig::Program()
	    .clause(probe, {store_rig::trace(store_rig::arg(0))})
	    .option(DFR_OPT_BUFSIZE, 65536)
	    .option(DFR_OPT_AGGSIZE, 16384)
	    .option(DFR_OPT_DYNVARSIZE, 16384);
}

void begin(store_rig::State& state, uint32_t uid, const store_rig::Program& program) {
	std::string reason;
	REQUIRE(dfr_state_confine(state.state, uid, 100, 32 << 20) == 0);
	const int error = enable_confined(state, program, &reason);
	INFO(reason);
	REQUIRE(error == 0);
	REQUIRE(state.go() == 0);
}

// A hit of a probe that is read every 25th part of the time: 4 % each.
struct Load {
	store_rig::Rig& rig;
	uint64_t time = kSecond;

	void run(const std::vector<std::pair<dfr_probe*, uint32_t>>& probes, uint64_t seconds) {
		for (const uint64_t end = time + seconds * kSecond; time < end; time += 25 * kHook)
			for (const auto& [probe, uid] : probes) {
				rig.env.ev_uid = uid;
				rig.env.ev_gid = 100;
				rig.fire(probe, {1, 2}, time + 1000 * (probe->pb_id & 7));
			}
	}
};

struct UserRig : store_rig::Rig {
	UserRig() {
		provider.pv_flags = DFR_PV_CONFINED | DFR_PV_USER_ARGS;
		read = probe("read");
		write = probe("write");
		dfr_engine_govern(engine(), kHook);
	}
	dfr_probe *read, *write;
};

} // namespace

TEST_CASE("confined: a user's states share one budget, two users do not", "[engine][confine][store]") {
	for (const uint32_t other : {1000u, 1001u}) {
		UserRig rig;
		store_rig::State one(rig), two(rig);
		begin(one, 1000, small("rig::read:"));
		begin(two, other, small("rig::write:"));
		Load load{rig};
		load.run({{rig.read, 1000}, {rig.write, other}}, 40);
		const uint64_t held_back =
		    one.status().loss[DFR_LOSS_THROTTLE] + two.status().loss[DFR_LOSS_THROTTLE];
		INFO("user of the second: " << other << ", held back: " << held_back);
		CHECK((held_back > 0) == (other == 1000));
		if (other == 1000) { // 0.5 s are saved up, 3 % too much are spent
			CHECK(one.status().loss[DFR_LOSS_THROTTLE] > 40 * kSecond / (25 * kHook) / 4);
			CHECK(two.status().loss[DFR_LOSS_THROTTLE] > 40 * kSecond / (25 * kHook) / 4);
		}
	}
}

// Half of a CPU by the calls of somebody else, whom he may not see.
TEST_CASE("confined: what others call has his probes detached, and tells him nothing else",
          "[engine][confine][store]") {
	UserRig rig;
	store_rig::State one(rig);
	begin(one, 1000, small("rig::read:"));
	rig.env.ev_uid = 1001;
	const auto cost = [&] {
		dfr_ioc_cpu_cost of{};
		dfr_ioc_cost io{};
		io.count = 1;
		dfr_state_cost(one.state, &io, &of);
		return of;
	};
	const auto detached = [&] { return rig.read->pb_ecbs == nullptr; };
	uint64_t time = kSecond;
	// Housekeeping looks ten times a second.
	for (const uint64_t end = time + 5 * kSecond; time < end && !detached(); time += 2 * kHook) {
		rig.fire(rig.read, {1, 2}, time);
		if (time / (kSecond / 10) != (time + 2 * kHook) / (kSecond / 10) &&
		    dfr_governor_keep(one.state, time))
			dfr_governor_act(one.state, time);
	}
	CHECK(detached());
	CHECK(time > 3 * kSecond); // half a second was saved up, and it has to lie at its floor for one
	CHECK(cost().spent == 0);
	CHECK(cost().credit == cost().most);
	CHECK(cost().throttled_since == 0);
	CHECK(one.status().loss[DFR_LOSS_THROTTLE] == 0);
	// After the wait it is there again, and stays: nobody calls any more.
	for (const uint64_t end = time + 20 * kSecond; time < end; time += kSecond / 10)
		if (dfr_governor_keep(one.state, time))
			dfr_governor_act(one.state, time);
	CHECK(!detached());
	CHECK(one.status().loss[DFR_LOSS_DETACHED] ==
	      1); // that there was a gap, not how many calls others made
}

TEST_CASE("confined: who begins anew does not begin with a full purse", "[engine][confine][store]") {
	UserRig rig;
	Load load{rig};
	{
		store_rig::State one(rig), two(rig);
		begin(one, 1000, small("rig::read:"));
		begin(two, 1000, small("rig::write:"));
		load.run({{rig.read, 1000}, {rig.write, 1000}}, 40);
	}
	store_rig::State again(rig), other(rig);
	begin(again, 1000, small("rig::read:"));
	begin(other, 1001, small("rig::write:"));
	load.run({{rig.read, 1000}, {rig.write, 1001}}, 1);
	CHECK(again.status().loss[DFR_LOSS_THROTTLE] > 0);
	CHECK(other.status().loss[DFR_LOSS_THROTTLE] == 0);
}

// Sixty in ten seconds: these take less, or the test is one of a machine that hardly runs.
TEST_CASE("confined: one user's starts do not use up another's", "[engine][confine][store]") {
	UserRig rig;
	unsigned started = 0;
	for (unsigned i = 0; i < 100; i++) {
		store_rig::State state(rig);
		REQUIRE(dfr_state_confine(state.state, 1000, 100, 1 << 20) == 0);
		REQUIRE(enable_confined(state, small("rig::read:")) == 0);
		const int error = state.go();
		CHECK((error == 0 || error == -EAGAIN));
		started += error == 0;
		if (error)
			CHECK(state.status().activity == DFR_INACTIVE); // it may try again
	}
	CHECK(started >= 60);
	CHECK(started < 100);
	store_rig::State other(rig), all(rig);
	begin(other, 1001, small("rig::read:"));
	REQUIRE(all.enable(small("rig::read:")) == 0);
	CHECK(all.go() == 0);
}

TEST_CASE("confined: so many clauses on one probe, so many ECBs", "[engine][confine][store]") {
	UserRig rig;
	store_rig::State own(rig);
	std::string reason;
	REQUIRE(dfr_state_confine(own.state, 1000, 100, 32 << 20) == 0);
	auto many = [](unsigned n) {
		store_rig::Program program = small("rig::write:");
		for (unsigned i = 0; i < n; i++)
			program.clause("rig::read:", {});
		return program;
	};
	CHECK(enable_confined(own, many(65), &reason) == -EPERM);
	CHECK(reason == "unprivileged users may not put more than 64 clauses on one probe");
	CHECK(enable_confined(own, many(60)) == 0);
	CHECK(enable_confined(own, many(5), &reason) == -EPERM); // those that it has count
	CHECK(enable_confined(own, many(4)) == 0);
	store_rig::Program more = small("rig::write:"); // 66 clauses are there
	for (unsigned i = 0; i < 189; i++)
		more.clause("rig::nothing*:", {});
	CHECK(enable_confined(own, more, &reason, DFR_ENABLE_ZERO_OK) == 0);
	CHECK(enable_confined(own, small("rig::write:"), &reason) == -EPERM);
	CHECK(reason == "unprivileged users may not load more than 256 clauses into a state");
	CHECK(own.go() == 0);

	// All of a user's: his first state has nearly all, and gives them back when it ends.
	for (unsigned i = 0; i < 300; i++)
		rig.probe("f" + std::to_string(i));
	std::vector<std::unique_ptr<store_rig::State>> states;
	store_rig::Program wide = small("rig::write:");
	for (unsigned i = 0; i < 50; i++)
		wide.clause("rig::f*:", {});
	int error = 0;
	for (unsigned i = 0; i < 3 && !error; i++) { // 15,000 each
		states.push_back(std::make_unique<store_rig::State>(rig));
		REQUIRE(dfr_state_confine(states.back()->state, 1000, 100, 32 << 20) == 0);
		REQUIRE(enable_confined(*states.back(), wide) == 0);
		error = states.back()->go();
	}
	CHECK(error == -E2BIG);
	CHECK(states.size() == 2);
	states.clear();
	states.push_back(std::make_unique<store_rig::State>(rig));
	begin(*states.back(), 1000, wide);
}

} // namespace engine_confine_test
