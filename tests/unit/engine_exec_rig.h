// SPDX-License-Identifier: GPL-2.0
//
// A rig for tests of the executing half: loads a DOF, lays out its variables and
// runs DIFOs on a machine with a probe, a thread and arguments of the test's own
// choosing. No rings, no states: only what kmod/engine/dif/exec.h promises.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/dof_builder.h"
extern "C" {
#include "kmod/engine/dif/exec.h"
#include "kmod/engine/engine.h"
#include "kmod/engine/recording/state.h"
}

namespace dfr::test {

struct Loaded {
	int error = 0;
	dfr_refusal why{};
	std::shared_ptr<dfr_program> program;
};

inline Loaded load(const std::vector<uint8_t>& bytes, dfr_load_limits limits = {true, true}) {
	Loaded result;
	dfr_program* program = nullptr;
	result.error = dfr_program_load(bytes.data(), bytes.size(), &limits, &program, &result.why);
	if (program)
		result.program.reset(program, dfr_program_free);
	return result;
}

class Rig {
public:
	explicit Rig(uint32_t size_of_strings = 256, size_t dynvarsize = 1 << 20,
	             size_t size_of_scratch = 8192)
	    : scratch(size_of_scratch / 8) {
		provider.pv_name = "syscall";
		probe.pb_provider = &provider;
		probe.pb_id = 77;
		probe.pb_module = "vmlinux";
		probe.pb_function = "read";
		probe.pb_name = "entry";
		std::strcpy(env.ev_comm, "csh");
		env.ev_pid = 100;
		env.ev_tid = env.ev_task = 101;
		env.ev_ppid = 1;
		env.ev_uid = 1000;
		env.ev_gid = 1001;
		env.ev_errno = -4;
		env.ev_time = 5000;
		env.ev_wall = 1000000;
		for (uint64_t i = 0; i < 6; i++)
			args[i] = 1000 + i;
		firing.fr_probe = &probe;
		firing.fr_args = args;
		firing.fr_nargs = 6;
		firing.fr_env = &env;
		firing.fr_time = 5000;
		for (size_t cpu = 0; cpu < counted.size(); cpu++) {
			counted[cpu].share.sh_tally = &counted[cpu].tally;
			shares[cpu] = &counted[cpu].share;
		}
		state.st_shares = shares.data();
		dfr_vars_config config{dynvarsize, size_of_strings, &state};
		dfr_vars* made = nullptr;
		if (dfr_vars_create(nullptr, &config, &made))
			throw std::runtime_error("no memory for variables");
		vars.reset(made, dfr_vars_free);
		reset(machine, firing, size_of_strings);
	}

	void reset(dfr_machine& m, dfr_firing& f, uint32_t size_of_strings) {
		m.m_firing = &f;
		m.m_vars = vars.get();
		m.m_scratch = reinterpret_cast<u8*>(scratch.data());
		m.m_scratch_end = m.m_scratch + scratch.size() * 8;
		m.m_strsize = size_of_strings;
		m.m_epid = 9;
		dfr_machine_reset_scratch(&m);
	}

	// Loads one clause that traces the code's value; its DIFO is ready to run.
	const dfr_difo* add(const Code& code) {
		DofBuilder dof;
		dof.trace(code);
		return add(dof.bytes());
	}

	const dfr_difo* add(const std::vector<uint8_t>& bytes) {
		Loaded result = load(bytes);
		if (result.error)
			throw std::runtime_error(std::string("refused: ") + result.why.rf_reason);
		if (dfr_vars_declare(vars.get(), result.program.get(), &why))
			throw std::runtime_error(std::string("not declared: ") + why.rf_reason);
		programs.push_back(result.program);
		return &result.program->pg_difos[0];
	}

	// A new firing: what the recording half does before the first clause.
	void fire() {
		firing.fr_flags = 0;
		firing.fr_chunks = 0;
		firing.fr_work = 0;
		machine.m_flags = 0;
		machine.m_strtok = machine.m_strtok_end = 0;
		dfr_machine_reset_scratch(&machine);
	}

	uint64_t run(const Code& code) { return run(add(code)); }
	uint64_t run(const dfr_difo* difo) {
		dfr_machine_reset_scratch(&machine);
		return dfr_dif_run(difo, &machine);
	}

	// The fault of the last run, -1: none.
	int fault() const { return static_cast<int>(machine.m_fault) - 1; }

	// A by-reference result as text. Throws if it cannot be read.
	std::string text(uint64_t addr) {
		char buffer[70000];
		if (dfr_machine_copy_str(&machine, buffer, addr, sizeof(buffer), false, nullptr) < 0)
			throw std::runtime_error("result cannot be read");
		return buffer;
	}
	std::string run_text(const Code& code) { return text(run(code)); }

	// Where lost stores are counted.
	struct Counted {
		dfr_tally tally{};
		dfr_share share{};
	};
	std::array<Counted, 8> counted; // [cpu]
	std::array<dfr_share*, 8> shares{};
	dfr_state state{};
	uint64_t lost(uint32_t cause) const {
		uint64_t sum = 0;
		for (const Counted& cpu : counted)
			sum += cpu.tally.loss[cause];
		return sum;
	}

	dfr_env env{};
	dfr_provider provider{};
	dfr_probe probe{};
	dfr_firing firing{};
	dfr_machine machine{};
	u64 args[6];
	std::vector<uint64_t> scratch;
	std::shared_ptr<dfr_vars> vars;
	std::vector<std::shared_ptr<dfr_program>> programs;
	dfr_refusal why{};
};

} // namespace dfr::test
