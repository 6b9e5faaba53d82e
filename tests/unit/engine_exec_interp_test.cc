// SPDX-License-Identifier: GPL-2.0
//
// The interpreter: every opcode on ordinary and boundary values, faults with
// their code, address and place, and the built-in variables. Expected values
// are worked out from formats/dif/DIF.md, not from the code.
#include <catch2/catch.hpp>

#include "tests/unit/engine_exec_rig.h"

namespace engine_exec_interp_test {

using namespace dfr::test;

namespace {

constexpr uint64_t kMin = 1ull << 63;
constexpr uint64_t kMax = kMin - 1;
constexpr uint64_t kMinus1 = ~0ull;

struct Operation {
	uint32_t op;
	uint64_t a, b, result;
};

uint64_t operate(Rig& rig, uint32_t op, uint64_t a, uint64_t b) {
	return rig.run(Code().setx(a, 1).setx(b, 2).r(op, 1, 2, 3).ret(3));
}

// 1 if the branch is taken after comparing a with b.
uint64_t branches(Rig& rig, uint32_t op, uint64_t a, uint64_t b) {
	Code code;
	code.setx(a, 1).setx(b, 2).r(DIF_OP_CMP, 1, 2, 0).branch(op, 5).ret(0).setx(1, 3).ret(3);
	return rig.run(code);
}

} // namespace

TEST_CASE("arithmetic and logic", "[exec][interp]") {
	Rig rig;
	const Operation operations[] = {
	    {DIF_OP_OR, 0xf0, 0x0f, 0xff},
	    {DIF_OP_XOR, kMinus1, 0xff, ~0xffull},
	    {DIF_OP_AND, kMinus1, 0xff00, 0xff00},
	    {DIF_OP_SLL, 1, 63, kMin},
	    {DIF_OP_SLL, 1, 64, 1}, // the count is masked
	    {DIF_OP_SLL, 3, 1, 6},
	    {DIF_OP_SRL, kMin, 63, 1},
	    {DIF_OP_SRL, kMinus1, 65, kMax},
	    {DIF_OP_SRA, kMin, 63, kMinus1},
	    {DIF_OP_SRA, 0x4000000000000000, 62, 1},
	    {DIF_OP_SUB, 0, 1, kMinus1},
	    {DIF_OP_ADD, kMinus1, 1, 0},
	    {DIF_OP_ADD, kMax, 1, kMin},
	    {DIF_OP_MUL, 0x100000000, 0x100000000, 0},
	    {DIF_OP_MUL, kMinus1, kMinus1, 1},
	    {DIF_OP_SDIV, static_cast<uint64_t>(-7), 2, static_cast<uint64_t>(-3)},
	    {DIF_OP_SDIV, kMin, kMinus1, kMin},
	    {DIF_OP_SDIV, 5, kMinus1, static_cast<uint64_t>(-5)},
	    {DIF_OP_UDIV, kMinus1, 2, kMax},
	    {DIF_OP_UDIV, 1, kMinus1, 0},
	    {DIF_OP_SREM, static_cast<uint64_t>(-7), 2, kMinus1},
	    {DIF_OP_SREM, kMin, kMinus1, 0},
	    {DIF_OP_UREM, kMinus1, 10, 5}, // 18446744073709551615
	};
	for (const Operation& operation : operations) {
		INFO("opcode " << operation.op << " of " << operation.a << ", " << operation.b);
		CHECK(operate(rig, operation.op, operation.a, operation.b) == operation.result);
		CHECK(rig.fault() == -1);
	}
	CHECK(rig.run(Code().setx(0xff, 1).r(DIF_OP_NOT, 1, 0, 2).ret(2)) == ~0xffull);
	CHECK(rig.run(Code().setx(9, 1).r(DIF_OP_MOV, 1, 0, 2).ret(2)) == 9);
	CHECK(rig.run(Code().r(DIF_OP_NOP, 0, 0, 0).ret(0)) == 0);
	CHECK(rig.run(Code().ret(5)) == 0); // registers start at 0
}

TEST_CASE("division by zero is a fault at its instruction", "[exec][interp]") {
	Rig rig;
	for (uint32_t op : {DIF_OP_SDIV, DIF_OP_UDIV, DIF_OP_SREM, DIF_OP_UREM}) {
		CHECK(operate(rig, op, 5, 0) == 0);
		CHECK(rig.fault() == DIF_FAULT_DIVZERO);
		CHECK(rig.machine.m_fault_pc == 8); // two setx before it
	}
	// The next run starts without it.
	CHECK(operate(rig, DIF_OP_UDIV, 6, 3) == 2);
	CHECK(rig.fault() == -1);
}

TEST_CASE("comparisons, where the difference overflows too", "[exec][interp]") {
	Rig rig;
	struct Pair {
		uint64_t a, b;
		bool less, below; // signed, unsigned
	};
	const Pair pairs[] = {
	    {1, 2, true, true},        {2, 1, false, false},         {kMinus1, 1, true, false},
	    {1, kMinus1, false, true}, {kMin, kMax, true, false},    {kMax, kMin, false, true},
	    {kMin, 1, true, false},    {1, kMin, false, true},       {kMin, kMinus1, true, true},
	    {0, kMin, false, true},    {kMax, kMinus1, false, true}, {0, kMax, true, true},
	};
	for (const Pair& p : pairs) {
		INFO(p.a << " against " << p.b);
		CHECK(branches(rig, DIF_OP_BA, p.a, p.b) == 1);
		CHECK(branches(rig, DIF_OP_BE, p.a, p.b) == 0);
		CHECK(branches(rig, DIF_OP_BNE, p.a, p.b) == 1);
		CHECK(branches(rig, DIF_OP_BL, p.a, p.b) == p.less);
		CHECK(branches(rig, DIF_OP_BLE, p.a, p.b) == p.less);
		CHECK(branches(rig, DIF_OP_BG, p.a, p.b) == !p.less);
		CHECK(branches(rig, DIF_OP_BGE, p.a, p.b) == !p.less);
		CHECK(branches(rig, DIF_OP_BLU, p.a, p.b) == p.below);
		CHECK(branches(rig, DIF_OP_BLEU, p.a, p.b) == p.below);
		CHECK(branches(rig, DIF_OP_BGU, p.a, p.b) == !p.below);
		CHECK(branches(rig, DIF_OP_BGEU, p.a, p.b) == !p.below);
	}
	for (uint64_t same :
	     {0ull, 1ull, static_cast<unsigned long long>(kMin), static_cast<unsigned long long>(kMinus1)}) {
		for (uint32_t op : {DIF_OP_BE, DIF_OP_BLE, DIF_OP_BGE, DIF_OP_BLEU, DIF_OP_BGEU})
			CHECK(branches(rig, op, same, same) == 1);
		for (uint32_t op : {DIF_OP_BNE, DIF_OP_BL, DIF_OP_BG, DIF_OP_BLU, DIF_OP_BGU})
			CHECK(branches(rig, op, same, same) == 0);
	}
}

TEST_CASE("tst looks at zero alone", "[exec][interp]") {
	Rig rig;
	auto test = [&](uint32_t op, uint64_t value) {
		return rig.run(
		    Code().setx(value, 1).r(DIF_OP_TST, 1, 0, 0).branch(op, 4).ret(0).setx(1, 2).ret(2));
	};
	CHECK(test(DIF_OP_BE, 0) == 1);
	CHECK(test(DIF_OP_BE, kMin) == 0);
	CHECK(test(DIF_OP_BNE, kMin) == 1);
	CHECK(test(DIF_OP_BL, kMin) == 0); // N is 0 whatever the value
	CHECK(test(DIF_OP_BG, kMin) == 1); // !(Z | N ^ V)
	CHECK(test(DIF_OP_BGE, 0) == 1);
	CHECK(test(DIF_OP_BLU, 5) == 0); // C is 0
	CHECK(test(DIF_OP_BLEU, 0) == 1);
}

TEST_CASE("strings are compared by bytes up to strsize", "[exec][interp]") {
	Rig rig(8);
	auto compare = [&](const std::string& a, const std::string& b, uint32_t op) {
		return rig.run(Code()
		                   .sets(a, 1)
		                   .sets(b, 2)
		                   .r(DIF_OP_SCMP, 1, 2, 0)
		                   .branch(op, 5)
		                   .ret(0)
		                   .setx(1, 3)
		                   .ret(3));
	};
	CHECK(compare("csh", "csh", DIF_OP_BE) == 1);
	CHECK(compare("csh", "bash", DIF_OP_BG) == 1);
	CHECK(compare("bash", "csh", DIF_OP_BL) == 1);
	CHECK(compare("cs", "csh", DIF_OP_BL) == 1);
	CHECK(compare("", "", DIF_OP_BE) == 1);
	CHECK(compare("a", "\xff", DIF_OP_BL) == 1);              // bytes are unsigned
	CHECK(compare("12345678x", "12345678y", DIF_OP_BE) == 1); // beyond strsize
	CHECK(compare("1234567x", "1234567y", DIF_OP_BL) == 1);
	// NULL is an empty string.
	CHECK(rig.run(
	          Code().sets("", 1).r(DIF_OP_SCMP, 1, 0, 0).branch(DIF_OP_BE, 4).ret(0).setx(1, 3).ret(3)) ==
	      1);
	CHECK(
	    rig.run(
	        Code().sets("a", 1).r(DIF_OP_SCMP, 0, 1, 0).branch(DIF_OP_BL, 4).ret(0).setx(1, 3).ret(3)) ==
	    1);
	// A foreign address cannot be read here.
	CHECK(rig.run(Code().setx(0xffffffff81000000, 1).sets("a", 2).r(DIF_OP_SCMP, 1, 2, 0).ret(1)) == 0);
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	CHECK(rig.machine.m_fault_addr == 0xffffffff81000000);
}

TEST_CASE("loads extend as they say", "[exec][interp]") {
	Rig rig;
	// Scratch: 8 bytes stored as one word, then read back in pieces.
	auto loaded = [&](uint32_t op, uint64_t word) {
		Code code;
		code.setx(8, 1)
		    .r(DIF_OP_ALLOCS, 1, 0, 2)
		    .setx(word, 3)
		    .r(DIF_OP_STX, 3, 0, 2)
		    .r(op, 2, 0, 4)
		    .ret(4);
		return rig.run(code);
	};
	const uint64_t word = 0xf1f2f3f4f5f6f7f8;
	for (uint32_t base : {DIF_OP_LDSB, DIF_OP_RLDSB}) {
		CHECK(loaded(base + 0, word) == 0xfffffffffffffff8);
		CHECK(loaded(base + 1, word) == 0xfffffffffffff7f8);
		CHECK(loaded(base + 2, word) == 0xfffffffff5f6f7f8);
		CHECK(loaded(base + 3, word) == 0xf8);
		CHECK(loaded(base + 4, word) == 0xf7f8);
		CHECK(loaded(base + 5, word) == 0xf5f6f7f8);
		CHECK(loaded(base + 6, word) == word);
		CHECK(loaded(base + 0, 0x7f) == 0x7f);
	}
}

TEST_CASE("foreign and NULL loads fault with their address", "[exec][interp]") {
	Rig rig;
	for (uint32_t op = DIF_OP_LDSB; op <= DIF_OP_LDX; op++) {
		CHECK(rig.run(Code().r(op, 0, 0, 1).ret(1)) == 0);
		CHECK(rig.fault() == DIF_FAULT_BADADDR);
		CHECK(rig.machine.m_fault_addr == 0);
		CHECK(rig.machine.m_fault_pc == 0);
		rig.run(Code().setx(0xffff888000001000, 1).r(op, 1, 0, 1).ret(1));
		CHECK(rig.fault() == DIF_FAULT_BADADDR);
		CHECK(rig.machine.m_fault_addr == 0xffff888000001000);
		CHECK(rig.machine.m_fault_pc == 4);
	}
	for (uint32_t op = DIF_OP_RLDSB; op <= DIF_OP_RLDX; op++) {
		rig.run(Code().setx(0xffff888000001000, 1).r(op, 1, 0, 1).ret(1));
		CHECK(rig.fault() == DIF_FAULT_KPRIV);
	}
	// Of the own memory: a load that reaches beyond the end of a piece.
	rig.run(Code().setx(4, 1).r(DIF_OP_ALLOCS, 1, 0, 2).r(DIF_OP_LDX, 2, 0, 3).ret(3));
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
}

TEST_CASE("user loads read the live process, without a signal", "[exec][interp]") {
	Rig rig;
	static const uint32_t secret = 0xfedcba98;
	const uint64_t addr = reinterpret_cast<uint64_t>(&secret);
	auto loaded = [&](uint32_t op, uint64_t at) {
		return rig.run(Code().setx(at, 1).r(op, 1, 0, 2).ret(2));
	};
	CHECK(loaded(DIF_OP_ULDUW, addr) == 0);
	CHECK(rig.fault() == DIF_FAULT_BADADDR); // not live: nothing to read
	rig.env.ev_flags = DFR_ENV_LIVE;
	CHECK(loaded(DIF_OP_ULDUW, addr) == 0xfedcba98);
	CHECK(loaded(DIF_OP_ULDSW, addr) == 0xfffffffffedcba98);
	CHECK(loaded(DIF_OP_ULDUB, addr) == 0x98);
	CHECK(loaded(DIF_OP_ULDSB, addr) == 0xffffffffffffff98);
	CHECK(loaded(DIF_OP_ULDUH, addr) == 0xba98);
	CHECK(loaded(DIF_OP_ULDSH, addr) == 0xffffffffffffba98);
	loaded(DIF_OP_ULDX, 8);
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	CHECK(rig.machine.m_fault_addr == 8);
	// A kernel load of a user address is none: it faults in both engines.
	loaded(DIF_OP_LDX, addr);
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
}

TEST_CASE("stores go to allocated scratch, aligned", "[exec][interp]") {
	Rig rig;
	auto stored = [&](uint32_t op, uint64_t offset) {
		Code code;
		code.setx(16, 1)
		    .r(DIF_OP_ALLOCS, 1, 0, 2)
		    .setx(offset, 3)
		    .r(DIF_OP_ADD, 2, 3, 3)
		    .setx(kMinus1, 4);
		code.r(op, 4, 0, 3).r(DIF_OP_LDX, 2, 0, 5).ret(5);
		return rig.run(code);
	};
	CHECK(stored(DIF_OP_STB, 0) == 0xff); // allocs zeroes
	CHECK(stored(DIF_OP_STB, 7) == 0xff00000000000000);
	CHECK(stored(DIF_OP_STH, 2) == 0xffff0000);
	CHECK(stored(DIF_OP_STW, 4) == 0xffffffff00000000);
	CHECK(stored(DIF_OP_STX, 0) == kMinus1);
	struct {
		uint32_t op;
		uint64_t offset;
		int fault;
	} wrong[] = {{DIF_OP_STH, 1, DIF_FAULT_BADALIGN},     {DIF_OP_STW, 2, DIF_FAULT_BADALIGN},
	             {DIF_OP_STX, 4, DIF_FAULT_BADALIGN},     {DIF_OP_STX, 16, DIF_FAULT_BADADDR},
	             {DIF_OP_STB, 16, DIF_FAULT_BADADDR},     {DIF_OP_STX, 12, DIF_FAULT_BADADDR},
	             {DIF_OP_STB, kMinus1, DIF_FAULT_BADADDR}};
	for (auto& entry : wrong) {
		stored(entry.op, entry.offset);
		CHECK(rig.fault() == entry.fault);
		CHECK(rig.machine.m_fault_pc == 20);
	}
	// String tables and names are readable, not writable.
	rig.run(Code().sets("abc", 1).r(DIF_OP_STB, 1, 0, 1).ret(0));
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
}

TEST_CASE("allocs", "[exec][interp]") {
	Rig rig(256, 4096, 64);
	CHECK(rig.run(Code().setx(64, 1).r(DIF_OP_ALLOCS, 1, 0, 2).ret(2)) != 0);
	CHECK(rig.run(Code().setx(65, 1).r(DIF_OP_ALLOCS, 1, 0, 2).ret(2)) == 0);
	CHECK(rig.fault() == DIF_FAULT_NOSCRATCH);
	CHECK(rig.run(Code().setx(kMinus1, 1).r(DIF_OP_ALLOCS, 1, 0, 2).ret(2)) == 0);
	CHECK(rig.fault() == DIF_FAULT_NOSCRATCH);
	// 8-aligned: the second piece starts 8 behind the first.
	Code two;
	two.setx(1, 1).r(DIF_OP_ALLOCS, 1, 0, 2).r(DIF_OP_ALLOCS, 1, 0, 3).r(DIF_OP_SUB, 3, 2, 4).ret(4);
	CHECK(rig.run(two) == 8);
}

TEST_CASE("copys", "[exec][interp]") {
	Rig rig;
	// 4 bytes of "abcdef" into zeroed scratch.
	Code code;
	code.setx(8, 1)
	    .r(DIF_OP_ALLOCS, 1, 0, 2)
	    .sets("abcdef", 3)
	    .setx(4, 4)
	    .r(DIF_OP_COPYS, 3, 4, 2)
	    .ret(2);
	CHECK(rig.run_text(code) == "abcd");
	Code beyond;
	beyond.setx(8, 1)
	    .r(DIF_OP_ALLOCS, 1, 0, 2)
	    .sets("abcdefghi", 3)
	    .setx(9, 4)
	    .r(DIF_OP_COPYS, 3, 4, 2)
	    .ret(2);
	rig.run(beyond);
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	Code foreign;
	foreign.setx(8, 1)
	    .r(DIF_OP_ALLOCS, 1, 0, 2)
	    .setx(0xffff888000000000, 3)
	    .r(DIF_OP_COPYS, 3, 1, 2)
	    .ret(2);
	rig.run(foreign);
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	CHECK(rig.machine.m_fault_addr == 0xffff888000000000);
	Code huge;
	huge.setx(8, 1)
	    .r(DIF_OP_ALLOCS, 1, 0, 2)
	    .sets("a", 3)
	    .setx(kMinus1, 4)
	    .r(DIF_OP_COPYS, 3, 4, 2)
	    .ret(2);
	rig.run(huge);
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	CHECK(rig.run(Code().r(DIF_OP_COPYS, 0, 0, 1).setx(7, 2).ret(2)) == 7); // nothing is copied nowhere
}

TEST_CASE("the tuple stack holds eight", "[exec][interp]") {
	Rig rig;
	Code code;
	for (int i = 0; i < 8; i++)
		code.pushv(1);
	CHECK(rig.run(Code(code).setx(3, 2).ret(2)) == 3);
	CHECK(rig.run(Code(code).pushv(1).setx(3, 2).ret(2)) == 0);
	CHECK(rig.fault() == DIF_FAULT_TUPOFLOW);
	CHECK(rig.machine.m_fault_pc == 32);
	Code popped(code);
	popped.r(DIF_OP_POPTS, 0, 0, 0).pushv(1).setx(3, 2).ret(2);
	CHECK(rig.run(popped) == 3);
	CHECK(rig.run(Code(code).flush().pushv(1).setx(3, 2).ret(2)) == 3);
	CHECK(rig.run(Code().r(DIF_OP_POPTS, 0, 0, 0).setx(3, 2).ret(2)) == 3); // popping nothing
	CHECK(rig.run(Code().setx(kMin, 1).pushr(0, 1, 2).ret(0)) == 0);
	CHECK(rig.fault() == DIF_FAULT_ILLOP); // a size above LONG_MAX
	// A pushed string's size is its length with the NUL, bounded by the size register or strsize.
	rig.run(Code().sets("hello", 1).pushr(1, 0, 1).ret(0));
	CHECK(rig.machine.m_tuple_size[0] == (6 | DFR_TUPLE_TEXT));
	rig.run(Code().sets("hello", 1).setx(3, 2).pushr(1, 2, 1).ret(0));
	CHECK(rig.machine.m_tuple_size[0] == (4 | DFR_TUPLE_TEXT));
}

TEST_CASE("branches skip", "[exec][interp]") {
	Rig rig;
	CHECK(rig.run(Code().branch(DIF_OP_BA, 2).r(DIF_OP_UDIV, 1, 1, 1).setx(4, 2).ret(2)) == 4);
	CHECK(rig.fault() == -1);
}

TEST_CASE("ldta is illegal: there is no such array", "[exec][interp]") {
	Rig rig;
	CHECK(rig.run(Code().setx(1, 1).r(DIF_OP_LDTA, 0, 0, 1).ret(1)) == 0);
	CHECK(rig.fault() == DIF_FAULT_ILLOP);
	CHECK(rig.machine.m_fault_pc == 4);
}

TEST_CASE("built-in variables", "[exec][interp]") {
	Rig rig;
	auto builtin = [&](uint32_t id) { return rig.run(Code().wide(DIF_OP_LDGS, id, 1).ret(1)); };
	rig.env.ev_caller = 0xabc;
	rig.env.ev_ucaller = 0xdef;
	rig.env.ev_nstack = 4;
	rig.env.ev_nustack = 5;
	rig.env.ev_vtime = 321;
	rig.env.ev_ipl = 2;
	rig.firing.fr_cpu = 0;
	CHECK(builtin(DIF_VAR_TIMESTAMP) == 5000);
	CHECK(builtin(DIF_VAR_VTIMESTAMP) == 321);
	CHECK(builtin(DIF_VAR_WALLTIMESTAMP) == 1005000);
	CHECK(builtin(DIF_VAR_IPL) == 2);
	CHECK(builtin(DIF_VAR_EPID) == 9);
	CHECK(builtin(DIF_VAR_ID) == 77);
	CHECK(builtin(DIF_VAR_STACKDEPTH) == 4);
	CHECK(builtin(DIF_VAR_USTACKDEPTH) == 5);
	CHECK(builtin(DIF_VAR_CALLER) == 0xabc);
	CHECK(builtin(DIF_VAR_UCALLER) == 0xdef);
	CHECK(builtin(DIF_VAR_PID) == 100);
	CHECK(builtin(DIF_VAR_TID) == 101);
	CHECK(builtin(DIF_VAR_PPID) == 1);
	CHECK(builtin(DIF_VAR_UID) == 1000);
	CHECK(builtin(DIF_VAR_GID) == 1001);
	CHECK(builtin(DIF_VAR_ERRNO) == static_cast<uint64_t>(-4));
	CHECK(builtin(DIF_VAR_CPU) == 0);
	CHECK(rig.text(builtin(DIF_VAR_EXECNAME)) == "csh");
	CHECK(rig.text(builtin(DIF_VAR_PROBEPROV)) == "syscall");
	CHECK(rig.text(builtin(DIF_VAR_PROBEMOD)) == "vmlinux");
	CHECK(rig.text(builtin(DIF_VAR_PROBEFUNC)) == "read");
	CHECK(rig.text(builtin(DIF_VAR_PROBENAME)) == "entry");
	for (uint32_t i = 0; i < 10; i++)
		CHECK(builtin(DIF_VAR_ARG0 + i) == (i < 6 ? 1000 + i : 0));
	auto argument = [&](uint64_t i) {
		return rig.run(Code().setx(i, 1).r(DIF_OP_LDGA, DIF_VAR_ARGS, 1, 2).ret(2));
	};
	CHECK(argument(5) == 1005);
	CHECK(argument(6) == 0);
	CHECK(argument(kMinus1) == 0);
}

TEST_CASE("arguments beyond the passed ones come from the provider", "[exec][interp]") {
	Rig rig;
	dfr_provider_ops ops{};
	ops.getarg = [](const dfr_firing*, unsigned n) -> u64 { return 7000 + n; };
	rig.provider.pv_ops = &ops;
	CHECK(rig.run(Code().wide(DIF_OP_LDGS, DIF_VAR_ARG0 + 7, 1).ret(1)) == 7007);
	CHECK(rig.run(Code().wide(DIF_OP_LDGS, DIF_VAR_ARG0, 1).ret(1)) == 1000);
	// Before the guard it is not asked: what it calls may be traced.
	ops.getarg = [](const dfr_firing*, unsigned) -> u64 {
		FAIL("asked before the guard");
		return 0;
	};
	rig.firing.fr_flags = DFR_FR_UNGUARDED;
	CHECK(rig.run(Code().wide(DIF_OP_LDGS, DIF_VAR_ARG0 + 7, 1).ret(1)) == 0);
	CHECK(rig.machine.m_fault != 0);
	CHECK(rig.run(Code().wide(DIF_OP_LDGS, DIF_VAR_ARG0, 1).ret(1)) == 1000);
	CHECK(rig.machine.m_fault == 0);
}

TEST_CASE("captured inputs: numbers, bytes, and faults that wait", "[exec][interp]") {
	Rig rig;
	const char path[] = "/etc/passwd";
	const dfr_captured captured[] = {{42, 0, 0, 0},
	                                 {reinterpret_cast<uint64_t>(path), sizeof(path), 0, 0},
	                                 {0, 0, DIF_FAULT_BADADDR + 1, 0x1234}};
	rig.env.ev_captured = captured;
	rig.env.ev_ncaptured = 3;
	auto input = [&](uint64_t i) {
		return rig.run(Code().setx(i, 1).r(DIF_OP_LDGA, DIF_VAR_CAPTURED, 1, 2).ret(2));
	};
	CHECK(input(0) == 42);
	CHECK(rig.text(input(1)) == "/etc/passwd");
	CHECK(dfr_machine_readable(&rig.machine, captured[1].value, sizeof(path)));
	CHECK_FALSE(dfr_machine_readable(&rig.machine, captured[1].value, sizeof(path) + 1));
	CHECK(input(2) == 0);
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	CHECK(rig.machine.m_fault_addr == 0x1234);
	CHECK(input(3) == 0);
	CHECK(rig.fault() == DIF_FAULT_ILLOP);
}

TEST_CASE("copying results: cut strings say so", "[exec][interp]") {
	Rig rig;
	uint64_t addr = rig.run(Code().sets("abcdef", 1).ret(1).returns(kString));
	char buffer[8];
	bool cut = true;
	CHECK(dfr_machine_copy_str(&rig.machine, buffer, addr, 7, false, &cut) == 7);
	CHECK_FALSE(cut);
	CHECK(dfr_machine_copy_str(&rig.machine, buffer, addr, 6, false, &cut) == 6);
	CHECK(std::string(buffer) == "abcde");
	CHECK(cut);
	CHECK(dfr_machine_copy_str(&rig.machine, buffer, addr, 1, false, &cut) == 1);
	CHECK(buffer[0] == 0);
	CHECK(cut);
	CHECK(dfr_machine_copy_str(&rig.machine, buffer, 0, 8, false, &cut) < 0);
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	CHECK(dfr_machine_copy(&rig.machine, buffer, addr, 3, false) == 0);
	CHECK(dfr_machine_copy(&rig.machine, buffer, 16, 3, false) < 0);

	static const char user[] = "0123456789";
	rig.env.ev_flags = DFR_ENV_LIVE;
	CHECK(dfr_machine_copy_str(&rig.machine, buffer, reinterpret_cast<uint64_t>(user), 8, true, &cut) ==
	      8);
	CHECK(cut);
	CHECK(std::string(buffer) == "0123456");
	CHECK(dfr_machine_copy_str(&rig.machine, buffer, reinterpret_cast<uint64_t>(user) + 3, 8, true,
	                           &cut) == 8);
	CHECK_FALSE(cut);
}

TEST_CASE("without kernel reads, nothing but the machine's own memory can be read", "[exec][interp]") {
	const uint64_t foreign = 0xffff888000000000;
	Rig rig;
	auto restricted = [&](const Code& code) {
		DofBuilder dof;
		dof.trace(code);
		Loaded result = load(dof.bytes(), {false, true});
		REQUIRE(result.error == 0);
		REQUIRE(dfr_vars_declare(rig.vars.get(), result.program.get(), &rig.why) == 0);
		rig.programs.push_back(result.program);
		return rig.run(&result.program->pg_difos[0]);
	};
	CHECK(restricted(Code().sets("abc", 1).r(DIF_OP_LDUB, 1, 0, 2).ret(2)) == 'a');
	CHECK(restricted(Code().sets("abc", 1).pushr(1, 0, 1).call(DIF_SUBR_STRLEN, 2).ret(2)) == 3);
	const Code faults[] = {
	    Code().setx(foreign, 1).r(DIF_OP_LDX, 1, 0, 2).ret(2),
	    Code().setx(foreign, 1).pushv(1).call(DIF_SUBR_STRLEN, 2).ret(2),
	    Code().setx(foreign, 1).pushr(1, 0, 1).ret(0),
	    Code().setx(foreign, 1).sets("a", 2).r(DIF_OP_SCMP, 1, 2, 0).ret(2),
	    Code().setx(8, 1).r(DIF_OP_ALLOCS, 1, 0, 2).setx(foreign, 3).r(DIF_OP_COPYS, 3, 1, 2).ret(2),
	    Code().setx(foreign, 1).pushv(1).call(DIF_SUBR_D_PATH, 2).ret(2),
	    Code().setx(foreign, 1).pushv(1).call(DIF_SUBR_INET_NTOA, 2).ret(2),
	    Code()
	        .var(DIF_VS_GLOBAL, DIF_VAR_USER_FIRST, kString)
	        .setx(foreign, 1)
	        .wide(DIF_OP_STGS, DIF_VAR_USER_FIRST, 1)
	        .ret(0),
	    Code().wide(DIF_OP_LDGS, DIF_VAR_CURTHREAD, 1).ret(1),
	    Code().wide(DIF_OP_LDGS, DIF_VAR_CALLER, 1).ret(1),
	};
	for (const Code& code : faults) {
		CHECK(restricted(code) == 0);
		CHECK(rig.fault() == DIF_FAULT_KPRIV);
	}
	// A result that the recording half copies afterwards.
	uint64_t addr = restricted(Code().setx(foreign, 1).ret(1).returns(kString));
	char buffer[8];
	CHECK(dfr_machine_copy_str(&rig.machine, buffer, addr, 8, false, nullptr) < 0);
	CHECK(rig.fault() == DIF_FAULT_KPRIV);
}

} // namespace engine_exec_interp_test
