// SPDX-License-Identifier: GPL-2.0
//
// How many events a second a question takes by a firing for each record and by
// columns: over a recording that an engine in this process makes of system calls
// that were made up (names, arguments and tasks in the proportions of a busy
// machine). Times are the process's own processor time, the best of three.
//
//   dfr_replay_bench FILE [MILLIONS]    FILE is made if it is not there
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <malloc.h>
#include <unistd.h>

#include "analyze/engine/engine_c.h"
#include "analyze/engine/engine_session.h"
#include "analyze/replay/replay.h"
#include "formats/error.h"
#include "formats/trace/file.h"
#include "formats/trace/joined.h"
#include "formats/trace/united.h"

using namespace dfr;

namespace {

constexpr unsigned kCpus = 4, kRounds = 3;
constexpr const char* kCalls[] = {"read", "write", "openat", "close", "futex",
                                  "mmap", "fstat", "lseek",  "ioctl", "epoll_wait"};

double seconds() {
	timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// The engine as a target that knows its own probes.
class Machine final : public engine::EngineSession, public d::Target {
public:
	Machine() : EngineSession("bench", kCpus, false) {
		dfr_provider* const provider = add_provider("syscall", nullptr, nullptr);
		for (const char* call : kCalls)
			for (const char* name : {"entry", "return"})
				probes.push_back(add_probe(provider, "vmlinux", call, name, 2, nullptr));
		probes_added();
	}
	std::string description() const override { return "bench"; }
	void match(const d::ProbePattern& pattern,
	           const std::function<bool(const d::ProbeInfo&)>& visit) override {
		for (dfr_probe* probe : probes) {
			trace::Probe known;
			known.id = probe->pb_id;
			known.provider = probe->pb_provider->pv_name;
			known.module = probe->pb_module;
			known.function = probe->pb_function;
			known.name = probe->pb_name;
			if (replay::RecordingTarget::matches(pattern, known) &&
			    !visit({known.id, known.provider, known.module, known.function, known.name, 2}))
				return;
		}
	}
	bool has_addresses() const override { return true; }
	bool has_kernel() const override { return true; }

	std::vector<dfr_probe*> probes;
};

d::Compiled compiled(const std::string& program, d::Target& target) {
	d::CompileOptions options;
	options.name = "bench";
	options.options = {"quiet"};
	d::Diagnostics diagnostics;
	d::Compiled result = d::compile(program, options, target, diagnostics);
	if (diagnostics.failed())
		throw Error(diagnostics.render(false));
	return result;
}

void record(const char* path, uint64_t events) {
	Machine machine;
	const auto dof = dof::write(compiled("syscall::: { capture(arg0, arg1); }", machine).image);
	machine.enable(std::as_bytes(std::span(dof)), false);
	dfr_env env{};
	env.ev_time = 1'000'000'000;
	dfr_user_env = &env;
	machine.go();
	trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return machine.catalog(); });
	uint64_t noise = 1;
	for (uint64_t i = 0; i < events; i++) {
		noise = noise * 6364136223846793005u + 1442695040888963407u;
		const uint64_t call = (noise >> 40) % 10 * ((noise >> 50) % 10) / 10;
		const bool entry = i / kCpus % 2 == 0;
		const uint32_t who = static_cast<uint32_t>(i / 64 * 2654435761u) >> 26;
		env.ev_time += 50 + (noise >> 58);
		env.ev_task = env.ev_tid = 1000 + who;
		env.ev_pid = 1000 + who / 4;
		std::snprintf(env.ev_comm, sizeof env.ev_comm, "program-%u", who / 8 % 100);
		const u64 arguments[2] = {entry ? call : (noise >> 45) % 4096, noise >> 52};
		dfr_user_cpu = static_cast<unsigned>(i % kCpus);
		dfr_fire_env(machine.probes[2 * call + !entry], arguments, 2, nullptr, &env);
		if (!machine.due(dfr_user_cpu))
			continue;
		machine.flush();
		while (const auto block = machine.next())
			writer.block(*block);
	}
	machine.stop();
	machine.flush();
	while (const auto block = machine.next())
		writer.block(*block);
	dfr_user_env = nullptr;
	writer.account(machine);
	writer.finish();
}

double time_of(const char* path, const char* question, replay::Way way, std::string& said,
               uint64_t& records) {
	double best = 1e9;
	for (unsigned round = 0; round < kRounds; round++) {
		const double start = seconds();
		trace::JoinedSource source(std::move(trace::group_by_state({path}).at(0)));
		const trace::United united({&source});
		replay::RecordingTarget target(united);
		render::Output output(-1);
		render::NoSymbols symbols;
		replay::ReplayOptions options;
		options.message = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
		options.way = way;
		const replay::Answer answer = replay::replay_program(
		    united, target, compiled(question, target), output, symbols, options);
		best = std::min(best, seconds() - start);
		said = output.take();
		records = answer.verdict.records;
	}
	return best;
}

void measure(const char* path) {
	std::printf("%-88s %10s %10s\n", "M events/s", "by rows", "by columns");
	for (const char* question : {
	         "syscall:::entry { @ = count(); }",
	         "syscall::: { @[probefunc] = count(); }",
	         "syscall::: { @[execname] = count(); }",
	         "syscall::: { @[pid, probefunc] = count(); }",
	         "syscall:::entry { @[arg0] = count(); }",
	         "syscall:::return { @[probefunc] = quantize(arg0); }",
	         "syscall:::return /execname == \"program-3\" && arg0 > 1000/ { @[tid] = sum(arg0); }",
	         "syscall::read:entry { @[execname] = avg(arg1); }",
	         "syscall::: /arg0 > 100000/ { @[execname, probefunc] = count(); }",
	     }) {
		std::string rows, columns;
		uint64_t records = 0;
		const double by_rows = time_of(path, question, replay::Way::kRows, rows, records);
		const double by_columns = time_of(path, question, replay::Way::kColumns, columns, records);
		std::printf("%-88s %10.1f %10.1f%s\n", question, static_cast<double>(records) / by_rows / 1e6,
		            static_cast<double>(records) / by_columns / 1e6,
		            rows == columns ? "" : "  DIFFERENT ANSWERS");
	}
}

} // namespace

int main(int argc, char** argv) {
	std::setvbuf(stdout, nullptr, _IOLBF, 0);
	if (argc < 2 || argc > 3)
		return 2;
	mallopt(M_TRIM_THRESHOLD, 16 << 20); // as the commands do (analyze/cli/main.cc)
	mallopt(M_MMAP_THRESHOLD, 16 << 20);
	try {
		if (access(argv[1], R_OK) != 0)
			record(argv[1], 1'000'000 * static_cast<uint64_t>(argc > 2 ? std::atoi(argv[2]) : 4));
		measure(argv[1]);
	} catch (const Error& error) {
		std::fprintf(stderr, "dfr_replay_bench: %s\n", error.what());
		return 1;
	}
	return 0;
}
