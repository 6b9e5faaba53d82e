// SPDX-License-Identifier: GPL-2.0
//
// What asking a recording costs. It makes recordings, by an engine in this process,
// of system calls that were made up (names, arguments and tasks in the proportions
// of a busy machine), and measures questions by a firing for each record and by
// columns, lines of text, and what a whole command takes of time, memory and the file.
//
//   dfr_replay_bench record FILE EVENTS CPUS APART [D]   so many ns from event to event; D: what records
//   dfr_replay_bench questions FILE                        processor time, the best of three
//   dfr_replay_bench text FILE [D]                         the same, for programs that print each event
//   dfr_replay_bench run COMMAND...                        another process, with its output dropped
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/engine/engine_c.h"
#include "analyze/engine/engine_session.h"
#include "analyze/replay/replay.h"
#include "formats/clock.h"
#include "formats/error.h"
#include "formats/trace/file.h"
#include "formats/trace/joined.h"
#include "formats/trace/united.h"

using namespace dfr;

namespace {

constexpr unsigned kRounds = 3;
constexpr const char* kCapture = "syscall::: { capture(arg0, arg1); }";
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
	explicit Machine(unsigned cpus) : EngineSession("bench", cpus, false) {
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

struct Made {
	uint64_t events;
	unsigned cpus;
	uint64_t apart; // ns from one to the next, on average
	const char* program;
};

void record(const char* path, const Made& wanted) {
	Machine machine(wanted.cpus);
	const auto dof = dof::write(compiled(wanted.program, machine).image);
	machine.enable(std::as_bytes(std::span(dof)), false);
	dfr_env env{};
	env.ev_time = 1'000'000'000;
	dfr_user_env = &env;
	machine.go();
	trace::FileWriter writer(path, true, [&]() -> const trace::Catalog& { return machine.catalog(); });
	uint64_t noise = 1;
	for (uint64_t i = 0; i < wanted.events; i++) {
		noise = noise * 6364136223846793005u + 1442695040888963407u;
		const uint64_t call = (noise >> 40) % 10 * ((noise >> 50) % 10) / 10;
		const bool entry = i / wanted.cpus % 2 == 0;
		const uint32_t who = static_cast<uint32_t>(i / 64 * 2654435761u) >> 26;
		env.ev_time += wanted.apart / 2 + (noise >> 44) % (wanted.apart + 1);
		env.ev_task = env.ev_tid = 1000 + who;
		env.ev_pid = 1000 + who / 4;
		std::snprintf(env.ev_comm, sizeof env.ev_comm, "program-%u", who / 8 % 100);
		const u64 arguments[2] = {entry ? call : (noise >> 45) % 4096, noise >> 52};
		dfr_user_cpu = static_cast<unsigned>(i % wanted.cpus);
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

struct Asked {
	double seconds = 1e9;
	std::string said;
	uint64_t records = 0, firings = 0;
};

// `fd`: where the text goes; -1: to `said`.
Asked ask(const char* path, const char* question, replay::Way way, int fd) {
	Asked result;
	for (unsigned round = 0; round < kRounds; round++) {
		const double start = seconds();
		trace::JoinedSource source(std::move(trace::group_by_state({path}).at(0)));
		const trace::United united({&source});
		render::Output output(fd);
		render::NoSymbols symbols;
		replay::ReplayOptions options;
		options.message = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
		options.way = way;
		options.style.quiet = true;
		replay::Answer answer;
		if (question) {
			replay::RecordingTarget target(united);
			answer = replay::replay_program(united, target, compiled(question, target), output,
			                                symbols, options);
		} else {
			answer = replay::render_recording(source, output, symbols, options);
		}
		output.flush();
		result.seconds = std::min(result.seconds, seconds() - start);
		result.said = output.take();
		result.records = answer.verdict.records;
		result.firings = answer.firings;
	}
	return result;
}

void measure_questions(const char* path) {
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
		const Asked rows = ask(path, question, replay::Way::kRows, -1);
		const Asked columns = ask(path, question, replay::Way::kColumns, -1);
		const auto events = static_cast<double>(rows.records);
		std::printf("%-88s %10.1f %10.1f%s\n", question, events / rows.seconds / 1e6,
		            events / columns.seconds / 1e6,
		            rows.said == columns.said ? "" : "  DIFFERENT ANSWERS");
	}
}

// `printed`: what the recording's own program prints; null: only programs over what was captured.
void measure_text(const char* path, const char* printed) {
	const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	std::printf("%-88s %10s\n", "M lines/s", "");
	const auto row = [](const char* what, uint64_t lines, double took) {
		std::printf("%-88s %10.1f\n", what, static_cast<double>(lines) / took / 1e6);
	};
	if (printed) {
		const Asked asked = ask(path, nullptr, replay::Way::kAny, nowhere);
		row(printed, asked.records, asked.seconds);
	} else {
		for (const char* question : {
		         "syscall::: { trace(arg0); }",
		         "syscall::: { printf(\"%d %s %d\\n\", tid, probefunc, arg0); }",
		         "syscall::: { printf(\"%-16s %6d %s:%s(0x%x)\\n\", execname, pid, probefunc, "
		         "probename, arg1); }",
		     }) {
			const Asked asked = ask(path, question, replay::Way::kAny, nowhere);
			row(question, asked.firings, asked.seconds);
		}
	}
	close(nowhere);
}

// Bytes that it has read of anything, as the kernel counts them.
uint64_t read_by(pid_t pid) {
	std::ifstream io("/proc/" + std::to_string(pid) + "/io");
	std::string what;
	for (uint64_t bytes = 0; io >> what >> bytes;)
		if (what == "rchar:")
			return bytes;
	return 0;
}

int run(char** command) {
	const auto start = now_ns();
	const pid_t pid = fork();
	if (pid == 0) {
		const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
		dup2(nowhere, STDOUT_FILENO);
		execv(command[0], command);
		_exit(127);
	}
	siginfo_t ended{};
	waitid(P_PID, static_cast<id_t>(pid), &ended,
	       WEXITED | WNOWAIT); // it stays, so that its counters can be read
	const auto took = static_cast<double>(now_ns() - start) / 1e9;
	const uint64_t bytes = read_by(pid);
	int status = 0;
	rusage usage{};
	wait4(pid, &status, 0, &usage);
	const auto of = [](const timeval& time) {
		return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
	};
	std::printf("%8.2f %8.2f %8.1f %12.2f%s\n", took, of(usage.ru_utime) + of(usage.ru_stime),
	            static_cast<double>(usage.ru_maxrss) / 1024, static_cast<double>(bytes) / 1e6,
	            WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : "  FAILED");
	return 0;
}

} // namespace

int main(int argc, char** argv) {
	std::setvbuf(stdout, nullptr, _IOLBF, 0);
	mallopt(M_TRIM_THRESHOLD, 16 << 20); // as the commands do (analyze/cli/main.cc)
	mallopt(M_MMAP_THRESHOLD, 16 << 20);
	const std::string what = argc > 2 ? argv[1] : "";
	try {
		if (what == "record" && (argc == 6 || argc == 7))
			record(argv[2], {.events = std::strtoull(argv[3], nullptr, 10),
			                 .cpus = static_cast<unsigned>(std::strtoul(argv[4], nullptr, 10)),
			                 .apart = std::strtoull(argv[5], nullptr, 10),
			                 .program = argc == 7 ? argv[6] : kCapture});
		else if (what == "questions" && argc == 3)
			measure_questions(argv[2]);
		else if (what == "text" && argc <= 4)
			measure_text(argv[2], argc == 4 ? argv[3] : nullptr);
		else if (what == "run")
			return run(argv + 2);
		else
			return 2;
	} catch (const Error& error) {
		std::fprintf(stderr, "dfr_replay_bench: %s\n", error.what());
		return 1;
	}
	return 0;
}
