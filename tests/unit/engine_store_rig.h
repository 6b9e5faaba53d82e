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

#include "analyze/engine/engine_c.h"
#include "formats/trace/catalog.h"
#include "formats/trace/decode.h"
#include "tests/unit/engine_store_program.h"

namespace store_rig {

// What was recorded, owned.
struct Record {
	uint64_t time = 0, commit_time = 0, seq = 0;
	uint32_t cpu = 0, epid = 0, speculation = 0, offset = 0;
	uint8_t level = 0;
	uint32_t task = 0, pid = 0, tid = 0, nspid = 0;
	uint64_t cgroup = 0;
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
	std::function<void()> patching; // what each commit does
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
	std::vector<dfr_ioc_taken> take_raw(uint32_t flags, uint32_t room = 4096);
	std::vector<Record> decode(const dfr_ioc_taken& taken);
	void read_catalog();
	// The base table after a snapshot: words by key bytes.
	std::map<std::string, std::vector<uint64_t>> aggregation(uint32_t varid);

	dfr_state* state = nullptr;
	dfr::trace::Catalog catalog;
	dfr::trace::Losses losses;
	std::vector<dfr_block> blocks; // heads of all that were taken
	uint32_t matched = 0;
	bool left = false; // the last take_raw() left blocks where they were
	std::string reason;
	uint32_t begin_cpu = ~0u, end_cpu = ~0u;
	uint64_t damage = 0;

private:
	uint64_t catalog_read_ = 0;
	std::vector<std::byte> catalog_rest_;
};

// A state that records rig::read:entry with `program`, gone; `before` it is made, the rig is changed.
struct Running {
	explicit Running(const Program& program, const std::function<void(Rig&)>& before = {});

	Rig rig;
	dfr_probe* read;
	State state;
};

// Key of integers, as aggregation() gives it.
std::string key_of(std::vector<uint64_t> words);
std::string key_of_text(const std::string& text);

} // namespace store_rig
