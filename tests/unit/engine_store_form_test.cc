// SPDX-License-Identifier: GPL-2.0
//
// A clause's form (kmod/engine/recording/form.c) decides which way it takes through a firing,
// and nothing else: random programs, hit by the same random firings, record the same
// bytes and aggregate the same values where all clauses are forced through the general
// form, and where their values come from DIF as well. The seeds are fixed.
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <tuple>

#include "tests/unit/engine_store_rig.h"
extern "C" {
#include "kmod/engine/recording/store.h"
}

namespace engine_store_form_test {

using namespace store_rig;

namespace {

constexpr uint64_t kSecret = 0x5bd1e9955bd1e995;
constexpr uint32_t kNumber = DIF_VAR_USER_FIRST; // self->a, self->b
constexpr uint32_t kNumbers = 2;

struct Random {
	std::mt19937_64 engine;

	uint64_t below(uint64_t n) { return engine() % n; }
	bool once_in(uint64_t n) { return below(n) == 0; }
	// Of any width, and of either sign.
	uint64_t value() {
		uint64_t value = engine() >> below(64);
		return once_in(3) ? 0 - value : value;
	}
	template <typename T> T one_of(std::initializer_list<T> list) {
		return list.begin()[below(list.size())];
	}
};

// Thread-local numbers.

const uint32_t kReturn = DIF_INSTR_R(DIF_OP_RET, 0, 0, 1);
const uint32_t kReturnNothing = DIF_INSTR_R(DIF_OP_RET, 0, 0, 0);

Difo load_number(uint32_t id) {
	return with_number({DIF_INSTR_WIDE(DIF_OP_LDTS, id, 1), kReturn}, int_type(8), id);
}

Difo since(uint32_t id) {
	return with_number({DIF_INSTR_WIDE(DIF_OP_LDGS, DIF_VAR_TIMESTAMP, 1),
	                    DIF_INSTR_WIDE(DIF_OP_LDTS, id, 2), DIF_INSTR_R(DIF_OP_SUB, 1, 2, 1), kReturn},
	                   int_type(8), id);
}

Difo set_number(uint32_t id, uint32_t builtin) {
	return with_number(
	    {DIF_INSTR_WIDE(DIF_OP_LDGS, builtin, 1), DIF_INSTR_WIDE(DIF_OP_STTS, id, 1), kReturnNothing},
	    dif_type{}, id);
}

Difo clear_number(uint32_t id) {
	return with_number({DIF_INSTR_WIDE(DIF_OP_STTS, id, 0), kReturnNothing}, dif_type{}, id);
}

// `builtin == value`, or !=; strings: execname against a literal.
Difo compared(uint32_t builtin, uint64_t value, const std::string& literal, bool negated) {
	const bool strings = !literal.empty();
	Difo difo;
	difo.rtype = int_type(4);
	difo.integers = {value, 1};
	difo.strings = std::string(1, '\0') + literal + std::string(1, '\0');
	difo.text = {DIF_INSTR_WIDE(DIF_OP_LDGS, builtin, 1),
	             strings ? DIF_INSTR_WIDE(DIF_OP_SETS, 1, 2) : DIF_INSTR_WIDE(DIF_OP_SETX, 0, 2),
	             DIF_INSTR_R(strings ? DIF_OP_SCMP : DIF_OP_CMP, 1, 2, 0),
	             DIF_INSTR_BRANCH(negated ? DIF_OP_BNE : DIF_OP_BE, 6),
	             DIF_INSTR_R(DIF_OP_MOV, 0, 0, 1),
	             DIF_INSTR_BRANCH(DIF_OP_BA, 7),
	             DIF_INSTR_WIDE(DIF_OP_SETX, 1, 1),
	             kReturn};
	return difo;
}

// Programs.

const char* const kNames[] = {"csh", "eight888", "fifteen-letters"};

struct Generator {
	Random& random;
	uint32_t aggregations = 0;

	uint32_t number() { return kNumber + static_cast<uint32_t>(random.below(kNumbers)); }
	dif_type integer() {
		return int_type(random.one_of({1u, 2u, 4u, 8u, 8u, 8u, 8u}), !random.once_in(3));
	}
	Difo value() {
		switch (random.below(9)) {
		case 0: return constant(random.value(), integer());
		case 1: return builtin(DIF_VAR_PID, integer());
		case 2: return builtin(DIF_VAR_TID, integer());
		case 3: return builtin(random.one_of<uint32_t>({DIF_VAR_CPU, DIF_VAR_ID}), integer());
		case 4: return builtin(DIF_VAR_TIMESTAMP, integer());
		case 5: return load_number(number());
		case 6: return since(number());
		default: return arg(static_cast<unsigned>(random.below(8)), integer());
		}
	}
	Difo key() {
		switch (random.below(4)) {
		case 0: return builtin(DIF_VAR_EXECNAME, string_type());
		case 1: return builtin(DIF_VAR_PROBEFUNC, string_type());
		case 2: return builtin(random.one_of<uint32_t>({DIF_VAR_PID, DIF_VAR_TID}), int_type(4));
		default: return value();
		}
	}
	void aggregate_into(std::vector<Action>& body) {
		const uint32_t keys = static_cast<uint32_t>(random.one_of({0, 0, 1, 1, 1, 2, 2, 3}));
		for (uint32_t i = 0; i < keys; i++)
			body.push_back(trace(key()));
		const uint32_t kind = random.one_of<uint32_t>(
		    {DFR_ACT_COUNT, DFR_ACT_COUNT, DFR_ACT_COUNT, DFR_ACT_SUM, DFR_ACT_MIN, DFR_ACT_MAX,
		     DFR_ACT_AVG, DFR_ACT_STDDEV, DFR_ACT_QUANTIZE, DFR_ACT_LQUANTIZE});
		const uint64_t parameters = kind == DFR_ACT_LQUANTIZE ? 100ull << 48 | 7ull << 32 | 50 : 0;
		std::optional<Difo> what;
		if (kind != DFR_ACT_COUNT)
			what = value();
		body.push_back(aggregate(kind, ++aggregations, keys, what, parameters));
	}
	Action set() {
		if (random.once_in(3))
			return act(DFR_ACT_DIFEXPR, clear_number(number()));
		return act(DFR_ACT_DIFEXPR,
		           set_number(number(), random.one_of<uint32_t>(
		                                    {DIF_VAR_TIMESTAMP, uint32_t{DIF_VAR_ARG0} + 1})));
	}
	// How a measurement ends: the shape that has a form of its own.
	void measure(std::vector<Action>& body, uint32_t id) { // or nearly, now and then
		const bool named = random.once_in(2);
		if (named)
			body.push_back(trace(builtin(DIF_VAR_EXECNAME, string_type())));
		body.push_back(
		    aggregate(DFR_ACT_SUM, ++aggregations, named, since(random.once_in(4) ? number() : id)));
		body.push_back(act(DFR_ACT_DIFEXPR, clear_number(random.once_in(4) ? number() : id)));
	}
	std::optional<Difo> predicate() {
		switch (random.below(9)) {
		case 0: return compared(DIF_VAR_EXECNAME, 0, kNames[random.below(3)], random.once_in(2));
		case 1: return compared(DIF_VAR_PID, 100, "", random.once_in(2));
		case 2: return compared(DIF_VAR_TID, 101, "", random.once_in(2));
		case 3: return compared(DIF_VAR_ARG0, 1, "", random.once_in(2));
		case 4: return load_number(number());
		case 5: return arg(static_cast<unsigned>(random.below(8))); // by DIF
		default: return {};
		}
	}
	// Few kinds at a time: what mixes them all takes the general form anyway.
	void clause(Program& program, const std::string& probe) {
		std::optional<Difo> condition = predicate();
		std::vector<Action> body;
		const uint64_t kind = random.below(8);
		const uint64_t n = 1 + random.below(kind == 0 ? 12 : 4);
		if (kind == 1) {
			body.push_back(capture_args());
		} else if (kind == 2) {
			const uint32_t id = number();
			condition = load_number(id);
			measure(body, id);
		} else {
			for (uint64_t i = 0; i < n; i++) {
				if (kind == 3) // arguments, as a rule whole
					body.push_back(
					    trace(arg(static_cast<unsigned>(random.below(8)),
					              random.once_in(6) ? integer() : int_type(8))));
				else if (kind == 5 || (kind == 6 && random.once_in(2)))
					aggregate_into(body);
				else if (kind == 4 || kind == 6 || (kind == 0 && random.once_in(4)))
					body.push_back(set());
				else
					body.push_back(trace(key()));
			}
		}
		program.clause(probe, condition, std::move(body));
	}
	Program program() {
		Program program;
		if (random.once_in(8)) // numbers that no short head holds
			program.clause("rig::idle:entry", {trace(arg(0))}).again(DFR_REC_ID_SHORT_MAX);
		if (random.once_in(8)) // so many that what follows is charged
			program
			    .clause("rig::read:entry", compared(DIF_VAR_PID, 1, "", false), {trace(arg(0))})
			    .again(64);
		for (uint64_t n = 1 + random.below(4); n; n--)
			clause(program, random.once_in(2) ? "rig::read:entry" : "rig::read:return");
		return program;
	}
};

// Firings.

struct Firing {
	bool is_return = false;
	std::vector<uint64_t> args;
	uint64_t time = 0;
	dfr_env env{};
};

std::vector<Firing> some_firings(Random& random) {
	std::vector<Firing> firings(60);
	uint64_t time = 1'000'000'000;
	for (Firing& firing : firings) {
		firing.is_return = random.once_in(2);
		firing.args.resize(random.below(9));
		for (uint64_t& arg : firing.args)
			arg = random.once_in(3) ? random.below(3) : random.value();
		time += random.once_in(8) ? random.below(1ull << 34)
		                          : random.below(100'000); // 0: not later than the last
		firing.time = time;
		firing.env.ev_pid = 100 + static_cast<uint32_t>(random.once_in(3) ? random.below(3) : 0);
		firing.env.ev_task = firing.env.ev_tid =
		    firing.env.ev_pid + static_cast<uint32_t>(random.below(2));
		firing.env.ev_level = random.once_in(6) ? DFR_LEVEL_IRQ : DFR_LEVEL_TASK;
		std::strcpy(firing.env.ev_comm, kNames[random.once_in(4) ? random.below(3) : 0]);
	}
	return firings;
}

u64 late_argument(const dfr_firing*, unsigned n) {
	return 0x1000 * n - 0x2345;
}

// What was recorded, to the byte.
struct Recorded {
	std::vector<std::vector<uint8_t>> blocks;
	std::vector<std::map<std::string, std::vector<uint64_t>>> aggregations;
	uint64_t records = 0;

	bool operator==(const Recorded&) const = default;
};

Recorded record(const Program& program, uint32_t aggregations, const std::vector<Firing>& firings,
                uint32_t forced) {
	Rig rig;
	rig.ops.getarg = late_argument;
	dfr_engine_force(rig.engine(), forced);
	dfr_probe* probes[] = {rig.probe("read"), rig.probe("read", "return")};
	rig.probe("idle");
	State state(rig);
	REQUIRE(state.enable(program) == 0);
	REQUIRE(state.go() == 0);
	for (const Firing& firing : firings) {
		rig.env = firing.env;
		rig.fire(probes[firing.is_return], firing.args, firing.time);
	}
	Recorded recorded;
	for (const dfr_ioc_taken& taken : state.take_raw(true)) {
		const dfr_block* block = dfr_state_block(state.state, taken.cpu, taken.block);
		const uint8_t* bytes = reinterpret_cast<const uint8_t*>(block);
		recorded.blocks.emplace_back(bytes + block->hdr_size,
		                             bytes + block->hdr_size + block->committed);
		recorded.records += block->records;
	}
	for (uint32_t id = 1; id <= aggregations; id++)
		recorded.aggregations.push_back(state.aggregation(id));
	const dfr_ioc_status status = state.status();
	CHECK(status.errors == 0);
	CHECK(std::all_of(std::begin(status.loss), std::end(status.loss),
	                  [](uint64_t lost) { return lost == 0; }));
	return recorded;
}

} // namespace

TEST_CASE("an integer takes as many bytes as it needs, in every form", "[engine][store][form]") {
	// Each width ends where its last value is: 1, 2, 4, 8 bytes, with the sign.
	const uint64_t values[] = {0,
	                           127,
	                           128,
	                           32767,
	                           32768,
	                           0x7fffffff,
	                           0x80000000,
	                           uint64_t(-128),
	                           uint64_t(-129),
	                           uint64_t(-32768),
	                           uint64_t(-32769),
	                           uint64_t(INT32_MIN),
	                           uint64_t(INT32_MIN) - 1,
	                           uint64_t(INT64_MIN)};
	const unsigned bytes[] = {1, 1, 2, 2, 4, 4, 8, 1, 2, 2, 4, 4, 8, 8};
	for (uint32_t forced : {0, DFR_FORCE_GENERAL}) {
		Rig rig;
		dfr_engine_force(rig.engine(), forced);
		rig.env.ev_pid =
		    70'000; // so the context has integers of three widths, the last in the last byte of codes
		rig.env.ev_cgroup = 1ull << 40;
		dfr_probe* read = rig.probe("read");
		State state(rig);
		Program program;
		program.clause("rig::read:entry",
		               {trace(arg(0)), trace(builtin(DIF_VAR_EXECNAME, string_type()))});
		REQUIRE(state.enable(program) == 0);
		REQUIRE(state.go() == 0);
		for (uint64_t i = 0; i < std::size(values); i++)
			rig.fire(read, {values[i]}, 1000 + i);
		const std::vector<Record> records = state.take();
		REQUIRE(records.size() == std::size(values));
		for (size_t i = 0; i < records.size(); i++) {
			CHECK(records[i].numbers[0] == values[i]);
			CHECK(records[i].texts[1] == "csh");
			CHECK(records[i].pid == 70'000);
			CHECK(records[i].tid == 101);
			CHECK(records[i].cgroup == 1ull << 40);
			if (i) // head, a byte of codes, "csh"
				CHECK(records[i].offset - records[i - 1].offset == 4 + 1 + bytes[i - 1] + 4);
		}
	}
}

TEST_CASE("random programs record the same in every form", "[engine][store][form]") {
	dfr_user_fixed_secret = kSecret;
	uint64_t records = 0, values = 0;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		Random random{std::mt19937_64(seed)};
		Generator generator{random};
		const Program program = generator.program();
		const std::vector<Firing> firings = some_firings(random);
		const Recorded usual = record(program, generator.aggregations, firings, 0);
		INFO("seed " << seed);
		REQUIRE(usual == record(program, generator.aggregations, firings, DFR_FORCE_GENERAL));
		REQUIRE(usual ==
		        record(program, generator.aggregations, firings, DFR_FORCE_GENERAL | DFR_FORCE_DIF));
		records += usual.records;
		for (const auto& aggregation : usual.aggregations)
			values += aggregation.size();
	}
	dfr_user_fixed_secret = 0;
	// They do record: about a third of the clauses of half of the firings.
	CHECK(records > 5'000);
	CHECK(values > 1'000);
}

// What holds for all clauses of a probe is kept as they come and go.

namespace {

bool same_of_task(const dfr_test* a, const dfr_test* b) {
	return a && b && a->te_kind <= DFR_TEST_OWNER &&
	       std::tie(a->te_kind, a->te_negated, a->te_words[0], a->te_words[1]) ==
	           std::tie(b->te_kind, b->te_negated, b->te_words[0], b->te_words[1]);
}

// Walks the whole chain, and says what kmod/engine/provider.h means by its flags.
void check_chain(const dfr_probe* probe) {
	uint32_t ecbs = 0;
	bool pure = true, reads_args = false, one_test = probe->pb_ecbs != nullptr;
	const dfr_ecb* before = nullptr;
	for (const dfr_ecb* ecb = probe->pb_ecbs; ecb; before = ecb, ecb = ecb->ec_next) {
		ecbs++;
		REQUIRE(ecb->ec_before == before);
		pure = pure && (ecb->ec_flags & DFR_EC_PURE);
		reads_args = reads_args || dfr_form_reads_args(ecb);
		one_test = one_test && same_of_task(probe->pb_ecbs->ec_test, ecb->ec_test);
	}
	REQUIRE(probe->pb_last == before);
	REQUIRE(probe->pb_armed == ecbs);
	REQUIRE(probe->pb_test == (one_test ? probe->pb_ecbs->ec_test : nullptr));
	if (!ecbs)
		return;
	const bool asked_first =
	    one_test && (probe->pb_test->te_kind != DFR_TEST_NAME || probe->pb_test->te_negated);
	const bool no_args = !reads_args && !asked_first;
	REQUIRE(!!(probe->pb_flags & DFR_PB_NOARGS) == no_args);
	REQUIRE(!!(probe->pb_flags & DFR_PB_PURE) == (pure && !one_test && !no_args));
}

std::optional<Difo> some_predicate(Random& random) {
	switch (random.below(8)) {
	case 0: return {};
	case 1: return arg0_is(1);
	case 2: return load_number(kNumber);
	case 3: return compared(DIF_VAR_EXECNAME, 0, kNames[random.below(2)], random.once_in(2));
	default: return compared(DIF_VAR_PID, 100 + random.below(2), "", random.once_in(6));
	}
}

} // namespace

TEST_CASE("what a probe's clauses share is right after each one comes or goes", "[engine][store][form]") {
	Random random{std::mt19937_64(11)};
	uint32_t shared = 0, pure = 0, no_args = 0;
	for (int round = 0; round < 300; round++) {
		Rig rig;
		dfr_probe* read = rig.probe("read");
		std::vector<std::unique_ptr<State>> states;
		// Mostly alike, else chains with one test are rare.
		const std::optional<Difo> usual = some_predicate(random);
		for (int step = 0; step < 12; step++) {
			if (states.size() < 4 && !random.once_in(3)) {
				Program program;
				for (uint64_t clause = random.below(3) + 1; clause; clause--)
					program.clause("rig::read:entry",
					               random.once_in(5) ? some_predicate(random) : usual,
					               {random.once_in(2) ? aggregate(DFR_ACT_COUNT, 1, 0)
					                                  : trace(arg(0))});
				states.push_back(std::make_unique<State>(rig));
				REQUIRE(states.back()->enable(program) == 0);
				REQUIRE(states.back()->go() == 0);
			} else if (!states.empty()) {
				const size_t which = random.below(states.size());
				switch (random.below(3)) {
				case 0:
					for (dfr_ecb* ecb = states[which]->state->st_ecbs; ecb;
					     ecb = ecb->ec_sibling)
						ecb->ec_cost = 1; // so that the governor has a reason
					CHECK(dfr_state_detach(states[which]->state) <= 1);
					break;
				case 1: dfr_state_attach(states[which]->state); break;
				default: states.erase(states.begin() + static_cast<std::ptrdiff_t>(which));
				}
			}
			check_chain(read);
			shared += read->pb_test != nullptr;
			pure += !!(read->pb_flags & DFR_PB_PURE);
			no_args += !!(read->pb_flags & DFR_PB_NOARGS) && read->pb_ecbs;
		}
	}
	CHECK(shared > 100);
	CHECK(pure > 100);
	CHECK(no_args > 20);
}

} // namespace engine_store_form_test
