// SPDX-License-Identifier: GPL-2.0
//
// Fuzzes the loader of DOFs, the verifier and what runs afterwards. The first
// byte chooses: the input as a DOF; a program made from decisions, whose DIFOs
// run one by one; the same, damaged first; or the program in a
// whole engine: enabled, started, fired, read, stopped. Whatever is refused must
// say why, in characters that print; whatever loads must run without harm. No
// symbol may be looked up for a confined program, and where the address of one is
// written nothing else may lie.
//
// With DFR_FUZZ_STATISTICS in the environment it prints, at exit, how many
// inputs got past the loader.
//
// Targets: kmod/engine/loading/dof.c kmod/engine/loading/reloc.c kmod/engine/loading/desc.c kmod/engine/loading/action.c kmod/engine/loading/confine.c kmod/engine/loading/verify.c kmod/engine/dif/interp.c
// Targets: kmod/engine/dif/machine.c kmod/engine/dif/builtin.c kmod/engine/dif/vars.c kmod/engine/dif/dynvar.c kmod/engine/dif/softfloat.c
// Targets: kmod/engine/dif/subr.c kmod/engine/dif/subr_*.c
#include <cstdio>
#include <memory>
#include <string_view>

#include "tests/fuzz/dof_input.h"
#include "tests/unit/engine_exec_rig.h"

using namespace dfr;
using fuzz::Decisions;

namespace {

struct Statistics {
	uint64_t inputs = 0, loaded = 0, runs = 0, faults = 0;
	Statistics() = default;
	~Statistics() {
		if (std::getenv("DFR_FUZZ_STATISTICS"))
			std::fprintf(stderr, "statistics: %lu inputs, %lu loaded; %lu runs, %lu faults\n",
			             inputs, loaded, runs, faults);
	}
	Statistics(const Statistics&) = delete;
	Statistics& operator=(const Statistics&) = delete;
};
Statistics statistics;

void require(bool holds) {
	if (!holds)
		std::abort();
}

// A number of which made programs know that there are few.
u64 digest_of_types() {
	return 2;
}

constexpr uint64_t kAddress = 0xffffffff91234560;
unsigned looked_up;

int known_symbol(const char* name, __u64* address) {
	looked_up++;
	*address = kAddress;
	return name[0] == 'c' ? 0 : -ENOENT;
}

bool has_address(std::string_view text) {
	const uint64_t address = kAddress >> 16; // what is added to it changes the lowest bits
	return text.find(std::string_view(reinterpret_cast<const char*>(&address), 6)) != text.npos;
}

// What a loaded program says in words: names of probes, strings.
bool tells_address(const dfr_program& program) {
	bool tells = false;
	for (uint32_t i = 0; i < program.pg_nclauses; i++)
		for (const char* name : program.pg_clauses[i].cl_pattern)
			tells |= has_address(name);
	for (uint32_t i = 0; i < program.pg_ndifos; i++)
		tells |= has_address({program.pg_difos[i].di_strs, program.pg_difos[i].di_strsz});
	return tells;
}

// The lower bits of the choice have been used for what is made.
std::shared_ptr<dfr_program> load(const std::vector<uint8_t>& bytes, uint8_t choice) {
	const bool confined = (choice & 0x78) == 0x78;
	looked_up = 0;
	test::Loaded result = test::load(bytes, {(choice & 0x80) != 0, true, digest_of_types, confined});
	statistics.inputs++;
	require(!confined || !looked_up);
	for (const char* c = result.why.rf_reason; *c; c++)
		require(*c >= ' ' && *c <= '~');
	if (result.error) {
		require(result.error == -ENOMEM || result.why.rf_reason[0]);
	} else {
		statistics.loaded++;
		if (looked_up && !has_address({reinterpret_cast<const char*>(bytes.data()), bytes.size()}))
			require(!tells_address(*result.program));
	}
	return result.program;
}

// Every byte of a by-reference result must be readable or fault in order.
void use_result(test::Rig& rig, const dfr_difo& difo, uint64_t value) {
	static char buffer[256 * 1024];
	const bool user = difo.di_rtype.flags & DIF_TF_BYUREF;
	bool cut = false;
	if (!(difo.di_rtype.flags & (DIF_TF_BYREF | DIF_TF_BYUREF)))
		return;
	if (difo.di_rtype.kind == DIF_KIND_STRING) {
		long n = dfr_machine_copy_str(&rig.machine, buffer, value, 300, user, &cut);
		require(n < 0 || (n >= 1 && n <= 300 && buffer[n - 1] == '\0'));
	} else {
		dfr_machine_copy(&rig.machine, buffer, value, difo.di_rtype.size, user);
	}
}

void run(test::Rig& rig, const dfr_difo& difo) {
	dfr_machine& m = rig.machine;
	dfr_machine_reset_scratch(&m);
	uint64_t value = dfr_dif_run(&difo, &m);
	statistics.runs++;
	require(m.m_regs[0] == 0);
	require(m.m_ntuple <= DIF_NTUPLE);
	require(m.m_scratch_ptr >= m.m_scratch && m.m_scratch_ptr <= m.m_scratch_top);
	require(m.m_scratch_top <= m.m_scratch_end);
	if (m.m_fault) {
		statistics.faults++;
		require(value == 0 && m.m_fault_pc < difo.di_len * 4 && !(m.m_fault_pc & 3));
		// What may run before the guard never faults.
		require(!(difo.di_flags & DFR_DIFO_PURE));
		return;
	}
	use_result(rig, difo, value);
}

void run_all(Decisions& in, const std::shared_ptr<dfr_program>& program) {
	static const uint32_t strsizes[] = {256, 8, 32, 1024};
	static const size_t dynvarsizes[] = {1 << 16, 16, 1000, 4096};
	if (!program)
		return;
	test::Rig rig(strsizes[in.byte() % 4], dynvarsizes[in.byte() % 4], in.byte() & 1 ? 4096 : 128);
	if (dfr_vars_declare(rig.vars.get(), program.get(), &rig.why))
		return;
	static const char captured_text[] = "captured";
	const dfr_captured captured[] = {
	    {1, 0, 0, 0}, {reinterpret_cast<uint64_t>(captured_text), 9, 0, 0}, {0, 0, 2, 3}};
	rig.env.ev_flags = DFR_ENV_LIVE;
	rig.env.ev_captured = captured;
	rig.env.ev_ncaptured = 3;
	for (unsigned round = 0; round < 4; round++) {
		rig.firing.fr_cpu = dfr_user_cpu = round & 1;
		rig.fire();
		for (uint32_t i = 0; i < program->pg_ndifos; i++)
			run(rig, program->pg_difos[i]);
		rig.env.ev_tid = rig.env.ev_task = 200 + (round & 2);
		if (round & 1)
			dfr_vars_clean(rig.vars.get());
	}
	dfr_user_cpu = 0;
}

void run_engine(const std::vector<uint8_t>& dof) {
	static dfr_engine* const engine = dfr_engine_create(nullptr);
	static std::vector<uint64_t> room(1 << 17);
	const dfr_load_limits limits{true, false};
	dfr_refusal why{};
	dfr_state* state = nullptr;
	u32 matched = 0, cpu = 0, count = 0;
	u64 bytes = 0;
	bool left = false;
	dfr_ioc_taken taken[8];

	require(engine && dfr_state_create(engine, &state) == 0);
	statistics.inputs++;
	if (!dfr_state_enable(state, dof.data(), dof.size(), &limits, DFR_ENABLE_ZERO_OK, &matched, &why) &&
	    !dfr_state_go(state, &cpu)) {
		statistics.loaded++;
		dfr_state_clean(state);
		dfr_state_aggsnap(state, room.data(), room.size() * 8, &bytes, false);
		dfr_state_stop(state, &cpu);
		for (u32 i = 0; i < 8; i++) {
			if (dfr_state_take(state, i & 1, true, taken, 8, &count, &left))
				break;
			for (u32 b = 0; b < count; b++)
				dfr_state_release(state, i & 1, taken[b].block, taken[b].seq);
		}
	}
	dfr_state_destroy(state);
}

// Buffers of the usual size would be most of an execution's time.
test::DofBuilder small_buffers() {
	test::DofBuilder dof;
	dof.option(DFR_OPT_BUFSIZE, 64 << 10);
	dof.option(DFR_OPT_AGGSIZE, 64 << 10);
	dof.option(DFR_OPT_DYNVARSIZE, 16 << 10);
	return dof;
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
	dfr_user_set_ncpus(2);
	dfr_user_symbol = known_symbol;
	return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
	Decisions in(data, size);
	const uint8_t choice = in.byte();
	if (choice % 8 == 0) {
		if (size > 1)
			run_all(in, load({data + 1, data + size}, choice));
		return 0;
	}
	const bool whole = choice % 8 >= 5;
	test::DofBuilder made = fuzz::ProgramMaker(in).make(whole ? small_buffers() : test::DofBuilder());
	const std::vector<uint8_t> bytes = choice % 8 == 1 ? fuzz::Damage(in, made).bytes() : made.bytes();
	if (whole)
		run_engine(bytes);
	else
		run_all(in, load(bytes, choice));
	return 0;
}
