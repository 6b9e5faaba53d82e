// SPDX-License-Identifier: GPL-2.0
//
// Variables: statics of all three scopes by value and by reference, associative
// arrays and thread-locals, the chunks of dynamic variables with exact counts of
// what was lost, and threads that play CPUs.
#include <catch2/catch.hpp>

#include <thread>

#include "tests/unit/engine_exec_rig.h"

extern "C" {
#include "kmod/engine/dif/vars.h"
}

namespace engine_exec_vars_test {

using namespace dfr::test;

namespace {

constexpr uint32_t kId = DIF_VAR_USER_FIRST;

uint32_t load_of(uint32_t scope) {
	return scope == DIF_VS_GLOBAL ? DIF_OP_LDGS : scope == DIF_VS_THREAD ? DIF_OP_LDTS : DIF_OP_LDLS;
}

uint32_t store_of(uint32_t scope) {
	return scope == DIF_VS_GLOBAL ? DIF_OP_STGS : scope == DIF_VS_THREAD ? DIF_OP_STTS : DIF_OP_STLS;
}

Code get(uint32_t scope, dif_type type = kInt64, uint32_t id = kId) {
	return Code().var(scope, id, type).wide(load_of(scope), id, 1).ret(1).returns(type);
}

Code set(uint32_t scope, uint64_t value, uint32_t id = kId) {
	return Code().var(scope, id, kInt64).setx(value, 1).wide(store_of(scope), id, 1).ret(0);
}

Code set_text(uint32_t scope, const std::string& value, dif_type type = kString) {
	return Code().var(scope, kId, type).sets(value, 1).wide(store_of(scope), kId, 1).ret(0);
}

// a[key] as a number: key in %r1.
Code array(uint32_t op, uint64_t key, uint64_t value, uint32_t scope = DIF_VS_GLOBAL) {
	Code code;
	code.var(scope, kId, kInt64, DIF_VK_ARRAY)
	    .setx(key, 1)
	    .flush()
	    .pushv(1)
	    .setx(value, 2)
	    .wide(op, kId, 2);
	return code.ret(2);
}

struct Losses {
	u64 n[3];
	explicit Losses(const Rig& rig)
	    : n{rig.lost(DFR_LOSS_DYNVAR), rig.lost(DFR_LOSS_DYNVAR_DIRTY),
	        rig.lost(DFR_LOSS_DYNVAR_RINSING)} {}
	bool are(u64 none, u64 dirty, u64 rinsing) const {
		return n[0] == none && n[1] == dirty && n[2] == rinsing;
	}
};

// Sets the machine's CPUs for one test; the count is process-wide.
struct Cpus {
	explicit Cpus(unsigned n) { dfr_user_set_ncpus(n); }
	~Cpus() {
		dfr_user_set_ncpus(1);
		dfr_user_cpu = 0;
	}
	Cpus(const Cpus&) = delete;
	Cpus& operator=(const Cpus&) = delete;
};

} // namespace

TEST_CASE("scalars start at 0 and keep 64 bits", "[exec][vars]") {
	for (uint32_t scope : {DIF_VS_GLOBAL, DIF_VS_THREAD, DIF_VS_LOCAL}) {
		Rig rig;
		INFO("scope " << scope);
		CHECK(rig.run(get(scope)) == 0);
		rig.run(set(scope, 0xfedcba9876543210));
		CHECK(rig.run(get(scope)) == 0xfedcba9876543210);
		rig.run(set(scope, 7, kId + 1));
		CHECK(rig.run(get(scope)) == 0xfedcba9876543210);
		CHECK(rig.run(get(scope, kInt64, kId + 1)) == 7);
		rig.run(set(scope, 0));
		CHECK(rig.run(get(scope)) == 0);
		CHECK(rig.fault() == -1);
	}
}

TEST_CASE("strings are copied up to their size", "[exec][vars]") {
	const dif_type small{DIF_KIND_STRING, 0, DIF_TF_BYREF, 0, 8};
	for (uint32_t scope : {DIF_VS_GLOBAL, DIF_VS_THREAD, DIF_VS_LOCAL}) {
		Rig rig;
		INFO("scope " << scope);
		rig.run(set_text(scope, "1234567", small));
		CHECK(rig.run_text(get(scope, small)) == "1234567");
		rig.run(set_text(scope, "12345678", small));
		CHECK(rig.run_text(get(scope, small)) == "1234567"); // cut, with its NUL
		rig.run(set_text(scope, "", small));
		CHECK(rig.run_text(get(scope, small)).empty());
	}
}

TEST_CASE("NULL in a string variable", "[exec][vars]") {
	for (uint32_t scope : {DIF_VS_GLOBAL, DIF_VS_LOCAL}) {
		Rig rig;
		CHECK(rig.run_text(get(scope, kString)).empty()); // never stored: the empty string
		rig.run(Code().var(scope, kId, kString).wide(store_of(scope), kId, 0).ret(0));
		CHECK(rig.run(get(scope, kString)) == 0);
		rig.run(set_text(scope, "back"));
		CHECK(rig.run_text(get(scope, kString)) == "back");
	}
	Rig rig; // a thread-local that was never stored, or freed, is NULL
	CHECK(rig.run(get(DIF_VS_THREAD, kString)) == 0);
}

TEST_CASE("structs by value; writing through a pointer into them", "[exec][vars]") {
	for (uint32_t scope : {DIF_VS_GLOBAL, DIF_VS_THREAD, DIF_VS_LOCAL}) {
		Rig rig;
		INFO("scope " << scope);
		Code fill;
		fill.var(scope, kId, struct_of(16)).setx(16, 1).r(DIF_OP_ALLOCS, 1, 0, 2).setx(0x1111, 3);
		fill.r(DIF_OP_STX, 3, 0, 2).wide(store_of(scope), kId, 2).ret(0);
		rig.run(fill);
		REQUIRE(rig.fault() == -1);
		auto member = [&](uint64_t offset, uint64_t value) { // var.member = value; then var.member
			Code code;
			code.var(scope, kId, struct_of(16))
			    .wide(load_of(scope), kId, 1)
			    .setx(offset, 2)
			    .r(DIF_OP_ADD, 1, 2, 1);
			code.setx(value, 3).r(DIF_OP_STX, 3, 0, 1).r(DIF_OP_LDX, 1, 0, 4).ret(4);
			return rig.run(code);
		};
		CHECK(member(8, 0x2222) == 0x2222);
		Code first;
		first.var(scope, kId, struct_of(16))
		    .wide(load_of(scope), kId, 1)
		    .r(DIF_OP_LDX, 1, 0, 2)
		    .ret(2);
		CHECK(rig.run(first) == 0x1111);
		member(16, 1); // behind the end: another variable's, or nobody's
		CHECK(rig.fault() == DIF_FAULT_BADADDR);
		member(static_cast<uint64_t>(-8), 1); // the header before it
		CHECK(rig.fault() == DIF_FAULT_BADADDR);
	}
}

TEST_CASE("a struct from a foreign address faults and keeps the old value", "[exec][vars]") {
	Rig rig;
	rig.run(set_text(DIF_VS_GLOBAL, "old"));
	rig.run(Code()
	            .var(DIF_VS_GLOBAL, kId, kString)
	            .setx(0xffff888000000000, 1)
	            .wide(DIF_OP_STGS, kId, 1)
	            .ret(0));
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	CHECK(rig.machine.m_fault_addr == 0xffff888000000000);
}

TEST_CASE("clause-locals are zero in each firing, and each CPU's own", "[exec][vars]") {
	Cpus cpus(2);
	Rig rig;
	const dfr_difo* store = rig.add(set(DIF_VS_LOCAL, 5));
	const dfr_difo* load = rig.add(get(DIF_VS_LOCAL));
	rig.run(store);
	CHECK(rig.run(load) == 5); // the next clause of the same firing
	rig.fire();
	CHECK(rig.run(load) == 0);
	rig.run(store);
	rig.firing.fr_cpu = 1;
	rig.machine.m_flags = 0;
	CHECK(rig.run(load) == 0);
	rig.firing.fr_cpu = 0;
	rig.machine.m_flags = DFR_M_LOCALS_ZEROED;
	CHECK(rig.run(load) == 5);
}

TEST_CASE("thread-locals belong to thread and interrupt level", "[exec][vars]") {
	Rig rig;
	const dfr_difo* store = rig.add(set(DIF_VS_THREAD, 5));
	const dfr_difo* load = rig.add(get(DIF_VS_THREAD));
	auto as = [&](uint32_t task, uint32_t tid, uint32_t level) {
		rig.env.ev_task = task;
		rig.env.ev_tid = tid;
		rig.env.ev_level = level;
		rig.fire();
		return rig.run(load);
	};
	as(101, 101, 0);
	rig.run(store);
	CHECK(as(101, 101, 0) == 5);
	CHECK(as(102, 102, 0) == 0);
	CHECK(as(101, 101, 2) == 0); // in an interrupt
	// The idle task of CPU 1 is not thread 1.
	as(1, 1, 0);
	rig.run(store);
	CHECK(as(1, 0, 0) == 0);
	CHECK(as(1, 1, 0) == 5);
}

TEST_CASE("a look-up in a crowded table of thread-local numbers is work", "[exec][vars]") {
	dfr_user_fixed_secret = 1;
	Rig rig(256, 65536); // a table of 1,024 numbers
	dfr_user_fixed_secret = 0;
	const dfr_difo* store = rig.add(set(DIF_VS_THREAD, 5));
	const dfr_difo* clear = rig.add(set(DIF_VS_THREAD, 0));
	const dfr_difo* load = rig.add(get(DIF_VS_THREAD));
	Code many = Code().var(DIF_VS_THREAD, kId, kInt64);
	for (int i = 0; i < 60'000; i++)
		many.wide(DIF_OP_LDTS, kId, 1);
	const dfr_difo* loads = rig.add(many.ret(1));
	auto as = [&](uint32_t tid, const dfr_difo* difo) {
		rig.env.ev_task = rig.env.ev_tid = tid;
		rig.fire();
		const uint64_t value = rig.run(difo);
		CHECK(rig.fault() == -1);
		return value;
	};
	CHECK(as(1, load) == 0);
	const u32 empty = rig.firing.fr_work;
	CHECK(as(1, loads) == 0); // none is away from its home: nothing but the DIF is charged
	uint32_t stored = 0;
	while (Losses(rig).are(0, 0, 0))
		as(1000 + stored++, store);
	// All are given back but one that is not in its first bucket.
	uint32_t away = 0;
	for (uint32_t i = 0; i + 1 < stored; i++) {
		as(1000 + i, load);
		if (rig.firing.fr_work <= empty + 2 * 32u || away++)
			as(1000 + i, clear);
	}
	REQUIRE(away);
	// Where no number is, the look-up tries as many buckets as any number has ever needed.
	CHECK(as(1, load) == 0);
	CHECK(rig.firing.fr_work > empty + 8 * 32u);
	rig.fire();
	CHECK(rig.run(loads) == 0);
	CHECK(rig.fault() == DIF_FAULT_ILLOP); // 60,000 of them are too much for a firing
}

TEST_CASE("associative arrays", "[exec][vars]") {
	Rig rig;
	CHECK(rig.run(array(DIF_OP_LDGAA, 1, 0)) == 0);
	rig.run(array(DIF_OP_STGAA, 1, 11));
	rig.run(array(DIF_OP_STGAA, 2, 22));
	CHECK(rig.run(array(DIF_OP_LDGAA, 1, 0)) == 11);
	CHECK(rig.run(array(DIF_OP_LDGAA, 2, 0)) == 22);
	rig.run(array(DIF_OP_STGAA, 1, 111));
	CHECK(rig.run(array(DIF_OP_LDGAA, 1, 0)) == 111);
	rig.run(array(DIF_OP_STGAA, 1, 0));
	CHECK(rig.run(array(DIF_OP_LDGAA, 1, 0)) == 0);
	CHECK(rig.run(array(DIF_OP_LDGAA, 2, 0)) == 22);
	// A thread-local array is another variable, and each thread's own.
	Rig other;
	other.run(array(DIF_OP_STTAA, 1, 7, DIF_VS_THREAD));
	CHECK(other.run(array(DIF_OP_LDTAA, 1, 0, DIF_VS_THREAD)) == 7);
	other.env.ev_task = other.env.ev_tid = 555;
	other.fire();
	CHECK(other.run(array(DIF_OP_LDTAA, 1, 0, DIF_VS_THREAD)) == 0);
}

TEST_CASE("keys of mixed types do not collide", "[exec][vars]") {
	Rig rig;
	auto keyed = [&](uint32_t op, uint64_t value, auto push) {
		Code code;
		code.var(DIF_VS_GLOBAL, kId, kInt64, DIF_VK_ARRAY).flush();
		push(code);
		code.setx(value, 3).wide(op, kId, 3).ret(3);
		return rig.run(code);
	};
	auto number = [](Code& code) { code.setx(0x61, 1).pushv(1); };
	auto text = [](Code& code) { code.sets("a", 1).pushr(1, 0, 1); };
	auto longer = [](Code& code) { code.sets("ab", 1).pushr(1, 0, 1); };
	auto two = [](Code& code) { code.sets("a", 1).pushr(1, 0, 1).setx(0x62, 2).pushv(2); };
	auto none = [](Code&) {};
	// Chunks are laid out for the largest key before anything is stored.
	rig.add(Code()
	            .var(DIF_VS_GLOBAL, kId, kInt64, DIF_VK_ARRAY)
	            .pushr(1, 0, 1)
	            .pushv(1)
	            .wide(DIF_OP_STGAA, kId, 1)
	            .ret(0));
	keyed(DIF_OP_STGAA, 1, number);
	keyed(DIF_OP_STGAA, 2, text);
	keyed(DIF_OP_STGAA, 3, longer);
	keyed(DIF_OP_STGAA, 4, two);
	keyed(DIF_OP_STGAA, 5, none);
	CHECK(keyed(DIF_OP_LDGAA, 0, number) == 1);
	CHECK(keyed(DIF_OP_LDGAA, 0, text) == 2);
	CHECK(keyed(DIF_OP_LDGAA, 0, longer) == 3);
	CHECK(keyed(DIF_OP_LDGAA, 0, two) == 4);
	CHECK(keyed(DIF_OP_LDGAA, 0, none) == 5);
	// A key of bytes: 3 of "abc" and "abd" are not the same, 2 are.
	auto bytes = [](const char* s, uint64_t n) {
		return [=](Code& code) { code.sets(s, 1).setx(n, 2).pushr(0, 2, 1); };
	};
	keyed(DIF_OP_STGAA, 6, bytes("abc", 3));
	CHECK(keyed(DIF_OP_LDGAA, 0, bytes("abd", 3)) == 0);
	keyed(DIF_OP_STGAA, 7, bytes("abc", 2));
	CHECK(keyed(DIF_OP_LDGAA, 0, bytes("abd", 2)) == 7);
	// A foreign key faults, in a load and in a store.
	auto foreign = [](Code& code) { code.setx(0xffff888000000000, 1).setx(8, 2).pushr(0, 2, 1); };
	keyed(DIF_OP_LDGAA, 0, foreign);
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	keyed(DIF_OP_STGAA, 1, foreign);
	CHECK(rig.fault() == DIF_FAULT_BADADDR);
	CHECK(Losses(rig).are(0, 0, 0));
}

TEST_CASE("a key that no chunk can hold is a counted loss", "[exec][vars]") {
	Rig rig(256, 1 << 20, 65536);
	// The size comes from the stack of arguments: the loader can only guess 256.
	Code code;
	code.var(DIF_VS_GLOBAL, kId, kInt64, DIF_VK_ARRAY).wide(DIF_OP_LDGS, DIF_VAR_ARG0, 1);
	code.r(DIF_OP_ALLOCS, 1, 0, 2).flush().pushr(0, 1, 2).setx(1, 3).wide(DIF_OP_STGAA, kId, 3).ret(3);
	rig.args[0] = 4000;
	rig.run(code);
	CHECK(rig.fault() == -1);
	CHECK(rig.machine.m_flags & DFR_M_DROP);
	CHECK(Losses(rig).are(1, 0, 0));
}

TEST_CASE("chunks run out, rinse, and come back, with exact counts", "[exec][vars]") {
	Rig rig(256, 4096); // 8 buckets of 16 bytes leave 15 chunks of 256 bytes
	const dfr_difo* store = rig.add(array(DIF_OP_STGAA, 0, 1));
	auto put = [&](uint64_t key, uint64_t value) {
		// The constants of this very DIFO are the key and the value.
		auto* ints = const_cast<u64*>(store->di_ints);
		ints[0] = key;
		ints[1] = value;
		rig.machine.m_flags = 0;
		rig.run(store);
		return !(rig.machine.m_flags & DFR_M_DROP);
	};
	uint64_t n = 0;
	while (n < 100 && put(n + 1, 1))
		n++;
	CHECK(n == 15);
	CHECK(Losses(rig).are(1, 0, 0));
	CHECK_FALSE(put(999, 1));
	CHECK(Losses(rig).are(2, 0, 0));
	CHECK(put(5, 77)); // a variable that is there needs no chunk
	CHECK(put(1, 0));
	CHECK(put(2, 0));
	CHECK_FALSE(put(999, 1)); // freed, but perhaps still looked at
	CHECK(Losses(rig).are(2, 1, 0));
	dfr_vars_clean(rig.vars.get());
	CHECK(put(999, 1));
	CHECK(put(1000, 1));
	CHECK_FALSE(put(1001, 1));
	CHECK(Losses(rig).are(3, 1, 0));
	CHECK(put(4711, 0)); // freeing what is not there
	for (int round = 0; round < 50; round++) {
		CHECK(put(999, 0));
		dfr_vars_clean(rig.vars.get());
		CHECK(put(999, 1));
	}
	CHECK(Losses(rig).are(3, 1, 0));
}

TEST_CASE("no room for dynamic variables at all", "[exec][vars]") {
	Rig rig(256, 16);
	rig.run(set(DIF_VS_THREAD, 5));
	CHECK(rig.machine.m_flags & DFR_M_DROP);
	CHECK(rig.run(get(DIF_VS_THREAD)) == 0);
	CHECK(Losses(rig).are(1, 0, 0));
}

TEST_CASE("thread-local numbers have slots of their own", "[exec][vars]") {
	Rig rig(256, 256); // a quarter: one bucket, four slots
	const dfr_difo* store = rig.add(set(DIF_VS_THREAD, 5));
	const dfr_difo* clear = rig.add(set(DIF_VS_THREAD, 0));
	const dfr_difo* load = rig.add(get(DIF_VS_THREAD));
	auto as = [&](uint32_t thread, const dfr_difo* difo) {
		rig.env.ev_task = rig.env.ev_tid = thread;
		rig.fire();
		rig.machine.m_flags = 0;
		return rig.run(difo);
	};
	for (uint32_t thread = 1; thread <= 4; thread++) {
		as(thread, store);
		CHECK_FALSE(rig.machine.m_flags & DFR_M_DROP);
	}
	as(5, store);
	CHECK(rig.machine.m_flags & DFR_M_DROP);
	CHECK(Losses(rig).are(1, 0, 0));
	CHECK(as(5, load) == 0);
	CHECK(as(4, load) == 5);
	as(2, store); // has its slot
	CHECK_FALSE(rig.machine.m_flags & DFR_M_DROP);
	as(5, clear); // what is not there
	as(2, clear); // free at once: nobody else can be looking at it
	as(5, store);
	CHECK_FALSE(rig.machine.m_flags & DFR_M_DROP);
	CHECK(as(5, load) == 5);
	CHECK(as(2, load) == 0);
	CHECK(Losses(rig).are(1, 0, 0));
}

TEST_CASE("programs of one state must agree on a variable", "[exec][vars]") {
	auto declare_both = [](const Code& a, const Code& b) {
		Rig rig;
		rig.add(a);
		DofBuilder dof;
		dof.trace(b);
		Loaded result = load(dof.bytes());
		REQUIRE(result.error == 0);
		int error = dfr_vars_declare(rig.vars.get(), result.program.get(), &rig.why);
		return error ? std::string(rig.why.rf_reason) : std::string();
	};
	auto global = [](dif_type type, uint32_t kind = DIF_VK_SCALAR) {
		return Code().var(DIF_VS_GLOBAL, kId, type, kind).ret(0);
	};
	CHECK(declare_both(global(kInt64), global(kInt64)).empty());
	CHECK(declare_both(global(kInt64), global(kVoid)).empty()); // a size that is not known
	CHECK(declare_both(global(kInt64), global(kInt32)) ==
	      "variable is declared with another size elsewhere");
	CHECK(declare_both(global(kInt64), global(kInt64, DIF_VK_ARRAY)) ==
	      "variable is declared with another kind elsewhere");
	CHECK(declare_both(global(struct_of(8)), global(kInt64)) ==
	      "variable is declared with another kind elsewhere");
	CHECK(declare_both(global(struct_of(8)), global(struct_of(16))) ==
	      "variable is declared with another size elsewhere");
	CHECK(declare_both(global(kInt64), Code().var(DIF_VS_LOCAL, kId, struct_of(8)).ret(0)).empty());
}

TEST_CASE("the order of variables' ids does not matter", "[exec][vars]") {
	constexpr uint32_t kCount = 60'000;
	auto cpu_time = [] {
		timespec now{};
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
	};
	auto declare = [&](bool descending) {
		DofBuilder dof;
		for (uint32_t i = 0; i < kCount;) {
			Code code;
			for (uint32_t k = 0; k < kCount / 10; k++, i++)
				code.var(DIF_VS_GLOBAL, kId + (descending ? kCount - 1 - i : i),
				         struct_of(8));
			dof.trace(code.ret(0));
		}
		Loaded result = load(dof.bytes());
		INFO(result.why.rf_reason);
		REQUIRE(result.error == 0);
		Rig rig;
		const double from = cpu_time();
		REQUIRE(dfr_vars_declare(rig.vars.get(), result.program.get(), &rig.why) == 0);
		const double took = cpu_time() - from;
		const dfr_statics& statics = rig.vars->va_global;
		REQUIRE(statics.sa_nextents == kCount);
		const u64 base = dfr_address(statics.sa_mem);
		for (uint32_t i : {0u, 1u, kCount / 2, kCount - 1}) {
			const u64 at = base + rig.vars->va_scopes[DIF_VS_GLOBAL].sc_vars[i].vd_offset;
			CHECK(dfr_statics_room(rig.vars.get(), 0, at) == 0); // its word, not its data
			CHECK(dfr_statics_room(rig.vars.get(), 0, at + 8) == 8);
		}
		return took;
	};
	declare(false);
	CHECK(declare(true) < 50 * declare(false)); // by insertion: some hundred times
}

TEST_CASE("who is killed while his variables are declared stops", "[exec][vars]") {
	Rig rig;
	DofBuilder dof;
	dof.trace(set(DIF_VS_GLOBAL, 5));
	Loaded result = load(dof.bytes());
	REQUIRE(result.error == 0);
	dfr_user_proceed = [] { return -EINTR; };
	int error = dfr_vars_declare(rig.vars.get(), result.program.get(), &rig.why);
	dfr_user_proceed = nullptr;
	CHECK(error == -EINTR);
}

TEST_CASE("a later program keeps the values of the earlier ones", "[exec][vars]") {
	Rig rig;
	rig.run(set(DIF_VS_GLOBAL, 5, kId + 3));
	rig.run(set_text(DIF_VS_GLOBAL, "kept"));
	rig.run(set(DIF_VS_GLOBAL, 6, kId + 200));
	CHECK(rig.run(get(DIF_VS_GLOBAL, kInt64, kId + 3)) == 5);
	CHECK(rig.run_text(get(DIF_VS_GLOBAL, kString)) == "kept");
	CHECK(rig.run(get(DIF_VS_GLOBAL, kInt64, kId + 200)) == 6);
}

TEST_CASE("strings of other programs can be read", "[exec][vars]") {
	Rig rig;
	uint64_t addr = rig.run(Code().sets("from the first", 1).ret(1));
	rig.run(Code().ret(0));
	CHECK(rig.text(addr) == "from the first");
}

namespace {

// One CPU of a threaded test: its own firing and machine over shared variables.
struct Cpu {
	dfr_env env{};
	dfr_firing firing{};
	dfr_machine machine{};
	std::vector<uint64_t> scratch = std::vector<uint64_t>(512);

	Cpu(Rig& rig, unsigned cpu) {
		env = rig.env;
		env.ev_task = env.ev_tid = 1000 + cpu;
		firing.fr_probe = &rig.probe;
		firing.fr_args = rig.args;
		firing.fr_nargs = 6;
		firing.fr_env = &env;
		firing.fr_cpu = cpu;
		firing.fr_time = 1;
		machine.m_firing = &firing;
		machine.m_vars = rig.vars.get();
		machine.m_strsize = 256;
		machine.m_scratch = machine.m_scratch_ptr = reinterpret_cast<u8*>(scratch.data());
		machine.m_scratch_end = machine.m_scratch + scratch.size() * 8;
	}

	uint64_t run(const dfr_difo* difo) {
		unsigned long flags = dfr_plat_irq_save(nullptr, firing.fr_cpu);
		machine.m_flags = 0;
		uint64_t value = dfr_dif_run(difo, &machine);
		dfr_plat_irq_restore(nullptr, flags);
		return value;
	}
};

} // namespace

TEST_CASE("threads as CPUs: thread-locals count exactly, chunks are conserved", "[exec][vars][threads]") {
	constexpr unsigned kCpus = 4;
	constexpr int kRounds = 3000;
	Cpus cpus(kCpus);
	Rig rig(256, 64 * 272); // few chunks, so that stealing and rinsing happen all the time
	// self->n = 1; and a[arg0] = 1 on keys that all CPUs share; then both freed.
	Code both;
	both.var(DIF_VS_THREAD, kId, kInt64).var(DIF_VS_GLOBAL, kId, kInt64, DIF_VK_ARRAY).setx(1, 1);
	both.wide(DIF_OP_STTS, kId, 1).wide(DIF_OP_LDGS, DIF_VAR_ARG0, 2).flush().pushv(2);
	both.wide(DIF_OP_STGAA, kId, 1).wide(DIF_OP_LDTS, kId, 3).ret(3);
	Code clear;
	clear.var(DIF_VS_THREAD, kId, kInt64).var(DIF_VS_GLOBAL, kId, kInt64, DIF_VK_ARRAY);
	clear.wide(DIF_OP_STTS, kId, 0).wide(DIF_OP_LDGS, DIF_VAR_ARG0, 2).flush().pushv(2);
	clear.wide(DIF_OP_STGAA, kId, 0).ret(0);
	const dfr_difo* set_both = rig.add(both);
	const dfr_difo* clear_both = rig.add(clear);

	std::atomic<uint64_t> drops{0}, kept{0};
	std::atomic<bool> done{false};
	std::vector<std::thread> threads;
	for (unsigned c = 0; c < kCpus; c++) {
		threads.emplace_back([&, c] {
			dfr_user_cpu = c;
			Cpu cpu(rig, c);
			u64 args[1];
			cpu.firing.fr_args = args;
			cpu.firing.fr_nargs = 1;
			for (int i = 0; i < kRounds; i++) {
				args[0] = static_cast<u64>(i % 5);
				cpu.firing.fr_chunks = 0; // a firing each: their work has a bound
				cpu.firing.fr_work = 0;
				uint64_t value = cpu.run(set_both);
				if (cpu.machine.m_flags & DFR_M_DROP)
					drops++;
				else if (value == 1)
					kept++;
				cpu.run(clear_both);
				if (i % 16 == 0)
					std::this_thread::yield();
			}
		});
	}
	std::thread cleaner([&] {
		while (!done) {
			dfr_vars_clean(rig.vars.get());
			std::this_thread::yield();
		}
	});
	for (std::thread& thread : threads)
		thread.join();
	done = true;
	cleaner.join();

	// Every round either saw its own thread-local or lost a store, and every lost store was counted.
	Losses losses(rig);
	CHECK(drops + kept == kCpus * kRounds);
	CHECK(losses.n[0] + losses.n[1] + losses.n[2] >= drops);
	CHECK(losses.n[0] + losses.n[1] + losses.n[2] <= 2 * drops);

	// Nothing leaked: after all is freed and rinsed, every chunk can be had again.
	dfr_vars_clean(rig.vars.get());
	Cpu last(rig, 0);
	u64 key[1];
	last.firing.fr_args = key;
	last.firing.fr_nargs = 1;
	uint64_t got = 0;
	for (key[0] = 100; key[0] < 1000; key[0]++) {
		Losses before(rig);
		last.run(set_both);
		Losses after(rig);
		if (after.n[0] + after.n[1] + after.n[2] != before.n[0] + before.n[1] + before.n[2])
			break;
		got++;
	}
	// A quarter, 4,096 bytes, is for thread-local numbers; 32 buckets of 16 bytes leave 50 chunks.
	CHECK(got == 50);
}

TEST_CASE("threads as CPUs: one key, created once", "[exec][vars][threads]") {
	constexpr unsigned kCpus = 4;
	Cpus cpus(kCpus);
	Rig rig;
	const dfr_difo* store = rig.add(array(DIF_OP_STGAA, 42, 7));
	const dfr_difo* load = rig.add(array(DIF_OP_LDGAA, 42, 0));
	std::vector<std::thread> threads;
	std::atomic<uint64_t> sum{0};
	for (unsigned c = 0; c < kCpus; c++) {
		threads.emplace_back([&, c] {
			dfr_user_cpu = c;
			Cpu cpu(rig, c);
			for (int i = 0; i < 1000; i++)
				cpu.run(store);
			sum += cpu.run(load);
		});
	}
	for (std::thread& thread : threads)
		thread.join();
	CHECK(sum == 7 * kCpus);
	// One erase is enough: there was one element.
	rig.run(array(DIF_OP_STGAA, 42, 0));
	CHECK(rig.run(load) == 0);
}

} // namespace engine_exec_vars_test
