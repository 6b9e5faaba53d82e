// SPDX-License-Identifier: GPL-2.0
//
// Instructions per firing of the engine's recording half, in user space, counted
// by callgrind. `engine_bench` runs itself under valgrind once per work and
// prints the table; `engine_bench WORK N` makes N firings. A row's figure is the
// difference between two runs of different N, so start and end cancel out.
//
// The user-space platform takes a lock where the kernel switches interrupts off:
// its share is the row "platform alone", and the last column is without it. What
// the kernel pays is measured in the guest (tests/bench/probe-cost).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "analyze/engine/engine_c.h"
#include "tests/unit/engine_store_program.h"

using namespace store_rig;

namespace {

struct Work {
	const char* name;
	const char* text;
	unsigned
	    budget; // of tests/bench/BUDGETS.md, the probe's own cost and the platform's included; 0: none
};

const Work kWorks[] = {
    {"platform", "platform alone: lock, unlock", 0},
    {"execname", "count by execname", 200},
    {"pidfunc", "count by pid and function", 200},
    {"quantize", "quantize of arg1", 200},
    {"record", "full record, 2 arguments", 250},
    {"record-long", "the same, every firing another thread", 0},
    {"false", "predicate false (arg0 == 1), interpreter", 80},
    {"dif", "count by (arg0 + arg1), interpreter", 0},
};

std::string read_error(int error) {
	return std::string("engine_bench: ") + std::strerror(-error);
}

[[noreturn]] void fail(const std::string& text) {
	std::fprintf(stderr, "%s\n", text.c_str());
	std::exit(1);
}

Difo sum_of_args() {
	Difo difo;
	difo.rtype = int_type(8);
	difo.text = {DIF_INSTR_WIDE(DIF_OP_LDGS, DIF_VAR_ARG0, 1),
	             DIF_INSTR_WIDE(DIF_OP_LDGS, DIF_VAR_ARG0 + 1, 2), DIF_INSTR_R(DIF_OP_ADD, 1, 2, 1),
	             DIF_INSTR_R(DIF_OP_RET, 0, 0, 1)};
	return difo;
}

Program program_of(const std::string& work) {
	Program program;
	const char* probe = "bench:test:read:entry";
	program.option(DFR_OPT_BUFPOLICY, DFR_BUFPOLICY_RING);
	if (work == "execname")
		program.clause(
		    probe, {trace(builtin(DIF_VAR_EXECNAME, string_type())), aggregate(DFR_ACT_COUNT, 1, 1)});
	else if (work == "pidfunc")
		program.clause(probe, {trace(builtin(DIF_VAR_PID, int_type(4))),
		                       trace(builtin(DIF_VAR_PROBEFUNC, string_type())),
		                       aggregate(DFR_ACT_COUNT, 1, 2)});
	else if (work == "quantize")
		program.clause(probe, {aggregate(DFR_ACT_QUANTIZE, 1, 0, arg(1))});
	else if (work == "false")
		program.clause(probe, arg0_is(1), {capture_args()});
	else if (work == "dif")
		program.clause(probe, {trace(sum_of_args()), aggregate(DFR_ACT_COUNT, 1, 1)});
	else
		program.clause(probe, {capture_args()});
	return program;
}

dfr_probe* prepare(dfr_engine* engine, dfr_provider* provider, const std::string& work) {
	static const dfr_provider_ops ops = {nullptr, [](dfr_provider*, dfr_probe*) { return 0; },
	                                     [](dfr_provider*, dfr_probe*) {}, nullptr, nullptr};
	dfr_state* state = nullptr;
	dfr_load_limits limits{true, true};
	dfr_refusal why{};
	provider->pv_name = "bench";
	provider->pv_ops = &ops;
	dfr_provider_register(engine, provider);
	dfr_probe* probe = dfr_probe_create(provider, "test", "read", "entry", 2, nullptr);
	std::vector<uint8_t> dof = program_of(work).bytes();
	int error = dfr_state_create(engine, &state);
	if (!error)
		error = dfr_state_enable(state, dof.data(), dof.size(), &limits, 0, nullptr, &why);
	if (!error)
		error = dfr_state_go(state, nullptr);
	if (error)
		fail(read_error(error) + " " + why.rf_reason);
	return probe;
}

void run(const std::string& work, unsigned long n) {
	dfr_engine* engine = dfr_engine_create(nullptr);
	dfr_provider provider{};
	dfr_probe* probe = prepare(engine, &provider, work);
	dfr_env env;
	dfr_env_self(&env);
	std::strcpy(env.ev_comm, "csh");
	env.ev_pid = env.ev_tid = env.ev_task = 1234;
	env.ev_time = 1000000;
	u64 args[2] = {3, 0xffff888012345678};
	const unsigned threads = work == "record-long" ? 63 : 0;
	const bool platform = work == "platform";
	for (unsigned long i = 0; i < n; i++) {
		env.ev_time += 100;
		env.ev_tid = 1000 + static_cast<unsigned>(i & threads);
		if (platform) {
			unsigned long flags = dfr_plat_irq_save(engine, 0);
			dfr_plat_irq_restore(engine, flags);
		} else {
			dfr_fire_env(probe, args, 2, nullptr, &env);
		}
	}
	dfr_engine_destroy(engine);
}

// Instructions of one run, by callgrind's own total.
double count(const std::string& self, const char* work, unsigned long n) {
	std::string command = "valgrind --tool=callgrind --callgrind-out-file=/dev/null '" + self + "' " +
	                      work + " " + std::to_string(n) + " 2>&1";
	FILE* pipe = popen(command.c_str(), "r");
	char line[512];
	double total = -1;
	if (!pipe)
		fail("engine_bench: valgrind cannot be run: install the package valgrind");
	while (std::fgets(line, sizeof(line), pipe))
		if (const char* at = std::strstr(line, "Collected : "))
			total = std::strtod(at + std::strlen("Collected : "), nullptr);
	if (pclose(pipe) || total < 0)
		fail("engine_bench: valgrind gave no count: install the package valgrind");
	return total;
}

} // namespace

int main(int argc, char** argv) {
	if (argc == 3) {
		run(argv[1], std::strtoul(argv[2], nullptr, 10));
		return 0;
	}
	constexpr unsigned long kSmall = 1000, kLarge = 21000;
	double platform = 0;
	std::printf("%-44s %12s %12s %8s\n", "work", "instructions", "- platform", "budget");
	for (const Work& work : kWorks) {
		double each = (count(argv[0], work.name, kLarge) - count(argv[0], work.name, kSmall)) /
		              (kLarge - kSmall);
		if (std::string(work.name) == "platform")
			platform = each;
		std::printf("%-44s %12.1f %12.1f %8s\n", work.text, each, each - platform,
		            work.budget ? std::to_string(work.budget).c_str() : "");
		std::fflush(stdout);
	}
	return 0;
}
