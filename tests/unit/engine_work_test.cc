// SPDX-License-Identifier: GPL-2.0
//
// A firing's work has a bound, whatever its program is: adversarial programs, each of
// a shape that was once free (long chains of a hash, expressions that many actions
// share, ERROR, accounts beside one another). Work is counted, not timed, so what is
// checked is the same each time: within the bound all is done, beyond it what is left
// is a fault or a loss that is counted.
#include <catch2/catch.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

#include "tests/unit/engine_exec_rig.h"
#include "tests/unit/engine_store_rig.h"

namespace engine_work_test {

using namespace store_rig;

namespace {

constexpr uint64_t kSecret = 0x5bd1e9955bd1e995;
constexpr uint64_t kRoot = uint64_t{DFR_WORK_ROOT} * DFR_WORK_CHUNK;
constexpr uint64_t kConfined = uint64_t{DFR_WORK_CONFINED} * DFR_WORK_CHUNK;
constexpr unsigned kChain = 64; // entries that a chain may have

// The secret of all states that are created meanwhile.
struct Fixed {
	explicit Fixed(uint64_t secret) { dfr_user_fixed_secret = secret; }
	~Fixed() { dfr_user_fixed_secret = 0; }
	Fixed(const Fixed&) = delete;
	Fixed& operator=(const Fixed&) = delete;
};

constexpr uint64_t kFactor = (kSecret ^ 0x9e3779b97f4a7c15) | 1;

uint64_t keyed(uint64_t hash, uint64_t word) {
	return dfr_hash_word(hash, word, kFactor);
}

// Keys of one word that all meet in bucket 0 of a table of any size up to 2^bits, under kSecret.
std::vector<uint64_t> colliding(uint64_t start, unsigned bits, unsigned count) {
	std::vector<uint64_t> keys;
	for (uint64_t word = 1; keys.size() < count; word++)
		if (!(dfr_hash_end(keyed(start, word), kFactor) & ((uint64_t{1} << bits) - 1)))
			keys.push_back(word);
	return keys;
}

// The hash that tables had before they were keyed: whoever reads the source can choose these.
std::vector<uint64_t> colliding_without_key(uint64_t varid, unsigned bits, unsigned count) {
	std::vector<uint64_t> keys;
	// A product's highest byte says which bucket: words that lead to a product of our choice.
	uint64_t inverse = 0x9e3779b97f4a7c15;
	for (int i = 0; i < 6; i++)
		inverse *= 2 - 0x9e3779b97f4a7c15 * inverse;
	for (uint64_t n = 1; keys.size() < count; n++) {
		const uint64_t product = n
		                         << bits; // swapped, the lowest bits are 0 as long as the highest are
		keys.push_back((__builtin_bswap64(product) * inverse) ^ varid);
	}
	return keys;
}

// So many clauses of so many counts, in all of them by the same key.
Program counting(unsigned clauses, unsigned actions, std::optional<Difo> key = {}) {
	Program program;
	std::vector<Action> body;
	for (unsigned a = 0; a < actions; a++) {
		if (key)
			body.push_back(trace(*key));
		body.push_back(aggregate(DFR_ACT_COUNT, 1, key ? 1 : 0));
	}
	return program.clause("rig::read:entry", std::move(body))
	    .again(clauses - 1)
	    .option(DFR_OPT_BUFSIZE, 65536);
}

// What an account's bound leaves out is counted where it would have been.
uint64_t left_out(State& state) {
	const dfr_ioc_status status = state.status();
	return status.loss[DFR_LOSS_AGGREGATION] + status.errors;
}

dfr_load_limits confined_limits() {
	dfr_load_limits limits{};
	limits.ll_confined = true;
	return limits;
}

void begin_confined(State& state, uint32_t uid, const Program& program) {
	const std::vector<uint8_t> bytes = program.bytes();
	const dfr_load_limits limits = confined_limits();
	dfr_refusal why{};
	REQUIRE(dfr_state_confine(state.state, uid, 100, 32 << 20) == 0);
	const int error =
	    dfr_state_enable(state.state, bytes.data(), bytes.size(), &limits, 0, &state.matched, &why);
	INFO(why.rf_reason);
	REQUIRE(error == 0);
	REQUIRE(state.go() == 0);
}

} // namespace

TEST_CASE("keys that were chosen to collide do not, since the hash is keyed", "[engine][store][work]") {
	Running running(counting(1, 1, arg(0)));
	auto& [rig, read, state] = running;
	const std::vector<uint64_t> keys = colliding_without_key(1, 13, 10'000);
	for (const uint64_t key : keys)
		rig.fire(read, {key});
	CHECK(left_out(state) == 0); // a chain of more than 64 would have been
	CHECK(state.aggregation(1).size() == 10'000);
}

// Six keys a bucket, as in a full table: chance alone gives no bucket as many as forty.
TEST_CASE("keys in a regular order are spread, whatever the secret is", "[engine][store][work]") {
	constexpr unsigned kBuckets = 4096;
	std::mt19937_64 secrets(1);
	unsigned most = 0, most_variables = 0;
	for (unsigned secret = 0; secret < 300; secret++) {
		const uint64_t start = secrets(), factor = secrets() | 1;
		for (const uint64_t stride : {1ull, 8ull, 64ull, 192ull, 4096ull, 1ull << 32, 1ull << 40}) {
			std::array<unsigned, kBuckets> buckets{}, variables{};
			for (uint64_t i = 0; i < 6 * kBuckets; i++) {
				const uint64_t hash = dfr_hash_word(start, i * stride, factor);
				most = std::max(most, ++buckets[dfr_hash_end(hash, factor) % kBuckets]);
				// As dynvar.c does it.
				const uint64_t variable = dfr_hash_word(hash, 0, factor) >> 20;
				most_variables = std::max(most_variables, ++variables[variable % kBuckets]);
			}
		}
	}
	CHECK(most < 40);
	CHECK(most_variables < 40);
}

TEST_CASE("what is counted does not depend on the secret", "[engine][store][work]") {
	std::vector<std::vector<uint64_t>> orders;
	for (const uint64_t secret : {kSecret, uint64_t{3}, uint64_t{0}}) { // 0: at random
		const Fixed fixed(secret);
		Running running(counting(1, 1, arg(0)));
		auto& [rig, read, state] = running;
		for (uint64_t key = 0; key < 5000; key++)
			rig.fire(read, {key * key});
		std::vector<uint64_t> buffer(1 << 20), order;
		u64 bytes = 0;
		REQUIRE(dfr_state_aggsnap(state.state, buffer.data(), buffer.size() * 8, &bytes, false) == 0);
		const auto* at = reinterpret_cast<const std::byte*>(buffer.data());
		const auto* table = reinterpret_cast<const dfr_aggtab*>(at);
		for (uint64_t offset = sizeof(*table) + table->nbuckets * 4ull; offset < bytes;) {
			const auto* entry = reinterpret_cast<const dfr_aggent*>(at + offset);
			const auto* words = reinterpret_cast<const uint64_t*>(entry + 1);
			order.insert(order.end(), words, words + 2); // key, count
			offset += sizeof(*entry) + entry->key_size + entry->words * 8ull;
		}
		orders.push_back(order);
	}
	CHECK(orders[0].size() == 2 * 5000);
	CHECK(orders[0] == orders[1]);
	CHECK(orders[0] == orders[2]);
}

TEST_CASE("a chain has an end, even for who knows the secret", "[engine][store][work]") {
	const Fixed fixed(kSecret);
	Running running(counting(1, 1, arg(0)).option(DFR_OPT_AGGSIZE, 65536));
	auto& [rig, read, state] = running;
	for (const uint64_t key : colliding(kSecret ^ 1, 9, kChain + 10))
		rig.fire(read, {key});
	CHECK(left_out(state) == 10);
	CHECK(state.aggregation(1).size() == kChain);
}

TEST_CASE("a walk along a chain is part of the firing's work", "[engine][store][work]") {
	const Fixed fixed(kSecret);
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state(rig);
	// 12,000 look-ups in a firing: within the bound for a key that is found at once.
	REQUIRE(state.enable(counting(12, 1000, arg(0)).option(DFR_OPT_AGGSIZE, 65536)) == 0);
	REQUIRE(state.go() == 0);
	const std::vector<uint64_t> keys = colliding(kSecret ^ 1, 9, kChain);
	for (const uint64_t key : keys)
		rig.fire(read, {key});
	REQUIRE(left_out(state) == 0);
	rig.fire(read, {keys.back()}); // the newest is the first of its chain
	CHECK(left_out(state) == 0);
	CHECK(state.aggregation(1).size() == kChain); // and moves what is first: keys come in order now
	for (const uint64_t key : keys)
		rig.fire(read, {key});
	const uint64_t before = left_out(state);
	rig.fire(read, {keys.front()});
	CHECK(left_out(state) > before);
}

TEST_CASE("an array's chain has an end, and a walk along it is work", "[engine][exec][work]") {
	const Fixed fixed(kSecret);
	dfr::test::Rig rig(256, 1 << 16);
	constexpr uint32_t kArray = DIF_VAR_USER_FIRST;
	// The key's image: its size (0: by value), then the value.
	const uint64_t start = keyed(keyed(kSecret, kArray | DIF_VS_GLOBAL << 16 | 1 << 18), 0);
	std::vector<uint64_t> keys;
	for (uint64_t word = 1; keys.size() < kChain + 1; word++)
		if (!(keyed(keyed(start, word), 0) >> 20 & 0xff))
			keys.push_back(word);
	dfr::test::Code store;
	store.var(DIF_VS_GLOBAL, kArray, dfr::test::kInt64, DIF_VK_ARRAY);
	store.wide(DIF_OP_LDGS, DIF_VAR_ARG0, 1)
	    .flush()
	    .pushv(1)
	    .setx(7, 2)
	    .wide(DIF_OP_STGAA, kArray, 2)
	    .ret(0);
	dfr::test::Code load;
	load.var(DIF_VS_GLOBAL, kArray, dfr::test::kInt64, DIF_VK_ARRAY);
	load.wide(DIF_OP_LDGS, DIF_VAR_ARG0, 1).flush().pushv(1);
	for (int i = 0; i < 10'000; i++)
		load.wide(DIF_OP_LDGAA, kArray, 2);
	load.ret(2);
	const dfr_difo* stores = rig.add(store);
	const dfr_difo* loads = rig.add(load);
	for (const uint64_t key : keys) {
		rig.args[0] = key;
		rig.fire();
		rig.run(stores);
		REQUIRE(rig.fault() == -1);
	}
	CHECK(rig.lost(DFR_LOSS_DYNVAR) == 1); // the last: the chain is as long as may be
	rig.args[0] = keys[kChain - 1];        // the newest is the first
	rig.fire();
	CHECK(rig.run(loads) == 7);
	CHECK(rig.fault() == -1);
	rig.args[0] = keys[0];
	rig.fire();
	rig.run(loads);
	CHECK(rig.fault() == DIF_FAULT_ILLOP);
}

TEST_CASE("an expression is charged each time it is run, however many actions share it",
          "[engine][exec][work]") {
	dfr::test::Rig rig;
	dfr::test::Code code;
	constexpr int kLength = 1000;
	for (int i = 1; i < kLength; i++)
		code.r(DIF_OP_ADD, 1, 1, 1);
	const dfr_difo* difo = rig.add(code.ret(1));
	int runs = 0;
	for (; runs < 1'000'000; runs++) {
		rig.run(difo);
		if (rig.fault() != -1)
			break;
	}
	CHECK(rig.fault() == DIF_FAULT_ILLOP);
	CHECK(runs > 10);
	CHECK(static_cast<uint64_t>(runs) * kLength <= kRoot);
	rig.fire();
	rig.run(difo);
	CHECK(rig.fault() == -1);
}

TEST_CASE("a foreign address that cannot be read or written is charged as an exception",
          "[engine][exec][work]") {
	using dfr::test::Code;
	constexpr uint64_t kForeign = 0xffff888000000000;
	constexpr uint64_t kFault = 3000; // instructions that the kernel takes for one
	dfr::test::Rig rig(16);
	rig.env.ev_flags = DFR_ENV_LIVE;
	const auto calling = [](uint32_t subr, const std::vector<uint64_t>& values) {
		Code code;
		code.flush().setx(16, 1).r(DIF_OP_ALLOCS, 1, 0, 7); // scratch, where a value is 0
		for (const uint64_t value : values)
			value ? code.setx(value, 1).pushv(1) : code.pushv(7);
		return code.call(subr, 2).ret(2);
	};
	const std::map<std::string, Code> programs = {
	    {"load", Code().setx(kForeign, 1).r(DIF_OP_LDX, 1, 0, 1).ret(1)},
	    {"load from user memory", Code().setx(16, 1).r(DIF_OP_ULDX, 1, 0, 1).ret(1)},
	    {"copyin", calling(DIF_SUBR_COPYIN, {16, 4})},
	    {"copyinstr", calling(DIF_SUBR_COPYINSTR, {16})},
	    {"copyinto", calling(DIF_SUBR_COPYINTO, {16, 4, 0})},
	    {"copyout", calling(DIF_SUBR_COPYOUT, {0, 16, 4})},
	    {"copyoutstr", calling(DIF_SUBR_COPYOUTSTR, {0, 16, 4})},
	    {"bcopy", calling(DIF_SUBR_BCOPY, {kForeign, 0, 4})},
	    {"strlen", calling(DIF_SUBR_STRLEN, {kForeign})},
	};
	for (const auto& [what, code] : programs) {
		INFO(what);
		const dfr_difo* difo = rig.add(code);
		rig.fire();
		rig.machine.m_flags = DFR_M_DESTRUCTIVE;
		uint64_t runs = 0;
		for (; runs < 100'000; runs++) {
			rig.run(difo);
			if (rig.fault() != DIF_FAULT_BADADDR)
				break;
		}
		CHECK(rig.fault() == DIF_FAULT_ILLOP);
		CHECK(runs > 1000);
		CHECK(runs * kFault <= kRoot);
	}
}

TEST_CASE("a text that ends where memory does is charged as an exception", "[engine][exec][work]") {
	dfr::test::Rig rig;
	rig.env.ev_flags = DFR_ENV_LIVE;
	void* pages = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REQUIRE(pages != MAP_FAILED);
	char* end = static_cast<char*>(pages) + 4096;
	REQUIRE(munmap(end, 4096) == 0);
	std::memcpy(end - 3, "abc", 3);
	char text[4];
	uint64_t runs = 0;
	bool cut;
	while (runs < 100'000 && dfr_machine_copy_str(&rig.machine, text, reinterpret_cast<uint64_t>(end - 3),
	                                              4, true, &cut) > 0) {
		REQUIRE(cut); // whether it goes on behind "abc" cannot be read
		runs++;
	}
	munmap(pages, 4096);
	CHECK(rig.fault() == DIF_FAULT_ILLOP);
	CHECK(runs > 1000);
	CHECK(runs * 3000 <= kRoot);
}

TEST_CASE("a walk of a user's stack is charged with the fault that may end it", "[engine][store][work]") {
	Running running([] {
		Action ustack = act(DFR_ACT_USTACK);
		ustack.arg = 1;
		return Program()
		    .clause("rig::read:entry", std::vector<Action>(1000, ustack))
		    .again(4)
		    .option(DFR_OPT_BUFSIZE, 1 << 20);
	}());
	auto& [rig, read, state] = running;
	rig.fire(read, {1});
	CHECK(left_out(state) > 0); // 5,000 faults of 3,000 instructions are more than an account has
}

TEST_CASE("steps without any expression are charged", "[engine][store][work]") {
	Running running(counting(120, 2000));
	auto& [rig, read, state] = running;
	rig.fire(read, {1});
	CHECK(left_out(state) > 0);
	// What was done, in instructions of which each step has several, is no more than the account has.
	uint64_t done = 0;
	for (const auto& [key, words] : state.aggregation(1))
		done += words[0];
	CHECK(done > 10'000);
	CHECK(done * 10 <= kRoot);
}

TEST_CASE("clauses behind the usual ones are charged, though each is short", "[engine][store][work]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state(rig);
	Program program;
	for (int i = 0; i < 10'000; i++) // each records nothing and is plain by itself
		program.clause("rig::read:entry", {trace(arg(0)), aggregate(DFR_ACT_SUM, 1, 1, arg(1))});
	std::vector<std::unique_ptr<State>> more;
	for (int i = 0; i < 3; i++) {
		more.push_back(std::make_unique<State>(rig));
		REQUIRE(more.back()->enable(program.option(DFR_OPT_BUFSIZE, 65536)) == 0);
		REQUIRE(more.back()->go() == 0);
	}
	rig.fire(read, {1, 1});
	uint64_t lost = 0, done = 0;
	for (const auto& one : more) {
		lost += left_out(*one);
		for (const auto& [key, words] : one->aggregation(1))
			done += words[0];
	}
	CHECK(done + lost == 3 * 10'000);
	CHECK(done * 100 <= kRoot);
	CHECK(lost > 0);
}

TEST_CASE("ERROR's work is its firing's", "[engine][store][work]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state(rig);
	Program program;
	constexpr int kFaults = 400;
	std::vector<Action> dear;
	Difo loop = arg(0);
	loop.text.insert(loop.text.begin(), 1000, DIF_INSTR_R(DIF_OP_ADD, 0, 0, 2));
	dear.push_back(trace(loop));
	program.clause("dtrace:::ERROR", dear);
	for (int i = 0; i < kFaults; i++)
		program.clause("rig::read:entry", {trace(bad_load())});
	REQUIRE(state.enable(program) == 0);
	REQUIRE(state.go() == 0);
	rig.fire(read, {1});
	const dfr_ioc_status status = state.status();
	const uint64_t told = state.take().size();
	// Each fault is an error, told by ERROR or counted as one that could not be.
	CHECK(status.errors >= kFaults);
	CHECK(told > 10);
	CHECK(told < kFaults);
	CHECK(told + status.loss[DFR_LOSS_DOUBLE_ERROR] == kFaults);
	CHECK(told * 1000 <= kRoot);
}

TEST_CASE("what ends for want of work is said by ERROR", "[engine][store][work]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state(rig);
	Difo loop = arg(0);
	loop.text.insert(loop.text.begin(), 50'000, DIF_INSTR_R(DIF_OP_ADD, 0, 0, 2));
	Program program;
	program.clause("dtrace:::ERROR", {trace(arg(3, int_type(4))), trace(arg(4, int_type(4)))});
	program.clause("rig::read:entry", std::vector<Action>(10, trace(loop))); // more than there is
	REQUIRE(state.enable(program) == 0);
	REQUIRE(state.go() == 0);
	rig.fire(read, {1});
	const std::vector<Record> records = state.take();
	REQUIRE(records.size() == 1);
	CHECK(records[0].numbers[1] == DIF_FAULT_ILLOP);
}

TEST_CASE("each account has its own work in a firing", "[engine][store][work][confine]") {
	Rig rig;
	rig.provider.pv_flags = DFR_PV_CONFINED | DFR_PV_USER_ARGS;
	dfr_probe* read = rig.probe("read");
	rig.env.ev_uid = 1000;
	rig.env.ev_gid = 100;
	// Two states of one user: together they have one million, and each one's program needs the half of it and more.
	constexpr uint64_t kHalf = 8 * 1200;
	Program half = counting(8, 1200).option(DFR_OPT_AGGSIZE, 65536);
	State first(rig), second(rig), other(rig), root(rig);
	begin_confined(first, 1000, half);
	rig.fire(read, {1});
	CHECK(left_out(first) == 0);
	begin_confined(second, 1000, half);
	begin_confined(other, 1001, half); // never runs for the first one's tasks, and takes nothing
	// Root uses up all of its own first.
	REQUIRE(root.enable(counting(120, 2000)) == 0);
	REQUIRE(root.go() == 0);
	rig.fire(read, {1});
	CHECK(left_out(first) == 0);
	CHECK(left_out(second) > 0);
	CHECK(left_out(other) == 0);
	CHECK(left_out(root) > 0);
	uint64_t done = 0;
	for (State* state : {&first, &second})
		for (const auto& [key, words] : state->aggregation(1))
			done += words[0];
	CHECK((done - kHalf) * 10 <= kConfined);
	rig.env.ev_uid = 1001;
	rig.fire(read, {1});
	CHECK(left_out(other) == 0);
}

TEST_CASE("a virtual CPU that stands still does not use up a firing's time", "[engine][store][work]") {
	const unsigned clauses = GENERATE(20, 280); // a bit more than two chunks each
	Rig rig;
	static dfr_env env;
	env = rig.env;
	env.ev_time = 1'000'000'000;
	rig.ops.getarg = [](const dfr_firing*, unsigned) -> u64 {
		env.ev_time += 10'000'000'000;
		return 0;
	};
	dfr_probe* read = rig.probe("read", "entry", 3);
	State state(rig);
	Difo loop = arg(2);
	loop.text.insert(loop.text.begin(), 1'030, DIF_INSTR_R(DIF_OP_ADD, 0, 0, 2));
	Program program;
	program.clause("rig::read:entry", {trace(loop)}).again(clauses - 1);
	REQUIRE(state.enable(program.option(DFR_OPT_BUFSIZE, 65536)) == 0);
	REQUIRE(state.go() == 0);
	const std::array<u64, 2> passed{};
	dfr_fire_env(read, passed.data(), passed.size(), nullptr, &env);
	// No more is counted than instructions can take, but that has an end, too.
	if (clauses == 20)
		CHECK(state.status().errors == 0);
	else
		CHECK(state.status().errors > 0);
}

TEST_CASE("committing and looking for a speculation are charged", "[engine][store][work][spec]") {
	Rig rig;
	dfr_probe* read = rig.probe("read");
	State state(rig);
	Program program;
	program.clause("rig::read:entry", std::vector<Action>(1000, trace(speculation()))).again(19);
	REQUIRE(state.enable(program.option(DFR_OPT_NSPEC, 1000).option(DFR_OPT_BUFSIZE, 1 << 20)) == 0);
	REQUIRE(state.go() == 0);
	rig.fire(read, {1}); // a thousand are found, then each look goes past all of them
	const dfr_ioc_status status = state.status();
	CHECK(status.errors > 0);
	CHECK(status.loss[DFR_LOSS_SPEC_UNAVAILABLE] * 1000 <= kRoot);
}

TEST_CASE("so many users have programs, and one more is told", "[engine][store][work][confine]") {
	Rig rig;
	rig.provider.pv_flags = DFR_PV_CONFINED | DFR_PV_USER_ARGS;
	rig.probe("read");
	const Program program = counting(1, 1).option(DFR_OPT_AGGSIZE, 65536);
	const std::vector<uint8_t> bytes = program.bytes();
	const dfr_load_limits limits = confined_limits();
	std::vector<std::unique_ptr<State>> states;
	const auto enable = [&](uint32_t uid) {
		dfr_refusal why{};
		states.push_back(std::make_unique<State>(rig));
		REQUIRE(dfr_state_confine(states.back()->state, uid, 100, 8 << 20) == 0);
		const int error = dfr_state_enable(states.back()->state, bytes.data(), bytes.size(), &limits,
		                                   0, &states.back()->matched, &why);
		return std::pair(error, std::string(why.rf_reason));
	};
	for (uint32_t uid = 1000; uid < 1016; uid++)
		CHECK(enable(uid).first == 0);
	CHECK(enable(1000).first == 0); // he has his place
	CHECK(enable(1016) == std::pair(-EPERM, std::string("16 other unprivileged users, the most there may "
	                                                    "be, have programs: wait until one ends")));
	states.erase(states.begin() + 1); // uid 1001 goes
	CHECK(enable(1016).first == 0);
}

} // namespace engine_work_test
